"""Fragments of a grafted graph as they are named: complete, in order, and without their roles."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from builder.graphs.motifs import AUXILIARY, HOSTS, MOTIFS, Motif, harmless_latent, random_graft
from builder.stories.llm.naming import Sketch, Stage, aliases, sketch, stages
from builder.stories.types import Kind


def _grown(seed: int) -> Motif:
    """A host with up to three grafts and, where it can have one, a harmless latent variable."""
    rng = np.random.default_rng(seed)
    motif = MOTIFS[HOSTS[int(rng.integers(len(HOSTS)))]]
    for number in range(1, 1 + int(rng.integers(4))):
        motif = random_graft(rng, motif, dict.fromkeys(AUXILIARY, 1.0), number)
    return harmless_latent(rng, motif) or motif


def _plan(motif: Motif, seed: int) -> tuple[Sketch, list[Stage], dict[str, str]]:
    kinds: dict[str, Kind] = dict.fromkeys(motif.graph.nodes, "continuous")
    ids = aliases(np.random.default_rng(seed), motif.graph.nodes)
    whole = sketch(motif.graph, kinds, ids)
    return whole, stages(motif.graph, whole, ids), ids


def test_stages_cover_the_graph_and_build_on_what_is_named() -> None:
    """Every node is named once, every effect audited in some stage, anchors are named before."""
    deepest = 0
    for seed in range(300):
        motif = _grown(seed)
        whole, plan, ids = _plan(motif, seed)
        named: list[str] = []
        edges: set[tuple[str, str]] = set()
        for stage in plan:
            assert stage.anchors <= set(named)
            named += [node for node in stage.sketch.graph.nodes if node not in stage.anchors]
            edges |= set(stage.sketch.graph.edges)
            assert stage.sketch.graph.latent == whole.graph.latent & set(stage.sketch.graph.nodes)
        assert sorted(named) == sorted(whole.graph.nodes)
        assert edges == set(whole.graph.edges)
        assert {(ids[a], ids[b]) for a, b in motif.graph.edges} == edges
        host = {ids[node] for node in MOTIFS[motif.name].graph.nodes}
        assert host <= set(plan[0].sketch.graph.nodes) and not plan[0].anchors
        deepest = max(deepest, len(plan))
    assert deepest == 4


def test_stated_independencies_hold_and_non_edges_are_all_told() -> None:
    """The auditor must not be told what the graph does not imply."""
    stated = 0
    for seed in range(60):
        whole, _, _ = _plan(_grown(seed), seed)
        graph = whole.graph
        pairs = {frozenset(pair) for pair in whole.non_edges}
        assert len(pairs) + len(graph.edges) == len(graph.nodes) * (len(graph.nodes) - 1) // 2
        for text in whole.independencies:
            pair, _, given = text.partition(", given ")
            ends, blockers = pair.split(" and "), given.split(" and ") if given else []
            assert graph.d_separated(ends[0], ends[1], blockers) and frozenset(ends) in pairs
            assert not graph.latent & {*ends, *blockers}
            stated += 1
    assert stated > 100


def test_ids_say_nothing_about_roles() -> None:
    nodes = MOTIFS["iv"].graph.nodes
    seen = {(n, i) for s in range(200) for n, i in aliases(np.random.default_rng(s), nodes).items()}
    assert len(seen) == len(nodes) ** 2


def test_the_package_openai_is_not_needed_without_a_call(root: Path) -> None:
    """It is an extra; planning and building other words must not import it."""
    heavy = "import sys, builder.tracks, builder.stories.llm.tell"
    code = heavy + "; assert 'openai' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True)
