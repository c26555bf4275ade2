"""Every variant of causalds against its table of cases (``cases/<family>.<variant>.json``).

A case, worked by hand, holds the answer's text (null: no file) and what both readings must make of
it, with a ``why``. A new variant needs a table of its own. The tests below say what must be in it,
and what the documents and the command line say of a variant.
"""

import json
import pickle
import statistics
from pathlib import Path
from typing import Any

import pytest
from case_files import CASE_FILES
from grading import Runner
from small_release import TASKS, answer_file, task_id

from grader.answers.check import REASONS
from grader.answers.submission import Submission
from grader.io.schemas import first_problem, schema, schema_folder
from grader.release.exam import Exam
from grader.reports.aggregate import aggregate
from grader.reports.build import build_report
from grader.scoring.model import RawAnswer
from grader.scoring.score import check, score
from grader.tracks import TRACKS
from grader.tracks import VARIANTS as EVERY_VARIANT

VARIANTS = [spec for spec in EVERY_VARIANT if spec.track == "causalds"]
"""Other tracks have tables of their own, in ``tests/<track>``."""

TABLES: dict[str, list[dict[str, Any]]] = {key: file["cases"] for key, file in CASE_FILES.items()}
ALWAYS = {"right", "wrong", "near", "absent_field", "malformed", "missing"}
ABSTAINABLE = {"abstain_due", "abstain_undue", "commit_undue", "null_equivalent"}


def grade(dev: Exam, name: str, answer: bytes | None) -> tuple[Any, Any]:
    (task,) = [task for task in dev.split.tasks if task.task_id == task_id(name)]
    raw = None if answer is None else RawAnswer(answer_file(name), answer)
    checked = check(task, raw)
    return checked, score(task, dev.truths[task.task_id], checked)


@pytest.mark.parametrize("key", TABLES)
def test_a_case_scores_as_worked_by_hand(dev: Exam, key: str) -> None:
    """A change in what any answer is worth must be seen here, with its reason."""
    (spec,) = [spec for spec in VARIANTS if spec.key == key]
    for number, case in enumerate(TABLES[key]):
        answer, of = case["answer"], (number, case["kind"], case["why"])
        checked, result = grade(dev, case["task"], None if answer is None else answer.encode())
        assert (result.status, result.reason) == (case["status"], case["reason"]), (of, result)
        assert (result.pool, result.paper_pool) == (case["pool"], case["paper_pool"]), of
        assert result.loss == pytest.approx(case["loss"], abs=1e-12), of
        assert result.points == pytest.approx(case["points"], abs=1e-12), of
        paper = None if case["paper_loss"] is None else pytest.approx(case["paper_loss"], abs=1e-12)
        assert result.paper_loss == paper, of
        if result.status != "scored":
            assert answer_file(case["task"]) in result.message, "the message must name the file"
            assert "\n" not in result.message, of
        if checked.abstained:
            kinds = ["abstain_due", "abstain_undue", "null_equivalent"]
            # "Not identifiable" is the only wrong answer there is to "is it identifiable?".
            more = ["wrong"] if spec.shape.abstention is False else []
            assert case["kind"] in kinds + more, of


def test_every_variant_has_schema_gold_writer_and_cases(dev: Exam) -> None:
    """A variant without one of them would be asked but not graded, or graded but not tested."""
    for spec in VARIANTS:
        assert pickle.loads(pickle.dumps(spec)) == spec, f"{spec.key}: no worker can be sent it"
        assert (schema_folder() / "answers" / f"{spec.shape.name}.json").is_file(), (
            f"{spec.key}: no schema"
        )
        (name, *_) = [name for name, task in TASKS.items() if task.key == spec.key]
        (task,) = [task for task in dev.split.tasks if task.task_id == task_id(name)]
        assert task.shape.gold(task, dev.truths[task.task_id]), f"{spec.key}: no gold"
    assert set(TABLES) == {spec.key for spec in VARIANTS}, "a table of no variant"


