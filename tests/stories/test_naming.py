"""Scenes get names of their own, from domains that say nothing about their graphs."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from builder.graphs.identification import is_identifiable
from builder.graphs.motifs import MOTIFS
from builder.splits.settings import TomlTable
from builder.stories import naming
from builder.stories.knowledge import domain, domains
from builder.stories.naming import LARGEST_SHARE, Namer, part_of
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.plan.config import SceneSettings, parse_config
from builder.tracks.causalds.plan.scenes import plan_scenes

FULL = parse_config(TomlTable({"scenes": 250, "composition": "full"}, "here."))


def _plans(config: SceneSettings, root: bytes = b"root", private: bool = False) -> list[ScenePlan]:
    specs = plan_scenes(config, "dev", root, private)
    return [ScenePlan.from_json(spec.config_json) for spec in specs]


@cache
def public() -> list[ScenePlan]:
    return _plans(FULL)


@cache
def private() -> list[ScenePlan]:
    return _plans(FULL.model_copy(update={"scenes": 120}), private=True)


def test_every_scene_is_an_induced_subgraph_of_its_domain() -> None:
    """Edges and non-edges are plausible only where the domain declares both."""
    for plan in [*public(), *private()]:
        assert plan.telling.domain is not None
        names, there = dict(plan.telling.names), domain(plan.telling.domain)
        concepts = {concept.name: concept for concept in there.concepts}
        assert sorted(names) == sorted(plan.structure.nodes)
        told = {(names[a], names[b]) for a, b in plan.structure.edges}
        inside = set(names.values())
        assert told == {(a, b) for a, b in there.mechanism_clauses if a in inside and b in inside}
        for node, kind in plan.structure.kinds.items():
            assert kind in concepts[names[node]].kinds
            assert node not in plan.structure.latent or concepts[names[node]].latent


def test_no_two_scenes_of_a_release_share_their_names() -> None:
    """A repeated set of names would tell that two rows come from one world."""
    both = [*public(), *private()]
    assert len({(plan.telling.domain, plan.telling.names) for plan in both}) == len(both)
    sets = Counter(frozenset(dict(plan.telling.names).values()) for plan in both)
    assert max(sets.values()) == 1


def test_public_and_private_splits_draw_from_sets_that_cannot_meet() -> None:
    """Otherwise a story of the exam might stand in the development set."""
    for part, plans in (("public", public()), ("private", private())):
        for plan in plans:
            assert (
                part_of(str(plan.telling.domain), list(dict(plan.telling.names).values())) == part
            )


def test_no_domain_tells_more_than_its_share() -> None:
    """A test taker who knows one field well should gain little."""
    counts = Counter(plan.telling.domain for plan in public())
    assert max(counts.values()) <= LARGEST_SHARE * len(public())
    assert len(counts) >= 0.9 * len(domains())


def test_planning_twice_gives_the_same_names_and_another_root_gives_others() -> None:
    small = FULL.model_copy(update={"scenes": 40})
    assert _plans(small) == _plans(small)
    names = [[plan.telling.names for plan in _plans(small, root)] for root in (b"one", b"two")]
    assert names[0] != names[1]


def test_domains_are_dealt_evenly_and_before_any_graph_is_seen() -> None:
    """A domain chosen to fit a graph would tell about the graph."""
    namer = Namer(np.random.default_rng(3), 200, "public")
    dealt = Counter(namer.deal() for _ in range(200))
    assert max(dealt.values()) - min(dealt.get(i, 0) for i in range(len(domains()))) <= 1


def test_a_structure_drawn_again_keeps_what_was_planned() -> None:
    """Composition and verdicts must not move because names ran out."""
    plain = _plans(FULL.model_copy(update={"words": "fictional"}))
    assert any(plan.structure.redrawn for plan in public())
    for plans in zip(plain, public(), strict=True):
        before, after = (plan.structure for plan in plans)
        assert (before.motif, before.label) == (after.motif, after.label)
        assert len(before.latent) == len(after.latent)
        verdicts = [is_identifiable(*one.query.effect, "ate") for one in (before, after)]
        assert verdicts[0] == verdicts[1]
        if not after.redrawn:
            assert before.edges == after.edges


def test_names_never_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand collider-like scenes of one motif cannot all have names of their own; once they
    could not be planned."""
    name = Namer.name
    given_out = lambda *told: name(*told) if told[-1] == ("yes",) else None  # noqa: E731
    monkeypatch.setattr(Namer, "name", given_out)
    table = {"scenes": 8, "motifs": {"triangle": 1}, "treatment_binary": 1.0}
    plans = _plans(parse_config(TomlTable(table, "here.")))
    for plan in plans:
        assert plan.telling.domain is not None and dict(plan.telling.names).keys() == set(
            plan.structure.query.graph.nodes
        )
        assert part_of(plan.telling.domain, [name for _, name in plan.telling.names]) == "public"


def test_a_namer_prefers_fresh_names_and_never_repeats_a_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only when every set is taken may a set come again, told another way."""
    monkeypatch.setattr(naming, "domains", lambda: domains()[:6])
    namer = Namer(np.random.default_rng(1), 10**6, "private")
    graph = MOTIFS["arrowhead"].graph
    kinds = dict.fromkeys(graph.nodes, "continuous")
    found = []
    while (words := namer.name(graph, kinds, namer.deal())) is not None:  # type: ignore[arg-type]
        found.append(words)
    assert len(found) == len(set(found)) > 20
    sets = [frozenset(dict(words.names).values()) for words in found]
    repeated = next((i for i in range(len(sets)) if sets[i] in sets[:i]), len(sets))
    assert set(sets[repeated:]) <= set(sets[:repeated])
