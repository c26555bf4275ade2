"""The paper's own examples: the replay of section 3 and cases of appendix I."""

import json

from grader.tracks.replayscm.problem import make_program, pack, parse_map
from grader.tracks.replayscm.replay import best_separation, replay, separation, shows_difference
from grader.tracks.replayscm.shapes import SeparatingRow, separating_row

WORLDS = [
    {"id": "a", "mode": "none", "targets": [], "rows": ["01"]},
    {"id": "b", "mode": "hard_constant", "targets": ["R"], "rows": ["10"]},
]


def test_the_replay_example_of_section_three() -> None:
    """Y = not R replays both rows; Y = R fails: the definition in one line."""
    worlds = pack(("R", "Y"), WORLDS)
    assert replay(make_program(("R",), parse_map({"Y": "(not R)"})), worlds).exact
    failing = replay(make_program(("R",), parse_map({"Y": "R"})), worlds)
    assert (failing.worlds_exact, failing.cells_wrong, failing.cells) == (0, 2, 2)


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
    assert separation(reference, alternative, "X7", 1) == (1.0, 0.375)
    assert best_separation(reference, alternative) == 1.0
    assert separation(reference, alternative, "X7", 0)[0] == 0.0


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


def test_case_four_separator() -> None:
    """The shorter (or X6 X7) fails where X1 = X4 = X6 = 1 and X7 = 0, which no training row shows.
    A row where X2 is set shows nothing of its mechanism."""
    gold = parse_map({"X2": "(xor X1 X4 (and X4 (xor X1 X4 X7)))"})
    program = make_program(("X1", "X4", "X6", "X7"), parse_map({"X2": "(or X6 X7)"}))
    names = ("X1", "X2", "X4", "X6", "X7")
    train = [
        {"id": "a", "mode": "none", "targets": [], "rows": ["00000", "11101"]},
        {"id": "b", "mode": "hard_constant", "targets": ["X2"], "rows": ["11110"]},
    ]
    held = [
        {"id": "h", "mode": "hard_assigned", "targets": ["X4", "X7"], "rows": ["00000", "10110"]}
    ]
    heldout = pack(names, held)
    found = separating_row(program, gold, pack(names, train), heldout, replay(program, heldout))
    assert found == SeparatingRow(1, "X2", {"X1": 1, "X4": 1, "X6": 1, "X7": 0}, 0, 0)
    exact = make_program(("X1", "X4", "X6", "X7"), gold)
    assert separating_row(exact, gold, heldout, heldout, replay(exact, heldout)) is None
