"""Statements mean the same to everyone who uses them, and proofs of uniqueness are right."""

from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, permutations, product

import networkx as nx
import numpy as np
import pytest
from pysat.solvers import Solver

from builder.causal.graph import LatentDAG
from builder.causalds.check.implied import satisfies
from builder.implied.choose import CannotImply, certified, imply, inference_steps
from builder.implied.cores import cores
from builder.implied.encoding import Encoding
from builder.implied.enough import Enough
from builder.implied.minimal import minimal_set
from builder.implied.reasoning import Reasoner, proves
from builder.implied.statements import KINDS, MOST, NEGATIONS, Statement, Truths, implied_share
from builder.reader import deduce

NAMES = ("Ash", "Bog", "Cup", "Dew")


@cache
def _graphs() -> tuple[LatentDAG, ...]:
    """All 543 DAGs over four names."""
    pairs = list(combinations(NAMES, 2))
    found = {}
    for order in permutations(NAMES):
        place = {name: i for i, name in enumerate(order)}
        for chosen in product((False, True), repeat=len(pairs)):
            edges = tuple(
                sorted(
                    (a, b) if place[a] < place[b] else (b, a)
                    for (a, b), there in zip(pairs, chosen, strict=True)
                    if there
                )
            )
            found[edges] = LatentDAG(NAMES, edges)
    return tuple(found.values())


@cache
def _statements() -> tuple[Statement, ...]:
    """Everything that can be said of four measured names."""
    two = [Statement(k, p) for k in ("direct", "not_direct", "moves", "still", "before")
           for p in permutations(NAMES, 2)]  # fmt: skip
    both = [Statement(k, p) for k in ("shared", "unshared") for p in combinations(NAMES, 2)]
    three = [Statement("only_through", p) for p in permutations(NAMES, 3)]
    one = [Statement(k, (v,), n) for k in ("causes", "effects") for v in NAMES for n in range(4)]
    return (*two, *both, *three, *one, *(Statement("total", (), n) for n in range(7)))


def test_there_are_543_graphs_of_four() -> None:
    """The number of labelled DAGs (OEIS A003024)."""
    assert len(_graphs()) == 543


def test_both_definitions_agree_on_every_statement() -> None:
    """Bitmasks and networkx, on every statement about a twelfth of all graphs of four."""
    for graph in _graphs()[::12]:
        truths, other = Truths(graph), nx.DiGraph(graph.edges)
        other.add_nodes_from(NAMES)
        for statement in _statements():
            expected = satisfies(other, frozenset(), statement)
            assert truths.holds(statement) == expected, (graph.edges, statement)


def test_unmeasured_variables_count_for_reach_alone() -> None:
    """Numbers and common sources are about measured variables."""
    graph = LatentDAG(("Ash", "Bog", "Fog"), (("Fog", "Ash"), ("Fog", "Bog")), frozenset({"Fog"}))
    truths = Truths(graph)
    assert truths.holds(Statement("causes", ("Ash",), 0))
    assert truths.holds(Statement("total", (), 0))
    assert truths.holds(Statement("unshared", ("Ash", "Bog")))
    assert truths.holds(Statement("reach", ("Fog", "Ash", "Bog")))
    assert not truths.holds(Statement("reach", ("Fog", "Ash")))


def test_both_encodings_count_as_enumeration_does() -> None:
    """For random sets of statements: whether any graph is left, one, or several, and what they
    have in common, against all 543 graphs."""
    rng = np.random.default_rng(5)
    kept = [Truths(graph) for graph in _graphs()]
    encoding = Encoding(NAMES)
    counts = set()
    for _ in range(150):
        true = kept[int(rng.integers(len(kept)))]
        size = int(rng.integers(1, 9))
        drawn = [_statements()[int(i)] for i in rng.permutation(len(_statements()))]
        said = [s for s in drawn if true.holds(s)][:size] + drawn[: int(rng.random() < 0.3)]
        left = [t.graph for t in kept if all(t.holds(s) for s in said)]
        assert encoding.possible(said) == bool(left)
        found = deduce(NAMES, [s.what for s in said])
        assert found.graphs == min(len(left), 2)
        if left:
            assert found.edges == set.intersection(*(set(graph.edges) for graph in left))
        counts.add(min(len(left), 2))
    encoding.close()
    assert counts == {0, 1, 2}


