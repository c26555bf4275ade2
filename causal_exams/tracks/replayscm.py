"""The protocol of ReplaySCM (§5.1, A.2, Table A.3): direct generation.

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from causal_exams.extraction import answer_in
from causal_exams.protocols import CLOSED, Protocol

if TYPE_CHECKING:
    from causal_exams.conversation import Conversation


async def take_raw_reply(talk: "Conversation") -> None:
    """Take one reply and store its text as the answer; an empty reply is no answer."""
    reply = await talk.reply()
    if reply is None or not reply.strip():
        return
    # Of a task of ours, in none of the paper's exams, the grader does not look for the JSON in it.
    if talk.task.shape.kind not in ("program", "alternative"):
        reply = answer_in(reply, "json") or reply
    talk.answer(reply)


PRESETS: Final[Mapping[str, Protocol]] = {"replayscm-direct": Protocol(CLOSED, take_raw_reply)}
