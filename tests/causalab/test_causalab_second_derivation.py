"""The gate's second derivation finds what is wrong, and the floors are what the grader gives."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from builder.splits.settings import TomlTable
from builder.splits.track import Built
from builder.tracks.causalab.check import audit_instance
from builder.tracks.causalab.track import TRACK

SUITES = ["main-4", "quad-hard", "hidden-range-5", "freqparent-4", "golden-4", "3o0i-4", "0o6i-4"]


def build() -> list[Built]:
    table = {"graphs": 2, "suites": SUITES}
    config = TRACK.parse(TomlTable(table, "x."))
    return [TRACK.build(spec) for spec in TRACK.plan(config, "dev", b"second", False)]


BUILT = build()


def audit(built: Built) -> list[str]:
    (world,) = built.rows["causalab_worlds"]
    return audit_instance(
        world, built.rows["causalab_truth"], None, {"tasks": built.rows["causalab"]}
    )


def test_built_instances_have_no_problem() -> None:
    assert [audit(built) for built in BUILT] == [[], [], [], []]


def changed(suite: str, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> list[str]:
    """The problems after ``change`` was made to the public and private side of one episode."""
    for built in BUILT:
        rows = copy.deepcopy(built.rows)
        for task, truth in zip(rows["causalab"], rows["causalab_truth"], strict=True):
            public = json.loads(str(task["inputs_json"]))
            private = json.loads(str(truth["target_json"]))
            if private["suite"] == suite and private["setting"] == "reference":
                change(public, private)
                task["inputs_json"] = json.dumps(public)
                truth["target_json"] = json.dumps(private)
                return audit(Built(rows))
    raise LookupError(suite)


def move_reading(public: dict[str, Any], private: dict[str, Any]) -> None:
    public["records"][1]["frequency"] += 0.01


def move_target(public: dict[str, Any], private: dict[str, Any]) -> None:
    private["frequency"] += 0.01


def move_opening(public: dict[str, Any], private: dict[str, Any]) -> None:
    name = public["variables"][0]["name"]
    public["opening"][name] += 1


def move_base(public: dict[str, Any], private: dict[str, Any]) -> None:
    private["base"] += 1


def move_trace(public: dict[str, Any], private: dict[str, Any]) -> None:
    public["chain"][3]["reading"]["frequency"] -= 0.02


def swap_trace(public: dict[str, Any], private: dict[str, Any]) -> None:
    public["chain"][0], public["chain"][1] = public["chain"][1], public["chain"][0]


def scale_coefficient(public: dict[str, Any], private: dict[str, Any]) -> None:
    private["equations"]["frequency"][0]["linear"] *= 1.001


def drop_edge(public: dict[str, Any], private: dict[str, Any]) -> None:
    private["equations"]["frequency"].pop()


def wrong_budget(public: dict[str, Any], private: dict[str, Any]) -> None:
    public["budget"] += 1


def wrong_disturbance(public: dict[str, Any], private: dict[str, Any]) -> None:
    private["disturbance"]["sequence"][0] = 4.0


def disturb_another(public: dict[str, Any], private: dict[str, Any]) -> None:
    private["disturbance"]["nodes"] = ["frequency"]


def tell_another_size(public: dict[str, Any], private: dict[str, Any]) -> None:
    public["shifts"] = [-50.0, 0.0, 50.0]


def tell_of_a_shift(public: dict[str, Any], private: dict[str, Any]) -> None:
    public["shifts"] = [0.0]


def narrow_reactor(public: dict[str, Any], private: dict[str, Any]) -> None:
    public["reactor_range"] = [0.0, private["frequency"] - 1]


@pytest.mark.parametrize(
    ("suite", "change", "message"),
    [
        ("main-4", move_reading, "record 2: frequency is not what its equation gives"),
        ("quad-hard", move_reading, "record 2: frequency is not"),
        ("main-4", move_target, "the reactor: frequency is not"),
        ("main-4", move_opening, "the opening: "),
        ("0o6i-4", move_base, "the opening: frequency is not"),
        ("golden-4", move_trace, "step 4 of the trace: frequency is not"),
        ("golden-4", swap_trace, "step 1 of the trace"),
        ("main-4", scale_coefficient, "is none of its setting"),
        ("quad-hard", scale_coefficient, "frequency is not"),
        ("main-4", drop_edge, "other edges than the graph"),
        ("main-4", wrong_budget, "not the suite's"),
        ("hidden-range-5", wrong_disturbance, "wrong values"),
        ("hidden-range-5", disturb_another, "wrong nodes"),
        ("hidden-range-5", tell_another_size, "the wrong shifts are told"),
        ("main-4", tell_of_a_shift, "the wrong shifts are told"),
        ("main-4", narrow_reactor, "outside the reactor's range"),
    ],
)
def test_a_planted_error_is_found_and_named(
    suite: str, change: Callable[[dict[str, Any], dict[str, Any]], None], message: str
) -> None:
    problems = changed(suite, change)
    assert problems and all(suite in problem for problem in problems)
    assert any(re.search(message, problem) for problem in problems), problems


def test_a_missing_truth_and_a_stranger_are_problems() -> None:
    rows = copy.deepcopy(BUILT[0].rows)
    rows["causalab_truth"][0]["task_id"] = "lab-ffffffffffffffff"
    problems = audit(Built(rows))
    assert any("no truth" in problem for problem in problems)
    assert any("a truth of no task" in problem for problem in problems)
