"""Faults planted in a release that passes its gate, each seen by name.

A gate is trusted for what it refuses. Whoever makes it smaller or faster runs these before and
after.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import gate_release
import numpy as np
import pyarrow.parquet as pq
import pytest
from gate_release import Rows, edit
from handmade import SEVEN, Plan, make_tables, write

from builder.build import check_release
from builder.gate.leak import RESOLUTION, leak_test
from builder.reader.story import read_story
from builder.stories.verify import split_sentences
from builder.tracks import TRACKS
from grader.commands.main import main as grader

OTHER_TRACKS = """
[splits.dev.ccr]
direct = 2
components = [2, 2]
[splits.dev.replayscm]
full = 3
matched = 0
[splits.dev.causalab]
graphs = 1
suites = ["main-3"]
"""
FEW = frozenset({"association.sign_only", "causal_sketch.edges_only"})


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A release of all tracks, public and private truths."""
    folder = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield gate_release.build(folder, monkeypatch, gate_release.SPLITS + OTHER_TRACKS)


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def problems(release: Path, check: str) -> str:
    """What the checks whose names hold ``check`` say of a release that the gate refuses."""
    report = check_release(release)
    assert not report.ok
    lines = [line for line in report.lines if check in line.check and not line.ok]
    return " / ".join(problem for line in lines for problem in line.problems)


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


TRUTHS = {
    "causalds": another_number,
    "ccr": another_quantity,
    "replayscm": another_cell,
    "causalab": another_coefficient,
}


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


def test_the_release_is_sound(sound: Path) -> None:
    """A gate that refuses everything sees every fault."""
    report = check_release(sound)
    assert report.ok, report.markdown


def test_wrong_truths_and_a_story_that_leaves_out_an_edge(copy: Path) -> None:
    """Truths are derived twice, by two routes that share no code; stories are read by a reader that
    knows no frame. Planted together: each is seen by name, whatever else is wrong."""
    wrong = [rewrite(copy, track, change) for track, change in TRUTHS.items()]
    story = leave_out_an_edge(copy)
    report = check_release(copy)
    told = {line.check: " / ".join(line.problems) for line in report.lines if not line.ok}
    assert all(instance in told["second derivation of every truth"] for instance in wrong)
    assert story in told["stories, by a reader that knows no frame"]


def test_a_prompt_asked_twice(copy: Path) -> None:
    """Two tasks with one prompt are one task that counts twice."""

    def repeat(rows: Rows) -> None:
        first, second = [row for row in rows if row["instance_id"] == rows[0]["instance_id"]][:2]
        second["prompt"] = first["prompt"].replace(first["task_id"], second["task_id"])

    edit(copy, "public", "causalds/dev", repeat)
    assert "the same prompt" in problems(copy, "prompts")


def test_an_exam_with_a_task_twice(copy: Path) -> None:
    def repeat(rows: Rows) -> None:
        rows[1]["task_id"] = rows[0]["task_id"]

    edit(copy, "public", "causalds_exams/dev", repeat)
    assert "a task or a position appears twice" in problems(copy, "exams")


def test_an_id_used_twice(copy: Path) -> None:
    def repeat(rows: Rows) -> None:
        rows[1] |= {name: rows[0][name] for name in ("task_id", "answer_file")}

    edit(copy, "public", "ccr/dev", repeat)
    assert "1 repeated ids" in problems(copy, "task ids")


def test_a_private_value_in_a_public_file(copy: Path) -> None:
    """A key in a card opens the hidden world of its scene."""
    worlds = pq.read_table(copy / "private/causalds_worlds/test-00000-of-00001.parquet")
    card = copy / "public" / "README.md"
    key = worlds["key"][0].as_py()
    card.write_text(f"{card.read_text(encoding='utf-8')}\n{key}\n", encoding="utf-8")
    assert "its key is in the public repository" in problems(copy, "nothing private in public")


def test_a_truth_that_is_not_the_one_committed_to(copy: Path) -> None:
    """By the gate, and by ``verify``, which whoever sat the exam can run."""

    def change(rows: Rows) -> None:
        rows[0]["should_abstain"] = not rows[0]["should_abstain"]

    edit(copy, "private", "causalds_truth/test", change)
    assert problems(copy, "test commitments")
    assert grader(["verify", str(copy)]) == 1


def test_a_commitment_that_was_changed(copy: Path) -> None:
    """Nobody could show any more that the truth was there before the exam."""

    def change(rows: Rows) -> None:
        rows[0]["sha256"] = rows[0]["sha256"][::-1]

    edit(copy, "public", "commitments/test", change)
    assert "is not what was committed to" in problems(copy, "test commitments")


@pytest.mark.parametrize("damage", ["missing", "another byte"])
def test_a_shard_that_is_missing_or_whose_hash_differs(copy: Path, damage: str) -> None:
    """Both stop the gate: rows of another file prove nothing."""
    shard = copy / "public/ccr_truth/dev-00000-of-00001.parquet"
    if damage == "missing":
        shard.unlink()
    else:
        shard.write_bytes(shard.read_bytes() + b" ")
    says = problems(copy, "public shards")
    assert "ccr_truth/dev-00000-of-00001.parquet" in says
    assert grader(["verify", str(copy)]) == 1


def an_id_that_tells_the_motif(task_id: str, motif: str) -> str:
    return f"{task_id[:9]}{SEVEN.index(motif):x}{task_id[10:]}"


def the_order_of_the_graph(motif: Any, rng: np.random.Generator) -> list[str]:
    observed = set(motif.graph.observed)
    return [node for node in motif.graph.topological_order() if node in observed]


@pytest.mark.parametrize(
    "plan",
    [
        Plan(scenes=98, variants=FEW, task_id=an_id_that_tells_the_motif),
        Plan(scenes=98, variants=FEW, order=the_order_of_the_graph),
    ],
    ids=["an id that encodes the motif", "a column order that follows the graph"],
)
def test_a_leak(tmp_path: Path, plan: Plan) -> None:
    """Ids and orders are the first that a test taker looks at. 99 permutations can never reach
    0.01/m: fresh ones, enough for that level, decide a small p."""
    report = leak_test(write(make_tables(plan), tmp_path), TRACKS, permutations=99)
    assert not report.ok and "structure" in report.markdown()
    assert any("structure" in row.fact for row in report.leaks)
    assert {row.permutations for row in report.leaks} == {RESOLUTION * len(report.rows) - 1}
    assert 2 / (RESOLUTION * len(report.rows)) <= report.threshold
