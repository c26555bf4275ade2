"""The gate over a small real release: it passes, and damage is caught by name wherever it is."""

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from gate_release import edit, failures

from builder.build import check_release
from builder.commands.main import main
from builder.gate.exams import exam_lines
from builder.gate.rules import schema_problems, secrecy_problems
from builder.release.reader import split_tables
from builder.tracks import TRACKS
from grader.opening import open_release


def test_a_fresh_build_passes_every_check(built: Path) -> None:
    """A gate that refuses good releases would be bypassed; one that is silent looks like a hang.
    GATE.md is part of a release whose bytes must repeat: it holds no time and no path."""
    said: list[str] = []
    passed = check_release(built, said.append)
    assert passed.ok, passed.markdown
    assert str(built.parent) not in passed.markdown
    assert not re.search(r"\d\d:\d\d|20\d\d-|seconds", passed.markdown)
    assert said[0].startswith("gate:") and said[-1] == "gate: leak test"
    figures = {line.check: line.figure for line in passed.lines}
    assert "tasks, 100 points; through the whole grader" in figures["dev: gold answers"]
    assert figures["test: gold answers"].startswith("4 tasks, 100 points;")
    assert figures["dev: empty answers"] == "0 points"
    # How the answers of a private split came out would be told by one line. And a split whose
    # answers were drawn by chance must not be refused for what chance gave.
    assert {floor.split for floor in passed.floors} == {"dev"}
    assert "dev: no label is always the same" in figures
    assert "test: no label is always the same" not in figures
    told = [row[:3] for row in passed.compositions]
    assert ("dev", "causalds", "verdict") in told and not any("test" in row for row in told)


def test_an_exam_that_is_not_what_was_requested_is_caught(release: Path) -> None:
    """What was requested stands in the manifest; what came out is counted in the rows."""
    opened = open_release(release)
    entry = opened.public.manifest["splits"]["dev"]["tracks"]["causalds"]
    axes = {"practice: rung": {rung: {"requested": 90.0, "realised": 90} for rung in "123"}}
    entry["composition"] |= axes
    lines = exam_lines(opened, TRACKS, "dev")
    (line,) = [line for line in lines if not line.ok]
    assert line.check == "dev: exams as requested"
    assert "exam practice" in line.problems[0] and "another rung than" in line.problems[0]


def test_exams_name_existing_tasks_once(release: Path) -> None:
    """A repeated task counts twice; in a private split, two exams share one hidden world."""
    edit(release, "public", "causalds_exams/test", lambda rows: rows[1:])
    assert "in 0 exams of a private split" in failures(release)["exams"]
    edit(release, "public", "causalds_exams/test", lambda r: r[1].update(task_id=r[0]["task_id"]))
    assert "is there twice" in failures(release)["test tasks"]


def test_a_private_key_or_world_in_public_is_caught(release: Path) -> None:
    """A key in a log or a card opens the hidden world of its scene."""
    public, table = release / "public", split_tables(release, "causalds", "test")
    assert secrecy_problems(release) == []
    key = next(iter(table.worlds.values()))["world_key"]
    (public / "NOTES.txt").write_text(f"built 00{key}ff", encoding="utf-8")
    (problem,) = secrecy_problems(release)
    assert "its key is in the public repository" in problem
    (public / "NOTES.txt").unlink()
    world = next(iter(table.worlds.values()))["world_json"]
    edit(release, "public", "causalds_scenes/test", lambda r: r[0].update(story=f"It is {world}!"))
    (problem,) = secrecy_problems(release)
    assert "its world is in the public repository" in problem


@pytest.mark.parametrize("place", ["columns", "data"])
def test_a_private_key_in_a_cell_is_caught_at_any_depth(release: Path, place: str) -> None:
    """Of shards only columns of text are read, also of those with public truth."""
    key = next(iter(split_tables(release, "causalds", "test").worlds.values()))["world_key"]
    tell = {"name": f"x{key}"}
    edit(release, "public", "causalds_scenes/dev", lambda rows: rows[0][place][0].update(tell))
    (problem,) = secrecy_problems(release)
    assert "its key is in the public repository" in problem


def test_private_columns_and_salts_in_public_are_caught(release: Path) -> None:
    """A truth column pushed to the public repository by mistake ends the exam."""
    public, private = release / "public", release / "private"
    path = public / "causalds/test-00000-of-00001.parquet"
    tasks = pq.read_table(path)
    pq.write_table(tasks.append_column("should_abstain", [[False] * tasks.num_rows]), path)
    salts = json.loads((private / "manifest.json").read_bytes())["salts"]["test"]
    (public / "NOTES.txt").write_text(salts["rows"], encoding="utf-8")
    assert secrecy_problems(release) == ["the salt 'rows' of test is public"]
    (problem,) = schema_problems(release, TRACKS)
    assert "causalds/test-00000-of-00001.parquet: has the column should_abstain" in problem
    shutil.copytree(private / "causalds_worlds", public / "causalds_worlds", dirs_exist_ok=True)
    says = "public/causalds_worlds: private config of split test is public"
    assert secrecy_problems(release)[0] == says


def test_an_exam_drawn_later_is_in_the_gate_s_report_and_on_the_card(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GATE.md went on describing the release without it."""
    old = "# Gate: of the release without the exam"
    (release / "GATE.md").write_text(old, encoding="utf-8")
    file = tmp_path / "later.toml"
    file.write_text('kind = "balanced"\ntasks = 5\n', encoding="utf-8")
    assert main(["exam", "--from", str(release), "--exam", str(file), "--split", "dev"]) == 0
    report = (release / "GATE.md").read_text(encoding="utf-8")
    assert "| exams | ok | 3 exams, " in report
    assert "later (5)" in (release / "public" / "README.md").read_text(encoding="utf-8")
    shutil.rmtree(release / "private")
    again = ["exam", "--from", str(release), "--exam", str(file), "--split", "dev", "--name", "b"]
    assert main(again) == 0
    assert not (release / "GATE.md").exists(), "what cannot be checked again is not claimed"
