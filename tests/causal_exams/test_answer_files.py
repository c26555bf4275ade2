"""The answer file that an attempt leaves in its sandbox."""

import asyncio
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="needs the extra run")

from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

from causal_exams import conversation


@pytest.mark.parametrize("what", ["pipe", "folder", "nothing", "file"])
def test_an_answer_that_is_no_file_is_refused_at_once(monkeypatch, what):
    """A pipe that nobody writes into kept an attempt for a minute, without a sandbox for ever."""
    local = LocalSandboxEnvironment()
    place = Path(local.directory.name) / "answers" / "t.json"
    place.parent.mkdir()
    match what:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "file":
            place.write_bytes(b"{}")
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
