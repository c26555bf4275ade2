"""What a prompt shows is true, and the second derivation finds what is not."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, get_args

import pytest
from laboratories import audit, task_and_truth, worlds

from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance
from builder.tracks.causalab.ask import write_prompt
from builder.tracks.causalab.episode import EpisodeParts
from builder.tracks.causalab.suites import SUITES
from builder.tracks.causalab.track import TRACK
from causal_exams.laboratory.session import Session
from grader.laboratory.episode import Episode
from grader.laboratory.model import Mode
from grader.scoring.model import RawAnswer
from grader.scoring.score import check, score_answer

NAME = "lab-0000000000000000"
KINDS = ("main-3", "main-7", "quad-hard", "hidden-range-50", "freqparent-6", "golden-4", "5o0i-6")


def prompts(name: str, mode: Mode = "shift") -> Iterator[tuple[EpisodeParts, str]]:
    for setting in SUITES[name.removesuffix("-disclosed")].settings:
        for parts in worlds(name, setting, 2, mode, seed="prompt"):
            yield parts, write_prompt(parts.public, NAME, f"{NAME}.jsonl")


def shown_lines(text: str) -> list[str]:
    """The lines of the prompt's examples."""
    return [line for block in text.split("```")[1::2] for line in block.splitlines() if line]


@pytest.mark.parametrize("name", KINDS)
def test_the_laboratory_takes_every_line_of_the_example_and_its_rules_are_told(name: str) -> None:
    """Where something can be set, no form of one line is offered."""
    for parts, text in prompts(name):
        session = Session(Episode.load(NAME, parts.public, parts.private))
        requests: list[dict[str, Any]] = [json.loads(line) for line in shown_lines(text)]
        asked = [request for request in requests if "op" in request]
        assert all(session.request(request)["ok"] for request in asked)
        laboratory, budget = session.laboratory, parts.public["budget"]
        assert laboratory.phase == "closed" and len(laboratory.hypotheses) == 2
        assert {"predict", "hypothesis"} <= {request["op"] for request in asked}
        assert ("intervene" in str(requests)) == (len(asked) == len(requests)) == bool(budget)
        assert re.search(r"Edges make no circle(, and none leaves frequency)?\. A cause of", text)
        assert ("none leaves frequency" in text) != parts.public["frequency_may_be_parent"]
        assert ("c2_" in text) == (parts.public["family"] == "quadratic")


@pytest.mark.parametrize("name", ["golden-4", "golden-6", "12o0i-4", "20o0i-6"])
def test_the_example_of_the_one_line_form_passes(name: str) -> None:
    """Read whole by the grader's own check; the number in it is no task's answer."""
    for parts, text in prompts(name):
        row = {"task_id": NAME, "public": parts.public, "private": parts.private}
        task, truth = task_and_truth(row)
        (line,) = [line for line in shown_lines(text) if "op" not in json.loads(line)]
        raw = RawAnswer(task.answer_file, line.encode())
        checked = check(task, raw)
        assert (checked.status, checked.message) == ("scored", "")
        assert checked.answer.hypothesis.edges and checked.answer.hypothesis.terms
        assert not json.loads(score_answer(task, truth, raw).extra_json)["accurate"]


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hidden-range-0.5", "-0.5, 0 or 0.5"),
        ("hidden-frequency-2", "-5, 0 or 5"),
        ("hidden-range-50", "-50, 0 or 50"),
    ],
)
def test_a_disclosed_influence_is_told_with_its_size(name: str, says: str, mode: Mode) -> None:
    for parts, text in prompts(f"{name}-disclosed", mode):
        assert f"a hidden influence adds a number, {says}, drawn anew each time" in text
        assert "what it adds to others is computed from the shifted value" in text
        assert ("A property that is held does not feel it" in text) == (mode == "do")
        assert parts.public["shifts"] == parts.private["disturbance"]["values"]


@pytest.mark.parametrize("name", ["hidden-count-3", "hidden-range-50", "hidden-frequency-2"])
def test_an_undisclosed_influence_is_told_neither_by_prompt_nor_by_session(name: str) -> None:
    """Matched with the disclosed one, and in the very words of the main suite, graph for graph:
    nothing says that there is no influence either."""
    for (parts, text), (disclosed, _), (main, said) in zip(
        prompts(name), prompts(f"{name}-disclosed"), prompts("main-4"), strict=False
    ):
        assert parts.private == disclosed.private and parts.private["disturbance"]
        assert {**disclosed.public, "shifts": None} == parts.public
        assert re.sub(r"[\d.-]+", "", text) == re.sub(r"[\d.-]+", "", said)
        shown = Session(Episode.load(NAME, parts.public, parts.private)).greeting()["episode"]
        assert shown.keys() == main.public.keys() - {"shifts"}


@cache
def built_instances() -> list[BuiltInstance]:
    suites = ["main-4", "quad-hard", "hidden-range-5", "freqparent-4", "golden-4", "3o0i-4"]
    table = {"graphs": 2, "suites": [*suites, "0o6i-4"], "disclosed": [False, True]}
    config = TRACK.parse(TomlTable(table, "x."))
    return [TRACK.build(spec) for spec in TRACK.plan(config, "dev", b"second", False)]


def test_built_instances_have_no_problem_and_a_missing_truth_or_a_stranger_is_one() -> None:
    assert [audit(built) for built in built_instances()] == [[], [], [], []]
    rows = copy.deepcopy(built_instances()[0].rows)
    rows["causalab_truth"][0]["task_id"] = "lab-ffffffffffffffff"
    problems = audit(BuiltInstance(rows))
    assert any("no truth" in problem for problem in problems)
    assert any("a truth of no task" in problem for problem in problems)


Edit = Callable[[Any], Any]


def changed(suite: str, side: str, path: tuple[str | int, ...], edit: Edit) -> list[str]:
    """The problems after one place of the public or private side of an episode was edited."""
    for built in built_instances():
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
