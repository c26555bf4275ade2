"""The language-model path at its limits: useless replies, spent budgets, servers that fail."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chat_server import Reply
from llm_scene import CHAIN, direct, last_told, lost, tell, twins, with_budgets
from llm_server import Model

from builder.graphs.motifs import AUXILIARY, HOSTS, MOTIFS, Motif, harmless_latent, random_graft
from builder.stories.llm.naming import Sketch, Stage, aliases, sketch, stages
from builder.stories.llm.settings import Settings
from builder.stories.types import Kind
from builder.stories.verbalise import NarrationFailed
from grader.errors import UsageError

pytest.importorskip("openai")


@pytest.mark.parametrize(
    "reply",
    [
        "I would rather not.",
        '{"domain": "Trade", "variables": ',
        '{"variables": "none"}',
        "[" * 30_000 + "{",
        '{"a":' * 30_000,
        "",
    ],
)
def test_replies_without_usable_json_are_asked_for_again(model, settings, reply):
    """Models talk; what matters is that the second reply is heard."""
    model.script["mapper"] = [reply]
    tell(settings)
    assert model.roles["mapper"] == 2
    assert "cannot be used" in last_told(model.conversations("mapper")[1])


def test_an_auditor_who_skips_pairs_is_asked_again(model: Model, settings: Settings) -> None:
    """Silence on a pair is no attestation."""
    model.script["auditor"] = [lambda good: {**good, "pairs": []}]
    tell(settings, CHAIN)
    assert "no verdict on" in last_told(model.conversations("auditor")[1])


@pytest.mark.parametrize(
    ("role", "step", "reason"),
    [
        ("mapper", "no JSON, ever", "no usable JSON from the mapper"),
        ("mapper", twins, "mapping budget exhausted"),
        ("auditor", direct, "mapping budget exhausted"),
        ("writer", lost, "story budget exhausted"),
        (
            "verifier",
            lambda good: {
                **good,
                "variables": [{**v, "mentioned": False} for v in good["variables"]],
            },
            "story budget exhausted",
        ),
    ],
)
def test_exhausted_budgets_fail_clearly(model, settings, role, step, reason):
    """The reason is short: it is counted in the manifest."""
    model.always[role] = step
    with pytest.raises(NarrationFailed, match=f"^llm: {reason}$"):
        tell(settings, CHAIN)
    most = 2 if "JSON" in reason else 3
    assert model.roles[role] == most


def test_the_calls_of_a_scene_are_capped(model: Model, settings: Settings) -> None:
    model.script["mapper"] = ["this is no JSON"]
    with pytest.raises(NarrationFailed, match="call budget"):
        tell(with_budgets(settings, calls=4))
    assert len(model.requests) == 4


def test_busy_servers_are_asked_again_when_they_say(model: Model, settings: Settings) -> None:
    """429 with Retry-After, then a broken gateway, then the answer; the wait is the server's."""
    model.script["mapper"] = [
        Reply(status=429, headers={"Retry-After": "0.9"}),
        Reply(status=503, headers={"Retry-After": "0.05"}),
    ]
    tell(settings)
    assert model.roles["mapper"] == 3
    # Left to itself the client waits half a second at most before its first repetition.
    assert model.times[1] - model.times[0] >= 0.9


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Reply(status=429, headers={"Retry-After": "0.01"}), "status 429"),
        (Reply(status=401), "status 401"),
        (Reply(body=b"<html>hello</html>"), "no chat completion"),
        (Reply(body=b'{"choices": []}'), "no chat completion"),
        (Reply(body=b"[" * 100_000), "no chat completion"),
        (Reply(body=b" " * 4_100_000), "no chat completion .OverflowError"),
        (Reply(headers={"Content-Length": "999"}, body=b"{"), "no chat completion"),
    ],
)
def test_an_endpoint_that_fails_stops_the_build(model, settings, answer, says):
    """That is nobody's story: the scene must not be replaced because a server was down."""
    model.always["mapper"] = answer
    with pytest.raises(UsageError, match=says) as caught:
        tell(settings)
    assert "sk-secret" not in str(caught.value)


def test_an_endpoint_that_is_late_times_out(model: Model, settings: Settings) -> None:
    model.always["mapper"] = Reply(delay=0.3)
    with pytest.raises(UsageError, match="APITimeoutError"):
        tell(replace(settings, seconds=0.05, retries=0))


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
