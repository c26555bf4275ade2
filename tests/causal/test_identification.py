"""Identification against the definition: enumerated models for yes, twin models for no."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from finite_models import FiniteSCM, joint_distribution, random_scm, true_effect
from formula_text import formula
from functionals import Estimand, identify
from random_queries import random_query
from twin_models import find_witness

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable, obstacle
from builder.causal.motifs import MOTIFS, PLANTED

# effect, binary_treatment, levels of the treatment
ASKED = (
    ("ate", False, 2),
    ("ett", True, 2),
    ("ett", False, 3),
    ("nde", False, 2),
    ("nie", False, 2),
)


def graph(edges: str, latent: str = "") -> LatentDAG:
    pairs = tuple(tuple(edge.split(">")) for edge in edges.split())
    nodes = tuple(dict.fromkeys(node for pair in pairs for node in pair))
    return LatentDAG(nodes, pairs, frozenset(latent.split()))


NAPKIN = PLANTED["napkin"].graph
CONFOUNDED_MEDIATION = PLANTED["mediation_confounded"].graph
BOW = graph("X>Y U>X U>Y", "U")


def _check_value(rng, g, x, y, effect, binary, treatment_levels, other_levels=2) -> bool:
    """Compare the functional with the truth of one random model; False when not identified."""
    found = identify(g, x, y, effect, binary_treatment=binary)
    if found is None:
        return False
    levels = dict.fromkeys(g.nodes, other_levels) | {x: treatment_levels}
    scm = random_scm(rng, g, levels, noise_levels=3)
    value = found.evaluate(joint_distribution(scm), g.observed)
    assert value == pytest.approx(true_effect(scm, x, y, effect), abs=1e-9), (g, x, y, str(found))
    if not found.terms:
        assert value == 0
    return True


@pytest.mark.parametrize("name", MOTIFS)
def test_motif_functionals_return_the_true_effect(name: str) -> None:
    """A formula that is off on one motif is off on a third of the scenes."""
    motif = MOTIFS[name]
    rng = np.random.default_rng(4)
    for effect, binary, treatment_levels in ASKED:
        for other_levels in (2, 3):
            query = (motif.graph, motif.treatment, motif.outcome)
            _check_value(rng, *query, effect, binary, treatment_levels, other_levels)


def test_functionals_on_random_graphs_return_the_true_effect() -> None:
    """Soundness: a "yes" with a wrong formula is a wrong truth in the release."""
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for _ in range(400):
        g, x, y = random_query(rng)
        for effect, binary, treatment_levels in ASKED:
            seen[effect] += _check_value(rng, g, x, y, effect, binary, treatment_levels)
    assert min(seen.values()) > 300, seen


def test_an_effect_that_is_not_identified_has_twin_models() -> None:
    """Completeness: a "no" about an identifiable effect would punish a right answer."""
    rng = np.random.default_rng(6)
    seen: Counter[str] = Counter()
    for _ in range(400):
        g, x, y = random_query(rng, latent=(1, 3))
        for effect, binary, treatment_levels in ASKED:
            found = obstacle(g, x, y, effect, binary_treatment=binary)
            if found is not None:
                pair = find_witness(rng, g, x, y, effect, treatment_levels=treatment_levels)
                assert pair is not None, (g, x, y, effect, found)
                seen[found] += 1
    assert set(seen) == {"hedge", "treatment_district", "recanting_district", "latent_mediator"}


@pytest.mark.parametrize("name", MOTIFS)
def test_every_no_about_a_motif_has_twin_models(name: str) -> None:
    """Shipped abstention labels must be provable one by one, by search over the motif itself."""
    motif = MOTIFS[name]
    rng = np.random.default_rng(7)
    for effect, binary, treatment_levels in ASKED:
        query = (motif.graph, motif.treatment, motif.outcome)
        if not is_identifiable(*query, effect, binary_treatment=binary):
            pair = find_witness(rng, *query, effect, treatment_levels=treatment_levels, gap=0.01)
            assert pair is not None
            _assert_twins(pair.first, pair.second, *query[1:], effect, gap=0.01)


@pytest.mark.parametrize("name", ["iv", "double_nc"])
@pytest.mark.parametrize("effect", ["ate", "ett", "nde"])
def test_cause_or_common_cause_look_the_same(name: str, effect: str) -> None:
    """The twins by hand: Y copies X in one, and in the other U, which X copies."""
    motif = MOTIFS[name]
    g, x = motif.graph, motif.treatment
    base = random_scm(np.random.default_rng(8), g, dict.fromkeys(g.nodes, 2), noise_levels=2)
    copies_u = _table(base, x, lambda parents, noise: parents["U"])
    flip = lambda source: lambda parents, noise: parents[source] ^ noise  # noqa: E731
    causal = _table(copies_u, "Y", flip(x))
    spurious = _table(copies_u, "Y", flip("U"))
    _assert_twins(causal, spurious, x, "Y", effect, gap=0.1)
    assert true_effect(spurious, x, "Y", effect) == 0


@pytest.mark.parametrize("effect", ["nde", "nie"])
def test_confounded_mediation_hides_the_cross_world_response(effect: str) -> None:
    """The twins by hand: M = U xor X, and Y differs only where M would contradict X."""
    g = CONFOUNDED_MEDIATION
    base = random_scm(np.random.default_rng(9), g, dict.fromkeys(g.nodes, 2), noise_levels=2)
    base = _table(base, "M", lambda parents, noise: parents["U"] ^ parents["X"])

    def outcome(off_support: int):
        return lambda p, noise: noise if p["M"] == p["U"] ^ p["X"] else off_support

    _assert_twins(
        _table(base, "Y", outcome(0)), _table(base, "Y", outcome(1)), "X", "Y", effect, gap=0.1
    )
    assert is_identifiable(g, "X", "Y", "ate")
    assert not is_identifiable(g, "X", "Y", "nde")
    assert not is_identifiable(g, "X", "Y", "nie")


def test_napkin_separates_the_treated_from_everyone_beyond_two_levels() -> None:
    """With two levels the consistency identity makes the ETT a copy of the ATE; not with three."""
    assert is_identifiable(NAPKIN, "X", "Y", "ate")
    assert is_identifiable(NAPKIN, "X", "Y", "ett", binary_treatment=True)
    assert not is_identifiable(NAPKIN, "X", "Y", "ett", binary_treatment=False)
    rng = np.random.default_rng(10)
    assert _check_value(rng, NAPKIN, "X", "Y", "ate", False, 3)
    assert _check_value(rng, NAPKIN, "X", "Y", "ett", True, 2)
    assert find_witness(rng, NAPKIN, "X", "Y", "ett", treatment_levels=3, gap=1e-4) is not None


def test_napkin_twins_differ_for_the_treated_of_three_levels() -> None:
    """The twins by hand: among U1 = 1, W tells Y(0) in one model and its opposite in the other.

    Y(0) is U2, the other responses are coins, X is U1 unless Z sends it to 2, and Z follows W. So
    what W tells about Y(0) is never seen, because X = 1 there, yet it decides who gets X = 1.
    """
    levels = dict.fromkeys(NAPKIN.nodes, 2) | {"X": 3, "U1": 3}
    base = random_scm(np.random.default_rng(15), NAPKIN, levels, noise_levels=2)
    fair = {"U2": np.array([0.5, 0.5]), "W": np.array([0.5, 0.5]), "Z": np.array([0.9, 0.1])}
    base = replace(base, noise={**base.noise, **fair})
    base = _table(base, "Z", lambda p, noise: p["W"] ^ noise)
    base = _table(base, "X", lambda p, noise: 2 if p["Z"] and noise else p["U1"])
    base = _table(base, "Y", lambda p, noise: noise if p["X"] else p["U2"])
    tells, inverts = (
        _table(base, "W", lambda p, noise, flip=flip: p["U2"] ^ flip if p["U1"] == 1 else noise)
        for flip in (0, 1)
    )
    _assert_twins(tells, inverts, "X", "Y", "ett", gap=0.1)
    assert true_effect(tells, "X", "Y", "ate") == pytest.approx(
        true_effect(inverts, "X", "Y", "ate")
    )


def test_the_search_finds_no_twins_for_an_identified_effect() -> None:
    """Twins of an identified effect would mean that the search, not the verdict, is broken."""
    rng = np.random.default_rng(11)
    for name in ("frontdoor", "confounding", "mediation"):
        motif = MOTIFS[name]
        for effect in ("ate", "ett", "nde", "nie"):
            assert find_witness(rng, motif.graph, "X", "Y", effect, treatment_levels=3) is None


def test_direct_and_indirect_effects_vanish_without_their_paths() -> None:
    """A structurally zero effect is identified even in a hopelessly confounded graph."""
    confounded_chain = graph("X>M M>Y U>X U>M U>Y", "U")
    assert not is_identifiable(confounded_chain, "X", "Y", "ate")
    assert identify(confounded_chain, "X", "Y", "nde") == Estimand("nde", "X", "Y", ())
    assert not is_identifiable(confounded_chain, "X", "Y", "nie")
    assert identify(BOW, "X", "Y", "nie") == Estimand("nie", "X", "Y", ())
    assert not is_identifiable(BOW, "X", "Y", "nde")
    assert identify(BOW, "Y", "X", "ett") == Estimand("ett", "Y", "X", ())


def test_an_unseen_mediator_beside_the_direct_edge_blocks_mediation() -> None:
    """The projection merges the two routes, so its criterion alone would say yes."""
    g = graph("X>L L>Y X>Y", "L")
    assert is_identifiable(g, "X", "Y", "ate")
    assert obstacle(g, "X", "Y", "nde") == "latent_mediator"
    only_unseen = graph("X>L L>Y", "L")
    assert identify(only_unseen, "X", "Y", "nde") == Estimand("nde", "X", "Y", ())
    assert is_identifiable(only_unseen, "X", "Y", "nie")


@pytest.mark.parametrize(
    ("name", "effect", "text"),
    [
        ("confounding", "ate", "Σ_{Z} P(Z) P(Y | Z, X=x1)"),
        ("frontdoor", "ate", "Σ_{Z} P(Z | X=x0) (Σ_{X′} P(X′) P(Y | X′, Z))"),
        ("mediation", "nde", "Σ_{M} P(M | X=x0) P(Y | X=x1, M)"),
        ("fork", "ate", "0"),
    ],
)
def test_functionals_are_those_of_the_textbook(name: str, effect: str, text: str) -> None:
    """Bound and fixed X must not be confused."""
    found = identify(MOTIFS[name].graph, "X", "Y", effect)
    assert isinstance(found, Estimand) and text in formula(found)


@pytest.mark.parametrize(
    ("x", "y", "effect", "message"),
    [
        ("U", "Y", "ate", "treatment 'U' is latent"),
        ("X", "U", "ate", "outcome 'U' is latent"),
        ("X", "X", "ate", "must differ"),
        ("X", "Q", "ate", "unknown node 'Q'"),
    ],
)
def test_impossible_questions_are_refused(x: str, y: str, effect: str, message: str) -> None:
    """An exception is a failed build; a made-up verdict would be a wrong label."""
    with pytest.raises(ValueError, match=message):
        is_identifiable(BOW, x, y, effect)


def _table(scm: FiniteSCM, name: str, function) -> FiniteSCM:
    """Replace one mechanism: `function(parent levels by name, noise level) -> level`."""
    parents = scm.graph.parents(name)
    table = np.empty_like(scm.tables[name])
    for cell in np.ndindex(table.shape):
        table[cell] = function(dict(zip(parents, cell[:-1], strict=True)), cell[-1])
    return replace(scm, tables={**scm.tables, name: table})


def _assert_twins(one: FiniteSCM, two: FiniteSCM, x: str, y: str, effect: str, gap: float) -> None:
    assert np.abs(joint_distribution(one) - joint_distribution(two)).max() < 1e-12
    assert abs(true_effect(one, x, y, effect) - true_effect(two, x, y, effect)) >= gap
