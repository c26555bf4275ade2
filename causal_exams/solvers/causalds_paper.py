"""The protocol of CausalDS (§4, A.15, A.16.2): a data-science agent with one tool, bash.

- Each task is a fresh conversation: a fixed system message that lists the Python stack and the
  rules of the interaction, and the task as user message (A.16.2).
- Every reply holds exactly one bash call; each command runs as a process of its own, and state
  persists through files (§4, "Evaluation harness").
- At most 100 steps; the cost limit is the user's (``--cost-limit``; the paper's was $10^4 a task).
- Of long output the model sees head and tail, 10,000 characters, with advice to use head, tail or
  grep (A.15).
- ``echo DONE`` submits. The answer file is then checked: that it is there and can be parsed at all.
  A failure is recorded as what it is and nothing is repaired (A.15, MissingAnswerAfterSubmit).
"""

import csv
import io

from inspect_ai.model import ChatMessageTool, ChatMessageUser, execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver

from causal_exams import shell_tools
from causal_exams.conversation import answer_left, begin, end, reply, task_of
from causal_exams.endings import ANSWERED, MISSING, STEPS
from causal_exams.lab_host import Host
from causal_exams.words import told
from causal_exams.workspace import stack
from grader.exam import Exam
from grader.io.jsonio import BadJson, parse_strict
from grader.shape import Task

STEP_LIMIT = 100
SUBMITTED = "DONE"


@solver
def make(exam: Exam, host: Host, variant: str = "") -> Solver:
    """The solver; ``variant`` is not used."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task, tools = task_of(exam, state), [shell_tools.bash()]
        packages = await stack()
        begin(state, told("causalds-paper.system", packages=packages, file=task.answer_file))
        for _ in range(STEP_LIMIT):
            output = await reply(state, tools)
            if output is None:
                return state
            calls = output.message.tool_calls or []
            if len(calls) != 1:
                text = told("causalds-paper.one_call", count=len(calls))
                state.messages += [
                    ChatMessageTool(content=text, tool_call_id=call.id, function=call.function)
                    for call in calls
                ] or [ChatMessageUser(content=text)]
                continue
            done = await execute_tools(state.messages, tools)
            state.messages.extend(done.messages)
            if _submits(calls[0].arguments.get("command"), done.messages[-1].text):
                end(state, ANSWERED if await _parseable(task) else MISSING)
                return state
        end(state, STEPS)
        return state

    return solve


def _submits(command: object, output: str) -> bool:
    """Whether a command was the submission: it says to echo DONE, and that is what it printed."""
    asked = isinstance(command, str) and f"echo {SUBMITTED}" in command
    return asked and SUBMITTED in (line.strip() for line in output.splitlines())


async def _parseable(task: Task) -> bool:
    """Whether the answer file is there and is JSON, or CSV with a line, at all."""
    data = await answer_left(task)
    if data is None:
        return False
    try:
        if task.shape.suffix == ".csv":
            return any(csv.reader(io.StringIO(data.decode("utf-8"))))
        parse_strict(data)
    except (BadJson, UnicodeDecodeError, csv.Error):
        return False
    return True
