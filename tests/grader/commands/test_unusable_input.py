"""What a slip costs: one line that says what, where and how to fix it. Nothing is overwritten."""

import json
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from grading import Runner, only_changed, put
from small_release import answer_file, restate, task_id, write_manifest

DEV = ("--split", "dev")


def test_names_that_do_not_exist_are_answered_with_near_ones(runner, gold, tmp_path):
    """A misspelt name costs a reader of source code an hour, a did-you-mean costs nothing."""
    for folder in (tmp_path / "run", tmp_path / "run" / "answers"):
        folder.mkdir()
        (folder / "run.json").write_text("{}")
    at = ("--release", runner.release)
    explain = ("explain", task_id("ate"), *at, *DEV)
    said = {
        "several splits": runner.fails("grade", gold, *at),
        "did you mean 'test'": runner.fails("grade", gold, *at, "--split", "tset"),
        "choose from dev, test": runner.fails("grade", gold, *at, "--split", "zzz"),
        "did you mean 'mini'": runner.fails("grade", gold, *at, *DEV, "--exam", "mimi"),
        "did you mean 'causalds'": runner.fails("grade", gold, *at, *DEV, "--track", "causald"),
        "did you mean 'leaderboard'": runner.fails("leaderbord"),
        "no such folder of answers": runner.fails("validate", gold / "no", *at, *DEV),
        "did you mean": runner.fails("validate", gold.with_name("glod"), *at, *DEV),
        "mean": runner.fails(str(gold.with_name("glod")), *at, *DEV),
        "you mean": runner.fails("grade", gold, "--release", at[1].with_name("relaese"), *DEV),
        "no release there": runner.fails("grade", gold, "--release", gold / "no", *DEV),
        "is this a release folder?": runner.fails("grade", gold, "--release", gold, *DEV),
        "its answers are": runner.fails("grade", tmp_path / "run", *at, *DEV),
        "packed .parquet": runner.fails("grade", gold / answer_file("ate"), *at, *DEV),
        "must end in .parquet": runner.fails("pack", gold, "--name", "x", "--out", "x", *at, *DEV),
        "1 to 200 characters": runner.fails("pack", gold, "--name", " ", "--out", "x.parquet"),
        "unrecognized arguments": runner.fails("grade", gold, "--relese", "x"),
        "name": runner.fails("grade", "x" * 5000, *at, *DEV),
        "needs the answers to draw": runner.fails(*explain, "--html", gold / "x"),
        "only sessions are drawn": runner.fails(*explain, "--answers", gold, "--html", "x.html"),
    }
    for text, message in said.items():
        assert text.lower() in message.lower(), message
        assert message.count("\n") == 1, message


MANIFESTS: dict[str, bytes] = {
    "empty": b"", "list": b"[]", "null": b"null", "number": b"1", "cut": b'{"shards": {',
    "bytes": b"\xff\xfe", "deep": b"[" * 100_000, "bare": b"{}",
    "no names": b'{"shards": {}, "splits": {}}',
    "lists": b'{"release": "a", "version": "1", "shards": [], "splits": []}',
    "shards of text": b'{"release": "a", "version": "1", "shards": {"x": "y"}, "splits": {}}',
    "no hash": b'{"release": "a", "version": "1", "shards": {"x": {}}, "splits": {}}',
    "no truth": b'{"release": "a", "version": "1", "shards": {}, "splits": {"dev": {}}}',
}  # fmt: skip


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_damaged_manifest_is_named(runner, own_release, gold, what):
    """Half a download is the reader's problem to fix, and not a bug report."""
    file = own_release / "public" / "manifest.json"
    file.write_bytes(MANIFESTS[what])
    message = runner.fails("grade", gold, "--release", own_release, *DEV)
    assert str(file) in message and "fetch" in message


def test_sides_that_do_not_belong_together_are_refused(runner, own_release, gold):
    """Two builds of one version can hold different truths, and a public folder is no private side,
    the likeliest slip of whoever grades for the first time."""
    at = ("grade", gold, "--release", own_release)
    for key, value in (("version", "9"), ("release", "other"), ("fingerprint", "9" * 64)):
        file = own_release / "private" / "manifest.json"
        before = file.read_bytes()
        write_manifest(file.parent, json.loads(before) | {key: value})
        message = runner.fails(*at, *DEV)
        assert key in message and "same build" in message
        file.write_bytes(before)
    options = ("--split", "test", "--private", own_release / "public")
    assert "do not belong together" in runner.fails(*at, *options)


def test_a_shard_that_is_no_parquet_is_named(runner: Runner, own_release: Path, gold: Path) -> None:
    """Git LFS leaves a pointer file where the data should be, hash and all."""
    name = "causalds/dev-00000-of-00001.parquet"
    file = own_release / "public" / name
    file.write_text("version https://git-lfs.github.com/spec/v1\n", encoding="utf-8")
    restate(own_release / "public", name)
    message = runner.fails("grade", gold, "--release", own_release, *DEV)
    assert str(file) in message and "cannot be read" in message


