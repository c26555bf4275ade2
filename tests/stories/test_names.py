"""Names: distinct, readable, blind to the graph, from domains that say nothing of it, and found as
networkx finds them."""

import re
from collections import Counter
from functools import cache

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import DiGraphMatcher

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import is_identifiable
from builder.graphs.motifs import MOTIFS, PLANTED, random_graft
from builder.splits.settings import TomlTable
from builder.stories import naming
from builder.stories.knowledge import Domain, domain, domains
from builder.stories.naming import LARGEST_SHARE, Namer, matches, part_of, pattern
from builder.stories.types import Kind
from builder.stories.verbalise import invent_scene, invented_words, themes
from builder.stories.verify import NO_UNIT
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.plan.config import SceneSettings, parse_config
from builder.tracks.causalds.plan.scenes import plan_scenes
from grader.io.names import confusable, known_name, normal_name

KINDS: dict[str, Kind] = dict.fromkeys("XY", "binary") | dict.fromkeys("MZUW", "continuous")


def test_no_answer_can_mean_two_variables_of_a_scene() -> None:
    """An answer's spelling is read generously: "Ferry times" must not be two variables; a name
    inside another would make edge sentences ambiguous. A repeated set would tell that two rows come
    from one scene. Those of a domain have a linter."""
    scenes = [invent_scene(np.random.default_rng([7, i]), KINDS)[1] for i in range(1000)]
    assert len({frozenset(v.name for v in scene.values()) for scene in scenes}) == 1000
    for variables in scenes[:400]:
        names = [variable.name for variable in variables.values()]
        assert confusable(names) == []
        assert all(re.fullmatch(r"[A-Z][a-z]+( [a-z]+)+", name) for name in names), names
        for node, variable in variables.items():
            assert variable.kind == KINDS[node]
            assert (variable.states is not None) == (variable.kind == "binary")
            assert (variable.unit is not None) == (variable.kind == "continuous")
        normal = [normal_name(name) for name in names]
        assert not [(a, b) for i, a in enumerate(normal) for b in normal[:i] if a in b or b in a]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Age (years)", "age"),
        ("Pulse rates", "Pulse rate"),
        ("Pulse rate score", "Pulse rate"),
        ("Pulse\u2014rate.", "'Pulse-rate'"),
    ],
)
def test_confusable_names_are_found_whichever_comes_first(one: str, other: str) -> None:
    assert {*confusable([one, "Dose", other])} & {(one, other), (other, one)}


def test_the_other_number_of_a_last_word_is_read_by_an_s_alone() -> None:
    """Conservative, as published: no s is taken from is, ss and us, nor from two letters."""
    assert known_name("Visits", {"visit"}) == known_name("visit", {"visit"}) == "visit"
    assert known_name("Gas", {"ga"}) == "ga" and known_name("Virus", {"viru"}) == "virus"
    assert known_name("Viru", {"virus"}) == "virus"
    assert known_name("Stress", {"stres"}) == "stress" and known_name("Cs", {"c"}) == "cs"
    assert known_name("Basis", {"basi"}) == "basis"
    assert known_name("", {"s"}) == ""


def test_names_do_not_depend_on_which_role_a_variable_plays() -> None:
    """Only position and kind may enter; otherwise names would hint at treatment or outcome."""
    relabelled = {f"role{i}": kind for i, kind in enumerate(KINDS.values())}
    for i in range(50):
        first = invent_scene(np.random.default_rng(i), KINDS)[1]
        second = invent_scene(np.random.default_rng(i), relabelled)[1]
        assert list(first.values()) == list(second.values())


