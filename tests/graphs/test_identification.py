"""Identification: named cases; every verdict on motifs, grafts and random graphs, by definition and
by the program of others."""

from functools import partial

import numpy as np
import pytest
from random_queries import graph_of, random_query, single_grafts
from verdicts import QUESTIONS, Query, check

from builder.graphs.identification import (
    forbidden_controls,
    frontdoor_sets,
    identification_method,
    is_identifiable,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.graphs.motifs import HOSTS, MOTIFS, PLANTED, add_confounder

BOW = graph_of("X>Y U>X U>Y", "U")


def test_direct_and_indirect_effects_vanish_without_their_paths() -> None:
    """A structurally zero effect is identified even in a hopelessly confounded graph."""
    confounded_chain = graph_of("X>M M>Y U>X U>M U>Y", "U")
    assert not is_identifiable(confounded_chain, "X", "Y", "ate")
    assert is_identifiable(confounded_chain, "X", "Y", "nde")
    assert not is_identifiable(confounded_chain, "X", "Y", "nie")
    assert is_identifiable(BOW, "X", "Y", "nie")
    assert not is_identifiable(BOW, "X", "Y", "nde")
    assert is_identifiable(BOW, "Y", "X", "ett")


def test_an_unseen_mediator_beside_the_direct_edge_blocks_mediation() -> None:
    """The projection merges the two routes, so its criterion alone would say yes."""
    g = graph_of("X>L L>Y X>Y", "L")
    assert is_identifiable(g, "X", "Y", "ate")
    assert not is_identifiable(g, "X", "Y", "nde")
    only_unseen = graph_of("X>L L>Y", "L")
    assert is_identifiable(only_unseen, "X", "Y", "nde")
    assert is_identifiable(only_unseen, "X", "Y", "nie")


@pytest.mark.parametrize(
    "ask",
    [
        valid_adjustment_sets,
        minimal_adjustment_sets,
        forbidden_controls,
        identification_method,
        lambda *query: list(frontdoor_sets(*query)),
        *(partial(is_identifiable, effect=effect) for effect in ("ate", "ett", "nde", "nie")),
    ],
)
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ("U", "Y", "treatment 'U' is latent"),
        ("X", "U", "outcome 'U' is latent"),
        ("X", "X", "must differ"),
        ("X", "Q", "unknown node 'Q'"),
    ],
)
def test_impossible_questions_are_refused(ask, x: str, y: str, message: str) -> None:
    """An exception is a failed build; a made-up verdict would be a wrong label."""
    with pytest.raises(ValueError, match=message):
        ask(BOW, x, y)


def named_queries() -> list[Query]:
    """Return the motifs, the planted structures, all single grafts; and each with X <- L -> Y."""
    grafts = [grown for name in HOSTS for grown in single_grafts(MOTIFS[name])]
    plain = [*MOTIFS.values(), *PLANTED.values(), *grafts]
    return [one.effect for motif in plain for one in (motif, add_confounder(motif))]


def random_queries(number: int, seed: int) -> list[Query]:
    return [random_query(np.random.default_rng([seed, i])) for i in range(number)]


def test_every_verdict_of_a_small_run_is_proved() -> None:
    """The same run at full size is the evidence behind the labels."""
    named = named_queries()
    counts = check([*named[:28], *named[28::18], *random_queries(40, 2)], 2)
    assert all(counts[*question, verdict] > 4 for question in QUESTIONS for verdict in (0, 1))


@pytest.mark.slow
def test_every_verdict_on_20000_graphs_is_proved() -> None:
    """The published count: each yes by its value, each no by twin models."""
    check([*named_queries(), *random_queries(20_000, 1)], 1)
