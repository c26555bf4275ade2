"""A task that turned out wrong: deprecated, published as another version, and rescored."""

import json
from pathlib import Path

import fake_builder
import pytest
from hostile_text import EVIL, TAG, check_files, check_printable

from builder.release.manifest import read_manifest
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
        told = ("submit", answers, *OLD, *DEV, "--to", "org/submissions", "--direct")
        assert says(*told)[0] == 0
    loop = ("--from", "org/submissions", "--results", "org/results", "--work", tmp_path / "work")
    private = ("--private", own / "private", "--ledger", tmp_path / "ledger.json")
    assert "2 graded" in says("evaluate", *loop, *OLD, *private)[1]
    assert _deprecate(own, wrong) == 0
    hub.uploads()
    assert fake_builder.main(publish) == 0
    assert not [r for r in hub.uploads() if r.method == "PUT"], "no shard travels again"
    assert "ERRATA.md" in hub.repo("org/exams").files("v0.1.1")
    table = tmp_path / "written/table.md"
    code, out, err = says("evaluate", "--again", *loop, *NEW, *private, "--table", table)
    assert code == 0 and out.count("rescored") == 2, err
    files = hub.repo("org/results").files("main")
    rows = [json.loads(b.data) for path, b in files.items() if path.startswith("results/")]
    after = {row["system"]: (row["before"][0]["points"], row["report"]["points"]) for row in rows}
    assert after == {"Right": (95.0, 100.0), EVIL: (100.0, 100.0)}
    assert {row["release"]["name"] for row in rows} == {"tiny 0.1.1"}
    lines = [json.loads(line) for line in files["log.jsonl"].data.splitlines()]
    assert [line["event"] for line in lines] == ["evaluated"] * 2 + ["rescored"] * 2
    assert "| Right | ann | 1 | 2 |" in table.read_text(encoding="utf-8")
    assert f"\\{TAG[:-2]}\\>" in table.read_text(encoding="utf-8")
    check_printable(out + err, "evaluate --again")
    check_files(table.parent)
    hub.uploads()
    code, out, _ = says("evaluate", "--again", *loop, *NEW, *private)
    assert code == 0 and "rescored" not in out.replace("Rescored", "")
    assert hub.uploads() == []
