"""A ccr task of many cases as single questions, each with its context and its case."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from causal_exams.words import told

_SECTION: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_CASE: Final = re.compile(r"^[0-9]{1,6}\. (.+)$", re.MULTILINE)
_ASKED: Final = re.compile(r"^- ([a-z_]+): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """One yes-or-no question: the answer's member and place in it, and the text that asks."""

    member: str
    case: int
    text: str


def questions(prompt: str) -> list[Question]:
    """The questions of a prompt with cases, case by case; none where it has no cases.

    Each is the context, the case, what the prompt says before its questions, and one question.
    """
    parts = _SECTION.split(prompt)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    cases = _CASE.findall(sections.get("Cases", ""))
    asked = _ASKED.findall(sections.get("Questions", ""))
    before = sections.get("Questions", "").partition("\n- ")[0].strip()
    return [
        Question(member, k, _text(parts[0], case, before, question))
        for k, case in enumerate(cases)
        for member, question in asked
    ]


def _text(context: str, case: str, before: str, question: str) -> str:
    pieces = (context.strip(), told("ccr-paper.case", case=case), before, question)
    return "\n\n".join(filter(None, pieces)) + " " + told("ccr-paper.concise")


def with_examples(text: str) -> str:
    """A question behind two worked examples, one factual and one under a supposition (G.3)."""
    context = told("ccr-paper.examples.context")
    shown = [
        told(
            "ccr-paper.example",
            text=f"{context}\n\n{told(f'ccr-paper.examples.{kind}')} {told('ccr-paper.concise')}",
            answer=told(f"ccr-paper.examples.{kind}_answer"),
        )
        for kind in ("factual", "supposed")
    ]
    return "\n\n".join((*shown, told("ccr-paper.question", text=text)))


def answer_of(
    asked: Sequence[Question], said: Sequence[bool | None]
) -> dict[str, list[bool | None]]:
    """The answer's members, each with an entry a case; null where a reply said neither."""
    members: dict[str, list[bool | None]] = {}
    for question, meaning in zip(asked, said, strict=True):
        members.setdefault(question.member, []).append(meaning)
    return members
