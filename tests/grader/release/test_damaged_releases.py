"""A release that was damaged, or made to harm: each command refuses it in a line, and soon."""

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest
from grading import Runner
from malformations import sparse
from small_release import FEW, restate, rewrite, task_id, write_manifest
from small_tracks import SHARD, TRACK_DAMAGES, at
from some_cases import some_of

from grader.io.schemas import schema
from grader.tracks import TRACKS

TASK_SHARD: Final = "causalds/dev-00000-of-00001.parquet"
EXAMS: Final = "causalds_exams/dev-00000-of-00001.parquet"
TRUTHS: Final = "causalds_truth/dev-00000-of-00001.parquet"
LABELS: Final = "causalds_labels/dev-00000-of-00001.parquet"
WORLDS: Final = "causalds_worlds/dev-00000-of-00001.parquet"
SCENES: Final = "causalds_scenes/dev-00000-of-00001.parquet"

Rows = list[dict[str, Any]]
Damage = Callable[[Path], object]
"""What is done to the public side of a release."""


def row_of(rows: Rows, name: str) -> dict[str, Any]:
    (row,) = [row for row in rows if row["task_id"] == task_id(name)]
    return row


def cell(shard: str, name: str, column: str, value: object) -> Damage:
    """Put ``value`` into one cell; a function changes what is there."""

    def change(rows: Rows) -> None:
        row = row_of(rows, name)
        row[column] = value(row[column]) if callable(value) else value

    return lambda side: rewrite(side, shard, change)


def member(shard: str, name: str, column: str, key: str, value: object) -> Damage:
    """Put ``value`` into one member of a JSON cell; ``...`` removes the member."""

    def change(text: str) -> str:
        document = json.loads(text) | {key: value}
        if value is ...:
            del document[key]
        return json.dumps(document)

    return cell(shard, name, column, change)


def query(shard: str, select: str) -> Damage:
    """Replace a shard by a query over it (``old``), and let the manifest fit."""

    def damage(side: Path) -> None:
        file, new = side / shard, side / "new.parquet"
        with duckdb.connect() as connection:
            connection.execute(f"CREATE VIEW old AS FROM read_parquet('{file}')")
            options = "FORMAT parquet, COMPRESSION zstd"
            connection.execute(f"COPY ({select}) TO '{new}' ({options})")
            counted = connection.execute(f"SELECT count(*) FROM '{new}'").fetchone()
        new.replace(file)
        restate(side, shard)
        state(lambda m: m["shards"][shard].update(rows=counted[0] if counted else 0))(side)

    return damage


def state(change: Callable[[dict[str, Any]], object]) -> Damage:
    def damage(side: Path) -> None:
        manifest = json.loads((side / "manifest.json").read_text("utf-8"))
        change(manifest)
        write_manifest(side, manifest)

    return damage


def in_place(name: str, make: Callable[[Path], object]) -> Damage:
    def damage(side: Path) -> None:
        file = side / name
        kept = file.rename(side.parent / "kept")
        make(file)
        kept.touch()

    return damage


def link(file: Path) -> None:
    file.symlink_to(file.parents[1].parent / "kept" if file.suffix == ".parquet" else
                    file.parents[1] / "kept")  # fmt: skip


def rows_of(shard: str, change: Callable[[Rows], object]) -> Damage:
    return lambda side: rewrite(side, shard, change)


