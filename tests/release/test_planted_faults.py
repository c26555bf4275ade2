"""Faults planted in a release that passes its gate (see test_gate), each seen by name."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from gate_release import Rows, edit, failures
from handmade import SEVEN, Plan, make_tables, write

from builder.commands.main import main as builder
from builder.gate import leak, report
from builder.gate.leak import facts, leak_test
from builder.reader.story import read_story
from builder.stories.verify import split_sentences
from builder.tracks import TRACKS
from grader.commands.main import main as grader

ENOUGH = 101
"""Permutations a fact with which a p can just reach the level, a hundredth over the facts."""
FEW = frozenset({"association.sign_only", "causal_sketch.edges_only"})


def problems(release: Path, check: str) -> str:
    """What the checks whose names hold ``check`` say of a release that the gate refuses."""
    return " / ".join(told for name, told in failures(release).items() if check in name)


def rewrite(release: Path, track: str, change: Callable[[dict[str, Any]], None]) -> str:
    """Change the target of the first truth of ``dev`` that is a number or has a target; its id."""
    changed: list[str] = []

    def edited(rows: Rows) -> None:
        for row in rows:
            before = dict(row)
            target = json.loads(row["target_json"])
            change(row if track == "causalds" else target)
            if track != "causalds":
                row["target_json"] = json.dumps(target, sort_keys=True, separators=(",", ":"))
            if row != before:
                changed.append(row["instance_id"])
                return

    edit(release, "public", f"{track}_truth/dev", edited)
    return changed[0]


def another_number(row: dict[str, Any]) -> None:
    if row["value"] is not None and row["value_source"] != "exact":
        row["value"] += 0.7


def another_quantity(target: dict[str, Any]) -> None:
    for one in target.get("quantities", {}).values():
        one["exact"] = str(Fraction(one["exact"]) + Fraction(1, 10))


def another_cell(target: dict[str, Any]) -> None:
    row = target["heldout"][0]["rows"][0]
    target["heldout"][0]["rows"][0] = "".join("10"[int(cell)] for cell in row)


def another_coefficient(target: dict[str, Any]) -> None:
    terms = next(terms for terms in target["equations"].values() if terms)
    terms[0]["linear"] += 1.0


TRUTHS = {"causalds": another_number, "ccr": another_quantity, "replayscm": another_cell}


def leave_out_an_edge(release: Path) -> str:
    """Take the first sentence that tells an effect out of a story, wherever it is printed."""
    told: list[str] = []

    def shorten(rows: Rows) -> None:
        for row in rows:
            if not told or row["instance_id"] == told[0]:
                names = [column["name"] for column in row["columns"]]
                shorter = without_an_edge(row["story"], names)
                told[:] = [row["instance_id"], row["story"], shorter]
                row["story"] = shorter

    def print_it(rows: Rows) -> None:
        for row in rows:
            row["prompt"] = row["prompt"].replace(told[1], told[2])

    edit(release, "public", "causalds_scenes/dev", shorten)
    edit(release, "public", "causalds/dev", print_it)
    return told[0]


def without_an_edge(story: str, names: list[str]) -> str:
    whole = set(read_story(story, names).edges)
    for sentence in split_sentences(story):
        shorter = story.replace(f"{sentence} ", "", 1)
        if set(read_story(shorter, names).edges) < whole:
            return shorter
    raise AssertionError("no sentence tells an effect alone")


def test_wrong_truths_and_a_story_that_leaves_out_an_edge(release, monkeypatch):
    """Truths are derived twice, by two routes that share no code."""
    monkeypatch.setattr(report, "LISTED", 99)
    wrong = [rewrite(release, track, change) for track, change in TRUTHS.items()]
    story = leave_out_an_edge(release)
    told = failures(release)
    seen = [instance in told["second derivation of every truth"] for instance in wrong]
    assert seen == [True] * len(TRUTHS), told
    assert story in told["stories, read back by an independent reader"]


def test_an_equation_that_contradicts_its_records(release: Path) -> None:
    """Such a truth is refused where it is read, before anything is derived."""
    rewrite(release, "causalab", another_coefficient)
    assert "not what the equations give" in problems(release, "dev truths")


def test_a_prompt_or_an_id_used_twice(release: Path) -> None:
    """Two tasks with one prompt are one task that counts twice."""

    def repeat(rows: Rows) -> None:
        first, second = [row for row in rows if row["instance_id"] == rows[0]["instance_id"]][:2]
        second["prompt"] = first["prompt"].replace(first["task_id"], second["task_id"])

    edit(release, "public", "causalds/dev", repeat)
    assert "the same prompt" in problems(release, "prompts")
    same = ("task_id", "answer_file")
    edit(release, "public", "ccr/dev", lambda r: r[1].update({name: r[0][name] for name in same}))
    assert "is there twice" in problems(release, "dev tasks")


def test_a_private_value_in_a_public_file(release: Path) -> None:
    """A key in a card opens the hidden world of its scene."""
    worlds = pq.read_table(release / "private/causalds_worlds/test-00000-of-00001.parquet")
    card = release / "public" / "README.md"
    key = worlds["world_key"][0].as_py()
    card.write_text(f"{card.read_text(encoding='utf-8')}\n{key}\n", encoding="utf-8")
    assert "its key is in the public repository" in problems(release, "nothing private in public")


@pytest.mark.parametrize(
    ("side", "name", "change"),
    [
        ("private", "causalds_truth", lambda row: {"should_abstain": not row["should_abstain"]}),
        ("public", "commitments", lambda row: {"sha256": row["sha256"][::-1]}),
    ],
)
def test_a_truth_or_a_commitment_that_was_changed(release, side, name, change):
    """By the gate, and by ``verify``, which whoever sat the exam can run."""
    edit(release, side, f"{name}/test", lambda rows: rows[0].update(change(rows[0])))
    assert "is not what was committed to" in problems(release, "test commitments")
    assert grader(["verify", str(release)]) == 1


def test_a_damaged_world_is_no_bug_of_ours(release: Path, root: Path, capsys: Any) -> None:
    """Every command that reads it says in one line which rows and fields cannot be read."""
    for track in ("causalab", "causalds"):
        name = f"{track}_worlds/dev"
        edit(release, "public", name, lambda rows: [row | {"world_json": "{}"} for row in rows])
    exam = ("--exam", root / "splits/exams/mini.toml")
    for words in (("inspect",), ("inspect", "dev/0"), ("check",), ("exam", *exam, "--from")):
        command, *more = map(str, words)
        where = [str(release), *more] if command == "inspect" else [*more, str(release)]
        assert builder([command, *where]) == 2
        told = capsys.readouterr().err.splitlines()[-1]
        assert "_worlds (world_json) or" in told and "cannot be read (KeyError" in told


@pytest.mark.parametrize("config", ["ccr_truth", "causalds", "causalds_exams"])
@pytest.mark.parametrize("damage", ["missing", "another byte", "no Parquet"])
def test_a_shard_that_is_missing_or_whose_hash_differs(release, config, damage):
    """All stop the gate: rows of another file prove nothing."""
    shard = release / "public" / config / "dev-00000-of-00001.parquet"
    if damage == "missing":
        shard.unlink()
    else:
        shard.write_bytes(shard.read_bytes() + b" " if "byte" in damage else b"no Parquet")
    assert f"{config}/dev-00000-of-00001.parquet" in problems(release, "public shards")
    assert grader(["verify", str(release)]) == 1


def an_id_that_tells_the_motif(task_id: str, motif: str) -> str:
    return f"{task_id[:9]}{SEVEN.index(motif):x}{task_id[10:]}"


def the_order_of_the_graph(motif: Any, rng: np.random.Generator) -> list[str]:
    observed = set(motif.graph.observed_nodes)
    return [node for node in motif.graph.topological_order() if node in observed]


@pytest.mark.parametrize(
    "plan",
    [
        Plan(scenes=98, variants=FEW, task_id=an_id_that_tells_the_motif),
        Plan(scenes=98, variants=FEW, order=the_order_of_the_graph),
    ],
    ids=["an id that encodes the motif", "a column order that follows the graph"],
)
def test_a_leak(tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and orders are the first that a test taker looks at. 99 permutations can never reach
    0.01/m: fresh ones, enough for that level, decide a small p. Facts of the structure are enough
    to see it."""

    def of_structure(*one: Any) -> dict[str, Any]:
        return {name: rows for name, rows in facts(*one).items() if "structure" in name}

    monkeypatch.setattr(leak, "facts", of_structure)
    monkeypatch.setattr(leak, "RESOLUTION", ENOUGH)
    monkeypatch.setattr(leak, "PERMUTATIONS", 99)
    leaks = leak_test(write(make_tables(plan), tmp_path), TRACKS)
    assert leaks.leaks and "structure" in leaks.markdown()
    assert {row.permutations for row in leaks.leaks} == {ENOUGH * len(leaks.rows) - 1}
    assert 1 / (ENOUGH * len(leaks.rows)) <= leaks.threshold
