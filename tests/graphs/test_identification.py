"""Identification: named cases; ``test_verdicts.py`` proves every yes and every no."""

from functools import partial

import pytest
from random_queries import graph_of

from builder.graphs.identification import (
    forbidden_controls,
    frontdoor_sets,
    identification_method,
    is_identifiable,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)

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
