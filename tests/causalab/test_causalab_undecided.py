"""The pairs that no experiment decides, against a search among all models."""

from fractions import Fraction
from random import Random

import pytest
from candidate_search import Candidate, disagreements, exact, graphs, search, truth
from lab_worlds import episodes, worlds

from builder.causalab.check.pairs import undecided_again
from builder.causalab.plan.suites import SUITES, Setting
from grader.laboratory.episode import Episode
from grader.laboratory.model import Mode

SMALL: tuple[tuple[str, Setting, Mode, int], ...] = (
    ("main-3", "reference", "shift", 6),
    ("main-3", "wide", "shift", 8),
    ("main-3", "wide", "pin", 8),
    ("main-3", "reference", "do", 6),
    ("main-4", "wide", "shift", 4),
    ("main-4", "wide", "pin", 6),
    ("main-4", "wide", "do", 4),
    ("freqparent-4", "reference", "shift", 4),
    ("freqparent-4", "wide", "shift", 6),
    ("freqparent-4", "reference", "pin", 10),
    ("freqparent-4", "reference", "do", 6),
    ("hidden-count-1", "reference", "shift", 4),
    ("hidden-range-5", "wide", "shift", 4),
    ("hidden-frequency-2", "reference", "pin", 2),
    ("golden-4", "reference", "shift", 4),
    ("golden-4", "reference", "do", 4),
    ("3o0i-4", "reference", "shift", 3),
    ("6o0i-4", "reference", "shift", 3),
    ("0o3i-4", "reference", "shift", 4),
    ("quad-hard", "reference", "shift", 2),
    ("quad-hard", "reference", "pin", 2),
)


def test_a_hundred_episodes_are_searched() -> None:
    assert sum(count for *_, count in SMALL) == 100


def test_there_are_as_many_acyclic_graphs_as_counted_long_ago() -> None:
    """Robinson's numbers of labelled acyclic digraphs."""
    assert [len(graphs(n)) for n in (1, 2, 3, 4)] == [1, 3, 25, 543]


@pytest.mark.parametrize(("name", "setting", "mode", "count"), SMALL)
def test_undecided_pairs_are_those_on_which_agreeing_models_differ(
    name: str, setting: Setting, mode: Mode, count: int
) -> None:
    """Every graph that fits all experiments exactly is found; each agrees in further sessions."""
    for episode in episodes(name, setting, count, mode, seed="search"):
        candidates = search(episode)
        assert episode.edges in {candidate.edges for candidate in candidates}
        assert disagreements(candidates) == set(episode.undecided)
        if episode.disturbance is None:
            for candidate in candidates[:6]:
                _agrees(episode, candidate)


def _agrees(episode: Episode, candidate: Candidate) -> None:
    """The candidate shows the truth's records, and its readings in random legal sessions."""
    model, random = truth(episode), Random(episode.task_id)
    for record in episode.private["records"]:
        bases = {name: exact(base) for name, base in record.items()}
        shown = model.state({**bases, episode.target: model.base}, {})
        assert candidate.state(candidate.bases_behind(shown), {}) == shown
    bases = {name: exact(base) for name, base in episode.private["manipulator"].items()}
    opening = model.state({**bases, episode.target: model.base}, {})
    for _ in range(3 if episode.budget else 0):
        settings = [
            (random.choice(episode.controllable), Fraction(random.randint(0, 10_000), 100))
            for _ in range(episode.budget)
        ]
        assert candidate.session(opening, episode.mode, settings) == model.session(
            opening, episode.mode, settings
        )


@pytest.mark.parametrize("name", ["main-5", "freqparent-4", "freqparent-6", "quad-hard"])
def test_shift_decides_everything_when_all_can_be_controlled_and_nothing_disturbs(
    name: str,
) -> None:
    """Edges out of frequency included: its base does not vanish, and settings show it."""
    assert all(not episode.undecided for episode in episodes(name, count=6))


def test_pin_leaves_edges_out_of_frequency_open_together_with_those_of_its_parents() -> None:
    found = [e for e in episodes("freqparent-4", count=20, mode="pin") if e.undecided]
    assert len(found) > 8
    for episode in found:
        causes = {cause for cause, effect in episode.edges if effect == episode.target}
        open_effects = {effect for cause, effect in episode.undecided if cause == episode.target}
        assert open_effects
        for effect in open_effects:
            shared = {cause for cause, other in episode.undecided if other == effect}
            assert causes - {effect} <= shared


def test_without_experiments_only_edges_into_frequency_can_be_decided() -> None:
    for episode in episodes("6o0i-4", count=5):
        names = set(episode.names)
        assert episode.undecided == {(a, b) for a in names for b in names if a != b}


@pytest.mark.parametrize("mode", ["shift", "pin", "do"])
@pytest.mark.parametrize(
    ("name", "setting"),
    [("main-7", "wide"), ("main-6", "wide"), ("freqparent-6", "wide"), ("golden-6", "reference")],
)
def test_larger_episodes_agree_with_the_derivation_from_total_effects(
    name: str, setting: Setting, mode: Mode
) -> None:
    for parts in worlds(name, setting, 4, mode, seed="effects"):
        stated = {(a, b) for a, b in parts.private["undecided"]}
        assert undecided_again(parts.public, parts.private) == stated


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["shift", "pin", "do"])
def test_every_suite_agrees_with_the_derivation_from_total_effects(mode: Mode) -> None:
    """Twenty graphs of every suite and setting."""
    for suite in SUITES.values():
        for setting in suite.settings:
            for parts in worlds(suite.name, setting, 20, mode, seed="all"):
                stated = {(a, b) for a, b in parts.private["undecided"]}
                assert undecided_again(parts.public, parts.private) == stated, suite.name
