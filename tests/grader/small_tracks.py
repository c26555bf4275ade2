"""A few tasks of the tracks beside causalds, of the thermometer's release, and their damages."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import duckdb
from small_release import manifest_of, rewrite, shard_entry, write_manifest, write_shard

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


def at(config: str, key: str, path: str, value: object, form: str = "") -> Callable[[Path], object]:
    """Put ``value`` into a place of the JSON of a task (``family.variant``) of another track, or of
    its truth; ``...`` removes it, a function changes what is there.

    It is the first task of the variant that has ``form`` in its JSON.
    """
    track, _, truth = config.partition("_")
    column = "target_json" if truth else "inputs_json"
    *parents, last = [int(part) if part.isdigit() else part for part in path.split("/")]

    def damage(side: Path) -> None:
        tasks: Rows = []
        rewrite(side, f"{track}/{SHARD}", tasks.extend)
        own = {row["task_id"] for row in tasks if key == f"{row['family']}.{row['variant']}"}

        def change(rows: Rows) -> None:
            row = next(row for row in rows if row["task_id"] in own and form in row[column])
            place = document = json.loads(row[column])
            for part in parents:
                place = place[part]
            if value is ...:
                del place[last]
            else:
                place[last] = value(place[last]) if callable(value) else value
            row[column] = json.dumps(document)

        rewrite(side, f"{config}/{SHARD}", change)

    return damage


HIDDEN: Final = "induction.hidden"
OTHER: Final = "alternative.alternative_ordered"
PAIR: Final = "simulation.pair"
LINEAR: Final = "laboratory.linear"
TRACK_DAMAGES: Final[dict[str, tuple[Callable[[Path], object], str]]] = {
    "a variable by another name": (
        at("replayscm", HIDDEN, "variables/0", "Z"), "inputs_json"),
    "a variable twice": (
        at("replayscm", HIDDEN, "variables", lambda old: old + old[:1]), "each variable once"),
    "a row that is too long": (
        at("replayscm", HIDDEN, "worlds/0/rows/0", lambda row: row + "0"), "inputs_json: world"),
    "rows in words": (at("replayscm", HIDDEN, "worlds/0/rows", "none"), "/worlds/0/rows"),
    "a world without targets": (at("replayscm", HIDDEN, "worlds/0/targets", ...), "targets"),
    "an order that leaves one out": (
        at("replayscm", OTHER, "order", lambda names: names[1:]), "each variable once"),
    "no roots beside a reference": (at("replayscm", OTHER, "roots", None), "/roots"),
    "no roots where none are asked": (at("replayscm", HIDDEN, "roots", None), "/roots"),
    "a reference of unknown variables": (
        at("replayscm", OTHER, "reference", {"Z": "A"}), "reference"),
    "a reference in deep brackets": (
        at("replayscm", OTHER, "reference", lambda old: dict.fromkeys(old, "(not " * 300)),
        "deeper"),
    "no held-out world": (at("replayscm_truth", HIDDEN, "heldout", []), "/heldout"),
    "a held-out row that is too short": (
        at("replayscm_truth", HIDDEN, "heldout/0/rows/0", "0"), "target_json: world"),
    "a shifted row that is too short": (
        at("replayscm_truth", HIDDEN, "shifted/worlds/0/rows/0", "0", '"shifted"'),
        "target_json: world"),
    "a hidden program of unknown variables": (
        at("replayscm_truth", HIDDEN, "gold", lambda old: dict.fromkeys(old, "Z")), "Z"),
    "a hidden program in a circle": (
        at("replayscm_truth", HIDDEN, "gold", lambda old: {
            name: next(n for n in (*old, *old) if n != name) for name in old}), "circle"),
    "roots that are two": (
        at("replayscm_truth", HIDDEN, "roots", lambda old: old[:2]), "/roots"),
    "pairs of one context in other trees": (
        at("ccr_truth", PAIR, "tree", lambda old: [*old, "Z"], '"numerators"'), "/tree"),
    "a tree that has a node twice": (
        at("ccr_truth", PAIR, "tree", lambda old: old + old[:1]), "order in the tree"),
    "a pair that is not the task's": (at("ccr", PAIR, "cause", "Z"), "cause"),
    "no weights": (at("ccr_truth", PAIR, "weights", {}), "/weights"),
    "weights over nothing": (
        at("ccr_truth", PAIR, "weights/denominator", ..., '"denominator"'), "/weights"),
    "weights beyond a double": (
        at("ccr_truth", PAIR, "weights/numerators/0", 10**400, '"numerators"'), "/weights"),
    "strata without units": (
        at("ccr_truth", PAIR, "weights/cells", {"22": "1"}, '"cells"'), "each of"),
    "a measure beyond a double": (at("ccr_truth", PAIR, "exact/pns", "1" + "0" * 400), "/exact"),
    "more mediators than an integer has room for": (
        at("ccr_truth", PAIR, "mediators", 10**12), "/mediators"),
    "a quantity that is not asked": (
        at("ccr_truth", "direct.boolean", "quantities/Q9", {
            "measure": "pns", "path": ["A", "B"], "exact": "1"}), "/quantities"),
    "quantities in a circle": (
        at("ccr_truth", "direct.boolean", "quantities", lambda old: {
            name: {"measure": "pns", "path": pair, "exact": "1"}
            for name, pair in zip(old, (["A", "B"], ["B", "A"]) * len(old), strict=False)}),
        "/quantities"),
    "a quantity of 5,000 digits": (
        at("ccr_truth", "direct.boolean", "quantities/Q1/exact", "9" * 5000), "/quantities"),
    "two properties that are spelled alike": (
        at("causalab", LINEAR, "variables/0/display", "Frequency"), "spelled alike"),
    "a property without a name to show": (
        at("causalab", LINEAR, "variables/0/display", None), "/variables/0/display"),
    "a range of one end": (at("causalab", LINEAR, "reactor_range", [0]), "/reactor_range"),
    "a tolerance in words": (at("causalab", LINEAR, "tolerance", "wide"), "/tolerance"),
    "a negative budget": (at("causalab", LINEAR, "budget", -1), "/budget"),
    "an unknown mode of intervention": (at("causalab", LINEAR, "mode", "odd"), "/mode"),
    "a record that the equations do not give": (
        at("causalab", LINEAR, "reactor", lambda old: dict.fromkeys(old, 1.25)), "reactor"),
    "a term without its coefficient": (
        at("causalab_truth", LINEAR, "equations", lambda old: {
            node: [{"parent": "Z"}] for node in old}), "linear"),
    "an infinite coefficient": (at("causalab_truth", LINEAR, "base", float("inf")), "target_json"),
    "readings beyond a double": (
        at("causalab", LINEAR, "variables/0/high", 1e200), "readings may be"),
    "a mechanism in a circle": (
        at("causalab_truth", LINEAR, "equations", lambda old: {
            node: [{"parent": other, "linear": 1, "quadratic": 0}]
            for node, other in zip(old, [*old][::-1], strict=True)}), "circle"),
    "a frequency that is not the value": (
        at("causalab_truth", LINEAR, "frequency", 1), "target_json"),
}  # fmt: skip
"""What is damaged in one place of the JSON of a row, how, and what the line about it names."""
