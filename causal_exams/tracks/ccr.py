"""The protocol of the paper on compositional causal reasoning (G.1, Figures G.2 and G.3).

- Every factual and every counterfactual question is a call of its own: the context, one case, one
  yes-or-no question, "be as concise as possible" (G.1; Figures G.2, G.4).
- Five replies to each question (G.1, "Computing PNS Estimates"): the preset's five epochs, one
  reply each, which the grader resamples as the paper does.
- With ``examples`` every question comes behind two answered ones, a factual and a counterfactual,
  that reason before they answer: the paper's wrapper for a chain of thought (Figure G.3), about a
  context of ours.
- A reply becomes a Boolean by what it means (G.1, "Extracting Boolean Values from Text"). Where a
  model plays the role ``extractor`` (``--model-role extractor=…``) it is asked as in the paper, at
  temperature 0; else the words yes and no, true and false, and their like decide.
- Decoding is the model's own (G.1).

A task without cases (direct, deductive) is in none of the paper's experiments: one reply, its last
block the answer.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from causal_exams.extraction import yes_or_no
from causal_exams.protocols import CLOSED, Protocol, take_one_reply
from causal_exams.words import wording
from grader.io.jsonio import canonical_json

if TYPE_CHECKING:
    from causal_exams.conversation import Conversation

_SECTION: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_CASE: Final = re.compile(r"^[0-9]{1,6}\. (.+)$", re.MULTILINE)
_ASKED: Final = re.compile(r"^- ([a-z_]+): (.+)$", re.MULTILINE)


def questions(prompt: str) -> list[tuple[str, str]]:
    """Return the yes-or-no questions of a prompt, case by case; empty where it has no cases.

    Each is the member of the answer that holds the replies to it, an entry for each case, and the
    whole text that asks it: the context, the case, what the prompt says before its questions, one
    question, and the request to be concise.
    """
    parts = _SECTION.split(prompt)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    cases = _CASE.findall(sections.get("Cases", ""))
    asked = _ASKED.findall(sections.get("Questions", ""))
    before = sections.get("Questions", "").partition("\n- ")[0].strip()
    found = []
    for case in cases:
        pieces = [parts[0].strip(), wording("ccr-paper.case", case=case), before]
        for member, question in asked:
            text = "\n\n".join(filter(None, [*pieces, question]))
            found.append((member, f"{text} {wording('ccr-paper.concise')}"))
    return found


def with_examples(text: str) -> str:
    """Return a question behind two answered ones, one factual and one under a supposition (G.3)."""
    context, concise = wording("ccr-paper.examples.context"), wording("ccr-paper.concise")
    shown = []
    for kind in ("factual", "supposed"):
        question = f"{context}\n\n{wording(f'ccr-paper.examples.{kind}')} {concise}"
        thought = wording(f"ccr-paper.examples.{kind}_thought")
        shown.append(wording("ccr-paper.example", text=question, answer=thought))
    return "\n\n".join((*shown, wording("ccr-paper.question", text=text)))


async def ask_one_by_one(talk: "Conversation", *, examples: bool = False) -> None:
    """Ask every question of a task in a conversation of its own, and store the answer.

    With ``examples`` each comes behind two answered ones. A task without cases gets one reply.
    """
    asked = questions(talk.state.input_text)
    if not asked:
        await take_one_reply(talk)
        return
    replies = await talk.ask_apart([with_examples(text) if examples else text for _, text in asked])
    if replies is None:
        return
    written = {k: reply for k, reply in enumerate(replies) if reply.strip()}
    prompts = [
        wording("ccr-paper.extractor", question=asked[k][1], answer=reply)
        for k, reply in written.items()
    ]
    read = await talk.ask_role("extractor", prompts)
    if read is not None:
        for k, reply in zip(written, read, strict=True):
            replies[k] = reply
    members: dict[str, list[bool | None]] = {}  # None where a reply says neither
    for (member, _), reply in zip(asked, replies, strict=True):
        members.setdefault(member, []).append(yes_or_no(reply))
    talk.answer(canonical_json(members))


PRESETS: Final[Mapping[str, Protocol]] = {
    "ccr-paper": Protocol(CLOSED, ask_one_by_one, epochs=5),
    "ccr-paper-examples": Protocol(CLOSED, partial(ask_one_by_one, examples=True), epochs=5),
}
