"""How a run is set: presets, options, its card, its endings; all without Inspect."""

import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from causal_exams.attempts import ending
from causal_exams.cli import main
from causal_exams.commands.run import pairs
from causal_exams.protocols import SETTINGS
from causal_exams.record import check_same, image_digest, without_secrets
from causal_exams.tracks import PRESETS, preset_of
from causal_exams.words import DOCKER, pinned_versions
from grader.answers.submission import Submission
from grader.errors import UsageError
from grader.pages.systems import name_of, setting_of
from grader.reports.table import ENDINGS
from grader.tracks import TRACKS


def test_every_track_has_a_protocol_of_its_paper() -> None:
    """A module of the track's name says what of the paper it plays."""
    assert set(PRESETS) == set(TRACKS)
    for track in TRACKS:
        name, protocol = preset_of("paper", track)
        assert protocol is PRESETS[track][name] and protocol.setting in SETTINGS
        module = importlib.import_module(f"causal_exams.tracks.{track}")
        assert "The protocol of" in (module.__doc__ or "").splitlines()[0]


@pytest.mark.parametrize(("name", "track", "says"), [
    ("ccr-papr", "ccr", "did you mean 'ccr-paper'"), ("ccr-paper", "causalds", "is for track ccr"),
])  # fmt: skip
def test_a_preset_that_does_not_fit_is_one_line(name: str, track: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        preset_of(name, track)


def test_pass_through_values_are_json_where_they_are() -> None:
    found = pairs(["top-k=3", "cache=true", "name=a=b", "stop=[1]"], "-G")
    assert found == {"top_k": 3, "cache": True, "name": "a=b", "stop": [1]}
    with pytest.raises(UsageError, match="-G top_k: write NAME=VALUE"):
        pairs(["top_k"], "-G")


def test_an_output_budget_shortens_what_a_command_showed(tmp_path, capsys):
    """CausalDS A.15: 1,000, 3,200 and by default 10,000 characters."""
    out = ("--out", str(tmp_path / "run"))
    assert main(["run", "release", "--model", "m", *out, "--output-budget", "9"]) == 2
    assert "--output-budget 9: at least 100 characters" in capsys.readouterr().err
    pytest.importorskip("inspect_ai", reason="needs the extra run")
    from causal_exams.conversation import shorten_output

    text = "head" + 5000 * "x" + "tail"
    assert shorten_output(text) == text
    for budget in (1000, 3200):
        shown = shorten_output(text, budget)
        assert shown.startswith("head") and shown.endswith("tail")
        assert shown.count("x") in range(budget - 20, budget + 20)


CARD: dict[str, Any] = {
    "system": "m",
    "settings": {"model": "m", "limit": 3, "temperature": 0, "max_connections": 8},
    "hashes": {"exam": "e", "release": {"a": "b"}},
}


def test_a_run_goes_on_with_its_own_settings_only(tmp_path: Path) -> None:
    """Answers at two temperatures in one folder would be nobody's."""
    file = tmp_path / "run.json"
    check_same(file, CARD)
    file.write_text(json.dumps(CARD))
    faster = {**CARD["settings"], "max_connections": 1, "limit": 9}
    check_same(file, {**CARD, "settings": faster})
    warmer = {**CARD, "settings": {**CARD["settings"], "temperature": 1}}
    with pytest.raises(UsageError, match="temperature 0, not 1"):
        check_same(file, warmer)
    with pytest.raises(UsageError, match="exam_sha256"):
        check_same(file, {**CARD, "hashes": {**CARD["hashes"], "exam": "f"}})
    file.write_text("[]")
    with pytest.raises(UsageError, match="not the card of a run"):
        check_same(file, CARD)


def test_a_card_holds_no_key() -> None:
    """It is published with the answers."""
    settings = {
        "model_base_url": "https://user:sesame@host:8000/v1?key=sesame",
        "model_args": {"api_key": "sesame", "default_headers": {"x": "sesame"}, "service": "flex"},
    }
    kept = without_secrets(settings)
    assert "sesame" not in str(kept) and kept["model_base_url"] == "host"
    assert kept["model_args"]["service"] == "flex"


def test_a_card_names_the_image_by_its_digest(tmp_path, monkeypatch):
    """As the engine tells it; without one there is none, and other sandboxes have none."""
    engine = tmp_path / "docker"
    engine.write_text(
        '#!/bin/sh\n[ "$2 $5" = "inspect causal-exams-sandbox" ] && echo sha256:abc\n'
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert image_digest("docker") is None
    engine.chmod(0o755)
    assert image_digest("docker") == "sha256:abc" and image_digest("bubblewrap") is None


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"error": True, "answered": True}, "error"),
        ({"limit": "time", "answered": True}, "time limit"),
        ({"limit": "working"}, "time limit"), ({"limit": "token"}, "token limit"),
        ({"limit": "cost"}, "cost limit"), ({"limit": "message"}, "step limit"),
        ({"limit": "operator"}, "stopped"), ({"stored": "step limit"}, "step limit"),
        ({"stored": "missing after submit"}, "missing after submit"),
        ({"stored": "answered", "answered": False}, "no answer"),
        ({"stored": ["made up"], "answered": True}, "answered"),
        ({"stop_reason": "content_filter"}, "refused"),
        ({"stop_reason": "model_length"}, "context limit"),
        ({"stop_reason": "stop", "answered": True}, "answered"), ({}, "no answer"),
        ({"stop_reason": "max_tokens"}, "token limit"),
        ({"stop_reason": "max_tokens", "answered": True}, "answered"),
        ({"stop_reason": "max_tokens", "answered": True, "stored": "no answer"}, "token limit"),
        ({"stop_reason": "stop", "answered": True, "stored": "no answer"}, "no answer"),
    ],
)  # fmt: skip
def test_why_a_task_ended(facts: dict[str, Any], name: str) -> None:
    blank: dict[str, Any] = {
        "error": False, "limit": None, "stored": None, "stop_reason": None, "answered": False,
    }  # fmt: skip
    assert ending(**{**blank, **facts}) == name
    assert name in ENDINGS


