"""Rows of a release that say something wrong: the gate finds each and names it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from gate_release import Rows, build, edit, failures

from builder.build import check_release
from builder.stories import frames
from builder.stories.frames import Frame


def _first(rows: Rows, **wanted: Any) -> dict[str, Any]:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def _wrong_label(rows: Rows) -> None:
    row = next(row for row in rows if "trivial_zero" in row["target_json"])
    row["target_json"] = '{"accepted":["backdoor"]}'


def test_a_wrong_label_is_caught_though_it_grades_itself_right(release: Path) -> None:
    """Gold answers come from the truth: only a second derivation sees that it is wrong."""
    edit(release, "public", "causalds_truth/dev", _wrong_label)
    found = failures(release)
    # The answers as they were published beside it show the edit, not which of the two is wrong.
    assert list(found) == ["config tasks", "second derivation of every truth"]


def _another_answer(rows: Rows) -> None:
    rows[0]["answer"] += " "


def _another_prompt(rows: Rows) -> None:
    rows[0]["prompt"] += " Think twice."


@pytest.mark.parametrize(
    ("split", "change", "says"),
    [
        ("dev", _another_answer, "the answer to {} is not the right one"),
        ("dev", _another_prompt, "{} is not as its track's config has it"),
        ("dev", lambda rows: rows[1:], "{} is absent"),
        ("test", lambda rows: rows[0].update(answer="{}"), "{} has an answer, and its truth is"),
    ],
)
def test_the_flat_table_says_what_the_tracks_say(
    release: Path, split: str, change: Callable[[Rows], Rows | None], says: str
) -> None:
    """It is what most people will load."""
    path = release / "public" / "tasks" / f"{split}-00000-of-00001.parquet"
    name = pq.read_table(path, columns=["task_id"])["task_id"][0].as_py()
    edit(release, "public", f"tasks/{split}", change)
    found = failures(release)
    assert says.format(name) in found["config tasks"]


SWAPPED = """
name = "swapped"
version = "0.1.0"
[splits.dev]
truth = "public"
seed = "swapped 1"
[splits.dev.causalds]
scenes = 2
rows = { train = 60, test = 20 }
words = "fictional"
motifs = { chain = 1, confounding = 1 }
"""


@pytest.mark.parametrize("swapped", [False, True])
def test_a_frame_with_two_slots_swapped_is_caught(
    swapped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Teller and verifier share their frames: told by this one, every effect was told the wrong way
    round, and the release passed."""
    slots = ("{cause}", "{effect}") if swapped else ("{effect}", "{cause}")
    text = "{} [depends] directly on {}".format(*slots)
    monkeypatch.setattr(frames, "EFFECTS", (Frame(text, frozenset({"cause", "effect"})),))
    report = check_release(build(tmp_path, monkeypatch, SWAPPED), workers=1)
    found = [line for line in report.lines if not line.ok]
    assert [line.check for line in found] == (
        ["stories, by a reader that knows no frame"] * swapped
    )
    if swapped:
        problem = found[0].problems[0]
        assert "reads the wrong way round" in problem and "directly on" in problem


def _other_rung(rows: Rows) -> None:
    rows[0]["rung"] = 3 if rows[0]["rung"] != 3 else 1


def _undeclared_input(rows: Rows) -> None:
    rows[0]["inputs_json"] = json.dumps({**json.loads(rows[0]["inputs_json"]), "hint": 1})


def _no_story(rows: Rows) -> None:
    rows[0]["prompt"] = f"Answer in {rows[0]['answer_file']}."


def _strange_name(rows: Rows) -> None:
    row = _first(rows, variant="method_label")
    inputs = json.loads(row["inputs_json"])
    inputs["observed"][0] = "Nobody"
    row["inputs_json"] = json.dumps(inputs)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (_other_rung, "task rows"),
        (_undeclared_input, "task rows"),
        (_no_story, "task rows"),
        (_strange_name, "task rows"),
        (lambda rows: rows[::-1], "ids"),
    ],
)
def test_damaged_task_rows_are_named(
    release: Path, change: Callable[[Rows], Rows | None], check: str
) -> None:
    """Each of these would reach test takers as an unfair or unanswerable question."""
    edit(release, "public", "causalds/dev", change)
    assert check in failures(release)
