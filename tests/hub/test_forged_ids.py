"""Two files of one id: 64 bits of a hash can be met in hours, so an id alone proves no file."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.errors import UsageError
from grader.hub import evaluate, submissions
from grader.hub.submissions import Delivery
from grader.io.files import file_sha256

ONE = Delivery("0" * 16, "bob", "2026-01-01", f"submissions/bob/{'0' * 16}.parquet", pull=1)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The file that was graded, and another that its submitter calls by the same id."""
    for name in ("graded", "other"):
        (tmp_path / name).write_text(name)
    return tmp_path / "graded", tmp_path / "other"


def _of(file: Path, what: str) -> Callable[..., Path]:
    """A download that gives a file, or refuses it as ``download`` does."""

    def download(api: object, repo: str, one: Delivery, folder: Path) -> Path:
        if what == "of another id":
            raise UsageError(f"{one.path}: is not called by its SHA-256")
        return file

    return download


@pytest.mark.parametrize("what", ["same", "other", "of another id"])
def test_only_the_very_file_that_was_graded_is_stored(what, files, monkeypatch, tmp_path):
    """The pull request is its submitter's: another file may stand there after the grading.

    One of another id stopped the run, and every later one.
    """
    graded, other = files
    row = {"id": ONE.id, "status": "graded", "submission_sha256": file_sha256(graded)}
    stored: list[Path] = []
    answered: list[int] = []
    monkeypatch.setattr(submissions, "download", _of(graded if what == "same" else other, what))
    monkeypatch.setattr(evaluate, "store", lambda api, inbox, one, file: stored.append(file))
    monkeypatch.setattr(evaluate, "reply", lambda api, inbox, pull, *_: answered.append(pull))
    evaluate._finish(SimpleNamespace(), "org/in", ONE, row, "org/out", tmp_path)  # type: ignore[arg-type]
    assert stored == ([graded] if what == "same" else []) and answered == [1]


def test_only_the_very_file_that_was_graded_is_rescored(files, monkeypatch, tmp_path):
    """Else an erratum would give points to answers that nobody has graded."""
    graded, other = files
    row = {
        "id": ONE.id, "team": "bob", "day": ONE.day, "pull_request": 1, "status": "graded",
        "split": "dev", "exam": "mini", "submission_sha256": file_sha256(graded),
        "release": {"name": "tiny 1", "sha256": "a"},
    }  # fmt: skip
    told: list[str] = []
    looked_at: list[Any] = []
    release = SimpleNamespace(public=SimpleNamespace(manifest={"release": "tiny"}))
    setup = SimpleNamespace(release=release, sha256="b", workers=1, work=tmp_path)
    stored = Delivery(ONE.id, ONE.team, ONE.day, ONE.path, stored=True)
    monkeypatch.setattr(evaluate, "list_submissions", lambda *_: [stored])
    monkeypatch.setattr(evaluate, "exam_of", lambda *_: None)
    monkeypatch.setattr(submissions, "download", _of(other, "other"))
    monkeypatch.setattr(
        evaluate, "reports", lambda exam, sources, _: looked_at.extend(sources) or ()
    )
    results = SimpleNamespace(rows={ONE.id: row})
    evaluate.rescore(None, "org/in", results, setup, told.append)  # type: ignore[arg-type]
    assert looked_at == []
    assert len(told) == 1 and "the file that was graded is not in org/in" in told[0]