DEEP: Final = "[" * 100_000 + "]" * 100_000
MUTATIONS: Final[dict[str, tuple[Damage, str]]] = {
    "a truth that is not a number": (cell(TRUTHS, "ate", "value", float("nan")), "value"),
    "an infinite truth": (cell(TRUTHS, "ate", "value", float("inf")), "value"),
    "a negative error": (cell(TRUTHS, "ate", "value_se", -1.0), "value_se"),
    "an error that is not a number": (cell(TRUTHS, "ate", "value_se", float("nan")), "value_se"),
    "no value": (cell(TRUTHS, "ate", "value", None), "value"),
    "text in the column of values": (
        query(TRUTHS, "SELECT * REPLACE ('much' AS value) FROM old"), "value"),
    "integers in the column of abstentions": (
        query(TRUTHS, "SELECT * REPLACE (1 AS should_abstain) FROM old"), "should_abstain"),
    "null abstention": (cell(TRUTHS, "ate", "should_abstain", None), "should_abstain"),
    "null structure": (cell(TRUTHS, "ate", "structure", None), "structure"),
    "null target": (cell(TRUTHS, "ate", "target_json", None), "target_json"),
    "no column of targets": (query(TRUTHS, "SELECT * EXCLUDE target_json FROM old"), "target_json"),
    "a target that is a list": (cell(TRUTHS, "sign", "target_json", "[]"), "target_json"),
    "a deep target": (cell(TRUTHS, "sign", "target_json", DEEP), "target_json"),
    "nothing accepted": (member(TRUTHS, "sign", "target_json", "accepted", []), "accepted"),
    "text where a list is accepted": (
        member(TRUTHS, "sign", "target_json", "accepted", 5), "accepted"),
    "no accepted answers": (member(TRUTHS, "sign", "target_json", "accepted", ...), "accepted"),
    "a target without edges": (member(TRUTHS, "sketch", "target_json", "edges", ...), "edges"),
    "an edge of one node": (member(TRUTHS, "sketch", "target_json", "edges", [["a"]]), "edges"),
    "nodes that are numbers": (member(TRUTHS, "sketch", "target_json", "nodes", [1, 2]), "nodes"),
    "an unknown category": (member(TRUTHS, "sets", "target_json", "category", "odd"), "category"),
    "a category without its sets": (member(TRUTHS, "sets", "target_json", "sets", ...), "sets"),
    "an unknown member": (member(TRUTHS, "ate", "target_json", "surprise", 1), "surprise"),
    "an infinite deviation": (
        cell(TRUTHS, "predict", "target_json", lambda t: t.replace('"sd": ', '"sd": 1e999, "_": ')),
        "target_json"),
    "a deviation in words": (member(TRUTHS, "predict", "target_json", "sd", "wide"), "sd"),
    "a truth twice": (rows_of(TRUTHS, lambda rows: rows.append(rows[0])), "twice"),
    "no truth for a task": (rows_of(TRUTHS, lambda rows: rows.pop()), "no truth for task"),
    "labels that are not numbers": (
        query(LABELS, "SELECT * REPLACE (['NaN'::FLOAT, 0, 2, 2] AS values) FROM old"), "values"),
    "labels in words": (query(LABELS, "SELECT * REPLACE (['a'] AS values) FROM old"), "values"),
    "too few labels": (
        query(LABELS, "SELECT * REPLACE ([1.0::FLOAT] AS values) FROM old"), "values"),
    "no labels": (query(LABELS, "FROM old LIMIT 0"), "labels"),
    "no level of an interval": (
        member(TASK_SHARD, "interval", "inputs_json", "alpha", ...), "alpha"),
    "a level of zero": (member(TASK_SHARD, "interval", "inputs_json", "alpha", 0), "alpha"),
    "no number of rows": (member(TASK_SHARD, "predict", "inputs_json", "rows", ...), "rows"),
    "no variables to choose from": (
        member(TASK_SHARD, "sets", "inputs_json", "available", "all"), "available"),
    "deep inputs": (cell(TASK_SHARD, "ate", "inputs_json", DEEP), "inputs_json"),
    "null inputs": (cell(TASK_SHARD, "ate", "inputs_json", None), "inputs_json"),
    "null prompt": (cell(TASK_SHARD, "ate", "prompt", None), "prompt"),
    "null instance": (cell(TASK_SHARD, "ate", "instance_id", None), "instance_id"),
    "null task": (cell(TASK_SHARD, "ate", "task_id", None), "task_id"),
    "a task twice": (rows_of(TASK_SHARD, lambda rows: rows.append(rows[0])), "twice"),
    "an unknown variant": (cell(TASK_SHARD, "ate", "variant", "odd"), "unknown to this grader"),
    "an unknown track": (cell(TASK_SHARD, "ate", "track", "odd"), "unknown to this grader"),
    "an unknown mode": (cell(TASK_SHARD, "ate", "input_mode", "odd"), "input_mode"),
    "another answer schema": (cell(TASK_SHARD, "ate", "answer_schema", "sign"), "specification"),
    "another answer file": (cell(TASK_SHARD, "ate", "answer_file", "../x.json"), "specification"),
    "a huge cell": (cell(TASK_SHARD, "ate", "prompt", "x" * (5 << 20)), "4 MiB"),
    "a task without an exam's task": (rows_of(TASK_SHARD, lambda rows: rows.pop()), "not in the"),
    "an exam that lists a task twice": (rows_of(EXAMS, lambda rows: rows.append(rows[0])), "exam"),
    "3 million equal rows of an exam": (
        query(EXAMS, "SELECT old.* FROM (FROM old LIMIT 1) old, range(3_000_000)"), "rows"),
    "more rows than the manifest says": (
        lambda side: (query(EXAMS, "FROM old")(side),
                      state(lambda m: m["shards"][EXAMS].update(rows=1))(side)), "rows"),
    "a negative count": (state(lambda m: m["shards"][EXAMS].update(rows=-1)), "manifest"),
    "a count in words": (state(lambda m: m["shards"][EXAMS].update(rows="many")), "manifest"),
    "a table that is a number": (state(lambda m: m.update(deprecated={"dev": 5})), "manifest"),
    "a shard that is a pipe": (in_place(TASK_SHARD, os.mkfifo), "regular file"),
    "a shard that is a link": (in_place(TASK_SHARD, link), "link"),
    "a shard that is a folder": (in_place(TASK_SHARD, Path.mkdir), "directory"),
    "a manifest that is a pipe": (in_place("manifest.json", os.mkfifo), "regular file"),
    "a manifest that is a link": (in_place("manifest.json", link), "link"),
    "a manifest of 6 GiB": (in_place("manifest.json", sparse(6 << 30)), "16 MiB"),
    "a deep manifest": (
        lambda side: (side / "manifest.json").write_text(DEEP), "manifest"),
    "a shard of 6 GiB": (in_place(TASK_SHARD, sparse(6 << 30)), "bytes"),
}  # fmt: skip
"""What is damaged, how, and what the line about it names."""

