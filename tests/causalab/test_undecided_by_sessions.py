"""Under a disturbance: the pairs that nothing decides, against all sequences of experiments."""

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import pytest
from every_session import undecided_by_sessions
from lab_worlds import episodes, worlds

from builder.causalab.check.pairs import undecided_again
from builder.causalab.make.equations import Equations
from builder.causalab.make.undecided import Setup, undecided_pairs
from builder.causalab.plan.suites import SUITES
from builder.causalab.track import TRACK
from builder.settings import TomlTable
from grader.laboratory.episode import Episode
from grader.laboratory.model import Mode

HIDDEN = [suite for suite in SUITES.values() if suite.hidden is not None]


def agrees(episode: Episode) -> bool:
    """Whether truth, gate and sessions name the same pairs."""
    found = undecided_by_sessions(episode)
    return set(episode.undecided) == found == undecided_again(episode.public, episode.private)


def barred(found: list[Episode]) -> int:
    """How many of the episodes have a property that cannot be set."""
    return sum(len(e.controllable) < len(e.names) for e in found)


def test_sessions_decide_what_cannot_be_set_and_what_can() -> None:
    """The opening beside two experiments of one length, one with the property set, one without."""
    found = episodes("hidden-range-5", "wide", 10, seed="sessions")
    assert barred(found) == 5
    assert all(agrees(episode) for episode in found)
    assert not any(episode.undecided for episode in found)


@pytest.mark.slow
def test_every_hidden_suite_agrees_with_all_sequences_of_experiments() -> None:
    """As a release has them: every suite and setting on 24 graphs, planned and built."""
    table = {"graphs": 24, "suites": [suite.name for suite in HIDDEN]}
    config = TRACK.parse(TomlTable(table, "x."))
    found = [
        Episode.of(
            str(task["task_id"]),
            json.loads(str(task["inputs_json"])),
            json.loads(str(truth["target_json"])),
        )
        for spec in TRACK.plan(config, "dev", b"all sessions", False)
        for rows in [TRACK.build(spec).rows]
        for task, truth in zip(rows["causalab"], rows["causalab_truth"], strict=True)
    ]
    assert (len(found), barred(found)) == (288, 36)
    assert [(e.private["suite"], e.private["setting"]) for e in found if not agrees(e)] == []
    assert not any(episode.undecided for episode in found), "told sizes have nothing to decide"


def narrowed(
    public: Mapping[str, Any], private: Mapping[str, Any], settable: tuple[str, ...], budget: int
) -> Episode:
    """The episode with fewer properties that can be set and a smaller budget, derived anew."""
    variables = [{**v, "controllable": v["name"] in settable} for v in public["variables"]]
    public = {**public, "variables": variables, "budget": budget}
    episode = Episode.of("lab-0000000000000000", public, private)
    setup = Setup(
        equations=Equations(episode.model.equations, episode.model.base),
        family=episode.family,
        mode=episode.mode,
        controllable=frozenset(settable),
        budget=budget,
        disturbed=episode.disturbance is not None,
        target_acts=public["frequency_may_be_parent"],
        records=private["records"],
        chain=(),
        manipulator=private["manipulator"],
    )
    private = {**private, "undecided": [list(pair) for pair in undecided_pairs(setup)]}
    return Episode.of("lab-0000000000000000", public, private)


def narrow_ones(name: str, mode: Mode, count: int) -> Iterator[Episode]:
    for parts in worlds(name, "wide", count, mode, seed="narrow"):
        names = [entry["name"] for entry in parts.public["variables"]]
        for size in (1, 2, 3):
            for settable in combinations(names, size):
                for budget in (1, 2, 4):
                    yield narrowed(parts.public, parts.private, settable, budget)


@pytest.mark.parametrize("mode", ["shift", "do"])
@pytest.mark.parametrize("name", ["hidden-range-50", "main-4", "freqparent-4"])
def test_few_settable_properties_and_small_budgets(name: str, mode: Mode) -> None:
    """Where only one property can be set, no experiment without it stands beside one with it."""
    found = list(narrow_ones(name, mode, 2))
    assert all(agrees(episode) for episode in found)
    assert len({episode.undecided for episode in found}) > 2


def test_a_disturbance_of_parabolas_is_judged_alike() -> None:
    """No suite has one, so it stands for itself: the builder's answer and the gate's."""
    hidden = {"nodes": ["frequency"], "values": [-5.0, 0.0, 5.0], "sequence": [0.0] * 12}
    found = set()
    for parts in worlds("quad-hard", count=3, seed="parabolas"):
        public, private = {**parts.public, "shifts": hidden["values"]}, {**parts.private}
        private["disturbance"] = hidden
        names = [entry["name"] for entry in public["variables"]]
        for size in (1, 2, 3):
            for settable in combinations(names, size):
                episode = narrowed(public, private, settable, 12)
                again = undecided_again(episode.public, episode.private)
                assert set(episode.undecided) == again, settable
                found.add(episode.undecided)
    assert len(found) > 2
