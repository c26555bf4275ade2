"""A build gives the same bytes whatever happens on the way, and never half a release."""

import json
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import fake_builder
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fake_builder import ENVIRONMENT, OTHER_SECRET, SECRET, tree
from killed_builds import forked_build

from builder.release import shards as shards_module
from builder.release.manifest import read_manifest
from builder.release.parts import Origin, stage_part
from builder.release.shards import ConfigJob, write_config
from builder.release.workspace import Workspace, open_workspace


def process(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a builder command in a process of its own."""
    words = [sys.executable, fake_builder.__file__, *map(str, arguments)]
    return subprocess.run(
        words, env=ENVIRONMENT | variables, capture_output=True, text=True, timeout=120
    )


@pytest.mark.slow
def test_workers_and_hash_seed_leave_no_trace_in_the_bytes(tiny, split_file, tmp_path):
    """Set order or completion order in a file would make every rebuild look like a change."""
    done = process(
        "build", split_file, "--out", tmp_path / "b", "--workers", 2,
        PYTHONHASHSEED="77", TINY_SECRET=SECRET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "b") == tree(tiny)


def test_a_killed_build_is_resumed_to_the_same_bytes(
    tiny, split_file, build, monkeypatch, tmp_path, capsys
):
    """A build of hours must survive a power cut without starting over or mixing two runs."""
    out = tmp_path / "c"
    with monkeypatch.context() as dying:
        dying.setenv("FAKE_KILL_AT", "40")
        assert forked_build(split_file, out, 0, 0)[1] != 0
    assert not out.exists()
    kept = list(tmp_path.glob("c.partial/parts/causalds/*/*/part.json"))
    assert kept
    assert build(out) == 0
    assert f"resuming: {len(kept)} of " in capsys.readouterr().err
    assert tree(out) == tree(tiny)
    assert not (tmp_path / "c.partial").exists()


@pytest.mark.slow
def test_a_worker_that_dies_is_reported_and_costs_only_its_part(split_file, tmp_path):
    """The pool's own message names neither cause nor cure."""
    done = process(
        "build", split_file, "--out", tmp_path / "d", "--workers", 2,
        FAKE_KILL_AT="40", TINY_SECRET=SECRET,
    )  # fmt: skip
    assert done.returncode == 3
    assert re.search(r"a worker process died with .*causalds/dev/36 to 41.* in work", done.stderr)
    assert f"build {split_file} --only TRACK/SPLIT/INDEX" in done.stderr
    assert "Traceback" not in done.stderr


def test_parts_of_another_configuration_are_not_used(
    split_file, build, monkeypatch, tmp_path, capsys
):
    """A changed seed with half of the old parts would give a release that nobody can rebuild."""
    monkeypatch.setenv("FAKE_GATE_FAILS", "1")
    for _ in range(2):
        assert build(tmp_path / "g") == 1
    assert re.search(r"resuming: (\d+) of \1 parts are kept", capsys.readouterr().err)
    split_file.write_text(split_file.read_text().replace("tiny 1", "tiny 2"))
    assert build(tmp_path / "g") == 1
    monkeypatch.setenv("TINY_SECRET", OTHER_SECRET)
    assert build(tmp_path / "g") == 1
    assert build(tmp_path / "g", "--fresh") == 1
    assert "are kept" not in capsys.readouterr().err


def test_two_rows_with_one_id_are_our_bug(tmp_path):
    """An id that collides would give one answer two truths."""
    schema = pa.schema([("task_id", pa.string())])
    table = pa.table({"task_id": ["a", "b", "a"]}, schema=schema)
    part = stage_part(Origin("t", "dev", False, 1), tmp_path / "00000", {"t": table}, {})
    with pytest.raises(ValueError, match="two rows have the id a"):
        write_config(ConfigJob("t", "dev", tmp_path, schema, [part.folder]))


def test_a_refused_release_keeps_its_working_name_and_its_sound_parts(
    tiny, build, monkeypatch, tmp_path, capsys
):
    """A release that fails its gate must not be found under the name people publish."""
    monkeypatch.setenv("FAKE_GATE_FAILS", "1")
    out = tmp_path / "refused"
    assert build(out) == 1
    assert not out.exists()
    partial = tmp_path / "refused.partial"
    assert "99 points" in (partial / "release/GATE.md").read_text()
    assert stat.S_IMODE(partial.stat().st_mode) == 0o700
    assert "99 points" in capsys.readouterr().err
    staged = min(partial.glob("parts/**/causalds.arrow"))
    staged.write_bytes(staged.read_bytes()[:-8])
    monkeypatch.delenv("FAKE_GATE_FAILS")
    assert build(out, "--quiet") == 0
    assert tree(out) == tree(tiny) and not partial.exists()


def test_a_finished_release_is_found_and_replaced_only_with_fresh(
    split_file, build, tmp_path, capsys
):
    """Repeating the command of a README must not cost another hour, nor fail."""
    out = tmp_path / "r"
    assert build(out) == 0
    before = tree(out)
    times = {file: file.stat().st_mtime_ns for file in out.rglob("*")}
    assert build(out) == 0
    assert "already built" in capsys.readouterr().err
    split_file.write_text(split_file.read_text().replace("tiny 1", "tiny 2"))
    assert build(out) == 2
    assert "--fresh" in capsys.readouterr().err
    assert tree(out) == before
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*")} == times
    (out / "ledger.json").write_text("{}")
    assert build(out, "--fresh") == 2
    assert "would remove ledger.json" in capsys.readouterr().err and (out / "ledger.json").exists()
    (out / "ledger.json").unlink()
    assert build(out, "--fresh") == 0
    assert tree(out) != before
    assert not (tmp_path / "r.partial").exists()


def test_a_damaged_release_is_not_called_finished(tiny, build, tmp_path):
    """`already built` is a promise that the hashes were looked at."""
    out = Path(shutil.copytree(tiny, tmp_path / "r"))
    shard = next(out.glob("public/causalds_scenes/*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    assert build(out) == 2


def test_a_folder_of_other_things_is_never_replaced(build, tmp_path):
    """`--out ~ --fresh` must not empty a home folder."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter.txt").write_text("dear")
    for flags in ([], ["--fresh"]):
        assert build(tmp_path / "home", *flags) == 2
    assert (tmp_path / "home/letter.txt").read_text() == "dear"


def test_an_unexpected_error_names_the_instance_and_how_to_rebuild_it(
    split_file, build, command, secret, monkeypatch, tmp_path, capsys
):
    """One bad scene in a thousand is hopeless to find without its name."""
    monkeypatch.setenv("FAKE_FAIL_AT", "7")
    assert build(tmp_path / "f") == 3
    message = capsys.readouterr().err
    assert "the matrix is singular" in message
    assert f"build {split_file} --only causalds/" in message
    assert secret not in message
    monkeypatch.delenv("FAKE_FAIL_AT")
    assert command("build", split_file, "--only", "causalds/dev/7") == 0
    assert json.loads(capsys.readouterr().out)["rows"]["causalds"]["count"] == 3


def test_shards_follow_the_published_format(tiny):
    """Build order would tell which scene came first; the viewer fails on huge row groups and needs
    the page index; float columns with dictionaries double in size; a shared machine is where most
    private splits would leak."""
    assert stat.S_IMODE((tiny / "private").stat().st_mode) == 0o700
    assert stat.S_IMODE((tiny / "public").stat().st_mode) & stat.S_IRWXU == 0o700
    for file in tiny.rglob("*.parquet"):
        ids = pq.read_table(file).column(0).to_pylist()
        assert ids == sorted(ids), file
        metadata = pq.ParquetFile(file).metadata
        for column in map(metadata.row_group(0).column, range(metadata.num_columns)):
            assert column.compression == "ZSTD"
            assert column.has_offset_index and column.has_column_index, column.path_in_schema
            assert not (column.physical_type in ("FLOAT", "DOUBLE") and column.has_dictionary_page)
    scenes = pq.ParquetFile(tiny / "public/causalds_scenes/dev-00000-of-00001.parquet").metadata
    sizes = [scenes.row_group(i).num_rows for i in range(scenes.num_row_groups)]
    assert sizes == [20, 20, 5]


def test_many_shards_hold_the_same_rows_as_one(tiny, build, monkeypatch, tmp_path):
    """A cut between shards must lose or repeat nothing."""
    out = tmp_path / "many"
    monkeypatch.setattr(shards_module, "SHARD_BYTES", 9000)
    assert build(out, "--quiet") == 0
    shards = sorted((out / "public/causalds_scenes").glob("dev-*.parquet"))
    assert [file.name for file in shards] == [f"dev-0000{i}-of-00003.parquet" for i in range(3)]
    mine, theirs = (read_manifest(folder / "public")["configs"] for folder in (tiny, out))
    for config in ("causalds_scenes", "causalds", "causalds_truth"):
        whole = pq.read_table(tiny / f"public/{config}")
        assert pq.read_table(out / f"public/{config}").equals(whole)
        hashes = (told[config]["dev"]["content_sha256"] for told in (mine, theirs))
        assert len({*hashes}) == 1


def test_manifests_fit_their_schema_and_count_what_is_there(tiny):
    """The manifest is what strangers trust; it must agree with the files."""
    for side in ("public", "private"):
        manifest = read_manifest(tiny / side)
        files = {file.relative_to(tiny / side).as_posix() for file in tiny.glob(f"{side}/*/*")}
        assert files == set(manifest["shards"])
        for name, entry in manifest["shards"].items():
            assert pq.ParquetFile(tiny / side / name).metadata.num_rows == entry["rows"]
            assert (tiny / side / name).stat().st_size == entry["bytes"]
    splits = read_manifest(tiny / "public")["splits"]
    assert splits["dev"]["tracks"]["causalds"]["rejections"] == {"bound not met": 9}
    hidden = splits["test"]["tracks"]["causalds"]
    assert "rejections" not in hidden and "structures" not in hidden["realised"]


def test_the_lock_says_when_content_changes(split_file, build, tmp_path, capsys):
    """A silent change of a published split is the worst bug a benchmark can have."""
    out = tmp_path / "r"
    assert build(out, "--update-lock") == 0
    lock = json.loads(split_file.with_suffix(".lock.json").read_text())
    assert set(lock["splits"]) == {"dev"}
    assert build(out) == 0
    assert "matches" in capsys.readouterr().err
    split_file.write_text(split_file.read_text().replace("tasks = 20", "tasks = 21"))
    assert build(tmp_path / "s") == 0
    message = capsys.readouterr().err
    assert "dev/causalds_exams" in message and "dev/causalds_truth" not in message


def test_odd_folder_names_are_only_names(split_file, command, secret, tmp_path: Path):
    """A path is not a pattern, and not SQL."""
    folder = tmp_path / "with space, [brackets]*?, quo'te\"s and ünï"
    folder.mkdir()
    file = folder / split_file.name
    file.write_text(split_file.read_text())
    assert command("build", file, "--out", folder / "out", "--workers", 1, "--quiet") == 0
    assert command("plan", file) == 0


@pytest.mark.slow
def test_a_build_killed_anywhere_leaves_no_secret_open_and_goes_on_to_the_same_bytes(
    tiny, split_file, tmp_path
):
    """One killed as it cleaned up left its private parts beside the release for ever."""
    script = Path(__file__).with_name("killed_builds.py")
    points = ["0.02", "0.3", "0.58", "0.62", "0.66", "0.7", "0.75", "0.8", "0.95", "1"]
    told = subprocess.run(
        [sys.executable, script, split_file, tmp_path, *points],
        env=ENVIRONMENT | {"TINY_SECRET": SECRET}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    builds = [json.loads(line) for line in told.stdout.splitlines()]
    assert len(builds) == len(points), told.stderr
    for build in builds:
        assert build["killed"] in (-9, -15) and build["code"] == 0, build
        assert build["open"] == [] and build["whole"] in (None, True), build
        assert build["same"] and build["left"] == ["out"], build
    assert {build["whole"] for build in builds} == {None, True}, "kills before and after the name"


def test_what_a_killed_build_left_is_removed_when_its_release_is_found(
    tiny, build, tmp_path, capsys
):
    """Staged parts are private rows."""
    out = tmp_path / "r"
    with open_workspace(Workspace(out), "another", fresh=False):
        assert build(out) == 2
        assert "another run is at work" in capsys.readouterr().err
        shutil.copytree(tiny, out)
        assert build(out) == 0
        assert (tmp_path / "r.partial").is_dir()
    assert build(out) == 0
    assert not (tmp_path / "r.partial").exists() and tree(out) == tree(tiny)


def test_a_cluster_without_ray_is_one_line(build, monkeypatch, tmp_path, capsys):
    """The extra is not everybody's."""
    monkeypatch.setitem(sys.modules, "ray", None)
    assert build(tmp_path / "out", "--ray") == 2
    says = "--ray: ray is not installed here; pip install 'causal-exams[ray]'"
    assert says in capsys.readouterr().err
