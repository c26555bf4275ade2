"""What is taken from the text of a reply, and how one task of many cases becomes questions."""

import json
from pathlib import Path

import pytest

from causal_exams.extraction import answer_in, blocks, yes_or_no
from causal_exams.tracks.ccr import questions, with_examples

REPLIES = Path(__file__).with_name("yes_or_no_replies.json")
PROMPT = """Lamps hang in a row.

The rules, in no particular order:
- Lamp A is lit exactly when its dial is at least 3.

## Cases

A case lists dials.

1. A 5; B 2
2. A 1; B 9

## Questions

Nothing else is set.

- factual: Is lamp B lit?
- do_true: Suppose lamp A is lit. Is lamp B lit?

## Answer

Write one JSON object.
"""


def test_the_last_labelled_block_is_the_answer() -> None:
    """A model that reasons shows drafts first."""
    reply = 'Draft:\n```json\n{"a": 1}\n```\nBetter:\n```JSON\n{"a": 2}\n```\n```text\nx\n```'
    assert answer_in(reply, "json") == '{"a": 2}\n'
    assert answer_in(reply, "csv") is None
    assert answer_in('```\n{"a": 3}\n```', "json") == '{"a": 3}\n'


def test_a_reply_that_is_json_needs_no_block() -> None:
    assert answer_in(' {"a": 1} ', "json") == ' {"a": 1} '
    assert answer_in('Here: {"a": 1}', "json") is None  # nothing is repaired
    assert answer_in("a,b", "csv") is None


@pytest.mark.parametrize("reply", ["```json\n{", "```", "```json ```", "````json\n{}\n````", ""])
def test_a_block_that_is_not_closed_is_none(reply: str) -> None:
    assert blocks(reply) == [] and answer_in(reply, "json") is None


def test_half_a_surrogate_pair_is_no_crash() -> None:
    assert answer_in('```json\n{"a": "\ud800"}\n```', "json") is not None
    assert answer_in('{"a": "\ud800"}', "json") is None


@pytest.mark.parametrize(
    ("reply", "meaning"),
    [
        ("Yes.", True), ("no", False), ("**No**, because it is true that …", False),
        ("Since A is lit, which is correct, B is. Therefore, yes, B is lit!", True),
        ("By its dial it would be, yes. Therefore, no, B is not lit.", False),
        ("B is not lit.", False), ("It holds.", True), ("It does not hold.", False),
        ("The answer is yes. No other rule applies.", True), ("Yes, wait: so no.", False),
        ("So no other rule applies: yes.", True), ("It is not true.", False),
        ("Given the rules, yes; there is no doubt.", True), ("__No__", False),
        ("FALSE", False), ("I cannot say.", None), ("", None), ("Nobody knows.", None),
        ("yes " + "x " * 300 + "so no", False), ("yes " + "x " * 300 + "no x", True),
        ("well " * 300 + "so no", False),
    ],
)  # fmt: skip
def test_yes_and_no(reply: str, meaning: bool | None) -> None:
    assert yes_or_no(reply) is meaning


def test_the_reader_is_as_right_as_the_guides_say() -> None:
    """300 replies in fifteen styles, labelled before the reader saw them, and 60 that were written
    after it was mended by those (docs/limits.md)."""
    table = json.loads(REPLIES.read_text(encoding="utf-8"))
    words = {True: "yes", False: "no", None: "neither"}
    later = [(label, words[yes_or_no(text)]) for label, text in table.pop("written after the mend")]
    read = [(label, words[yes_or_no(text)]) for style in table.values() for label, text in style]
    for pairs, expected in ((read, (300, 231, 14)), (later, (60, 51, 0))):
        right = sum(label == meaning for label, meaning in pairs)
        contrary = sum({label, meaning} == {"yes", "no"} for label, meaning in pairs)
        assert (len(pairs), right, contrary) == expected


def test_each_question_has_its_context_and_its_case_alone() -> None:
    """One question a call (the paper's G.1): no other case may help or confuse."""
    asked = questions(PROMPT)
    assert [member for member, _ in asked] == ["factual", "do_true"] * 2
    assert "Lamp A is lit exactly" in asked[3][1] and "A 1; B 9" in asked[3][1]
    assert "A 5; B 2" not in asked[3][1] and "JSON" not in asked[3][1]
    assert "Nothing else is set." in asked[3][1] and "Suppose lamp A" in asked[3][1]


def test_a_prompt_without_cases_has_no_questions() -> None:
    assert questions("# Task\n\n## Questions\n\n- Q1: what?\n") == []


def test_the_examples_are_one_of_each_kind_and_reason_to_the_word() -> None:
    """Figure G.3: a factual and a counterfactual one, each answered before the question."""
    text = with_examples("Is lamp B lit?")
    assert text.count("QUESTION:") == 3 and text.count("ANSWER:") == 3
    assert text.endswith("QUESTION: Is lamp B lit?\n\nANSWER:")
    first, second = (part.partition("QUESTION:")[0] for part in text.split("ANSWER:")[1:3])
    assert yes_or_no(first) is True and yes_or_no(second) is False
    assert "Suppose" in text