@pytest.mark.parametrize("spec", VARIANTS, ids=lambda spec: spec.key)
def test_every_scorer_can_give_every_status_and_every_malformed_kind_is_seen(spec: Any) -> None:
    """A scorer that cannot fail an answer, or that nobody ever handed rubbish, is not tested."""
    cases, every = TABLES[spec.key], {"scored", "missing", "invalid"}
    file = f"tests/grader/cases/{spec.key}.json"
    needed = ALWAYS | (ABSTAINABLE if spec.shape.abstainable else {"no_abstention"})
    absent = needed - {case["kind"] for case in cases}
    assert not absent, f"{file}: add a case of each kind of {sorted(absent)}"
    lacking = every - {case["status"] for case in cases}
    assert not lacking, f"{file}: add a case whose status is {sorted(lacking)}"
    committed = {c["points"] for c in cases if c["kind"] in ("right", "near", "wrong")}
    assert 1.0 in committed and min(committed) < 0.5
    reasons = {case["reason"] for case in cases}
    # What no parser takes is tried with every task (test_hostile_answers.py).
    if spec.shape.suffix == ".csv":
        assert reasons >= {"empty", "wrong_columns", "wrong_length", "not_a_number"}
        return
    assert "absent_field" in reasons and reasons & {"schema", "unknown_label"}
    # Where names or numbers may stand beside the labels, a wrong word is one of those, or no name.
    if spec.shape.labels and spec.shape.kind not in ("count", "set", "sets", "names"):
        assert "unknown_label" in reasons
    if spec.shape.pool == "nrel_interval":
        assert reasons >= {"absent_bound", "bounds_reversed"}
    if spec.shape.abstainable:
        due = [case for case in cases if TASKS[case["task"]].abstain]
        lacking = every - {case["status"] for case in due}
        assert not lacking, f"{file}: where abstaining is right, add a case with {sorted(lacking)}"


def test_a_shape_is_declared_once() -> None:
    """Who checks an answer from a workspace knows the name of its shape and nothing else."""
    shapes = {id(spec.shape): spec.shape for spec in EVERY_VARIANT}.values()
    assert len(shapes) == len({shape.name for shape in shapes})


def test_the_truths_of_the_small_release_fit_the_truth_schema_and_state_the_abstention() -> None:
    """The contract that builders write against, kept by the release that graders test with."""
    for task in TASKS.values():
        assert first_problem("truth/causalds", task.target) is None
        (spec,) = [spec for spec in VARIANTS if spec.key == task.key]
        if task.abstain and "accepted" in task.target:
            assert task.target["accepted"] == [spec.shape.abstention]
        if task.abstain and "category" in task.target:
            assert task.target["category"] == spec.shape.abstention
        assert not task.abstain or spec.shape.abstainable


def test_cases_belong_to_their_table_and_say_why() -> None:
    for key, cases in TABLES.items():
        for case in cases:
            assert TASKS[case["task"]].key == key
            assert case["why"].strip()
            assert case["reason"] == "" or case["reason"] in REASONS


def test_every_form_of_every_variant_is_in_a_table() -> None:
    """A task of the small release that no case answers is a form nobody looked at."""
    used = {case["task"] for cases in TABLES.values() for case in cases}
    assert set(TASKS) - used == {"ate_extra"}


def test_nothing_pays_but_answers_and_abstentions_that_are_due() -> None:
    """Otherwise the best advice to a weak system is to hand in less."""
    for cases in TABLES.values():
        for name in {case["task"] for case in cases}:
            own = [case for case in cases if case["task"] == name]
            abstentions = [c for c in own if c["kind"] in ("abstain_due", "null_equivalent")]
            if TASKS[name].abstain:
                for case in own:
                    right = case in abstentions
                    assert (case["points"], case["loss"]) == ((1.0, 0.0) if right else (0.0, 1.0))
                continue
            abstentions += [case for case in own if case["kind"].startswith("abst")]
            valid = [c for c in own if c["status"] == "scored" and c not in abstentions]
            others = [case for case in own if case not in valid]
            assert max(case["points"] for case in others) == 0.0
            assert min(c["loss"] for c in others) >= max(c["loss"] for c in valid), name


