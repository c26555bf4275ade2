"""The leak test: honest releases pass, planted leaks are caught, on hand-made releases and in every
track.

Rows of tracks are those of the small release, told again under new ids: copies of one task of which
half have another private fact, as two plans that look alike to a test taker would.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade import Plan, make_tables, write

from builder.gate import leak
from builder.gate.leak import LeakReport, facts, leak_test
from builder.gate.public import disclosures, features
from builder.release.reader import SplitTables, split_tables
from builder.splits.track import RowPlace, TaskRow
from builder.tracks import TRACKS
from builder.tracks.causalds.check.public import leak_facts
from grader.errors import UsageError

FEW = frozenset({"association.sign_only", "causal_sketch.edges_only"})

Rows = dict[str, list[dict[str, Any]]]
"""Rows by config."""


@pytest.fixture(autouse=True)
def _few_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leak, "PERMUTATIONS", 99)


def _leaks(plan: Plan, folder: Path) -> LeakReport:
    return leak_test(write(make_tables(plan), folder, private=plan.private), TRACKS)


@pytest.fixture
def one_fact(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give a function that leaves one fact to test, for which fewer permutations are enough."""

    def leave(name: str) -> None:
        monkeypatch.setattr(leak, "facts", lambda *one: {name: facts(*one)[name]})

    return leave


def _sort_rows_by_motif(tables: Rows) -> None:
    motifs = {row["instance_id"]: row["motif"] for row in tables["causalds_worlds"]}
    for config in ("causalds", "causalds_scenes"):
        tables[config].sort(key=lambda row: (motifs[row["instance_id"]], row["view"]))


def _lengthen_prompts_of_one_answer(tables: Rows) -> None:
    signs = {row["task_id"]: "+" in row["target_json"] for row in tables["causalds_truth"]}
    for row in tables["causalds"]:
        if row["variant"] == "sign_only" and signs[row["task_id"]]:
            row["prompt"] += " Think."


def _order_exams_by_answer(tables: Rows) -> None:
    signs = {row["task_id"]: row["target_json"] for row in tables["causalds_truth"]}
    order = sorted(tables["causalds_exams"], key=lambda row: signs[row["task_id"]])
    for place, row in enumerate(order):
        row["position"] = place


@pytest.mark.parametrize(
    ("plant", "fact"),
    [
        (_sort_rows_by_motif, "instance: structure"),
        (_lengthen_prompts_of_one_answer, "sign"),
        (_order_exams_by_answer, "sign"),
    ],
)
def test_a_planted_leak_is_caught(plant, fact, tmp_path, one_fact):
    """Rows in the order of generation, a hint that passes as boilerplate, and an exam ordered by
    answer each tell a private fact."""
    tables = make_tables(Plan(scenes=98, variants=FEW))
    plant(tables)
    one_fact(fact)
    report = leak_test(write(tables, tmp_path), TRACKS)
    assert report.leaks, report.markdown()


def test_a_leak_is_caught_though_every_scene_is_asked_once(tmp_path, one_fact):
    """As in a private split: each variant alone has too few rows, all together have enough."""
    asked = ("effect_estimate.ate_point", "identification.method_label",
             "identification.all_minimal_adjustment_sets")  # fmt: skip
    tables = make_tables(
        Plan(scenes=120, motifs=("frontdoor", "iv"), variants=frozenset(asked), private=True)
    )
    tasks: dict[str, list[str]] = {}
    for row in tables["causalds"]:
        tasks.setdefault(row["instance_id"], []).append(row["task_id"])
    kept = {ids[turn % len(ids)] for turn, ids in enumerate(tasks.values())}
    assert len(kept) == 120
    for config in ("causalds", "causalds_truth", "causalds_exams"):
        tables[config] = [row for row in tables[config] if row["task_id"] in kept]
    abstain = {row["task_id"]: row["should_abstain"] for row in tables["causalds_truth"]}
    one_fact("should abstain")
    honest = leak_test(write(tables, tmp_path / "honest", private=True), TRACKS)
    assert not honest.leaks, honest.markdown()
    for row in tables["causalds"]:
        row["prompt"] += " Think." if abstain[row["task_id"]] else ""
    report = leak_test(write(tables, tmp_path / "leaking", private=True), TRACKS)
    assert report.leaks, report.markdown()


