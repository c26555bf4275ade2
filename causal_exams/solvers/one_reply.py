"""The setting ``closed``: the prompt, one reply, the answer in it."""

from inspect_ai.solver import Generate, Solver, TaskState, solver

from causal_exams import extraction
from causal_exams.conversation import ANSWER, begin, reply, task_of
from causal_exams.lab_host import Host
from causal_exams.words import told
from grader.exam import Exam
from grader.io.jsonio import BadJson, parse_strict


@solver
def one_reply(exam: Exam, host: Host) -> Solver:
    """One reply to the prompt; its last fenced block is the answer.

    A laboratory is not entered: the reply's prediction and hypothesis are the whole session.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task = task_of(exam, state)
        kind, session = task.shape.suffix.removeprefix("."), task.shape.kind == "session"
        more = [told("closed.laboratory")] if session else []
        begin(state, told("closed.system", kind="json" if session else kind), *more)
        output = await reply(state, [])
        if output is None:
            return state
        answer = extraction.answer_in(output.completion, "json" if session else kind)
        if session:
            _predict(host, task.task_id, state.epoch, answer)
        elif answer is not None:
            state.store.set(ANSWER, answer)
        return state

    return solve


def _predict(host: Host, task_id: str, attempt: int, answer: str | None) -> None:
    """Play a reply's prediction through the laboratory, as far as it allows it."""
    session = host.session(task_id, attempt)
    try:
        document = parse_strict((answer or "").encode("utf-8", "surrogatepass"))
    except BadJson as error:
        session.refuse("request", error.message, "a reply")
        return
    if not isinstance(document, dict) or "prediction" not in document:
        session.refuse("request", 'send {"prediction": …, "hypothesis": {…}}', "a reply")
        return
    if document.get("hypothesis") is not None:
        session.request({"op": "hypothesis", "record": document["hypothesis"]})
    session.request({"op": "predict", "value": document["prediction"]})