def test_a_release_newer_than_the_grader_says_so(runner, own_release, gold, monkeypatch):
    """A variant that this grader does not know is no bug of ours."""
    from grader.tracks import TRACKS

    track = TRACKS["causalds"]
    known = tuple(spec for spec in track.variants if spec.name != "ate_point")
    monkeypatch.setitem(TRACKS, "causalds", replace(track, variants=known))
    message = runner.fails("grade", gold, "--release", own_release, *DEV)
    assert "effect_estimate.ate_point" in message and "update the grader" in message


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--csv", "out.xlsx", "end its name in .csv"),
        ("--json", "out.html", "end its name in .json"),
        ("--html", "out.json", "end its name in .html"),
        ("--parquet", "out.csv", "end its name in .parquet"),
        ("--json", "absent/out.json", "make it first"),
        *((f"--{kind}", name, "cannot be written")
          for kind in ("json", "csv", "parquet", "html") for name in ("file/out", "folder")),
    ],
)  # fmt: skip
def test_an_output_is_what_its_name_says_or_is_refused(runner, gold, tmp_path, option, name, said):
    """A mistyped folder was made, and a CSV file stood there as a workbook."""
    (tmp_path / "file").write_text("precious", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    before = sorted(os.listdir(tmp_path))
    message = runner.fails("grade", gold, *runner.dev, option, tmp_path / name)
    assert str(tmp_path / name) in message and said in message
    assert (tmp_path / "file").read_text("utf-8") == "precious"
    assert os.listdir(tmp_path / "folder") == [] and sorted(os.listdir(tmp_path)) == before


def test_outputs_replace_neither_each_other_nor_an_answer(runner: Runner, gold: Path) -> None:
    """``--json`` aimed at an answer's name used to destroy the answer."""
    place = runner.place / "one"
    words = ("grade", gold, *runner.dev)
    assert "--csv" in runner.fails(*words, "--json", place, "--csv", place)
    compared = ("compare", gold, gold, *runner.dev)
    assert "choose another" in runner.fails(*compared, "--json", place, "--html", place)
    answer = next(iter(sorted(gold.glob("cds-*.json"))))
    before = answer.read_bytes()
    assert "inside the answers folder" in runner.fails(*words, "--json", answer)
    assert answer.read_bytes() == before


@pytest.mark.parametrize("command", ["gold", "workspace"])
def test_a_folder_is_written_whole_or_not_at_all(runner, tmp_path, command):
    (tmp_path / "file").write_text("precious", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("precious", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for target in ("file", "full", "file/inside", "link"):
        message = runner.fails(command, *runner.dev, "--out", tmp_path / target)
        assert str(tmp_path / target) in message
    (tmp_path / "empty").mkdir()
    assert runner.run(command, *runner.dev, "--out", tmp_path / "empty").code == 0
    assert [name for name in os.listdir(tmp_path) if name.startswith(".")] == []


def test_a_device_is_written_through_and_stays_a_device(runner, gold, tmp_path):
    """Renaming over /dev/null, as root, breaks the machine; over a FIFO, the pipeline."""
    assert (
        runner.run("grade", gold, *runner.dev, "--json", "/dev/null", "--csv", "/dev/null").code
        == 0
    )
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:  # a report is longer than what a pipe holds
        read = reader.submit(pipe.read_bytes)
        assert runner.run("grade", gold, *runner.dev, "--json", pipe).code == 0
        assert json.loads(read.result(timeout=30))["points"] == 100.0
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_linked_output_keeps_its_link(runner: Runner, gold: Path, tmp_path: Path) -> None:
    """``latest.json -> reports/5.json`` is a common arrangement."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "5.json").write_text("old", encoding="utf-8")
    link = tmp_path / "latest.json"
    link.symlink_to("reports/5.json")
    assert runner.run("grade", gold, *runner.dev, "--json", link).code == 0
    assert link.is_symlink() and link.read_text("utf-8").startswith("{")


def test_reading_needs_no_writing(runner: Runner, gold: Path, own_release: Path) -> None:
    """A read-only mount is where releases live: nothing is written beside them."""
    before = sorted(str(path) for path in own_release.rglob("*"))
    runner.release = own_release
    listing = sorted(os.listdir(gold))
    only_changed(runner.grade(gold), set())
    assert sorted(str(path) for path in own_release.rglob("*")) == before
    assert sorted(os.listdir(gold)) == listing


def test_namesakes_are_told_apart_and_copies_flagged(runner, gold, tmp_path):
    board = tmp_path / "board"
    for name, date in (("right", "2026-01-01"), ("again", "2026-02-02")):
        shutil.copytree(gold, board / name)
        card = {"system": "ours", "date": date}
        (board / name / "run.json").write_text(json.dumps(card), encoding="utf-8")
    shutil.copytree(board / "again", board / "changed")
    (board / "changed" / "run.json").write_text('{"system": "theirs"}', encoding="utf-8")
    put(board / "changed", "ate", '{"value": 17.0}')
    for name in ("junk", "void"):  # no answer in them that could be equal to another
        (board / name).mkdir()
        put(board / name, "ate", name)
    out = tmp_path / "board.json"
    run = runner.run("leaderboard", board, *runner.dev, "--json", out)
    rows = {
        row["report"]["submission"]["file"]: row["report"] for row in json.loads(out.read_text())
    }
    assert rows["right"]["submission"]["label"] == "ours (right, 2026-01-01)"
    assert rows["again"]["submission"]["label"] == "ours (again, 2026-02-02)"
    assert "label" not in rows["changed"]["submission"]
    said = " ".join(run.out.split())
    assert "Equal answers: ours (again, 2026-02-02), ours (right, 2026-01-01)." in said
    assert "theirs." not in said and said.count("Equal answers") == 1
