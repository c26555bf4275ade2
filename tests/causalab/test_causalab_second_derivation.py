"""The gate's second derivation finds what is wrong, and the floors are what the grader gives."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance
from builder.tracks.causalab.check import audit_instance
from builder.tracks.causalab.track import TRACK

SUITES = ["main-4", "quad-hard", "hidden-range-5", "freqparent-4", "golden-4", "3o0i-4", "0o6i-4"]


def build() -> list[BuiltInstance]:
    table = {"graphs": 2, "suites": SUITES, "disclosed": [False, True]}
    config = TRACK.parse(TomlTable(table, "x."))
    return [TRACK.build(spec) for spec in TRACK.plan(config, "dev", b"second", False)]


BUILT = build()


def audit(built: BuiltInstance) -> list[str]:
    (world,) = built.rows["causalab_worlds"]
    return audit_instance(
        world, built.rows["causalab_truth"], None, {"tasks": built.rows["causalab"]}
    )


def test_built_instances_have_no_problem() -> None:
    assert [audit(built) for built in BUILT] == [[], [], [], []]


Edit = Callable[[Any], Any]


def changed(suite: str, side: str, path: tuple[str | int, ...], edit: Edit) -> list[str]:
    """The problems after one place of the public or private side of an episode was edited."""
    for built in BUILT:
        rows = copy.deepcopy(built.rows)
        for task, truth in zip(rows["causalab"], rows["causalab_truth"], strict=True):
            if truth["structure"] == suite:
                row, column = (task, "inputs_json") if side == "public" else (truth, "target_json")
                whole = place = json.loads(str(row[column]))
                for step in path[:-1]:
                    place = place[step]
                place[path[-1]] = edit(place[path[-1]])
                row[column] = json.dumps(whole)
                return audit(BuiltInstance(rows))
    raise LookupError(suite)


FREQUENCY = ("equations", "frequency")


@pytest.mark.parametrize(
    ("suite", "side", "path", "edit", "message"),
    [
        ("main-4", "public", ("records", 1, "frequency"), lambda value: value + 0.01,
         "record 2: frequency is not what its equation gives"),
        ("quad-hard", "public", ("records", 1, "frequency"), lambda value: value + 0.01,
         "record 2: frequency is not"),
        ("main-4", "private", ("frequency",), lambda value: value + 0.01,
         "the reactor: frequency is not"),
        ("main-4", "public", ("opening",), lambda one: {**one, min(one): one[min(one)] + 1},
         "the opening: "),
        ("0o6i-4", "private", ("base",), lambda value: value + 1, "the opening: frequency is not"),
        ("golden-4", "public", ("chain", 3, "reading", "frequency"), lambda value: value - 0.02,
         "step 4 of the trace: frequency is not"),
        ("golden-4", "public", ("chain",), lambda steps: [steps[1], steps[0], *steps[2:]],
         "step 1 of the trace"),
        ("main-4", "private", (*FREQUENCY, 0, "linear"), lambda value: value * 1.001,
         "is none of its setting"),
        ("quad-hard", "private", (*FREQUENCY, 0, "linear"), lambda value: value * 1.001,
         "frequency is not"),
        ("main-4", "private", FREQUENCY, lambda terms: terms[:-1], "other edges than the graph"),
        ("main-4", "public", ("budget",), lambda value: value + 1, "not the suite's"),
        ("hidden-range-5", "private", ("disturbance", "sequence", 0), lambda _: 4.0,
         "wrong values"),
        ("hidden-range-5", "private", ("disturbance", "nodes"), lambda _: ["frequency"],
         "wrong nodes"),
        ("hidden-range-5", "public", ("shifts",), lambda _: [-50.0, 0.0, 50.0],
         "the wrong shifts are told"),
        ("main-4", "public", ("shifts",), lambda _: [0.0], "the wrong shifts are told"),
        ("hidden-range-5-disclosed", "public", ("shifts",), lambda _: None,
         "the wrong shifts are told"),
        ("main-4", "public", ("reactor_range",), lambda _: [0.0, 1.0],
         "outside the reactor's range"),
    ],
)  # fmt: skip
def test_a_planted_error_is_found_and_named(suite, side, path, edit, message):
    problems = changed(suite, side, path, edit)
    assert problems and all(suite in problem for problem in problems)
    assert any(re.search(message, problem) for problem in problems), problems


def test_a_missing_truth_and_a_stranger_are_problems() -> None:
    rows = copy.deepcopy(BUILT[0].rows)
    rows["causalab_truth"][0]["task_id"] = "lab-ffffffffffffffff"
    problems = audit(BuiltInstance(rows))
    assert any("no truth" in problem for problem in problems)
    assert any("a truth of no task" in problem for problem in problems)