def _in_three_views(tables: Rows) -> None:
    """Every scene and task again under two more views, tasks with ids of their own."""
    rng = np.random.default_rng(5)
    for config in ("causalds", "causalds_truth", "causalds_scenes"):
        first = list(tables[config])
        for view in ("proxy", "proxy_hard"):
            tables[config] += [{**row, "view": view} if "view" in row else {**row} for row in first]
    tasks = len(tables["causalds"])
    ids = [f"cds-{rng.bytes(8).hex()}" for _ in range(tasks)]
    for config in ("causalds", "causalds_truth"):
        for row, name in zip(tables[config], ids, strict=True):
            if "answer_file" in row:
                row["prompt"] = row["prompt"].replace(row["task_id"], name)
                row["answer_file"] = row["answer_file"].replace(row["task_id"], name)
            row["task_id"] = name
        tables[config].sort(key=lambda row: row["task_id"])
    tables["causalds_scenes"].sort(key=lambda row: (row["instance_id"], row["view"]))
    tables["causalds_exams"] = []


def test_views_of_one_scene_do_not_pass_for_a_leak(tmp_path: Path) -> None:
    """They share id and answer: in one test together, each would give away the others."""
    tables = make_tables(Plan(scenes=98, seed=4, variants=FEW))
    _in_three_views(tables)
    report = leak_test(write(tables, tmp_path), TRACKS)
    assert not report.leaks, report.markdown()
    assert all(row.rows <= 98 for row in report.rows)


def test_a_large_split_is_tested_on_a_sample_that_hashes_draw(tmp_path, monkeypatch):
    """The sample must not hang on the order of instances."""
    tables = make_tables(Plan(scenes=98, seed=4, variants=FEW))
    release = write(tables, tmp_path)
    monkeypatch.setattr(leak, "INSTANCES", 30)
    found = facts(leak.sample_tables(release, "causalds", "dev"), TRACKS["causalds"])
    instances = {subject.task.instance_id for subject in found["instance: structure"][0]}
    names = [row["instance_id"] for row in tables["causalds_worlds"]]
    assert len(instances) == 30 and instances == set(sorted(names, key=leak._digest)[:30])


def test_the_report_is_a_function_of_the_release(tmp_path, one_fact):
    """GATE.md must not change between two runs over the same bytes."""
    one_fact("sign")
    plan = Plan(scenes=40, seed=3, variants=FEW)
    first, second = (_leaks(plan, tmp_path / name) for name in "ab")
    assert first.rows and first.markdown() == second.markdown()


def test_a_private_split_is_tested_from_both_sides(tmp_path: Path) -> None:
    """The split that must not leak is the one whose truth lies elsewhere."""
    plan = Plan(scenes=98, private=True, variants=frozenset({"causal_sketch.edges_only"}))
    report = _leaks(plan, tmp_path)
    assert not report.leaks
    assert any(row.fact == "instance: structure" for row in report.rows)
    with pytest.raises(UsageError, match="put the private side beside"):
        (tmp_path / "private").rename(tmp_path / "elsewhere")
        leak_test(tmp_path, TRACKS)


def test_what_cannot_be_tested_is_listed_with_its_reason(tmp_path: Path) -> None:
    """A fact that silently leaves the table would look clean."""
    asked = {"causal_sketch.edges_only", "identification.method_label", "effect_estimate.ate_point"}
    plan = Plan(scenes=60, motifs=("iv", "chain"), variants=frozenset(asked))
    report = _leaks(plan, tmp_path)
    reasons = {fact: reason for _, fact, reason in report.skipped}
    assert reasons["instance: structure"] == "determined by the disclosures"
    assert "- dev causalds, determined by the disclosures: " in report.markdown()
    single = _leaks(Plan(scenes=20, motifs=("chain",), variants=FEW), tmp_path / "one")
    assert ("dev causalds", "instance: structure", "constant") in single.skipped


@pytest.mark.parametrize("private", [False, True])
def test_features_are_numbers_and_disclosures_hold_no_names_or_ids(tmp_path, private):
    """A NaN in one would spoil every score."""
    made = make_tables(Plan(scenes=20, private=private))
    tables = split_tables(write(made, tmp_path, private=private), "causalds", "dev")
    for subjects, labels in facts(tables, TRACKS["causalds"]).values():
        strata = np.arange(len(labels)) % 2
        X, starts = leak.matrix([features(subject) for subject in subjects], strata)
        assert X.shape[0] == len(labels) and np.isfinite(X).all()
        assert starts[0] == 0 and max(starts) < X.shape[1]
        for subject in subjects:
            text = repr(disclosures(subject))
            assert subject.task.instance_id not in text and subject.task.task_id not in text
            assert not any(name in text for name in subject.names)


