"""The gate of a build: it adds up the checks of parts, if they are of the rows that it releases."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gate_release import edit

from builder import build
from builder.build import check_release, check_staged
from builder.gate import part_check
from builder.gate.part_check import CHECK, read_check
from builder.gate.report import GateLine, GateReport
from builder.release import parts as staging
from builder.release.parts import RECORD, Part, find_part
from builder.release.progress import Reporter
from builder.splits.config import load_config
from builder.splits.roots import read_roots
from builder.tracks import TRACKS

SPLITS = """
name = "parts"
version = "0.1.0"
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

Parts = dict[tuple[str, str], list[Part]]


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
    config = load_config(folder / "parts.toml", TRACKS)
    roots, _ = read_roots(config)
    reports = []

    check = build.check_release

    def gate(release: Path, progress: object, workers: int, parts: Any) -> GateReport:
        reports.append(check(release, workers=1, parts=parts))
        return GateReport((GateLine("refused", False, ""),))

    with patch.object(build, "check_release", gate):
        build.build_release(
            config, folder / "release", roots, workers=1, reporter=Reporter(quiet=True)
        )
    assert reports[0].ok, reports[0].markdown
    (folder / "GATE.md").write_text(reports[0].markdown, encoding="utf-8")
    return folder


@pytest.fixture
def staged(refused: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(refused / "release.partial", tmp_path / "release.partial"))


def _parts(staged: Path) -> Parts:
    found = [find_part(file.parent) for file in sorted((staged / "parts").rglob(RECORD))]
    assert len(found) == 2
    return {("dev", "causalds"): [part for part in found if part is not None]}


def _failures(staged: Path, parts: Parts) -> dict[str, str]:
    report = check_release(staged / "release", workers=1, parts=parts)
    assert not report.ok
    return {line.check: " / ".join(line.problems) for line in report.lines if not line.ok}


def test_a_finished_release_gives_the_report_of_its_build(refused: Path) -> None:
    """`check` takes a release apart again; what it finds must not hang on who took it apart."""
    release = refused / "release.partial" / "release"
    told = (refused / "GATE.md").read_text(encoding="utf-8")
    assert check_release(release, workers=1).markdown == told
    assert "| checks of parts | ok | 2 parts," in told


def test_a_check_that_holds_is_kept_and_a_stale_one_is_not(
    staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reruns check what changed, nothing else."""
    looked: list[str] = []
    real = part_check.findings

    def findings(part: Part, *rest: Any) -> Any:
        looked.append(part.name)
        return real(part, *rest)

    monkeypatch.setattr(part_check, "findings", findings)
    first, second = _parts(staged)["dev", "causalds"]
    assert first.name == "causalds/dev/00000"
    for part in (first, second):
        check_staged(part)
    assert looked == []
    _as_of_other_code(staged, second)
    for part in (first, second):
        check_staged(part)
    assert looked == [second.name]
    assert read_check(second) == real(second, TRACKS["causalds"])


def _as_of_other_code(_: Path, part: Part) -> None:
    file = part.folder / CHECK
    record = json.loads(file.read_bytes())
    file.write_text(json.dumps({**record, "checker": "0" * 64}), encoding="utf-8")


def _without(_: Path, part: Part) -> None:
    (part.folder / CHECK).unlink()


def _edited(_: Path, part: Part) -> None:
    """A truth is changed in the part, whose record is changed with it."""
    file = part.folder / "causalds_truth.arrow"
    with pa.memory_map(str(file)) as source:
        table = pa.ipc.open_file(source).read_all()
    rows = table.to_pylist()
    rows[0]["should_abstain"] = not rows[0]["should_abstain"]
    file.unlink()
    with pa.ipc.new_file(str(file), table.schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=table.schema))


def _of_another_part(staged: Path, part: Part) -> None:
    other = _parts(staged)["dev", "causalds"][0]
    shutil.copy(other.folder / CHECK, part.folder / CHECK)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_as_of_other_code, "part causalds/dev/00001: its check is of another version"),
        (_without, "part causalds/dev/00001: there is no check of it"),
        (_edited, "part causalds/dev/00001: causalds_truth was changed after it was checked"),
        (_of_another_part, "part causalds/dev/00001: causalds was changed after it was checked"),
    ],
)
def test_a_part_whose_check_does_not_hold_is_named(
    staged: Path, damage: Callable[[Path, Part], None], says: str
) -> None:
    """A release must not pass on findings about other rows, or of other code."""
    parts = _parts(staged)
    damage(staged, parts["dev", "causalds"][1])
    assert says in _failures(staged, parts)["checks of parts"]


def test_a_released_row_that_was_not_staged_is_named(staged: Path) -> None:
    """Parts were checked; what was written from them is what counts."""

    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["should_abstain"] = not rows[0]["should_abstain"]

    edit(staged / "release", "public", "causalds_truth/dev", change)
    problems = _failures(staged, _parts(staged))["checks of parts"]
    assert "causalds_truth/dev-00000-of-00001.parquet: row group 0 does not hold" in problems


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
def test_a_shard_with_another_schema_is_named(
    staged: Path, damage: Callable[[pa.Table], pa.Table], says: str
) -> None:
    """A reader would fail over it, or read the wrong column."""
    release, name = staged / "release", "causalds/dev-00000-of-00001.parquet"
    file = release / "public" / name
    pq.write_table(damage(pq.read_table(file)), file)
    manifest = json.loads((release / "public/manifest.json").read_bytes())
    told = manifest["shards"][name]
    told["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    told["bytes"] = file.stat().st_size
    (release / "public/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    report = check_release(release, workers=1, parts=_parts(staged))
    problems = {line.check: " / ".join(line.problems) for line in report.lines}
    assert f"public/{name}: " in problems["schemas"] and says in problems["schemas"]


@pytest.mark.parametrize("config", ["causalds", "causalds_exams", "causalds_truth"])
def test_a_shard_that_nobody_can_read_is_told_by_its_hash(staged: Path, config: str) -> None:
    """What other checks would stumble over is said better there."""
    file = staged / "release" / "public" / config / "dev-00000-of-00001.parquet"
    file.write_bytes(b"no Parquet")
    report = check_release(staged / "release", workers=1, parts=_parts(staged))
    problems = {line.check: " / ".join(line.problems) for line in report.lines}
    assert f"{config}/dev-00000-of-00001.parquet" in problems["public shards"]


def test_a_part_that_is_left_out_is_missed(staged: Path) -> None:
    """Half of the rows would be in the release unchecked."""
    parts = _parts(staged)
    parts["dev", "causalds"].pop()
    assert "row group 0 does not hold" in _failures(staged, parts)["checks of parts"]
