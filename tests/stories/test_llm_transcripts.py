"""Transcripts: nothing is asked twice, nothing secret is written, damage is named."""

import bz2
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_server import Reply
from llm_scene import CHAIN, KEY, causenet_lines, lost, scene_of, tell
from llm_server import Model

from builder.splits.settings import TomlTable, check
from builder.stories.llm.client import json_object
from builder.stories.llm.seeding import Dealer, read_pairs
from builder.stories.llm.settings import Budgets, LlmTable, Settings
from builder.stories.llm.tell import tell_scene
from builder.stories.verify import yellow_flags
from grader.errors import UsageError

pytest.importorskip("openai")


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
