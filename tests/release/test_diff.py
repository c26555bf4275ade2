"""What `diff` says about two releases, on hand-made ones."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from handmade import SCHEMAS, Plan, Tables, make_tables, write

from builder.release.diff import diff_releases
from grader.errors import UsageError

PLAN = Plan(scenes=6)


def _prompts(tables: Tables) -> None:
    for row in tables["causalds"][:5]:
        row["prompt"] += " Really."


def _number(tables: Tables) -> None:
    next(row for row in tables["causalds_truth"] if row["value"] is not None)["value"] *= 1.25


def _cells(tables: Tables) -> None:
    """A truth becomes null, a list grows, and one data cell shows that a stream was shifted."""
    next(row for row in tables["causalds_truth"] if row["value"] is not None)["value"] = None
    tables["causalds_labels"][0]["values"].append(0.5)
    tables["causalds_scenes"][0]["data"][0]["values"][1] += 1.0


def _scene(tables: Tables) -> None:
    removed = tables["causalds_scenes"].pop(0)
    tables["causalds_scenes"].append({**removed, "instance_id": "scene-ffffffffffffffff"})


ID = r"\w+-[0-9a-f]{16}"
CASES = [
    (lambda _: None, []),
    (
        _prompts,
        [
            r"causalds/dev: 0 rows added, 0 removed, 5 changed",
            rf"  prompt: 5 rows changed \({ID}, {ID}, {ID}, ...\)",
        ],
    ),
    (
        _number,
        [
            r"causalds_truth/dev: 0 rows added, 0 removed, 1 changed",
            rf"  value: 1 row changed \({ID}\); largest difference .* absolute, 0.2 relative",
        ],
    ),
    (
        _cells,
        [
            r"causalds_labels/dev: .*", rf"  values: 1 row changed \({ID}\)",
            r"causalds_scenes/dev: .*", rf"  data: 1 row changed \({ID}/clean\)",
            r"causalds_truth/dev: .*", rf"  value: 1 row changed \({ID}\)",
        ],
    ),
    (
        _scene,  # comparing by position would call every later row changed
        [
            r"causalds_scenes/dev: 1 rows added, 1 removed, 0 changed",
            r"  added: scene-ffffffffffffffff/clean", rf"  removed: {ID}/clean",
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "lines"), CASES)
def test_a_change_names_its_config_its_column_and_its_rows(change, lines, tmp_path):
    """A corrected prompt must be found among thousands of equal ones."""
    for name in ("a", "b"):
        tables = make_tables(PLAN)
        if name == "b":
            change(tables)
        write(tables, tmp_path / name)
    told = diff_releases(tmp_path / "a", tmp_path / "b")
    assert len(told) == len(lines)
    assert all(re.fullmatch(line, one) for line, one in zip(lines, told, strict=True)), told


def test_what_one_release_lacks_or_stores_differently_is_named(tmp_path: Path) -> None:
    """A forgotten config is no difference in any row."""
    for name in ("a", "b"):
        write(make_tables(PLAN), tmp_path / name)
    (tmp_path / "b/public/causalds_exams/dev-00000-of-00001.parquet").unlink()
    path = tmp_path / "b/public/causalds_labels/dev-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["kind"]), path)
    path = tmp_path / "b/public/causalds_worlds/dev-00000-of-00001.parquet"
    rows = pq.read_table(path).to_pylist()
    pq.write_table(pa.Table.from_pylist(rows, SCHEMAS["causalds_worlds"]), path, row_group_size=2)
    (tmp_path / "b/GATE.md").write_text("# Gate\n", encoding="utf-8")
    manifest = tmp_path / "b/public/manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    document["splits"]["dev"]["truth"] = "half"
    manifest.write_text(json.dumps(document), encoding="utf-8")
    lines = diff_releases(tmp_path / "a", tmp_path / "b")
    assert "public manifest: splits differ" in lines
    assert "causalds_exams/dev: only in the first" in lines
    assert "  kind: column only in the first" in lines
    assert "  the same rows, stored differently (order, row groups or encoding)" in lines
    assert "GATE.md: only in the second" in lines


def test_a_private_side_on_one_hand_only_is_a_difference(tmp_path: Path) -> None:
    """Truths that moved from public to private change who may see them."""
    tables = make_tables(Plan(scenes=6, private=True))
    write(tables, tmp_path / "a", private=True)
    write(tables, tmp_path / "b")
    assert "private: only in the first" in diff_releases(tmp_path / "a", tmp_path / "b")
    with pytest.raises(UsageError, match="nowhere: no release there"):
        diff_releases(tmp_path / "a", tmp_path / "nowhere")
