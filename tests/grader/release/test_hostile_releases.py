"""A release that a stranger made: its names must lead nowhere but into the folder asked for."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from grading import Runner
from small_release import answer_file, rewrite, shard_entry, task_id, write_manifest, write_shard

from grader.errors import UsageError
from grader.io.paths import is_plain, path_inside

EVIL = (
    "../../evil", "..", ".", "", "/evil", "a/b", "a\\b", "..\\..\\evil", "C:evil", "evil\x00",
    "evil\n", "con", "NUL.json", "lpt1", "x" * 81, ".hidden", "dot.", "space ", "évil", "a*b",
    "-rf", "~evil",
)  # fmt: skip


def test_a_path_is_made_of_plain_names_alone(tmp_path: Path) -> None:
    """The one function that makes paths from names of strangers."""
    for name in ("cds-7f3a91c2d04be516", "a", "A.b_c-9", "x" * 80, "null", "com"):
        assert path_inside(tmp_path, name, ".json") == tmp_path / f"{name}.json"
    assert not any(map(is_plain, (*EVIL, None, 3, ["a"], b"a")))
    for name in EVIL:
        with pytest.raises(UsageError, match="not a plain name") as refused:
            path_inside(tmp_path, name, ".json")
        assert len(str(refused.value).splitlines()) == 1
        assert "\x00" not in str(refused.value)


def renamed(root: Path, name: str) -> Path:
    """The small release with one task of ``dev`` called ``name``, its hashes made to fit."""

    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["task_id"] == task_id("ate"):
                row["task_id"] = name
                if "answer_file" in row:
                    row["answer_file"] = f"{name}.json"

    for config in ("causalds", "causalds_exams", "causalds_truth"):
        rewrite(root / "public", f"{config}/dev-00000-of-00001.parquet", change)
    return root


def everything(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["../../evil", "/evil-task", "a\\..\\b", "con", "x" * 300])
def test_every_command_refuses_a_release_whose_task_leads_elsewhere(
    runner: Runner, own_release: Path, gold: Path, tmp_path: Path, name: str
) -> None:
    """`workspace` and `gold` used to write, and overwrite, wherever a task id pointed to."""
    renamed(own_release, name)
    before = everything(tmp_path)
    dev = ("--release", own_release, "--split", "dev")
    deep = tmp_path / "deep" / "er"
    commands: list[tuple[str | Path, ...]] = [
        ("grade", gold, *dev), ("validate", gold, *dev), ("explain", task_id("ett"), *dev),
        ("workspace", *dev, "--exam", "all", "--out", deep), ("gold", *dev, "--out", deep),
        ("pack", gold, *dev, "--name", "x", "--out", tmp_path / "packed.parquet"),
        ("leaderboard", tmp_path, *dev), ("compare", gold, gold, *dev),
    ]  # fmt: skip
    for words in commands:
        message = runner.fails(*words)
        assert "not a plain name" in message and message.count("\n") == 1, words
    run = runner.run("verify", own_release)
    shown = " ".join(run.out.split())
    assert run.code == 1 and "FAIL dev tasks" in shown and "not a plain name" in shown
    assert everything(tmp_path) == before


@pytest.mark.parametrize("what", ["split", "exam", "shard", "exam row"])
def test_names_of_the_manifest_are_looked_at_when_it_is_opened(runner, own_release, gold, what):
    """Splits, exams and shards become parts of paths, too."""
    side = own_release / "public"
    manifest = json.loads((side / "manifest.json").read_text("utf-8"))
    match what:
        case "split":
            manifest["splits"]["../x"] = manifest["splits"]["dev"]
        case "exam":
            manifest["splits"]["dev"]["exams"]["../x"] = {"causalds": 1}
        case "shard":
            manifest["shards"]["../../etc/dev-00000-of-00001.parquet"] = {"sha256": "0" * 64}
        case "exam row":
            shard = "causalds_exams/dev-00000-of-00001.parquet"
            rows = [{"exam": "../x", "position": 0, "task_id": task_id("ate")}]
            write_shard(duckdb.connect(), side / shard, "causalds_exams", rows)
            manifest["shards"][shard] = shard_entry(side / shard, rows)
    write_manifest(side, manifest)
    message = runner.fails("grade", gold, "--release", own_release, "--split", "dev")
    assert "../" in message and message.count("\n") == 1
    assert runner.run("verify", own_release).code == (1 if what == "exam row" else 2)


def test_an_answer_has_one_name_whatever_a_packed_file_says(runner, gold, tmp_path):
    """Ids in a packed file are looked up, never used as paths."""
    packed = tmp_path / "evil.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT unnest(['../../evil', '{task_id('ate')}']) AS task_id, "
        f"'{{\"ate\": 1}}' AS answer) TO '{packed}' (FORMAT parquet)"
    )
    before = everything(tmp_path)
    assert runner.grade(packed).report["unknown_answers"] == 1
    assert everything(tmp_path) - before <= {
        str(runner.place / n) for n in ("report.json", "rows.parquet")
    }
    assert (gold / answer_file("ate")).is_file()
