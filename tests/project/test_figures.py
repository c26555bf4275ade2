"""No measured number of the guides is stale: each stands in ``docs/figures.json`` once."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.__main__ import main as baselines
from benchmarks.figures import FIGURES, measure_again, read_figures, rewrite, stale_places
from grader.errors import UsageError


def test_every_page_holds_the_stored_measurements(root: Path) -> None:
    """validity.md once stated figures that were off by up to 1.8."""
    assert stale_places(root, read_figures(root)) == []


def test_a_stale_number_is_found_and_renewed(root: Path, tmp_path: Path) -> None:
    """Every measurement of the code is made again; one that was true last year is planted."""
    figures = read_figures(root)
    assert [measure_again(figure, None, None) for figure in figures] == figures
    shutil.copytree(root / "docs", tmp_path / "docs")
    shutil.copy(root / "SECURITY.md", tmp_path)
    page, file = tmp_path / "docs" / "limits.md", tmp_path / FIGURES
    true = page.read_text(encoding="utf-8")
    page.write_text(true.replace("**231 of 300**", "**245 of 300**"), encoding="utf-8")
    (line,) = stale_places(tmp_path, figures)
    assert line.startswith("docs/limits.md: does not say «**231 of 300**")
    with pytest.raises(UsageError, match=r"limits\.md: .* restore its words"):
        rewrite(tmp_path, None, None)
    file.write_text(file.read_text("utf-8").replace('"231"', '"245"'), encoding="utf-8")
    assert stale_places(tmp_path, read_figures(tmp_path)) == []
    assert rewrite(tmp_path, None, None) == ["245, 300, 14 -> 231, 300, 14"]
    assert page.read_text(encoding="utf-8") == true
    assert json.loads(file.read_text(encoding="utf-8")) == figures


@pytest.mark.slow
def test_mini_gives_the_stored_measurements(root: Path, tmp_path: Path) -> None:
    """What `make demo` builds and answers is what the guides say of it."""
    release, answers = tmp_path / "release", tmp_path / "answers"
    command = ["build_dataset.py", "build", "splits/mini.toml", "--out", str(release), "--quiet"]
    assert subprocess.run([sys.executable, *command], cwd=root).returncode == 0
    for system in ("constant", "informed", "naive"):
        words = [system, "--release", str(release), "--out", str(answers / system)]
        assert baselines(words) == 0
    figures = read_figures(root)
    assert [measure_again(figure, release, answers) for figure in figures] == figures