def test_rare_classes_are_merged_until_each_is_large_enough() -> None:
    """One row of a class can be guessed by chance; eight cannot."""
    labels = ["a"] * 20 + ["b"] * 5 + ["c"] * 4 + ["d"] * 2
    merged = leak.merge_rare(labels)
    assert merged[:20] == ("a",) * 20
    assert len(set(merged[20:])) == 1
    assert leak.merge_rare(["x"] * 3) == ("x",) * 3


@pytest.mark.slow
def test_honest_releases_are_seldom_called_leaking(tmp_path: Path) -> None:
    """p is uniform where nothing leaks: of forty releases' facts one in twenty is below 0.05."""
    p: list[float] = []
    for seed in range(40):
        plan = Plan(scenes=70, seed=100 + seed, variants=FEW)
        p += [row.p for row in _leaks(plan, tmp_path / str(seed)).rows]
    assert 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.1


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


def _renamed(task: TaskRow, other: bool) -> TaskRow:
    """The effect stands before or after the cause by its letters, as the fact says."""
    cause, effect = task.inputs["cause"], "A0" if other else "ZZ99"
    prompt = task.prompt.replace(task.inputs["effect"], effect)
    return replace(task, prompt=prompt, inputs={**task.inputs, "cause": cause, "effect": effect})


def _no_answers(target: dict[str, Any], _: dict[str, Any]) -> None:
    target["answers"] = {name: "0" * len(bits) for name, bits in target["answers"].items()}


CASES = {
    "causalab": (
        "laboratory.linear", lambda target, _: target.update(suite="another"), "suite",
        _turned("variables"),
    ),
    "replayscm": (
        "induction.hidden", lambda target, _: target.update(determined=not target["determined"]),
        "determined", _turned("variables"),
    ),
    "ccr": ("simulation.pair", _no_answers, "do_true, mostly yes", _renamed),
}  # fmt: skip


def _fits(tables: SplitTables, task: TaskRow) -> bool:
    """Whether the change is one: of a context whose answers are mostly yes."""
    answers = json.loads(tables.truth[task.task_id]["target_json"]).get("answers")
    return answers is None or 2 * answers["do_true"].count("1") > len(answers["do_true"])


PLANTS = [
    *((track, None) for track in CASES),
    *(("replayscm", plant) for plant in (_told_by_the_id, _told_by_the_prompt)),
    *((track, own) for track, (_, _, _, own) in CASES.items()),
]


@pytest.mark.parametrize(("track", "plant"), PLANTS)
def test_a_leak_planted_in_any_track_is_caught(mini_release, one_fact, track, plant):
    """By an order or a name of the track's own."""
    variant, change, fact, _ = CASES[track]
    tables = split_tables(mini_release, track, "dev")
    task = next(one for one in tables.tasks.values() if one.key == variant and _fits(tables, one))
    if plant is not None:  # fewer permutations are enough for one fact
        one_fact(fact)
    copies = _copies(tables, task, change, plant or (lambda one, _: one))
    report = leak.leaks_of([copies], TRACKS)
    p = next(row.p for row in report.rows if row.fact == fact)
    assert (p <= report.threshold) is bool(report.leaks) is (plant is not None), report.markdown()


@pytest.mark.parametrize("track", list(TRACKS))
def test_every_track_names_about_ten_facts(mini_release: Path, track: str) -> None:
    """README promises that nothing public gives away a private fact: of every track."""
    found = facts(split_tables(mini_release, track, "dev"), TRACKS[track])
    assert 8 <= len(found) <= 16


def test_which_effect_a_task_is_about_is_no_secret(mini_release: Path) -> None:
    """That of the treated is identifiable in more scenes than a natural one."""
    tables = split_tables(mini_release, "causalds", "dev")
    found, _ = facts(tables, TRACKS["causalds"])["should abstain"]
    one = next(subject.told for subject in found if "estimand" in subject.task.inputs)
    task = next(subject.task for subject in found if subject.told is one)
    truth, world = tables.truth[task.task_id], tables.worlds[task.instance_id]
    asked = [replace(task, inputs={**task.inputs, "estimand": n}) for n in ("ETT", "NDE", "NIE")]
    assert len({repr(leak_facts(one, truth, world).of_task) for one in asked}) == 3


def test_a_release_too_small_to_test_says_so_without_an_empty_table(mini_release: Path) -> None:
    """A table without rows reads as a failure."""
    head, _, text = (mini_release / "GATE.md").read_text("utf-8").partition("## Leak test")
    assert "| leak test | not tested | " in head and "which is no failure" in text
    assert "| track | fact |" not in text
    assert all(f"- dev {track}, " in text for track in TRACKS)
