"""Running the real command line in process, and what every run must satisfy."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from small_release import TASKS, answer_file, task_id

from grader.answers.check import REASONS
from grader.commands.main import main
from grader.io.schemas import first_problem
from grader.reports.ledger import TEAMS


@dataclass(frozen=True, slots=True)
class Run:
    code: int
    out: str
    err: str
    report: dict[str, Any]
    rows: dict[str, dict[str, Any]]


class Runner:
    """Grades folders against one release and checks what must hold of every graded run."""

    def __init__(self, release: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.release, self.place, self.capsys = release, place, capsys

    @property
    def dev(self) -> Sequence[str | Path]:
        return "--release", self.release, "--split", "dev"

    @property
    def test(self) -> Sequence[str | Path]:
        return "--release", self.release, "--split", "test"

    def run(self, *words: str | Path) -> Run:
        """Any command; never a traceback, and one line on stderr when it fails."""
        self.capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = self.capsys.readouterr()
        assert "Traceback" not in out + err
        if code == 2:
            assert err.startswith("error: ") and err.endswith("\n")
            assert out == "" or words[0] == "leaderboard"
        return Run(code, out, err, {}, {})

    def fails(self, *words: str | Path) -> str:
        """A command that must refuse its input; its message."""
        run = self.run(*words)
        assert run.code == 2, run.out + run.err
        return run.err

    def grade(self, source: Path, *options: str | Path, exam: str = "all") -> Run:
        """Grade ``source``; the report and the rows by the task's short name."""
        json_file, table = self.place / "report.json", self.place / "rows.parquet"
        run = self.run(
            "grade", source, *self.dev, "--exam", exam, *options,
            "--json", json_file, "--parquet", table,
        )  # fmt: skip
        assert run.code in (0, 1), run.err
        report = json.loads(json_file.read_text(encoding="utf-8"))
        assert first_problem("report", report) is None
        census = report["census"]
        assert census["scored"] + census["missing"] + census["invalid"] == census["tasks"]
        assert sum(census["invalid_reasons"].values()) == census["invalid"]
        assert set(census["invalid_reasons"]) <= set(REASONS)
        return Run(run.code, run.out, run.err, report, read_rows(table))


def read_rows(file: Path) -> dict[str, dict[str, Any]]:
    """Score rows of a ``--parquet`` file by the task's short name."""
    short = {task_id(name): name for name in TASKS}
    return {short[row["task_id"]]: row for row in pq.read_table(file).to_pylist()}


def only_changed(run: Run, names: set[str]) -> None:
    """Every task but ``names`` still scores as gold does."""
    for name, row in run.rows.items():
        if name not in names:
            assert (row["status"], row["points"]) == ("scored", 100.0), (name, row)


def put(folder: Path, name: str, content: bytes | str) -> Path:
    file = folder / answer_file(name)
    file.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return file


def list_teams(folder: Path, *teams: str) -> None:
    (folder / TEAMS).write_text("".join(f"{team}\n" for team in teams), "utf-8")
