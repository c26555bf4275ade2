"""What `diff` says about two releases, on hand-made ones."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from handmade import SCHEMAS, Plan, Tables, make_tables, write

from builder.release.diff import diff_releases
from grader.errors import UsageError

Change = Callable[[Tables], object]


@pytest.fixture
def compare(tmp_path: Path) -> Callable[[Change], list[str]]:
    """Writes a release and a changed copy, and compares them."""

    def run(change: Change) -> list[str]:
        for name in ("a", "b"):
            tables = make_tables(Plan(scenes=6))
            if name == "b":
                change(tables)
            write(tables, tmp_path / name)
        return diff_releases(tmp_path / "a", tmp_path / "b")

    return run


def test_equal_releases_are_identical(compare: Callable[[Change], list[str]]) -> None:
    """A difference that is none would send people looking for it."""
    report = compare(lambda tables: None)
    assert report == []


def test_a_changed_text_names_its_column_and_rows(compare):
    """A corrected prompt must be found among thousands of equal ones."""

    def change(tables: Tables) -> None:
        for row in tables["causalds"][:5]:
            row["prompt"] += " Really."

    report = compare(change)
    assert report[0] == "causalds/dev: 0 rows added, 0 removed, 5 changed"
    ids = [row["task_id"] for row in make_tables(Plan(scenes=6))["causalds"][:3]]
    assert report[1] == f"  prompt: 5 rows changed ({', '.join(ids)}, ...)"
    assert len(report) == 2


def test_a_changed_number_shows_its_size(compare: Callable[[Change], list[str]]) -> None:
    """Whether a truth moved by a rounding or by a half decides what to do about it."""

    def change(tables: Tables) -> None:
        row = next(row for row in tables["causalds_truth"] if row["value"] is not None)
        row["value"] *= 1.25

    lines = compare(change)
    assert lines[0].startswith("causalds_truth/dev: 0 rows added, 0 removed, 1 changed")
    assert lines[1].startswith("  value: 1 row changed (cds-")
    assert lines[1].endswith("0.2 relative")


def test_cells_of_tables_nulls_and_lengths_are_changes(compare):
    """A truth that became null is the largest change of all; one data cell in a million shows that
    a stream was shifted."""

    def change(tables: Tables) -> None:
        next(row for row in tables["causalds_truth"] if row["value"] is not None)["value"] = None
        tables["causalds_labels"][0]["values"].append(0.5)
        tables["causalds_scenes"][0]["data"][0]["values"][1] += 1.0

    columns = [line for line in compare(change) if line.startswith("  ")]
    assert [line.partition(" (")[0] for line in columns] == [
        "  values: 1 row changed",
        "  data: 1 row changed",
        "  value: 1 row changed",
    ]


def test_added_and_removed_rows_are_matched_by_id(compare):
    """Comparing by position would call every later row changed."""

    def change(tables: Tables) -> None:
        removed = tables["causalds_scenes"].pop(0)
        added = {**removed, "instance_id": "scene-ffffffffffffffff"}
        tables["causalds_scenes"].append(added)

    lines = compare(change)
    assert lines[0] == "causalds_scenes/dev: 1 rows added, 1 removed, 0 changed"
    assert lines[1] == "  added: scene-ffffffffffffffff/clean"


def test_other_storage_of_the_same_rows_is_said_to_be_that(tmp_path: Path) -> None:
    """Another row-group size changes bytes and hashes, but nothing anyone can ask."""
    for name in ("a", "b"):
        write(make_tables(Plan(scenes=6)), tmp_path / name)
    path = tmp_path / "b/public/causalds_worlds/dev-00000-of-00001.parquet"
    rows = pq.read_table(path).to_pylist()
    pq.write_table(pa.Table.from_pylist(rows, SCHEMAS["causalds_worlds"]), path, row_group_size=2)
    report = diff_releases(tmp_path / "a", tmp_path / "b")
    assert report[1].strip().startswith("the same rows, stored differently")


def test_columns_configs_and_papers_that_one_side_lacks_are_named(tmp_path: Path) -> None:
    """A forgotten config is no difference in any row."""
    for name in ("a", "b"):
        write(make_tables(Plan(scenes=6)), tmp_path / name)
    folder = tmp_path / "b/public/causalds_exams"
    (folder / "dev-00000-of-00001.parquet").unlink()
    path = tmp_path / "b/public/causalds_labels/dev-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["kind"]), path)
    (tmp_path / "b/GATE.md").write_text("# Gate\n", encoding="utf-8")
    manifest = tmp_path / "b/public/manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    document["splits"]["dev"]["truth"] = "half"
    manifest.write_text(json.dumps(document), encoding="utf-8")
    lines = diff_releases(tmp_path / "a", tmp_path / "b")
    assert "public manifest: splits differ" in lines
    assert "causalds_exams/dev: only in the first" in lines
    assert "  kind: column only in the first" in lines
    assert "GATE.md: only in the second" in lines


def test_a_private_side_on_one_hand_only_is_a_difference(tmp_path: Path) -> None:
    """Truths that moved from public to private change who may see them."""
    plan = Plan(scenes=6, private=True)
    write(make_tables(plan), tmp_path / "a", private=True)
    write(make_tables(plan), tmp_path / "b")
    assert "private: only in the first" in diff_releases(tmp_path / "a", tmp_path / "b")


def test_a_folder_without_a_release_is_one_line(tmp_path: Path) -> None:
    """The message must say which of the two folders is wrong."""
    write(make_tables(Plan(scenes=6)), tmp_path / "a")
    with pytest.raises(UsageError, match="nowhere: no release there"):
        diff_releases(tmp_path / "a", tmp_path / "nowhere")
