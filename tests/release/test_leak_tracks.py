"""Every track names what must not leak, and a leak that is planted in it is found.

Rows are those of the small release, told again under new ids: forty copies of one task of which
half have another private fact, as two plans that look alike to a test taker would.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder.gate import leak
from builder.gate.leak import LeakReport, facts, leaks_of
from builder.release.tables import SplitTables, split_tables
from builder.splits.track import RowPlace, TaskRow
from builder.tracks import TRACKS
from builder.tracks.causalds.check.public import leak_facts

COPIES = 48

Plant = Callable[[TaskRow, bool], TaskRow]
Change = Callable[[dict[str, Any], dict[str, Any]], None]
"""Gives the target and the hidden world of a copy another value of the fact."""


def _copies(tables: SplitTables, task: TaskRow, change: Change, plant: Plant) -> SplitTables:
    """``COPIES`` tasks like ``task``, every other one changed, in the order of their new ids."""
    made: list[tuple[TaskRow, Mapping[str, Any], Mapping[str, Any]]] = []
    for number in range(COPIES):
        body = hashlib.sha256(f"copy {number}".encode()).hexdigest()
        other = int(body[20], 16) < 8
        truth, world = dict(tables.truth[task.task_id]), dict(tables.worlds[task.instance_id])
        target, hidden = json.loads(truth["target_json"]), json.loads(world["world_json"])
        if other:
            change(target, hidden)
        truth["target_json"], world["world_json"] = json.dumps(target), json.dumps(hidden)
        name = f"{task.task_id.partition('-')[0]}-{body[:16]}"
        copy = replace(
            task, task_id=name, instance_id=f"copy-{body[24:40]}", answer_file=f"{name}.json"
        )
        made.append((plant(copy, other), truth, world))
    made.sort(key=lambda one: one[0].task_id)
    tasks = {
        one.task_id: replace(one, place=RowPlace(place, place % 20, 0))
        for place, (one, _, _) in enumerate(made)
    }
    return replace(
        tables,
        tasks=tasks,
        positions={},
        truth={one.task_id: truth for one, truth, _ in made},
        worlds={one.instance_id: world for one, _, world in made},
    )


def _honest(task: TaskRow, _: bool) -> TaskRow:
    return task


def _told_by_the_id(task: TaskRow, other: bool) -> TaskRow:
    name = f"{task.task_id[:-1]}{'a' if other else 'b'}"
    return replace(task, task_id=name, answer_file=f"{name}.json")


def _told_by_the_prompt(task: TaskRow, other: bool) -> TaskRow:
    return replace(task, prompt=task.prompt + "\nThink twice." * other)


def _turned(key: str) -> Plant:
    """Lists the members of an input backwards where the fact is the other one."""

    def plant(task: TaskRow, other: bool) -> TaskRow:
        listed = list(task.inputs[key])
        return replace(task, inputs={**task.inputs, key: listed[::-1] if other else listed})

    return plant


def _another_suite(target: dict[str, Any], _: dict[str, Any]) -> None:
    target["suite"] = "another"


def _undetermined(target: dict[str, Any], _: dict[str, Any]) -> None:
    target["determined"] = not target["determined"]


def _renamed(task: TaskRow, other: bool) -> TaskRow:
    """The effect stands before or after the cause by its letters, as the fact says."""
    cause, effect = task.inputs["cause"], "A0" if other else "ZZ99"
    prompt = task.prompt.replace(task.inputs["effect"], effect)
    return replace(task, prompt=prompt, inputs={**task.inputs, "cause": cause, "effect": effect})


def _no_answers(target: dict[str, Any], _: dict[str, Any]) -> None:
    target["answers"] = {name: "0" * len(bits) for name, bits in target["answers"].items()}


CASES = {
    "causalab": ("laboratory.linear", _another_suite, "suite", _turned("variables")),
    "replayscm": ("induction.hidden", _undetermined, "determined", _turned("variables")),
    "ccr": ("simulation.pair", _no_answers, "do_true, mostly yes", _renamed),
}


def _report(release: Path, track: str, plant: Plant) -> tuple[float, LeakReport]:
    variant, change, fact, _ = CASES[track]
    tables = split_tables(release, track, "dev")
    task = next(one for one in tables.tasks.values() if one.key == variant and _fits(tables, one))
    report = leaks_of([_copies(tables, task, change, plant)], TRACKS)
    return next(row.p for row in report.rows if row.fact == fact), report


def _fits(tables: SplitTables, task: TaskRow) -> bool:
    """Whether the change is one: of a context whose answers are mostly yes."""
    answers = json.loads(tables.truth[task.task_id]["target_json"]).get("answers")
    return answers is None or 2 * answers["do_true"].count("1") > len(answers["do_true"])


@pytest.mark.parametrize("track", sorted(CASES))
def test_honest_tasks_of_every_track_are_clean(mini_release: Path, track: str) -> None:
    """A test that fires on honest releases would be switched off."""
    p, report = _report(mini_release, track, _honest)
    assert not report.leaks and p > report.threshold, report.markdown()


def _plants() -> Iterator[tuple[str, Plant]]:
    yield from (("replayscm", plant) for plant in (_told_by_the_id, _told_by_the_prompt))
    yield from ((track, own) for track, (_, _, _, own) in sorted(CASES.items()))


@pytest.mark.parametrize(("track", "plant"), list(_plants()))
def test_a_leak_planted_in_any_track_is_caught(mini_release, monkeypatch, track, plant):
    """By an order or a name of the track's own; by an id and a line more in the prompt, which every
    track has. The other facts are left out: fewer permutations are then enough."""
    fact = CASES[track][2]
    monkeypatch.setattr(leak, "facts", lambda *one: {fact: facts(*one)[fact]})
    p, report = _report(mini_release, track, plant)
    assert p <= report.threshold, report.markdown()


@pytest.mark.parametrize("track", list(TRACKS))
def test_every_track_names_about_ten_facts(mini_release: Path, track: str) -> None:
    """README promises that nothing public gives away a private fact: of every track."""
    found = facts(split_tables(mini_release, track, "dev"), TRACKS[track])
    assert 8 <= len(found) <= 16


def test_which_effect_a_task_is_about_is_no_secret(mini_release: Path) -> None:
    """That of the treated is identifiable in more scenes than a natural one. Without this, prompts
    about the one, which are shorter, looked like a leak in every large release."""
    tables = split_tables(mini_release, "causalds", "dev")
    found, _ = facts(tables, TRACKS["causalds"])["should abstain"]
    one = next(subject.told for subject in found if "estimand" in subject.task.inputs)
    task = next(subject.task for subject in found if subject.told is one)
    truth, world = tables.truth[task.task_id], tables.worlds[task.instance_id]
    told = {
        repr(
            leak_facts(
                replace(task, inputs={**task.inputs, "estimand": name}), truth, world
            ).of_task
        )
        for name in ("ETT", "NDE", "NIE")
    }
    assert len(told) == 3


def test_a_release_too_small_to_test_says_so_without_an_empty_table(mini_release: Path) -> None:
    """A table without rows reads as a failure."""
    head, _, text = (mini_release / "GATE.md").read_text("utf-8").partition("## Leak test")
    assert "| leak test | not tested | " in head and "which is no failure" in text
    assert "| track | fact |" not in text
    assert all(f"- dev {track}, " in text for track in TRACKS)