SCENE_DAMAGE: Final = {
    "no scenes": "FROM old LIMIT 0",
    "a null story": "SELECT * REPLACE (NULL::VARCHAR AS story) FROM old",
    "a column of a table twice": "SELECT * REPLACE (list_concat(data, data) AS data) FROM old",
    "a table in words": "SELECT * REPLACE ([{'name': 'a', 'values': ['x']}] AS data) FROM old",
    "a table of infinities": (
        "SELECT * REPLACE ([{'name': 'a', 'values': ['inf'::FLOAT]}] AS data) FROM old"
    ),
    "a column without a name": (
        "SELECT * REPLACE ([{'name': NULL, 'values': [1]}] AS data) FROM old"
    ),
}


def refused(runner: Runner, words: tuple[str | Path, ...]) -> str:
    start = time.monotonic()
    run = runner.run(*words)
    assert time.monotonic() - start < 10, words
    assert run.code in ((1, 2) if words[0] == "verify" else (0, 2)), (words, run.out + run.err)
    assert run.code == 2 or words[0] != "verify" or "FAIL" in run.out
    return " ".join((run.out if run.code == 1 else run.err).split())


def refusals(
    runner: Runner, release: Path, answers: Path, exams: Sequence[str], asked: str, work: Path
) -> dict[str | Path, str]:
    dev = ("--release", release, "--split", "dev")
    told = {
        words[0]: refused(runner, words)
        for words in (
            ("verify", release),
            ("workspace", *dev, "--exam", "all", "--out", work),
            ("validate", answers, *dev, "--exam", "all"),
            *(("grade", answers, *dev, "--exam", exam) for exam in exams),
            ("explain", asked, *dev, "--answers", answers),
        )
    }
    assert not work.exists() or not told["workspace"]
    return told


@pytest.mark.parametrize("name", some_of(MUTATIONS, 6))
def test_every_command_refuses_a_damaged_release_in_one_line(
    runner: Runner, few_release: Path, gold: Path, tmp_path: Path, name: str
) -> None:
    """Fifteen of forty-two ended as "our fault", one of them after minutes."""
    damage, named = MUTATIONS[name]
    damage(few_release / "public")
    asked = task_id(FEW[0])
    told = refusals(runner, few_release, gold, ("all", "mini"), asked, tmp_path / "work")
    assert named in told["verify"], told


@pytest.mark.parametrize("name", some_of(TRACK_DAMAGES, 6))
def test_damaged_rows_of_the_other_tracks_are_refused_in_one_line(
    runner: Runner, own_tracks: Path, tmp_path: Path, name: str
) -> None:
    """Their truths and inputs had hardly a schema, and those of inductions none at all."""
    damage, named = TRACK_DAMAGES[name]
    damage(own_tracks / "public")
    gold = own_tracks / "gold"
    asked = min(file.stem for file in gold.iterdir() if file.stem != "run")
    told = refusals(runner, own_tracks, gold, ("all",), asked, tmp_path / "work")
    assert named in told["verify"] and "column" in told["verify"], told
    assert "cannot be read" in told["grade"], told


@pytest.mark.parametrize("name", SCENE_DAMAGE)
def test_a_damaged_scene_is_named(runner, few_release, tmp_path, name):
    """Workspaces write what scenes hold."""
    query(SCENES, SCENE_DAMAGE[name])(few_release / "public")
    out = tmp_path / "work"
    words = ("workspace", "--release", few_release, "--split", "dev", "--exam", "all", "--out", out)
    message = runner.fails(*words)
    assert "scene" in message and message.count("\n") == 1 and not out.exists()
    run = runner.run("verify", few_release)
    assert run.code == 1 and "scene" in run.out


