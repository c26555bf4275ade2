"""Every verdict on motifs, grafts and random graphs, by definition and by others' programs."""

import numpy as np
import pytest
from verdicts import QUESTIONS, compare, named_queries, queries


def test_every_verdict_of_a_small_run_is_proved() -> None:
    """The same run at full size is the evidence behind the labels."""
    tally = compare(queries(100, 2))
    assert len(named_queries()) == 267
    assert {question for question, *_ in tally.counts} == {one.label for one in QUESTIONS}
    assert tally.disagreements == []
    assert tally.worst_error < 1e-9


@pytest.mark.slow
def test_every_verdict_on_20000_graphs_is_proved() -> None:
    """The published count: each yes by its value, each no by twin models."""
    tally = compare(queries(20_000, 1))
    assert tally.disagreements == []
    assert tally.worst_error < 1e-9
    assert np.isfinite(tally.smallest_gap)
