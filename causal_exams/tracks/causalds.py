"""The protocol of CausalDS (§3.6, A.15, A.16.2): a data-science agent with one tool, bash.

- Each task is a fresh conversation: a fixed system message that lists the Python stack and the
  rules of the interaction, and the task as user message (A.16.2).
- Every reply holds exactly one bash call; each command runs as a process of its own, and state
  persists through files (§3.6).
- At most 100 steps; the cost limit is the user's (``--cost-limit``; the paper's was $10 a task:
  in its "$10^4$" the 4 is the mark of a footnote).
- Of long output the model sees head and tail, 10,000 characters (``--output-budget``; the paper
  also tried 1,000 and 3,200), with advice to use head, tail or grep (A.15).
- ``echo DONE`` submits. The answer file is then checked: that it is there and can be parsed at all.
  A failure is recorded as what it is and nothing is repaired (A.15, MissingAnswerAfterSubmit).
"""

import csv
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from causal_exams.attempts import ANSWERED, MISSING, STEPS
from causal_exams.protocols import OPEN, Protocol
from causal_exams.words import wording
from grader.io.jsonio import BadJson, parse_strict

if TYPE_CHECKING:
    from causal_exams.conversation import Conversation

STEP_LIMIT: Final = 100
SUBMITTED: Final = "DONE"


async def lead_data_scientist(talk: "Conversation") -> None:
    """Let the agent work with bash until it submits, in at most ``STEP_LIMIT`` replies.

    A reply without exactly one call is refused and counts as a step.
    """
    talk.offer_shell("bash")
    packages = await talk.packages()
    talk.begin(wording("causalds-paper.system", packages=packages, file=talk.task.answer_file))
    for _ in range(STEP_LIMIT):
        if await talk.reply() is None:
            return
        if len(talk.calls) != 1:
            talk.refuse(wording("causalds-paper.one_call", count=len(talk.calls)))
            continue
        command = str(talk.calls[0].arguments.get("command"))
        printed = [line.strip() for line in (await talk.act()).splitlines()]
        if f"echo {SUBMITTED}" in command and SUBMITTED in printed:
            talk.end(ANSWERED if await _parseable(talk) else MISSING)
            return
    talk.end(STEPS)


async def _parseable(talk: "Conversation") -> bool:
    """Return whether the answer file is there and can be parsed as JSON, or as CSV with a line."""
    data = await talk.answer_file()
    if data is None:
        return False
    try:
        if talk.task.shape.suffix == ".csv":
            return any(csv.reader(io.StringIO(data.decode("utf-8"))))
        parse_strict(data)
    except (BadJson, UnicodeDecodeError, csv.Error):
        return False
    return True


PRESETS: Final[Mapping[str, Protocol]] = {
    "causalds-paper": Protocol(OPEN, lead_data_scientist, sandboxed=True),
}
