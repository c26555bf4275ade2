"""The laboratory as a process of its own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def start(episode_file: Path, *options: str) -> subprocess.Popen[bytes]:
    """``causal-exams lab`` on an episode, its three streams in hand."""
    command = [sys.executable, "-m", "causal_exams", "lab", str(episode_file), *options]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
