"""Runs of the real command against a scripted server, in this process or in one of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server

from causal_exams.cli import main
from grader.opening import open_release
from grader.scoring.shape import Task

ROOT = Path(__file__).parents[2]
NEEDS_BWRAP = pytest.mark.skipif(not shutil.which("bwrap"), reason="bwrap is not installed")
KEY = {"LOCAL_API_KEY": "none"}


def words(release: Path, out: Path, server: Server | None, *more: str) -> list[str]:
    """The words of the command; without a server the mock model answers."""
    model = ["--model", "mockllm/model"]
    if server is not None:
        model = ["--model", "openai-api/local/m", "--model-base-url", server.url]
    return ["run", str(release), "--exam", "mini", "--out", str(out), *model, *more]


def sit(release: Path, out: Path, server: Server | None, *more: str) -> int:
    """Sit an exam here; returns the exit code."""
    os.environ |= KEY
    return main(words(release, out, server, *more))


def start(release: Path, out: Path, server: Server, *more: str) -> "subprocess.Popen[bytes]":
    """Sit an exam in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "causal_exams", *words(release, out, server, *more)],
        cwd=ROOT, env={**os.environ, **KEY}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def tasks(release: Path, track: str) -> list[Task]:
    """The tasks of mini in one track, in the exam's order, with their prompts."""
    opened = open_release(release)
    known = {task.task_id: task for task in opened.tasks("dev")}
    return [
        known[task_id] for task_id in opened.exams("dev")["mini"] if known[task_id].track == track
    ]


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
