"""The exams as Inspect finds them: by name, in the installed package, with its own command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason="needs the extra run")

from chat_server import Reply, Server, serve  # noqa: E402


def inspect(installed: Path, folder: Path, server: Server, *words: str) -> str:
    """What ``inspect …`` prints in ``folder``, where neither checkout nor test is on the path."""
    command = "from inspect_ai._cli.main import main; main()"
    model = ("--model", "openai-api/local/m", "--model-base-url", server.url, "--display", "plain")
    variables = {**os.environ, "PYTHONPATH": str(installed), "LOCAL_API_KEY": "none"}
    done = subprocess.run(
        [sys.executable, "-c", command, *words, *model],
        cwd=folder, env=variables, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_task_of_the_registry_is_evaluated_and_its_answers_are_taken(installed, small, tmp_path):
    """``eval`` with epochs, then ``eval-set`` twice: the second asks nothing more."""
    from causal_exams.attempts import samples
    from causal_exams.cli import main

    what = ["causal_exams/causalds", "-T", f"release={small}", "-T", "split=dev"]
    what += ["-T", "exam=mini", "-T", "setting=closed", "--limit", "2"]
    with serve(lambda messages: Reply('```json\n{"value": 0.5}\n```')) as server:
        logs = ["--log-dir", str(tmp_path / "logs")]
        inspect(installed, tmp_path, server, "eval", *what, "--epochs", "2", *logs)
        assert len(server.requests) == 4
        for _ in range(2):
            log_dir = ["--log-dir", str(tmp_path / "set")]
            inspect(installed, tmp_path, server, "eval-set", *what, *log_dir)
            assert len(server.requests) == 6
    for sample in samples(tmp_path / "logs"):
        assert sample.target == "" and "truth" not in str(sample.metadata)
    words = ["answers-from", "inspect", str(tmp_path / "logs"), "--release", str(small)]
    words += ["--split", "dev", "--exam", "mini", "--out", str(tmp_path / "answers")]
    assert main(words) == 0
    for attempt in ("attempt-1", "attempt-2"):
        assert len(list((tmp_path / "answers" / attempt).glob("cds-*.json"))) == 2
