"""Rows of a release that say something wrong: the gate finds each and names it."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from gate_release import Rows, edit, failures

from builder.gate.part_check import (
    GOLD,
    TRUTHS,
    findings,
    task_row_problems,
)
from builder.gate.rules import Tables
from builder.gate.run import take_apart
from builder.release.parts import Part
from builder.release.tables import read_part
from builder.tracks import TRACKS


def _first(rows: Rows, **wanted: Any) -> dict[str, Any]:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def apart(release: Path, folder: Path) -> list[Part]:
    """The parts of the public split."""
    with Tables(release, TRACKS) as tables:
        return take_apart(release, tables, TRACKS["causalds"], "dev", folder)


def _wrong_label(rows: Rows) -> None:
    row = next(row for row in rows if "trivial_zero" in row["target_json"])
    row["target_json"] = '{"accepted":["backdoor"]}'


def test_a_wrong_label_is_caught_though_it_grades_itself_right(release, tmp_path):
    """Gold answers come from the truth: only a second derivation sees that it is wrong."""
    for edited in (False, True):
        if edited:
            edit(release, "public", "causalds_truth/dev", _wrong_label)
        checked = [findings(p, TRACKS["causalds"]) for p in apart(release, tmp_path / f"{edited}")]
        assert not any(found.problems[GOLD] for found in checked)
        assert any(found.problems[TRUTHS] for found in checked) is edited


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
def test_the_flat_table_says_what_the_tracks_say(release, split, change, says):
    """It is what most people will load."""
    path = release / "public" / "tasks" / "dev-00000-of-00001.parquet"
    answers = pq.read_table(path, columns=["task_id", "answer"]).to_pylist()
    right = [(a["task_id"], sha256(a["answer"].encode()).hexdigest()) for a in answers]
    name = pq.read_table(path.with_name(path.name.replace("dev", split)))["task_id"][0].as_py()
    for edited in (False, True):
        if edited:
            edit(release, "public", f"tasks/{split}", change)
        with Tables(release, TRACKS) as tables:
            tables.give_answers(right)
            problems = " / ".join(tables.problems("flat"))
        assert (says.format(name) in problems) is edited, problems


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
    ("change", "says"),
    [
        (_other_rung, "rung is "),
        (_undeclared_input, "inputs_json is "),
        (_no_story, "the prompt does not hold the story"),
        (_strange_name, "Nobody"),
    ],
)
def test_damaged_task_rows_are_named(release, tmp_path, change, says):
    """Each of these would reach test takers as an unfair or unanswerable question."""
    edit(release, "public", "causalds/dev", change)
    track = TRACKS["causalds"]
    parts = [read_part(part) for part in apart(release, tmp_path)]
    problems = [line for rows in parts for line in task_row_problems(track, rows)]
    assert says in " / ".join(problems)


def test_a_damaged_task_row_and_rows_out_of_order_stop_the_gate(release: Path) -> None:
    """What comes after reads rows by their ids and labels."""
    edit(release, "public", "causalds/dev", _other_rung)
    assert list(failures(release)) == ["task rows"]
    edit(release, "public", "causalds/dev", lambda rows: rows[::-1])
    assert "rows are not sorted by id" in failures(release)["ids"]
