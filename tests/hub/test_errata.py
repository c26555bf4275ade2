"""A task that turned out wrong: deprecated, published as another version, and rescored."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_builder
import pytest
from hostile_text import EVIL, check_printable

from builder.release.manifest import read_manifest
from grader.hub import evaluate, submissions
from grader.hub.submissions import Delivery
from grader.io.files import file_sha256
from grader.opening import open_release
from grader.release.exam import choose_exam
from grader.verify import verify

DEV = ("--split", "dev", "--exam", "mini")
OLD, NEW = ("--release", "hf://org/exams@v0.1.0"), ("--release", "hf://org/exams@v0.1.1")


def _mini(release: Path) -> list[str]:
    return [task.task_id for task in choose_exam(open_release(release), "dev", "mini").tasks]


def _deprecate(release: Path, *tasks: str, version: str = "0.1.1") -> int:
    words = ["publish", str(release), "--deprecate", *tasks, "--split", "dev", "--version", version]
    return fake_builder.main([*words, "--why", "two readings"])


def test_a_deprecated_task_counts_no_more_and_stays_as_it_was(own, tiny, says, tmp_path):
    """Rows are the same bytes; exams, workspaces and gold leave the task out and say so."""
    first, *rest = _mini(own)
    assert _deprecate(own, first) == 0
    assert _mini(own) == rest
    assert all(check.ok for check in verify(open_release(own)))
    for file in tiny.rglob("*.parquet"):
        assert file.read_bytes() == (own / file.relative_to(tiny)).read_bytes()
    errata = (own / "public/ERRATA.md").read_text(encoding="utf-8")
    assert f"`{first}` (dev, " in errata and "two readings" in errata and "## 0.1.1" in errata
    gold = tmp_path / "gold"
    says("gold", "--release", tiny, *DEV, "--out", gold)
    code, _, _ = says("grade", gold, "--release", own, *DEV, "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_bytes())
    assert code == 0 and report["census"]["tasks"] == len(rest)
    assert any("1 deprecated task of the exam counts" in notice for notice in report["notices"])
    assert not any("to no task of exam" in notice for notice in report["notices"])
    assert _deprecate(own, rest[0], version="0.1.2") == 0
    text = (own / "public/ERRATA.md").read_text(encoding="utf-8")
    assert text.startswith(errata) and "## 0.1.2" in text


@pytest.mark.parametrize(
    ("tasks", "more", "line"),
    [
        (["cds-0000000000000000"], {}, "no task of dev"),
        ([], {"version": "0.1.0"}, "is the present one"),
        ([], {"version": "0.0.10"}, "is below 0.1.0; give a higher one"),
        ([], {"version": "../x"}, "not a plain name"),
    ],
)
def test_what_cannot_be_deprecated_is_one_line(tasks, more, line, own, tiny, capsys):
    assert _deprecate(own, *(tasks or _mini(own)[:1]), **more) == 2
    err = capsys.readouterr().err
    assert line in err and err.count("\n") == 1
    assert read_manifest(own / "public") == read_manifest(tiny / "public")


def test_an_exam_of_deprecated_tasks_alone_is_refused(own, says, tmp_path):
    assert _deprecate(own, *_mini(own)) == 0
    code, _, err = says("workspace", "--release", own, *DEV, "--out", tmp_path / "w")
    assert code == 2 and "no task that counts" in err


@pytest.mark.slow
def test_stored_submissions_are_rescored_and_the_table_says_what_changed(hub, own, says, tmp_path):
    """Old figures stay in the row, the log grows, and nothing is rescored twice."""
    publish = ["publish", str(own), "--repo", "org/exams", "--quiet"]
    assert fake_builder.main(publish) == 0
    hub.store.create("ann", "dataset", "org/submissions", {})
    wrong = _mini(own)[0]
    for name in ("Right", "Wrong"):
        answers = tmp_path / name
        says("gold", *OLD, *DEV, "--out", answers)
        system = name if name == "Right" else EVIL
        (answers / "run.json").write_text(json.dumps({"system": system}))
        if name == "Right":  # whose answer to the faulty task was counted wrong
            (answers / f"{wrong}.json").write_text('{"never": 1}')
        told = ("submit", answers, *OLD, *DEV, "--to", "org/submissions")
        assert says(*told)[0] == 0
    loop = ("--from", "org/submissions", "--results", "org/results", "--work", tmp_path / "work")
    private = ("--private", own / "private", "--ledger", tmp_path / "ledger.json")
    assert "2 graded" in says("evaluate", *loop, *OLD, *private)[1]
    assert _deprecate(own, wrong) == 0
    hub.uploads()
    assert fake_builder.main(publish) == 0
    assert not [r for r in hub.uploads() if r.method == "PUT"], "no shard travels again"
    assert "ERRATA.md" in hub.repo("org/exams").files("v0.1.1")
    code, out, err = says("evaluate", "--again", *loop, *NEW, *private)
    assert code == 0 and out.splitlines()[-1] == "2 rescored", err
    assert "points 95.0 → 100.0" in out and "points 100.0 → 100.0" in out
    files = hub.repo("org/results").files("main")
    rows = [json.loads(b.data) for path, b in files.items() if path.startswith("results/")]
    after = {row["system"]: (row["before"][0]["points"], row["report"]["points"]) for row in rows}
    assert after == {"Right": (95.0, 100.0), EVIL: (100.0, 100.0)}
    assert {row["release"]["name"] for row in rows} == {"tiny 0.1.1"}
    lines = [json.loads(line) for line in files["log.jsonl"].data.splitlines()]
    assert [line["event"] for line in lines] == ["evaluated"] * 2 + ["rescored"] * 2
    check_printable(out + err, "evaluate --again")
    hub.uploads()
    code, out, _ = says("evaluate", "--again", *loop, *NEW, *private)
    assert (code, out) == (0, "0 rescored\n")
    assert hub.uploads() == []


ONE = Delivery("0" * 16, "bob", "2026-01-01", f"submissions/bob/{'0' * 16}.parquet", pull=1)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The file that was graded, and another that its submitter calls by the same id."""
    for name in ("graded", "other"):
        (tmp_path / name).write_text(name)
    return tmp_path / "graded", tmp_path / "other"


