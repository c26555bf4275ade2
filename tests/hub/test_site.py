"""The board as a static site: what it shows, what it asks for, and what it does with odd names."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from local_hub import Says, put

from grader.hub.site import write_site
from grader.opening import open_release
from grader.pipeline import grade
from grader.release.exam import choose_exam
from grader.tracks import TRACKS

EVIL = '<script>alert(1)</script>"&'
Row = dict[str, Any]
Rows = dict[str, Row]


def _row(number: int, report: Row, **more: Any) -> Row:
    hashes = {f"{name}_sha256": "ab" * 32 for name in ("submission", "answers", "grader")}
    release = {"name": report["release"]["name"], "sha256": "cd" * 32, "address": "hf://org/e@v1"}
    row = {
        "format": 1, "id": f"{number:016x}", "day": "2026-03-01", "evaluated": "2026-03-02",
        "team": "acme", "pull_request": number, "setting": "closed", "release": release,
        "system": report["submission"]["system"], "split": "dev", "exam": "mini",
        "status": "graded", "reason": "", "grader": "0.1.0", "report": report, **hashes,
    }  # fmt: skip
    return row | more


@pytest.fixture(scope="session")
def rows(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Four rows: gold twice, nothing at all under an odd name, and one that was refused."""
    folder = tmp_path_factory.mktemp("rows")
    exam = choose_exam(open_release(release), "dev", "mini")
    for name in ("gold", "empty"):
        (folder / name).mkdir()
    for task in exam.tasks:
        text = task.shape.gold(task, exam.truths[task.task_id])
        (folder / "gold" / task.answer_file).write_text(text, encoding="utf-8")
    (folder / "gold/run.json").write_text(json.dumps({"system": "Sage 1"}))
    (folder / "empty/run.json").write_text(json.dumps({"system": EVIL}))
    gold, empty = (dict(grade(exam, folder / name).report) for name in ("gold", "empty"))
    found = [
        _row(1, gold),
        _row(2, gold, team="bob", setting="open", day="2026-05-09"),
        _row(3, empty, team=EVIL, setting="", day="2026-04-30"),
        _row(4, gold) | {"status": "refused", "reason": EVIL, "report": None, "system": "?"},
    ]
    return {row["id"]: row for row in found}


@pytest.fixture
def site(rows: Rows, tmp_path: Path) -> Path:
    write_site(tmp_path / "site", rows, "org/results", TRACKS)
    return tmp_path / "site"


def _tables(index: str) -> list[list[str]]:
    bodies = re.findall(r"<tbody>(.*?)</tbody>", index, flags=re.DOTALL)
    return [re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL) for body in bodies]


def test_everyone_is_on_it_with_intervals_floors_and_a_page(site: Path, rows: Rows) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    ranking = _tables(index)[0]
    assert len(ranking) == 3
    assert "Sage 1 (acme, 000000)" in ranking[0] and "Sage 1 (bob, 000000)" in ranking[1]
    heads = re.findall(r"<th.*?</th>", index.partition("</thead>")[0])
    cells = re.findall(r"<td.*?</td>", ranking[0])
    under = dict(zip((re.sub("<.*?>", "", head) for head in heads), cells, strict=True))
    assert (
        "100.0" in under["skill [95% interval]"]
        and "[100.0, 100.0]" in under["skill [95% interval]"]
    )
    assert ">1–2<" in under["#"], "the two that are gold share a place"
    assert ">acme<" in under["team"] and ">closed<" in under["setting"]
    assert "2026-03-01" in under["handed in"]
    for identity in ("1", "2", "3"):
        page = (site / "s" / f"{identity:0>16}.html").read_text(encoding="utf-8")
        assert "ab" * 32 in page and "cd" * 32 in page
        assert '<a href="../index.html">← Causal exams</a>' in page
        assert f"/{identity:0>16}.parquet --repo-type dataset --local-dir . &amp;&amp;" in page
    assert not (site / "s" / f"{4:016x}.html").exists()
    assert "cd" * 32 in index and "causal-exams verify hf://org/e@v1" in index
    assert "sdk: static" in (site / "README.md").read_text(encoding="utf-8")