def test_a_false_certificate_is_a_fault_of_the_release(runner: Runner, own_tracks: Path) -> None:
    """An answer that disproves it ended as "our fault", and a proof from one world took minutes."""
    at("replayscm", "induction.ordered", "worlds", lambda old: old[:1])(own_tracks / "public")
    disproved = []

    def lie(rows: Rows) -> None:
        for row in rows:
            target = json.loads(row["target_json"])
            shown = target["counterexample"]
            if shown is not None and target["alternative"] is None:
                (own_tracks / "gold" / f"{row['task_id']}.json").write_text(json.dumps(shown))
                row["target_json"] = json.dumps(target | {"determined": True})
                disproved.append(row["task_id"])

    rewrite(own_tracks / "public", f"replayscm_truth/{SHARD}", lie)
    message = runner.fails("grade", own_tracks / "gold", "--release", own_tracks, "--exam", "all")
    assert min(disproved) in message and "its truth cannot be used" in message
    assert "proved" in refused(runner, ("verify", own_tracks))


@pytest.mark.parametrize("world", ["[]", '{"world": 5}', '{"world": {}, "variables": {"a": {}}}'])
def test_a_world_that_cannot_be_drawn_is_named(runner, few_release, tmp_path, world):
    """Worlds have no schema; only pages show them."""
    query(WORLDS, f"SELECT * REPLACE ('{world}' AS world_json) FROM old")(few_release / "public")
    words = ("browse", few_release, "--split", "dev", "--exam", "all", "--html", tmp_path / "site")
    assert "the world of instance" in runner.fails(*words) and not (tmp_path / "site").exists()
    assert world != "[]" or "the world of instance" in refused(runner, ("verify", few_release))


@pytest.mark.parametrize("track", TRACKS)
@pytest.mark.parametrize("kind", ["inputs", "truth"])
def test_inputs_and_truths_of_every_track_have_a_schema(track: str, kind: str) -> None:
    """A schema file that is absent, for a track of somebody else's, would accept everything."""
    assert schema(f"{kind}/{track}")


def test_verify_accepts_the_release_and_its_public_half(runner: Runner, tmp_path: Path) -> None:
    """Anyone may check the public side; the maintainer checks both."""
    run = runner.run("verify", runner.release)
    assert run.code == 0 and "private rows are what was committed to" in run.out
    public = shutil.copytree(runner.release / "public", tmp_path / "public")
    run = runner.run("verify", public)
    assert run.code == 0 and "not checked" in run.out


def test_verify_sees_one_flipped_byte_in_any_shard(runner: Runner, own_release: Path) -> None:
    """And grading refuses the shard."""
    for file in sorted(own_release.glob("*/*/*.parquet"))[::3]:
        data = file.read_bytes()
        middle = len(data) // 2
        file.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
        run = runner.run("verify", own_release)
        assert run.code == 1 and file.name in run.out, file
        file.write_bytes(data)
    assert runner.run("verify", own_release).code == 0


def test_grading_refuses_a_shard_that_differs_from_its_hash(runner, own_release, gold):
    """A truth edited after the fact must not grade anyone."""
    for config in ("causalds", "causalds_exams", "causalds_truth", "causalds_labels"):
        file = own_release / "public" / config / "dev-00000-of-00001.parquet"
        data = file.read_bytes()
        file.write_bytes(data + b"\0")
        message = runner.fails("grade", gold, "--release", own_release, "--split", "dev")
        assert str(file) in message and "SHA-256" in message and "fetch" in message
        file.unlink()
        assert str(file) in runner.fails("grade", gold, "--release", own_release, "--split", "dev")
        file.write_bytes(data)


def test_verify_sees_a_private_row_changed_with_its_hash(runner: Runner, own_release: Path) -> None:
    """The manifest can be fixed up to fit a changed truth; the commitment cannot."""

    def change(rows: Rows) -> None:
        (row,) = [row for row in rows if row["task_id"] == task_id("ett", "test")]
        row["value"] = -3.0000001

    rewrite(own_release / "private", "causalds_truth/test-00000-of-00001.parquet", change)
    run = runner.run("verify", own_release)
    assert run.code == 1
    assert f"row {task_id('ett', 'test')} is not what was committed to" in " ".join(run.out.split())


def test_verify_sees_a_shard_nobody_vouches_for(runner: Runner, own_release: Path) -> None:
    """``load_dataset`` would read it with the others."""
    folder = own_release / "public" / "causalds"
    shutil.copy(folder / "dev-00000-of-00001.parquet", folder / "dev-00001-of-00002.parquet")
    run = runner.run("verify", own_release)
    assert run.code == 1 and "dev-00001-of-00002.parquet is not in the manifest" in run.out
