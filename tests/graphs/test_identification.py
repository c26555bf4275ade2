"""Identification: twin models for every no; ``test_verdicts.py`` proves every yes."""

from collections import Counter

import numpy as np
import pytest
from functionals import Estimand, identify
from random_queries import random_query
from twin_models import find_witness

from builder.graphs.graph import LatentDAG
from builder.graphs.identification import is_identifiable, obstacle

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


BOW = graph("X>Y U>X U>Y", "U")


def test_an_effect_that_is_not_identified_has_twin_models() -> None:
    """Completeness: a "no" about an identifiable effect would punish a right answer."""
    rng = np.random.default_rng(6)
    seen: Counter[str] = Counter()
    for _ in range(250):
        g, x, y = random_query(rng, latent=(1, 3))
        for effect, binary, treatment_levels in ASKED:
            found = obstacle(g, x, y, effect, binary_treatment=binary)
            if found is not None:
                pair = find_witness(rng, g, x, y, effect, treatment_levels=treatment_levels)
                assert pair is not None, (g, x, y, effect, found)
                seen[found] += 1
    assert set(seen) == {"hedge", "treatment_district", "recanting_district", "latent_mediator"}


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