@pytest.mark.parametrize("what", ["same", "other", "of another id"])
def test_only_the_very_file_that_was_graded_is_stored(what, files, monkeypatch, tmp_path):
    """The pull request is its submitter's: another file may stand there after the grading.

    One of another id stopped the run, and every later one.
    """
    graded, other = files
    found = {"same": graded, "other": other}.get(what)
    row = {"id": ONE.id, "status": "graded", "submission_sha256": file_sha256(graded)}
    stored: list[Path] = []
    answered: list[int] = []
    monkeypatch.setattr(submissions, "download", lambda *_: found)
    monkeypatch.setattr(evaluate, "store", lambda api, inbox, one, file: stored.append(file))
    monkeypatch.setattr(evaluate, "reply", lambda api, inbox, pull, *_: answered.append(pull))
    setup: Any = SimpleNamespace(inbox="org/in", work=tmp_path)
    evaluate._finish(SimpleNamespace(), ONE, row, "org/out", setup)  # type: ignore[arg-type]
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
    setup = SimpleNamespace(release=release, sha256="b", workers=1, work=tmp_path, inbox="org/in")
    monkeypatch.setattr(evaluate, "list_files", lambda *_: {ONE.path})
    monkeypatch.setattr(evaluate, "exam_of", lambda *_: None)
    monkeypatch.setattr(submissions, "download", lambda *_: other)
    monkeypatch.setattr(
        evaluate, "reports", lambda exam, sources, _: looked_at.extend(sources) or ()
    )
    results = SimpleNamespace(rows={ONE.id: row})
    assert evaluate.rescore(None, results, setup, told.append) == 0  # type: ignore[arg-type]
    assert looked_at == []
    assert len(told) == 1 and "the file that was graded is not in org/in" in told[0]
