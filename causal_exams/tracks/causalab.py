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

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from causal_exams.attempts import ANSWERED, STEPS
from causal_exams.protocols import OPEN, Protocol
from causal_exams.words import wording
from grader.io.jsonio import canonical_json

if TYPE_CHECKING:
    from causal_exams.conversation import Conversation


async def lead_react(talk: "Conversation", *, verify: bool = False) -> None:
    """Let the agent experiment with recorded steps until its session is over; with ``verify`` its
    first prediction is held back once."""
    talk.offer_laboratory(recorded=True)
    talk.begin(wording("causalab-react.system"))
    talk.say(canonical_json(talk.session.greeting()))
    # A record may be sent back twice, so that an experiment takes up to three replies.
    for _ in range(12 + 3 * talk.session.laboratory.episode.budget):
        if await talk.reply() is None:
            return
        if not talk.calls:
            talk.say(wording("open.unpredicted"))
        elif verify and any(call.function == "predict" for call in talk.calls):
            verify = False
            talk.refuse(wording("causalab-react.verify"))
        else:
            await talk.act()
            if talk.session.is_over:
                talk.end(ANSWERED)
                return
    talk.end(STEPS)


PRESETS: Final[Mapping[str, Protocol]] = {
    "causalab-react": Protocol(OPEN, lead_react),
    "causalab-react-verify": Protocol(OPEN, partial(lead_react, verify=True)),
}
