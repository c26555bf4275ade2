"""The protocol of ReplaySCM (§4, A.2, Table A.3): direct generation.

- The rendered prompt is sent as it is: no system message of ours, no tools, no evaluator's
  feedback, no repair (A.2).
- One reply. Its raw text is stored as the answer file, and never edited (Table A.3, "Stored
  response", "No semantic repair").
- The object is chosen from the text when it is graded, by the grader's own deterministic order: the
  first candidate that is executable, else the best-formed one (Table A.3, "Candidate selection");
  whether the reply was one JSON line and nothing else is reported apart ("Strict JSON").
- Held-out worlds are neither here nor looked at ("Held-out isolation").

Decoding is the user's (Table A.2: temperature 0.1 or the provider's own, up to 64,000 or 131,072
tokens, medium effort): ``--temperature``, ``--max-tokens``, ``--reasoning-effort``.
"""

from inspect_ai.solver import Generate, Solver, TaskState, solver

from causal_exams.conversation import ANSWER, reply, task_of
from causal_exams.extraction import answer_in
from causal_exams.lab_host import Host
from grader.exam import Exam

READ_FROM_TEXT = ("program", "alternative")
"""Kinds of answers that the grader finds in the text of a reply."""


@solver
def make(exam: Exam, host: Host, variant: str = "") -> Solver:
    """The solver; ``variant`` is not used."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        output = await reply(state, [])
        if output is None or not output.completion.strip():
            return state
        text, task = output.completion, task_of(exam, state)
        if task.shape.kind not in READ_FROM_TEXT:  # a task of ours, in none of the paper's exams
            text = answer_in(text, "json") or text
        state.store.set(ANSWER, text)
        return state

    return solve