@pytest.mark.parametrize("turn", range(6))
def test_the_report_is_what_its_rows_say(dev: Exam, turn: int) -> None:
    """Headline, census and interval recomputed from the rows by other means."""
    scores = []
    for task in dev.split.tasks:
        (name,) = [name for name in TASKS if task_id(name) == task.task_id]
        own = [c["answer"] for cases in TABLES.values() for c in cases if c["task"] == name]
        answer = own[(turn * len(own)) // 6] if own else None
        scores.append(grade(dev, name, None if answer is None else answer.encode())[1])
    got = build_report(dev, Submission(Path("x")), aggregate(scores, {}, {}, {}, TRACKS), [])
    assert got["points"] == pytest.approx(100 * statistics.fmean(s.points for s in scores))
    low, high = got["points_interval"]
    assert 0 <= low <= got["points"] + 1e-9 and got["points"] - 1e-9 <= high <= 100
    for status in ("scored", "missing", "invalid"):
        assert got["census"][status] == sum(s.status == status for s in scores)
    due = [s.points for s in scores if s.should_abstain]
    rate = got["tracks"]["causalds"]["metrics"]["abstention_pass_rate"]
    assert rate == pytest.approx(statistics.fmean(due))


@pytest.mark.parametrize("spec", VARIANTS, ids=lambda spec: spec.key)
def test_what_is_scored_and_the_examples_in_a_schema_fit_it(spec: Any) -> None:
    """A validator that reads answers differently from the schema helps nobody, and test takers copy
    the examples."""
    name = f"answers/{spec.shape.name}"
    assert schema(name)["examples"]
    for example in schema(name)["examples"]:
        assert first_problem(name, example) is None
    for case in TABLES[spec.key]:
        if spec.shape.suffix != ".json" or case["status"] != "scored" or '"x"' in case["answer"]:
            continue
        assert first_problem(name, json.loads(case["answer"])) is None, case["answer"]


DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize("spec", EVERY_VARIANT, ids=lambda spec: spec.key)
def test_the_answer_format_describes_the_shape_of_the_variant(spec: Any) -> None:
    """A test taker looks the shape of a task up here, a builder its truth row there."""
    rows = (DOCS / "answer-format.md").read_text("utf-8").splitlines()
    of_track = "" if spec.track == "causalds" else f" ({spec.track})"
    (row,) = [line for line in rows if line.startswith(f"| `{spec.shape.name}`{of_track} |")]
    if of_track:
        return
    if spec.shape.suffix == ".json":
        assert f'"{spec.shape.field}"' in row
    assert ("abstains" in row) == spec.shape.abstainable
    formats = (DOCS / "release-format.md").read_text("utf-8").splitlines()
    (kinds,) = [
        line
        for line in formats
        if line.startswith("|")
        and f"`{spec.shape.kind}`" in line
        and line.index(f"`{spec.shape.kind}`") < line.index("|", 1)
    ]
    assert kinds.count("|") == 3


@pytest.mark.parametrize("spec", VARIANTS, ids=lambda spec: spec.key)
def test_explain_tells_rule_answer_and_reason(runner: Runner, gold: Path, spec: Any) -> None:
    (name, *_) = [name for name, task in TASKS.items() if task.key == spec.key]
    said = runner.run("explain", task_id(name), *runner.dev, "--answers", gold)
    assert said.code == 0
    text = " ".join(said.out.split())
    assert spec.rule in text and spec.shape.pool in text
    assert "points     100.0 of 100" in said.out
    assert f"rung {spec.rung}, {spec.key}" in text
    assert ("\nabstain " in said.out) == spec.shape.abstainable
    if spec.shape.abstainable:
        form = json.dumps({spec.shape.field: spec.shape.abstention}, separators=(",", ":"))
        assert f"abstain    {form}" in said.out


def test_schema_knows_names_and_near_misses(runner: Runner) -> None:
    assert "ate_uq_95" in runner.run("schema").out
    for name in ("ate_uq_95", *(spec.key for spec in EVERY_VARIANT)):
        assert json.loads(runner.run("schema", name).out)["title"]
    message = runner.fails("schema", "effect_estimate.ate_piont")
    assert "did you mean 'effect_estimate.ate_point'" in message
