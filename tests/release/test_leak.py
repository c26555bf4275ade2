"""The leak test on hand-made releases: honest ones pass, planted leaks are caught."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade import Plan, make_tables, write

from builder.gate import leak
from builder.gate.leak import LeakReport, facts, leak_test, matrix, merge_rare, sample_tables
from builder.gate.public import disclosures, features
from builder.release.tables import split_tables
from builder.tracks import TRACKS
from grader.errors import UsageError

FEW = frozenset({"association.sign_only", "causal_sketch.edges_only"})

Rows = dict[str, list[dict[str, Any]]]
"""Rows by config."""


def _leaks(plan: Plan, folder: Path, permutations: int = 99) -> LeakReport:
    release = write(make_tables(plan), folder, private=plan.private)
    return leak_test(release, TRACKS, permutations=permutations)


@pytest.fixture
def one_fact(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give a function that leaves one fact to test, for which fewer permutations are enough."""

    def leave(name: str) -> None:
        monkeypatch.setattr(leak, "facts", lambda *one: {name: facts(*one)[name]})

    return leave


@pytest.mark.slow
def test_an_honest_release_is_clean(tmp_path: Path) -> None:
    """A test that fires on honest releases would be switched off."""
    report = _leaks(Plan(scenes=98, seed=4, variants=FEW), tmp_path)
    assert not report.leaks, report.markdown()
    assert {row.fact for row in report.rows} == {
        "instance: structure",
        "instance: motif",
        "instance: ATE identifiable",
        "instance: ETT identifiable",
        "asked structure",
        "sign",
    }


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
    report = leak_test(write(tables, tmp_path), TRACKS, permutations=99)
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
    honest = leak_test(write(tables, tmp_path / "honest", private=True), TRACKS, permutations=99)
    assert not honest.leaks, honest.markdown()
    for row in tables["causalds"]:
        row["prompt"] += " Think." if abstain[row["task_id"]] else ""
    report = leak_test(write(tables, tmp_path / "leaking", private=True), TRACKS, permutations=99)
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
    report = leak_test(write(tables, tmp_path), TRACKS, permutations=99)
    assert not report.leaks, report.markdown()
    assert all(row.rows <= 98 for row in report.rows)


def test_a_large_split_is_tested_on_a_sample_that_hashes_draw(tmp_path, monkeypatch):
    """The sample must not hang on the order of instances."""
    tables = make_tables(Plan(scenes=98, seed=4, variants=FEW))
    release = write(tables, tmp_path)
    monkeypatch.setattr(leak, "INSTANCES", 30)
    found = facts(sample_tables(release, "causalds", "dev"), TRACKS["causalds"])
    instances = {subject.task.instance_id for subject in found["instance: structure"][0]}
    assert len(instances) == 30
    assert instances == set(sorted(_worlds(tables), key=leak._digest)[:30])


def _worlds(tables: Rows) -> list[str]:
    return [row["instance_id"] for row in tables["causalds_worlds"]]


def test_the_report_is_a_function_of_the_release(tmp_path, one_fact):
    """GATE.md must not change between two runs over the same bytes."""
    one_fact("sign")
    plan = Plan(scenes=40, seed=3, variants=FEW)
    first, second = (_leaks(plan, tmp_path / name, 19) for name in "ab")
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


def test_disclosures_hold_counts_and_kinds_but_no_names_or_ids(tmp_path: Path) -> None:
    """Rows are exchanged where disclosures agree: a name among them would make each row unique."""
    release = write(make_tables(Plan(scenes=30)), tmp_path)
    for subjects, _ in facts(split_tables(release, "causalds", "dev"), TRACKS["causalds"]).values():
        for subject in subjects:
            text = repr(disclosures(subject))
            assert subject.task.instance_id not in text and subject.task.task_id not in text
            assert not any(name in text for name in subject.names)


@pytest.mark.parametrize("private", [False, True])
def test_every_feature_is_a_number_for_every_row(tmp_path: Path, private: bool) -> None:
    """A NaN in one would spoil every score. Story tasks of a private split ship no table."""
    made = make_tables(Plan(scenes=14, private=private))
    tables = split_tables(write(made, tmp_path, private=private), "causalds", "dev")
    for subjects, labels in facts(tables, TRACKS["causalds"]).values():
        strata = np.arange(len(labels)) % 2
        X, starts = matrix([features(subject) for subject in subjects], strata)
        assert X.shape[0] == len(labels) and np.isfinite(X).all()
        assert starts[0] == 0 and max(starts) < X.shape[1]


def test_rare_classes_are_merged_until_each_is_large_enough() -> None:
    """One row of a class can be guessed by chance; eight cannot."""
    labels = ["a"] * 20 + ["b"] * 5 + ["c"] * 4 + ["d"] * 2
    merged = merge_rare(labels)
    assert merged[:20] == ("a",) * 20
    assert len(set(merged[20:])) == 1
    assert merge_rare(["x"] * 3) == ("x",) * 3


@pytest.mark.slow
def test_honest_releases_are_seldom_called_leaking(tmp_path: Path) -> None:
    """p is uniform where nothing leaks: of forty releases' facts one in twenty is below 0.05."""
    p: list[float] = []
    for seed in range(40):
        plan = Plan(scenes=70, seed=100 + seed, variants=FEW)
        p += [row.p for row in _leaks(plan, tmp_path / str(seed)).rows]
    assert 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.1
