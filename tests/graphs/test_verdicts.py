"""Every verdict on motifs, grafts and random graphs, by definition and by others' programs."""

import numpy as np
import pytest
from random_queries import random_query, single_grafts
from verdicts import QUESTIONS, Query, check

from builder.graphs.motifs import HOSTS, MOTIFS, PLANTED, add_confounder


def named_queries() -> list[Query]:
    """Return the motifs, the planted structures, all single grafts; and each with X <- L -> Y."""
    grafts = [grown for name in HOSTS for grown in single_grafts(MOTIFS[name])]
    plain = [*MOTIFS.values(), *PLANTED.values(), *grafts]
    return [one.effect for motif in plain for one in (motif, add_confounder(motif))]


def random_queries(number: int, seed: int) -> list[Query]:
    return [random_query(np.random.default_rng([seed, i])) for i in range(number)]


@pytest.mark.slow
def test_every_verdict_of_a_small_run_is_proved() -> None:
    """The same run at full size is the evidence behind the labels."""
    named = named_queries()
    counts = check([*named[:28], *named[28::18], *random_queries(40, 2)], 2)
    assert all(counts[*question, verdict] > 4 for question in QUESTIONS for verdict in (0, 1))


@pytest.mark.slow
def test_every_verdict_on_20000_graphs_is_proved() -> None:
    """The published count: each yes by its value, each no by twin models."""
    check([*named_queries(), *random_queries(20_000, 1)], 1)