def test_numbers_as_they_are_force_what_their_clauses_force() -> None:
    """Which stories are told depends on what a solver that does not search sees to follow."""
    rng = np.random.default_rng(6)
    encoding = Encoding(NAMES)
    forced = 0
    for seed in range(60):
        truths = Truths(_drawn(seed))
        true = [s for s in _statements() if truths.holds(s)]
        numbers = [s for s in true if s.kind in ("causes", "effects", "total")]
        said = [some[int(i)] for some in (numbers, true) for i in rng.permutation(len(some))[:3]]
        said = list(dict.fromkeys(said))
        told = [(encoding.selector(s),) for s in said]
        parts = encoding.parts(said, numbers=False)
        with (
            Solver("minicard", [*encoding.clauses(parts), *told]) as native,
            Solver("minisat22", [*encoding.clauses(encoding.parts(said)), *told]) as written,
        ):
            for literals, most in encoding.at_most(said):
                native.add_atmost(literals, most)
            for literal in (sign * edge for edge in encoding.edge.values() for sign in (1, -1)):
                follows, expected = (
                    (possible, {v for v in found if possible and abs(v) <= len(encoding.edge)})
                    for possible, found in (
                        native.propagate([literal]),
                        written.propagate([literal]),
                    )
                )
                assert follows == expected, said
                forced += len(expected[1]) > 1
    encoding.close()
    assert forced > 200


def test_answers_given_before_change_none() -> None:
    """Whether statements are enough, asked of many sets in turn, is as asked of each alone."""
    rng = np.random.default_rng(7)
    answers = []
    for seed in range(8):
        graph = _drawn(seed)
        true = [s for s in _statements() if Truths(graph).holds(s) and s.kind != "direct"]
        encoding = Encoding(NAMES)
        reasoner = Reasoner(encoding, graph.edges)
        enough = Enough(encoding, Reasoner(encoding, graph.edges), graph.edges, true)
        said: list[Statement] = []
        for _ in range(40):
            # Most of what was said last, and some more: what one set tells bears on the next.
            more = [true[int(i)] for i in rng.permutation(len(true))[: rng.integers(5)]]
            said = list(dict.fromkeys([*(s for s in said if rng.random() < 0.93), *more]))
            answers.append(reasoner.proof(said) is not None)
            assert enough(said) == answers[-1], said
            few = reasoner.enough(said, said[::2])
            assert (few is not None) == answers[-1], said
            assert few is None or (few <= {*said} and reasoner.proof([*few]) is not None), said
        encoding.close()
    assert 0.2 < np.mean(answers) < 0.8


def _drawn(seed: int) -> LatentDAG:
    return _graphs()[int(np.random.default_rng(seed).integers(len(_graphs())))]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_stories_have_one_model_and_nothing_to_spare(share: float) -> None:
    """By enumeration: the statements leave the graph alone, and each of them is needed."""
    for seed in range(12):
        graph = _drawn(seed)
        found = imply(np.random.default_rng(seed), graph, share).statements
        said = [s for s in found if s.kind != "closure"]
        models = [t for t in map(Truths, _graphs()) if all(t.holds(s) for s in said)]
        assert [t.graph.edges for t in models] == [graph.edges]
        for left_out in said:
            fewer = [s for s in said if s != left_out]
            assert sum(all(t.holds(s) for s in fewer) for t in models) == 1
            assert any(
                all(Truths(g).holds(s) for s in fewer) for g in _graphs() if g.edges != graph.edges
            ), left_out


def _large(seed: int) -> LatentDAG:
    """A random graph of nine measured and two unmeasured variables."""
    rng = np.random.default_rng(seed)
    names = [f"Thing {letter}" for letter in "abcdefghi"]
    pairs = list(combinations([names[int(i)] for i in rng.permutation(9)], 2))
    edges = [pairs[int(i)] for i in rng.choice(len(pairs), 12, replace=False)]
    hidden = [(f"Fog {u}", names[int(i)]) for u in "xy" for i in rng.choice(9, 2, replace=False)]
    nodes = (*names, "Fog x", "Fog y")
    return LatentDAG(nodes, (*edges, *hidden), frozenset({"Fog x", "Fog y"}))