@pytest.mark.parametrize(
    ("run", "setting"),
    [
        ({"setting": "open"}, "open"), ({"settings": {"setting": "closed"}}, "closed"),
        ({"setting": "open", "settings": {"setting": "closed"}}, "open"), ({}, ""),
        ({"settings": {"setting": "mixed"}}, "mixed"), ({"setting": "sideways"}, ""),
        ({"setting": ["open"], "settings": 3}, ""),
    ],
)  # fmt: skip
def test_a_setting_is_read_wherever_it_is_stated(run: dict[str, Any], setting: str) -> None:
    """As `run` writes it among the settings, and as `submit --setting` states it of a folder."""
    report = {"submission": {"system": "m", "run": run}}
    assert setting_of(report["submission"]["run"]) == setting
    assert name_of(report) == (f"m · {setting}" if setting else "m")


def test_endings_are_counted_in_reports() -> None:
    """What a stranger's usage says is no ending unless it is one of the list."""
    from grader.reports.table import count_endings

    usage = {
        "a": {"ending": "answered"}, "b": {"ending": "answered"}, "c": {"ending": "refused"},
        "d": {"ending": "won"}, "e": {"ending": ["answered"]}, "f": {},
    }  # fmt: skip
    assert count_endings(usage, [*"abcdefg"]) == {"answered": 2, "refused": 1}
    assert Submission(Path()).usage == {}


def test_the_prompt_lists_what_the_image_installs() -> None:
    """CausalDS A.15: pinned versions, told so that no budget goes into finding them out."""
    first = {"pandas": "3.0.2", "numpy": "2.4.4", "scipy": "1.17.1"}
    assert list(pinned_versions().items())[:3] == list(first.items())
    assert len(pinned_versions()) == 10
    recipe = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    assert "python:3.11" in recipe and "-r /tmp/requirements.txt" in recipe


def test_without_inspect_the_command_is_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    assert main(["run", "release", "--model", "m", "--out", str(tmp_path / "r")]) == 2
    assert "pip install 'causal-exams[run]'" in capsys.readouterr().err


def test_grading_loads_no_client_of_a_model(root: Path) -> None:
    """Not even the imports of the dispatcher, the protocols and the exports may pull Inspect in."""
    code = (
        "import sys, causal_exams.cli, causal_exams.commands.export, causal_exams.tracks\n"
        "print(sorted({'inspect_ai', 'openai'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, cwd=root, text=True) == "[]\n"


@pytest.mark.parametrize("what", ["pipe", "folder", "nothing", "file"])
def test_an_answer_that_is_no_file_is_refused_at_once(monkeypatch, what):
    """A pipe that nobody writes into kept an attempt for a minute, without a sandbox for ever."""
    pytest.importorskip("inspect_ai", reason="needs the extra run")
    from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

    from causal_exams import conversation

    local = LocalSandboxEnvironment()
    place = Path(local.directory.name) / "answers" / "t.json"
    place.parent.mkdir()
    make = {"pipe": os.mkfifo, "folder": Path.mkdir, "file": lambda p: p.write_bytes(b"{}")}
    if what != "nothing":
        make[what](place)
    monkeypatch.setattr(conversation, "sandbox", lambda: local)
    task = SimpleNamespace(answer_file="t.json", shape=SimpleNamespace(suffix=".json"))
    sitting: Any = SimpleNamespace(task=task)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(10)
    try:
        data = asyncio.run(conversation.Conversation.answer_file(sitting))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert data == (b"{}" if what == "file" else None)
