"""The command that prints the table of agreements."""

import networkx as nx
import numpy as np
import pytest

from builder.causal.growth import HOSTS, confounded, single_grafts
from builder.causal.motifs import MOTIFS
from builder.causal.proof.agreement import (
    Query,
    Tally,
    compare,
    main,
    named_queries,
    queries,
    table,
)


def test_every_verdict_of_a_small_run_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    """The same run at full size is the evidence behind the labels."""
    assert main(["--graphs", "60", "--seed", "2"]) == 0
    shown = capsys.readouterr().out
    assert "267 motif and graft graphs and 60 random graphs, seed 2" in shown
    for label in ("ATE", "ETT, binary X", "ETT, ternary X", "NDE", "NIE"):
        row = next(line for line in shown.splitlines() if line.startswith(f"{label}  "))
        assert row.endswith(" 0"), row


def test_a_query_depends_on_its_number_alone() -> None:
    """A disagreement in a long run must be found again without repeating the run."""
    short = [query for query, _ in queries(3, 7)]
    long = [query for query, _ in queries(5, 7)]
    assert long[: len(short)] == short


def test_grafts_are_listed_once_and_none_is_lost() -> None:
    """A hash shared by two different graphs would leave one of them unchecked."""
    kept = [_drawn(query) for query in named_queries()]
    plain = [grown for name in HOSTS for grown in single_grafts(MOTIFS[name])]
    for motif in plain[::5]:
        for grown in (motif, confounded(motif)):
            one = _drawn((grown.graph, grown.treatment, grown.outcome))
            same = [nx.is_isomorphic(one, other, node_match=dict.__eq__) for other in kept]
            assert same.count(True) == 1


def _drawn(query: Query) -> "nx.DiGraph[str]":
    graph, x, y = query
    drawn: nx.DiGraph[str] = nx.DiGraph()
    for node in graph.nodes:
        drawn.add_node(node, x=node == x, y=node == y, latent=node in graph.latent)
    drawn.add_edges_from(graph.edges)
    return drawn


def test_a_contradiction_is_counted_and_printed() -> None:
    """A table that could not show a disagreement would prove nothing."""
    motif = MOTIFS["iv"]
    tally = Tally()
    tally.add((motif.graph, motif.treatment, motif.outcome), "ATE", "someone", "no", "yes")
    assert table(tally).splitlines()[1].split() == ["ATE", "someone", "0", "0", "1"]
    assert tally.disagreements == [
        "ATE of X on Y: ours no, someone yes; edges Z>X X>Y U>X U>Y; latent U"
    ]


def test_negative_counts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A typo must not silently compare nothing."""
    with pytest.raises(SystemExit, match="2"):
        main(["--graphs", "-1"])
    assert "must not be negative" in capsys.readouterr().err


@pytest.mark.slow
def test_every_verdict_on_20000_graphs_is_proved() -> None:
    """The published count: each yes by its value, each no by twin models."""
    tally = compare(queries(20_000, 1))
    assert tally.disagreements == []
    assert tally.worst_error < 1e-9
    assert np.isfinite(tally.smallest_gap)
