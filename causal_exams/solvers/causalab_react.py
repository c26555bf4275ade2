"""The protocol of CausaLab (§3.2, §4, §5.1, §5.5, A.4, A.5): reasoning and acting by turns.

- Each turn is one step: thought, one action, what it returns (§3.2).
- Before every experiment the agent puts down a record of five fields, memory, thought, past_data,
  hypothesis and experiment (§4); here the tool ``intervene`` takes the record and makes no
  experiment without one. Only the hypothesis is scored.
- The record's hypothesis is checked by the deterministic parser. One that fails is sent back with
  the parser's error, at most twice; a third failure is the step's recorded parse failure (A.5).
- The agent opens the reactor, which ends the experiments, and predicts once, with its final
  hypothesis (§3.2).
- With ``verify`` the first prediction is held back once: the agent is asked to check its hypothesis
  against all data before it commits (§5.5, the one verification step).
- The paper's runs had temperature 0.1 (§5.1): ``--temperature 0.1``. Budgets are the episode's.
"""

from inspect_ai.model import ChatMessageTool, ChatMessageUser, execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall

from causal_exams.conversation import begin, end, reply, task_of
from causal_exams.endings import ANSWERED, STEPS
from causal_exams.lab_host import Host
from causal_exams.lab_tools import laboratory_tools
from causal_exams.words import told
from grader.exam import Exam
from grader.io.jsonio import canonical

REPLIES = 12
"""Replies besides three for each experiment of the budget: a record may be sent back twice."""


@solver
def make(exam: Exam, host: Host, variant: str = "") -> Solver:
    """The solver; ``variant`` is ``verify`` or empty."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        session = host.session(task_of(exam, state).task_id, state.epoch)
        tools = laboratory_tools(session, recorded=True)
        begin(state, told("causalab-react.system"))
        state.messages.append(ChatMessageUser(content=canonical(session.greeting())))
        verified = variant != "verify"
        for _ in range(REPLIES + 3 * session.laboratory.episode.budget):
            output = await reply(state, tools)
            if output is None:
                return state
            calls = output.message.tool_calls or []
            if not calls:
                state.messages.append(ChatMessageUser(content=told("open.unpredicted")))
                continue
            if not verified and any(call.function == "predict" for call in calls):
                verified = True
                state.messages += [_held_back(call) for call in calls]
                continue
            done = await execute_tools(state.messages, tools)
            state.messages.extend(done.messages)
            if session.closed:
                end(state, ANSWERED)
                return state
        end(state, STEPS)
        return state

    return solve


def _held_back(call: ToolCall) -> ChatMessageTool:
    """The answer to every call of a turn that would have committed."""
    text = told("causalab-react.verify")
    return ChatMessageTool(content=text, tool_call_id=call.id, function=call.function)
