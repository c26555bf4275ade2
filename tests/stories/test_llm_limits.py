"""The language-model path at its limits: useless replies, spent budgets, servers that fail, damaged
transcripts and files.
"""

import bz2
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_server import Reply
from llm_server import (
    CHAIN,
    KEY,
    Answer,
    Model,
    causenet_lines,
    direct,
    last_told,
    lost,
    scene_of,
    tell,
    twins,
    with_budgets,
)

from builder.graphs.motifs import AUXILIARY, HOSTS, MOTIFS, Motif, harmless_latent, random_graft
from builder.splits.settings import TomlTable, check
from builder.stories.llm.client import json_object
from builder.stories.llm.naming import Sketch, Stage, aliases, sketch, stages
from builder.stories.llm.seeding import Dealer, read_pairs
from builder.stories.llm.settings import Budgets, LlmTable, Settings
from builder.stories.llm.tell import tell_scene
from builder.stories.types import Kind
from builder.stories.verbalise import NarrationFailed
from builder.stories.verify import yellow_flags
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


def silent(good: Answer) -> Answer:
    return {**good, "variables": [{**v, "mentioned": False} for v in good["variables"]]}


@pytest.mark.parametrize(
    ("role", "step", "reason"),
    [
        ("mapper", "no JSON, ever", "no usable JSON from the mapper"),
        ("mapper", twins, "mapping budget exhausted"),
        ("auditor", direct, "mapping budget exhausted"),
        ("writer", lost, "story budget exhausted"),
        ("verifier", silent, "story budget exhausted"),
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


def kept(settings: Settings) -> list[Path]:
    """The transcripts so far."""
    return sorted(Path(settings.transcripts).glob("*.jsonl"))


def test_a_second_run_asks_nothing(model: Model, settings: Settings) -> None:
    """A rebuild repeats the bytes, repairs and all, without the server."""
    model.script["mapper"] = ["What was the question?"]
    model.script["writer"] = [lost]
    first = tell(settings)
    asked = len(model.requests)
    again = tell(replace(settings, endpoint="http://127.0.0.1:9/v1", retries=0))
    assert again == first and len(model.requests) == asked == 6


def test_an_interrupted_run_goes_on_where_it_stopped(model: Model, settings: Settings) -> None:
    """What was answered before the server died is kept."""
    model.script["writer"] = [Reply(status=500)]
    with pytest.raises(UsageError, match="status 500"):
        tell(replace(settings, retries=0))
    tell(settings)
    assert model.roles == {"mapper": 1, "auditor": 1, "writer": 2, "verifier": 1}


def test_a_torn_last_line_is_asked_again(model: Model, settings: Settings) -> None:
    """A crash in the middle of a write must not damage the next line."""
    first = tell(settings)
    (file,) = kept(settings)
    file.write_bytes(file.read_bytes()[:-40])
    assert tell(settings) == first
    assert model.roles["verifier"] == 2
    assert tell(settings) == first
    assert model.roles["verifier"] == 2


@pytest.mark.parametrize("damage", ["not json", '{"hash": "0", "reply": "x", "request": {}}'])
def test_a_damaged_transcript_is_named(model: Model, settings: Settings, damage: str) -> None:
    """A reply under another request's hash would be used for the wrong question."""
    tell(settings)
    (file,) = kept(settings)
    file.write_text(damage + "\n" + file.read_text())
    with pytest.raises(UsageError, match=r"\.jsonl: line 1 is damaged"):
        tell(settings)


def test_transcripts_are_private_and_hold_no_key(model, settings, monkeypatch):
    """They tell the truth of a private split; the key tells a bill."""
    monkeypatch.setenv("TEST_LLM_KEY", "sk-very-secret")
    tell(settings)
    assert model.keys == ["Bearer sk-very-secret"] * 4
    (file,) = kept(settings)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert "sk-very-secret" not in text and model.url not in text and KEY.hex() not in file.name


def test_scenes_have_transcripts_of_their_own(model: Model, settings: Settings) -> None:
    """Or two scenes of one graph would share their names."""
    for key in (b"one", b"two"):
        tell_scene(scene_of(CHAIN), settings, key)
    assert len(kept(settings)) == 2
    assert model.roles["mapper"] == 2


def test_another_model_is_asked_anew(model: Model, settings: Settings) -> None:
    """The model and its settings are part of a request's identity, the endpoint is not."""
    tell(settings)
    tell(replace(settings, temperature=0.5, reply_tokens=400, json_mode=True))
    assert model.roles["mapper"] == 2
    assert [r.get("temperature") for r in model.requests] == [None] * 4 + [0.5] * 4
    assert [r["max_tokens"] for r in model.requests] == [settings.reply_tokens] * 4 + [400] * 4
    assert ["response_format" in r for r in model.requests] == [False] * 4 + [True] * 4


@pytest.mark.parametrize(
    "reply",
    [
        '{"b": 2}',
        'Sure!\n```json\n{"b": 2}\n```\nAnything else?',
        '<think>Perhaps {"a": 1}?</think>{"b": 2}',
        'Braces such as {this} come first. {"b": 2} {"c": 3}',
    ],
)
def test_the_object_is_found_wherever_it_stands(reply: str) -> None:
    assert json_object(reply) == {"b": 2}


# --- CauseNet ------------------------------------------------------------------------------------

RELATIONS = [("heavy_rain", "flooding"), ("smoking", "lung_cancer"), ("heavy_rain", "flooding"),
             ("covid-19", "fever"), ("rain", "heavy rain"), ("confounder", "bias")]  # fmt: skip


LINES = causenet_lines((cause, effect, 1) for cause, effect in RELATIONS)


@pytest.mark.parametrize("packed", [False, True])
def test_causenet_is_read_plain_or_packed(tmp_path: Path, packed: bool) -> None:
    """Concepts that could be no name are left out."""
    file = tmp_path / "causenet"
    file.write_bytes(bz2.compress(LINES) if packed else LINES)
    pairs = read_pairs(file)
    assert tuple(pairs) == (("Heavy rain", "Flooding"), ("Smoking", "Lung cancer"))
    assert list(pairs.values()) == [2, 1], "sources, of all lines that spell the pair"
    settings = Settings("m", causenet=str(file), budgets=Budgets(seeds=2))
    dealer = Dealer(settings, np.random.default_rng(1))
    seeds = dealer.deal(CHAIN, dict.fromkeys(CHAIN.nodes, "continuous"), "Y")
    assert len(seeds) == 6
    assert {tuple(name for _, name in s.names) for s in seeds} == set(pairs)
    assert all([node for node, _ in seed.names] == ["M", "Y"] for seed in seeds)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"cause": "a"}\n', "line 1 is no CauseNet relation"),
        (LINES + b"{\n", "line 7 is no CauseNet relation"),
        (b"", "no causal relation"),
        (bz2.compress(LINES)[:-9], "cannot be read"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_causenet_file_is_named(tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "causenet.jsonl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=rf"causenet\.jsonl: .*{says}"):
        read_pairs(file)


# --- settings and flags --------------------------------------------------------------------------


GOOD = {"endpoint": "http://127.0.0.1:8000/v1", "model": "m"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": None}, "llm.model: must be the model's name"),
        ({"endpoint": "127.0.0.1:8000"}, "must be an http"),
        ({"endpoint": "http://me:pw@host/v1"}, "holds a user, password or query"),
        ({"endpoint": "http://host/v1?key=1"}, "holds a user, password or query"),
        ({"key_env": "sk-abc-def"}, "must be the name of an environment variable"),
        ({"seconds": 0}, "seconds: must be a number from"),
        ({"budgets": {"mapping": 0}}, "budgets.mapping: must be a whole number from 1"),
        ({"budgets": {"maping": 3}}, "budgets.maping: unknown key"),
        ({"transcripts": "release/public/t"}, "lies in a public folder"),
    ],
)
def test_bad_settings_are_named_with_a_fix(change: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        check(LlmTable, TomlTable({**GOOD, **change}, "x.toml: splits.dev.causalds.llm."))
    assert str(caught.value).startswith("x.toml: splits.dev.causalds.llm.")
    assert "sk-abc" not in str(caught.value) and "pw@" not in str(caught.value)


def test_yellow_flags_point_at_derived_and_exclusive_meanings() -> None:
    """A.4's failure mode: a construct told as the cause of a record keeper's artefact."""
    flags = yellow_flags(
        {
            "v1": "Corrected yield: The harvest.",
            "v2": "Soil score: An index based on samples, not influenced by other factors.",
            "v3": "Rainfall: Water that falls on the plot.",
        }
    )
    assert [flag.split()[0] for flag in flags] == ["v1", "v2", "v2"]
    assert "'corrected'" in flags[0] and "denies other influences" in flags[2]
