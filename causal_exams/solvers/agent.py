"""The setting ``open``: bash and python in a sandbox; in a laboratory its tools besides."""

from inspect_ai.model import ChatMessageUser, execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver

from causal_exams import shell_tools
from causal_exams.conversation import answer_left, begin, end, problem, reply, task_of
from causal_exams.endings import ANSWERED, STEPS
from causal_exams.lab_host import Host
from causal_exams.lab_tools import laboratory_tools
from causal_exams.words import told
from causal_exams.workspace import stack
from grader.exam import Exam
from grader.shape import Task

REPLIES = 50
"""Replies a task may take, besides one for each experiment that a laboratory allows."""


@solver
def agent(exam: Exam, host: Host, steps: int = REPLIES) -> Solver:
    """Tools until the answer file is there and valid, or so many replies were made."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task = task_of(exam, state)
        tools, most = [shell_tools.bash(), shell_tools.python()], steps
        session = host.session(task.task_id, state.epoch) if task.shape.kind == "session" else None
        has = told("open.stack", packages=await stack())
        more = []
        if session is not None:
            tools += laboratory_tools(session)
            most += session.laboratory.episode.budget
            more.append(told("open.laboratory"))
        begin(state, told("open.system", stack=has, file=task.answer_file), *more)
        for _ in range(most):
            output = await reply(state, tools)
            if output is None:
                return state
            if output.message.tool_calls:
                done = await execute_tools(state.messages, tools)
                state.messages.extend(done.messages)
                if session is not None and session.closed:
                    break
                continue
            complaint = told("open.unpredicted") if session else await _complaint(task)
            if complaint is None:
                break
            state.messages.append(ChatMessageUser(content=complaint))
        else:
            end(state, STEPS)
            return state
        end(state, ANSWERED)
        return state

    return solve


async def _complaint(task: Task) -> str | None:
    """What is still wrong with the answer file, None if nothing."""
    data = await answer_left(task)
    if data is None:
        return told("open.absent", file=task.answer_file)
    wrong = await problem(task, data)
    return wrong and told("open.invalid", problem=wrong)