def test_larger_stories_are_proved_twice() -> None:
    """Nine variables: both encodings find one model, at the share asked for or above."""
    for seed in range(3):
        graph = _large(seed)
        share = (0.3, 0.6, 0.9)[seed]
        told = imply(np.random.default_rng(seed), graph, share)
        found = told.statements
        assert len(found) <= MOST and certified(graph, found)
        proof = deduce(graph.observed, [s.what for s in found])
        assert proof.graphs == 1 and proof.edges == set(graph.edges)
        assert implied_share(found, graph) >= share - 0.5 / 12
        assert not certified(graph, found[:-1]), "closure belongs to it"
        steps = inference_steps(graph, found)
        assert steps is not None
        edges = {edge for edge in graph.edges if edge[0] not in graph.latent}
        assert told.proof is not None and len(told.proof) == steps
        assert proves(told.proof, graph.observed, found, edges)
        assert not proves(told.proof[:-1], graph.observed, found, edges), "every step is needed"
        first, *later = told.proof
        turned = replace(first, there=not first.there)
        assert not proves([turned, *later], graph.observed, found, edges)
        for left_out in found[:-3]:
            assert inference_steps(graph, [s for s in found if s != left_out]) is None


def test_only_clear_pairs_are_told_to_make_a_difference() -> None:
    """A chain whose total effect is lost in the noise is not told."""
    graph = _large(4)
    for seed in range(4):
        told = imply(np.random.default_rng(seed), graph, 0.6, frozenset()).statements
        assert not {s.kind for s in told} & {"moves", "only_through"}


def test_outside_the_limits_nothing_is_implied() -> None:
    """Unmeasured variables have no causes in any model, so one that has cannot be told."""
    chain = LatentDAG(("Ash", "Fog", "Bog"), (("Ash", "Fog"), ("Fog", "Bog")), frozenset({"Fog"}))
    names = tuple(f"Thing {i}" for i in range(13))
    for graph in (chain, LatentDAG(names, tuple(pairwise(names)))):
        with pytest.raises(CannotImply):
            imply(np.random.default_rng(0), graph, 0.6)


def test_the_same_seed_tells_the_same() -> None:
    """Solvers are asked for yes and no alone."""
    graph = _large(1)
    told = [imply(np.random.default_rng(3), graph, 0.6).statements for _ in range(2)]
    assert told[0] == told[1]


def test_negations_go_first() -> None:
    """They are rare in what is left, though most of what is true of a graph is one."""
    told = [s for seed in range(4) for s in imply(np.random.default_rng(seed), _large(seed), 0.6)
            .statements]  # fmt: skip
    assert sum(s.kind in NEGATIONS for s in told) <= len(told) / 8


def test_a_core_forces_its_edge_and_nothing_smaller_does() -> None:
    """Against every subset, on four variables."""
    graph = next(g for g in _graphs() if len(g.edges) == 4)
    said = imply(np.random.default_rng(2), graph, 0.9).statements
    inner = [s for s in said if s.kind != "closure"]

    def forces(chosen: tuple[Statement, ...], edge: tuple[str, str]) -> bool:
        left = (t for t in map(Truths, _graphs()) if all(t.holds(s) for s in chosen))
        return all(edge in t.graph.edges for t in left)

    for edge, (core, smallest) in cores(graph, said).items():
        assert smallest and forces(core, edge)
        assert not any(forces(c, edge) for c in combinations(inner, len(core) - 1))


def test_minimal_sets_keep_what_is_preferred() -> None:
    """As deletion from the end would leave it."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        enough = [set(rng.choice(9, 3, replace=False).tolist()) for _ in range(4)]

        def suffices(items: object, enough: list[set[int]] = enough) -> bool:
            return any(one <= set(items) for one in enough)  # type: ignore[call-overload]

        expected = list(range(9))
        for item in range(8, -1, -1):
            if suffices([i for i in expected if i != item]):
                expected.remove(item)
        assert minimal_set(range(9), suffices) == expected
    assert minimal_set(range(9), lambda items: False) is None
    assert minimal_set(range(9), lambda items: True) == []


def test_records_of_statements_read_back() -> None:
    """World rows hold them as lists of words."""
    for statement in (*_statements(), Statement("reach", ("Fog", "Ash")), Statement("closure")):
        assert Statement.read(list(statement.what)) == statement
    for wrong in (["causes", "Ash"], ["direct", "Ash"], ["nears", "Ash", "Bog"], ["total", "x"],
                  ["moves", "Ash", "Ash"], ["closure", "Ash"]):  # fmt: skip
        with pytest.raises(ValueError, match=r"statement|invalid literal"):
            Statement.read(wrong)
    assert len(KINDS) == 13