def test_vocabularies_are_large_and_well_formed() -> None:
    """Small or sloppy lists would bring repeated names or unreadable stories."""
    assert len(invented_words("tails")) > 2000
    assert len(invented_words("town_tails")) > 1000
    for theme in themes():
        nouns = [noun for noun, *_ in (*theme.continuous, *theme.binary)]
        key = theme.scenery.key
        assert len(set(nouns)) == len(nouns), key
        assert len(theme.continuous) >= 14 and len(theme.binary) >= 6, key
        assert not [unit for _, unit in theme.continuous if NO_UNIT.match(unit)], key
        assert all(text.count("{town}") == 1 for text in theme.scenery.settings), key
        for _, zero, one in theme.binary:
            assert zero.startswith("is ") and one.startswith("is ") and zero != one
    # Repeating a noun silently would break the promise that nouns are distinct.
    kinds: dict[str, Kind] = {f"v{i}": "continuous" for i in range(40)}
    with pytest.raises(ValueError, match="40 continuous variables"):
        invent_scene(np.random.default_rng(0), kinds)


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
    """A repeated set of names would tell that two rows come from one world, and a story of the exam
    might stand in the development set. Who knows one field well should gain little."""
    sets: Counter[frozenset[str]] = Counter()
    for part, plans in (("public", public()), ("private", private())):
        for plan in plans:
            names = list(dict(plan.telling.names).values())
            assert part_of(str(plan.telling.domain), names) == part
            sets[frozenset(names)] += 1
    assert max(sets.values()) == 1
    counts = Counter(plan.telling.domain for plan in public())
    assert max(counts.values()) <= LARGEST_SHARE * len(public())
    assert len(counts) >= 0.9 * len(domains())


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
    """Two thousand collider-like scenes of one motif cannot all have names of their own."""
    name = Namer.name
    given_out = lambda *told: name(*told) if told[-1] == ("yes",) else None  # noqa: E731
    monkeypatch.setattr(Namer, "name", given_out)
    table = {"scenes": 8, "motifs": {"triangle": 1}, "treatment_binary": 1.0}
    plans = _plans(parse_config(TomlTable(table, "here.")))
    for plan in plans:
        names = dict(plan.telling.names)
        assert names.keys() == set(plan.structure.query.graph.nodes)
        assert part_of(str(plan.telling.domain), list(names.values())) == "public"


def test_a_namer_prefers_fresh_names_and_never_repeats_a_match(monkeypatch):
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


AUXILIARY = {"chain": 1.0, "collider": 1.0, "triangle": 1.0}


def _by_networkx(graph: LatentDAG, kinds: dict[str, Kind], domain: Domain) -> set[frozenset[str]]:
    """Names of all matches, as (node=name) pairs, by the general matcher."""
    host: nx.DiGraph[str] = nx.DiGraph(list(domain.mechanism_clauses))
    for concept in domain.concepts:
        host.add_node(concept.name, kinds=concept.kinds, latent=concept.latent)
    wanted: nx.DiGraph[str] = nx.DiGraph(list(graph.edges))
    for node in graph.nodes:
        wanted.add_node(node, kind=kinds[node], latent=node in graph.latent)

    def fits(there: dict, here: dict) -> bool:
        return here["kind"] in there["kinds"] and (there["latent"] or not here["latent"])

    found = DiGraphMatcher(host, wanted, node_match=fits).subgraph_isomorphisms_iter()
    return {frozenset(f"{node}={name}" for name, node in match.items()) for match in found}


def _found(graph: LatentDAG, kinds: dict[str, Kind], domain: Domain, order: list[int]) -> list:
    """Names of all matches that the search finds, as (node=name) pairs."""
    shape = pattern(graph, tuple(kinds[node] for node in graph.nodes))
    names = [concept.name for concept in domain.concepts]
    return [
        frozenset(f"{node}={names[i]}" for node, i in zip(shape.nodes, match, strict=True))
        for match in matches(shape, domain, order)
    ]


@pytest.mark.parametrize("name", [*MOTIFS, *PLANTED])
def test_the_search_finds_exactly_the_induced_matches_of_a_motif(name: str) -> None:
    """A match that is not induced tells a non-edge that its domain contradicts."""
    motif = {**MOTIFS, **PLANTED}[name]
    kinds = dict.fromkeys(motif.graph.nodes, "continuous") | {motif.treatment: "binary"}
    for one in domains()[:2]:
        found = _found(motif.graph, kinds, one, [*range(len(one.concepts))])
        assert len(found) == len(set(found))
        assert set(found) == _by_networkx(motif.graph, kinds, one)


def test_grafted_graphs_are_found_too_in_any_order_of_search() -> None:
    """Larger graphs are where a pruning mistake would show."""
    rng = np.random.default_rng(5)
    for _ in range(4):
        grown = random_graft(rng, MOTIFS["confounding"], AUXILIARY, 1)
        kinds = dict.fromkeys(grown.graph.nodes, "continuous") | {grown.outcome: "binary"}
        one = domains()[int(rng.integers(len(domains())))]
        order = rng.permutation(len(one.concepts)).tolist()
        found = _found(grown.graph, kinds, one, order)
        assert set(found) == _by_networkx(grown.graph, kinds, one)
