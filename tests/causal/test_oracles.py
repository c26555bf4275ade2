"""Verdicts against other people's programs, where they are installed."""

import numpy as np
import oracles
import pytest
from random_queries import random_query

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.causal.motifs import MOTIFS

GRAPHS = 300


def _queries() -> list[tuple[LatentDAG, str, str]]:
    rng = np.random.default_rng(50)
    motifs = [(motif.graph, motif.treatment, motif.outcome) for motif in MOTIFS.values()]
    return motifs + [random_query(rng, latent=(1, 3)) for _ in range(GRAPHS)]


def _word(verdict: bool) -> str:
    return "yes" if verdict else "no"


def test_ate_verdicts_agree_with_y0() -> None:
    """A second implementation of ID by other authors."""
    pytest.importorskip("y0", reason="the oracle extra (y0==0.2.11) is not installed")
    for query in _queries():
        assert oracles.y0_ate(*query) == _word(is_identifiable(*query, "ate")), query


def test_ett_verdicts_agree_with_y0() -> None:
    """IDC* knows the treatment as one of many levels, so it is compared with that reading."""
    pytest.importorskip("y0", reason="the oracle extra (y0==0.2.11) is not installed")
    for query in _queries():
        assert oracles.y0_ett(*query) == _word(is_identifiable(*query, "ett")), query


def test_ate_verdicts_agree_with_pyagrum() -> None:
    """A third implementation, in C++."""
    pytest.importorskip("pyagrum", reason="the oracle extra (pyagrum) is not installed")
    for query in _queries():
        assert oracles.pyagrum_ate(*query) == _word(is_identifiable(*query, "ate")), query