def test_no_page_asks_anybody_or_runs_anything(site: Path) -> None:
    """No script, no address that a browser would load, and strangers' words stay words."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text and "javascript:" not in text
        assert not re.search(r"<(img|iframe|link|object|embed|video|audio)\b", text)
        assert not re.search(r"(src|srcset|action)=|url\(|@import", text)
        for link in re.findall(r'href="([^"]*)"', text):
            assert link.startswith("#") or (page.parent / link).is_file(), link


def test_the_same_results_give_the_same_site(rows: Rows, site: Path, tmp_path: Path) -> None:
    backwards = dict(reversed(rows.items()))
    write_site(tmp_path / "again", backwards, "org/results", TRACKS)
    for page in site.rglob("*.*"):
        assert page.read_bytes() == (tmp_path / "again" / page.relative_to(site)).read_bytes()


FAULTS: dict[str, Callable[[Row], object]] = {
    "a day that is none": lambda row: row.update(day="</style\x1b"),
    "a track of another name": lambda row: row["report"]["tracks"].update(
        {"</style\x1b": row["report"]["tracks"]["causalds"]}
    ),
    "a name that is a list": lambda row: row.update(system=["x"]),
    "a release that is a word": lambda row: row.update(release="x"),
    "points that are a word": lambda row: row["report"].update(points="all"),
    "a submission without a system": lambda row: row["report"]["submission"].pop("system"),
    "a graded row without a report": lambda row: row.update(report=None),
    "another id than the file's": lambda row: row.update(id="0" * 16),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_damaged_row_is_refused_in_one_line(name, rows, says, tmp_path):
    """Whoever may write to the dataset must not bring the board down."""
    row = json.loads(json.dumps(rows[f"{1:016x}"]))
    file = tmp_path / "copy/results" / f"{row['id']}.json"
    FAULTS[name](row)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(row))
    code, _, err = says("board", "--from", tmp_path / "copy", "--out", tmp_path / "site")
    assert code == 2 and "is not a row of results" in err and not (tmp_path / "site").exists()
    assert len(err.splitlines()) == 1 and str(file) in err


def test_a_site_is_written_through_no_link(rows: Rows, says: Says, tmp_path: Path) -> None:
    """A page of ours that was a link was written where it led to, and pages there removed."""
    copy, site, mine = (tmp_path / name for name in ("copy", "site", "mine"))
    (copy / "results").mkdir(parents=True)
    site.mkdir()
    mine.mkdir()
    (mine / "mine.html").write_text("mine")
    (site / "index.html").symlink_to(mine / "mine.html")
    (site / "s").symlink_to(mine)
    code, _, err = says("board", "--from", copy, "--out", site)
    assert code == 2 and "is a symbolic link" in err and (mine / "mine.html").read_text() == "mine"


def test_it_is_written_from_the_dataset_over_an_older_site(hub, rows, says, tmp_path):
    copy, site = tmp_path / "org-results", tmp_path / "site"
    (copy / "results").mkdir(parents=True)
    for row in rows.values():
        (copy / "results" / f"{row['id']}.json").write_text(json.dumps(row))
    (copy / "log.jsonl").write_text("")
    put(hub, "org/results", copy)
    assert says("board", "--from", copy, "--out", site)[0] == 0
    (site / "s/gone.html").write_text("")
    assert says("board", "--from", "org/results", "--out", site)[0] == 0
    assert {file.stem for file in (site / "s").iterdir()} == {f"{k:016x}" for k in (1, 2, 3)}
    code, _, err = says("board", "--from", copy, "--out", tmp_path)
    assert code == 2 and "holds other files" in err
