"""What is drawn depends on the seed, not on what the processor can do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from drawn_numbers import digests
from processors import ROOT, older_processors


@pytest.mark.slow
def test_worlds_rows_and_truths_are_the_same_to_the_last_bit_on_other_processors():
    """A sum or an exponential that another processor takes in its own way would change an exam."""
    program = Path(__file__).with_name("drawn_numbers.py")
    oldest = older_processors()[0]
    with subprocess.Popen(
        [sys.executable, str(program)], env=oldest, stdout=subprocess.PIPE, text=True
    ) as process:
        here = digests()
        there = json.loads(process.communicate()[0])
    assert len(here) > 50
    assert {name for name in here if there.get(name) != here[name]} == set()


@pytest.mark.slow
def test_mini_has_the_same_bytes_on_other_processors(tmp_path):
    """The promise of the release format, kept for all four tracks; and the whole of it, which fast
    tests make smaller, passes its gate."""
    for place, environment in enumerate([dict(os.environ), *older_processors()]):
        out = tmp_path / str(place)
        command = [sys.executable, "build_dataset.py", "build", "splits/mini.toml"]
        command += ["--out", str(out), "--quiet", "--workers", "1"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert _files(out) == _files(tmp_path / "0")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
