"""The gate of a build: it adds up the checks of parts that are of the rows that it releases."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gate_release import edit, failures, replace_table

from builder import build
from builder.build import check_release
from builder.commands.main import main
from builder.gate import part_check
from builder.gate.part_check import CHECK
from builder.gate.report import GateLine, GateReport
from builder.release import parts as staging
from builder.release.parts import Part

SPLITS = """
name = "parts"
version = "0.1.0"
floor_tasks = 1
[splits.dev]
truth = "public"
seed = "parts 1"
[splits.dev.causalds]
scenes = 4
rows = { train = 50, test = 20 }
motifs = { chain = 1, confounding = 1 }
[splits.dev.exams.practice]
causalds = { tasks = 20 }
"""


@pytest.fixture(scope="module", autouse=True)
def _small_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "PART_INSTANCES", 2)
        yield


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that its gate refused, with everything that is staged; do not change."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "parts.toml").write_text(SPLITS, encoding="utf-8")
    reports = []

    check = build.check_release

    def gate(release: Path, progress: object, workers: int, staging: Path) -> GateReport:
        reports.append(check(release, workers=1, staging=staging))
        return GateReport((GateLine("refused", False, ""),))

    words = ["build", str(folder / "parts.toml"), "--out", str(folder / "release")]
    with patch.object(build, "check_release", gate):
        assert main([*words, "--workers", "1", "--quiet"]) == 1
    assert reports[0].ok, reports[0].markdown
    (folder / "GATE.md").write_text(reports[0].markdown, encoding="utf-8")
    return folder


@pytest.fixture
def staged(refused: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(refused / "release.partial", tmp_path / "release.partial"))


def test_a_finished_release_gives_the_report_of_its_build(refused: Path) -> None:
    """`check` takes a release apart again; what it finds must not hang on who took it apart."""
    release = refused / "release.partial" / "release"
    told = (refused / "GATE.md").read_text(encoding="utf-8")
    assert check_release(release, workers=1).markdown == told


def _of_other_code(folder: Path) -> None:
    """A check by another version of the checks."""
    record = json.loads((folder / CHECK).read_bytes())
    record["identity"]["checker"] = "0" * 64
    (folder / CHECK).write_text(json.dumps(record), encoding="utf-8")


def _of_rows_that_were_changed(folder: Path) -> None:
    """A truth is changed after the check, in the release that is made of the part."""

    def change(rows: list[dict[str, Any]]) -> None:
        own = pq.read_table(release / "public/causalds_worlds/dev-00000-of-00001.parquet")
        names = [row["instance_id"] for row in own.to_pylist() if row["index"] >= 2]
        row = next(row for row in rows if row["instance_id"] in names)
        row["should_abstain"] = not row["should_abstain"]

    release = folder.parents[3] / "release"
    edit(release, "public", "causalds_truth/dev", change)


@pytest.mark.parametrize(
    "damage",
    [
        None,
        _of_other_code,
        lambda folder: (folder / CHECK).unlink(),
        lambda folder: shutil.copy(folder.with_name("00000") / CHECK, folder / CHECK),
        _of_rows_that_were_changed,
    ],
)
def test_only_a_part_without_a_check_of_its_rows_by_this_code_is_checked_again(
    staged, damage, monkeypatch
):
    """A release must not pass on findings about other rows, or of other code."""
    checked: list[str] = []
    real = part_check.findings

    def findings(part: Part, *rest: Any) -> Any:
        checked.append(f"{part.origin.track}/{part.origin.split}/{part.folder.name}")
        return real(part, *rest)

    monkeypatch.setattr(part_check, "findings", findings)
    if damage is not None:
        damage(staged / "parts/causalds/dev/00001")
    report = check_release(staged / "release", workers=1, staging=staged / "parts")
    assert checked == ([] if damage is None else ["causalds/dev/00001"])
    assert report.ok == (damage is not _of_rows_that_were_changed)


@pytest.mark.parametrize("first", [3, 2])
def test_instances_that_are_left_out_of_all_shards_are_told(staged: Path, first: int) -> None:
    """One instance of a part, or a whole part: what is left is a sound release, and smaller."""
    release = staged / "release"
    side = release / "public"
    worlds = pq.read_table(side / "causalds_worlds/dev-00000-of-00001.parquet").to_pylist()
    lost = {row["instance_id"] for row in worlds if row["index"] >= first}
    tasks = pq.read_table(side / "causalds/dev-00000-of-00001.parquet").to_pylist()
    lost |= {row["task_id"] for row in tasks if row["instance_id"] in lost}

    def leave_out(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept = [row for row in rows if lost.isdisjoint(map(str, row.values()))]
        for position, row in enumerate(kept if "position" in kept[0] else ()):
            row["position"] = position
        return kept

    for folder in sorted(path.name for path in side.iterdir() if path.is_dir()):
        if list((side / folder).glob("dev-*.parquet")):
            edit(release, "public", f"{folder}/dev", leave_out)
    (problem,) = failures(release).items()
    assert problem[0] == "counts" and f"of {first} instances, the manifest" in problem[1]


def _other_type(table: pa.Table) -> pa.Table:
    place = table.schema.get_field_index("rung")
    return table.set_column(place, "rung", table["rung"].cast(pa.int32()))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_other_type, "the column rung is int32, not int8"),
        (lambda table: table.drop_columns(["view"]), "lacks the column view"),
        (lambda table: table.append_column("note", table["view"]), "has the column note"),
        (lambda table: table.select(table.column_names[::-1]), "in another order"),
    ],
)
def test_a_shard_with_another_schema_is_named(staged, damage, says):
    """A reader would fail over it, or read the wrong column."""
    release, name = staged / "release", "causalds/dev-00000-of-00001.parquet"
    replace_table(release, "public", "causalds/dev", damage)
    problem = failures(release)["schemas"]
    assert f"public/{name}: " in problem and says in problem
