"""A small release of the tracks beside causalds: a few tasks of the thermometer's release."""

from collections import Counter
from pathlib import Path
from typing import Any, Final

import duckdb
from small_release import manifest_of, shard_entry, write_manifest, write_shard

from grader.commands.main import main

SOURCE: Final = Path(__file__).parent.parent / "thermometer" / "release"
SHARD: Final = "dev-00000-of-00001.parquet"
Rows = list[dict[str, Any]]


def write_tracks(root: Path) -> None:
    """Write ``root``/public, and the right answers to its tasks in ``root``/gold.

    It has a task of each variant, one of each form that truths and inputs of a variant may take
    besides, and a context of ccr that is asked about in full.
    """
    entries = {}
    with duckdb.connect() as connection:
        for track in ("replayscm", "ccr", "causalab"):
            rows = {}
            for config in (track, f"{track}_truth", f"{track}_exams"):
                found = connection.execute("FROM read_parquet(?)", [str(SOURCE / config / SHARD)])
                names = [column[0] for column in found.description or ()]
                rows[config] = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
            chosen = _chosen(rows[track], rows[f"{track}_truth"])
            for config, every in rows.items():
                kept = [row for row in every if row["task_id"] in chosen]
                name = f"{config}/{SHARD}"
                write_shard(connection, root / "public" / name, config, kept)
                entries[name] = shard_entry(root / "public" / name, kept)
    manifest = manifest_of("public", entries)
    del manifest["splits"]["test"], manifest["floors"]
    manifest["splits"]["dev"]["exams"] = {"papers": {}}
    write_manifest(root / "public", manifest)
    gold = ("--exam", "all", "--out", str(root / "gold"))
    assert main(["gold", "--release", str(root), "--split", "dev", *gold]) == 0


def _chosen(tasks: Rows, truths: Rows) -> set[str]:
    """Return the ids of the tasks of one track that the release has."""
    first: dict[object, str] = {}
    sizes = Counter(row["instance_id"] for row in tasks if row["variant"] == "pair")
    small = next((name for name, size in sorted(sizes.items()) if size == 3), None)
    for row in sorted(tasks, key=lambda row: str(row["task_id"])):
        if row["instance_id"] == small:
            first[row["task_id"]] = row["task_id"]
        elif row["variant"] != "pair":
            first.setdefault((row["family"], row["variant"]), row["task_id"])
    for form in ('"shifted"', '"cells"', '"determined":true', '"disturbance":{'):
        for row in sorted(truths, key=lambda row: str(row["task_id"])):
            if form in row["target_json"]:
                first.setdefault(form, row["task_id"])
    return set(first.values())
