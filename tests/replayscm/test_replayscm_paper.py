"""The paper's own examples: the replay of section 3 and Cases 1 to 6 of appendix I."""

import json

import pytest

from grader.tracks.replayscm.boolean import equivalent, evaluate, parse, size
from grader.tracks.replayscm.experiment import (
    best_separation,
    separation,
    shows_difference,
)
from grader.tracks.replayscm.problem import make_program, pack, parse_map
from grader.tracks.replayscm.replay import replay

WORLDS = [
    {"id": "a", "mode": "none", "targets": [], "rows": ["01"]},
    {"id": "b", "mode": "hard_constant", "targets": ["R"], "rows": ["10"]},
]


def value(text: str, **row: int) -> int:
    return evaluate(parse(text), row, 1)


def test_the_replay_example_of_section_three() -> None:
    """Y = not R replays both rows; Y = R fails: the definition in one line."""
    worlds = pack(("R", "Y"), WORLDS)
    assert replay(make_program(("R",), parse_map({"Y": "(not R)"})), worlds).exact
    failing = replay(make_program(("R",), parse_map({"Y": "R"})), worlds)
    assert (failing.worlds_exact, failing.cells_wrong, failing.cells) == (0, 2, 2)


CASES = {
    "case 1": (
        "(xor X5 (and (iff X7 X8) (xor X3 X7)))",
        "(or (xor X1 X5 X7 X8) (and X5 X8 (not X1)))",
        {"X1": 1, "X3": 1, "X5": 0, "X7": 1, "X8": 1},
        (0, 1),
    ),
    "case 2": (
        "(iff (and X3 X6) (or X4 X7))",
        "(or (and X3 (or X4 (iff X6 X7))) (and X6 (not (or X3 X4 X7))))",
        {"X3": 0, "X4": 0, "X6": 0, "X7": 0},
        (1, 0),
    ),
    "case 4": (
        "(xor X1 X4 (and X4 (xor X1 X4 X7)))",
        "(or X6 X7)",
        {"X1": 1, "X4": 1, "X6": 1, "X7": 0},
        (0, 1),
    ),
    "case 5": (
        "(xor X2 X5)",
        "(or (and (not X2) X5) X6)",
        {"X2": 0, "X5": 0, "X6": 1},
        (0, 1),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_gold_and_submission_differ_on_the_quoted_separator(name: str) -> None:
    """Our semantics of the operators must reproduce every number the appendix prints."""
    gold, submitted, row, expected = CASES[name]
    assert (value(gold, **row), value(submitted, **row)) == expected
    assert not equivalent(parse(gold), parse(submitted))


def test_case_one_ordered_submission_is_the_gold_function() -> None:
    """The Ordered answer was exact with another spelling: scoring is semantic."""
    gold = parse("(xor X5 (and (iff X7 X8) (xor X3 X7)))")
    ordered = parse(
        "(or (and X5 (or (iff X3 X7) (iff X3 X8))) (and X7 X8 (not X3) (not X5)) "
        "(and X3 (not X5) (not X7) (not X8)))"
    )
    assert equivalent(gold, ordered)


def test_case_six_a_long_formula_is_the_gold_function() -> None:
    """Length is not what is scored."""
    gold = parse("(xor (and X5 X7) (or X4 X6))")
    long = parse(
        "(or (and X7 (not (or (and X5 X4) (and X5 X6) (not (or X5 X4 X6))))) "
        "(and (not X7) (or X4 X6)))"
    )
    assert equivalent(gold, long)
    assert size(long) > size(gold)


REFERENCE = {
    "X1": "(xor X3 X8)",
    "X2": "(xor X3 X8)",
    "X6": "(xor X1 X2)",
    "X7": "(xor X1 X2)",
    "X5": "(iff X4 (xor (and X1 X6) (or X2 X4)))",
}
ALTERNATIVE = {**REFERENCE, "X6": "X7"}
ROOTS = ("X3", "X4", "X8")


def test_case_three_rates() -> None:
    """PairDisagreementRate 1.000 and CellDifferenceRate 0.375 under do(X7 = 1)."""
    reference = make_program(ROOTS, parse_map(REFERENCE))
    alternative = make_program(ROOTS, parse_map(ALTERNATIVE))
    found = separation(reference, alternative, "X7", 1)
    assert (found.pair, found.cell) == (1.0, 0.375)
    assert best_separation(reference, alternative) == 1.0
    assert separation(reference, alternative, "X7", 0).pair == 0.0


def test_case_three_witness() -> None:
    """With X4 = 1, X8 = 0, X3 = 1 the reference gives X6 = 0, X5 = 1, the alternative 1 and 0."""
    reference = make_program(ROOTS, parse_map(REFERENCE))
    alternative = make_program(ROOTS, parse_map(ALTERNATIVE))
    witness = {"X4": 1, "X8": 0, "X3": 1}
    assert shows_difference(reference, alternative, "X7", 1, witness)
    assert not shows_difference(reference, alternative, "X7", 0, witness)
    assert not shows_difference(reference, alternative, "X7", 1, {"X4": 1, "X8": 0})
    names = ("X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8")
    row = json.loads('{"X1":1,"X2":1,"X3":1,"X4":1,"X5":1,"X6":0,"X7":1,"X8":0}')
    world = {"id": "w", "mode": "hard_constant", "targets": ["X7"],
             "rows": ["".join(str(row[name]) for name in names)]}  # fmt: skip
    packed = pack(names, [world])
    assert replay(reference, packed).exact
    wrong = replay(alternative, packed).wrong
    assert {name for name, rows in wrong.items() if rows} == {"X5", "X6"}
