"""What a prompt shows is true and audited; the reference agents do what the paper finds."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from statistics import mean
from typing import Any, get_args

import pytest
from laboratories import audit, episodes, grade, task_and_truth, verify, worlds

from baselines.causalab import RefusedRequest, greedy_stop, observer, run_session, solver
from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance
from builder.tracks.causalab.ask import write_prompt
from builder.tracks.causalab.episode import EpisodeParts
from builder.tracks.causalab.plan import PAPER, SIZES, SUITES, SuiteSetting
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
    """Matched with the disclosed one, and in the very words of the main suite, graph for graph."""
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


Figures = Mapping[str, Any]
AGENTS = {"solver": solver, "observer": observer, "greedy-stop": greedy_stop}
LINEAR = [
    (suite.name, setting)
    for suite in PAPER
    for setting in suite.settings
    if suite.hidden is None and suite.family == "linear" and not suite.golden
]


def play(name: str, found: Sequence[Episode]) -> list[Figures]:
    played = []
    for episode in found:
        row = {"task_id": episode.task_id, "public": episode.public, "private": episode.private}
        mark = grade(*task_and_truth(row), run_session(episode, AGENTS[name], name))
        assert mark.status == "scored", mark.message
        played.append(json.loads(mark.extra_json))
    return played


def all_solved(setting: SuiteSetting, name: str, count: int) -> list[tuple[Episode, Figures]]:
    """The episodes of a suite whose properties can all be set: graph, equation and target found."""
    drawn = episodes(name, setting, count, seed="agents")
    found = [e for e in drawn if len(e.controllable) == len(e.names)]
    pairs = list(zip(found, play("solver", found), strict=True))
    for episode, figures in pairs:
        right = figures["accurate"], figures["graph_exact"], figures["coefficient_f1"]
        assert right == (1, 1, 1) and figures["base_error"] < 0.15, (name, setting, episode.task_id)
    return pairs


def test_the_solver_recovers_linear_episodes_with_about_one_experiment_a_property() -> None:
    pairs = [pair for name, setting in LINEAR for pair in all_solved(setting, name, 2)]
    assert len(pairs) > 20
    assert mean(figures["used"] <= len(episode.nodes) for episode, figures in pairs) >= 0.9


def test_the_solver_recovers_quadratic_episodes_within_the_budget() -> None:
    pairs = all_solved("reference", "quad-hard", 12)
    assert all(9 <= figures["used"] <= episode.budget for episode, figures in pairs)


def test_the_observer_predicts_better_than_it_recovers_edges() -> None:
    """With at least k records the regression is exact, but tells nothing of the other edges."""
    for name in ("6o0i-4", "12o0i-4", "10o0i-6"):
        rows = play("observer", episodes(name, count=12))
        accuracy, edges = mean(r["accurate"] for r in rows), mean(r["edge_f1"] for r in rows)
        assert accuracy == 1 and edges < 0.9, name


def test_with_two_records_the_observer_does_neither_well() -> None:
    """Both fall with size: from about a third and three quarters to almost nothing and a third."""
    accuracy, recovery = [], []
    for size in SIZES:
        rows = play("observer", episodes(f"main-{size}", count=24))
        accuracy.append(mean(r["accurate"] for r in rows))
        recovery.append(mean(r["edge_f1"] for r in rows))
    assert max(accuracy) < 0.5 and mean(accuracy) < 0.25
    assert recovery == sorted(recovery, reverse=True)
    assert 0.6 < recovery[0] < 0.85 and 0.15 < recovery[-1] < 0.45


def test_greedy_stop_is_flagged_as_premature_and_the_solver_is_not() -> None:
    """Where its one experiment leaves other graphs equivalent."""
    for name in ("main-4", "main-5", "main-6"):
        found = episodes(name, count=8)
        greedy, patient = play("greedy-stop", found), play("solver", found)
        assert not any(r["premature"] for r in patient), name
        assert all(r["graph_consistent"] for r in greedy), "it fits all that it has seen"
        assert mean(r["edge_f1"] for r in greedy) < mean(r["edge_f1"] for r in patient)
        if greedy[0]["class_size"] is not None:
            assert mean(r["premature"] for r in greedy) >= 0.4, name


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_finishes_every_suite_without_a_refused_request(name: str) -> None:
    small = [(one.name, setting) for one in PAPER if one.size <= 5 for setting in one.settings]
    for suite, setting in small:
        for episode in episodes(suite, setting, 2):
            session = verify(episode, run_session(episode, AGENTS[name], name).encode())
            assert session.prediction is not None and session.hypotheses


@pytest.mark.parametrize("name", ["hidden-count-3", "hidden-range-50", "hidden-frequency-1"])
def test_the_solver_infers_a_disturbance_that_is_not_disclosed(name: str) -> None:
    """No model explains the readings, so it spends the budget as if it had been told."""
    for twin in (name, f"{name}-disclosed"):
        rows = play("solver", episodes(twin, count=4, seed="agents"))
        assert all(row["accurate"] for row in rows), twin
        assert mean(row["edge_f1"] for row in rows) > 0.95, twin
        assert mean(row["budget_share"] for row in rows) > 0.75, twin


@pytest.mark.parametrize("mode", ["pin", "do"])
def test_agents_work_in_the_other_modes_too(mode: Any) -> None:
    for figures in play("solver", episodes("main-4", count=6, mode=mode)):
        assert mode == "do" or (figures["accurate"] and figures["edge_f1"] == 1)


def test_an_agent_is_told_when_a_request_is_refused() -> None:
    (episode,) = episodes("main-3", count=1)

    def clumsy(laboratory: Any) -> None:
        laboratory.ask(op="intervene", name="frequency", value=3)

    with pytest.raises(RefusedRequest, match="frequency cannot be set"):
        run_session(episode, clumsy, "clumsy")
