"""Properties: no omission, malformation or unwarranted abstention beats an answer."""

import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_release import TASKS, task_id
from test_case_tables import TABLES

from grader.answers.submission import Submission
from grader.release.exam import Exam
from grader.reports.aggregate import aggregate
from grader.reports.build import build_report
from grader.scoring.model import RawAnswer, Score
from grader.scoring.score import score_answer
from grader.tracks import TRACKS

CASES: dict[str, list[dict[str, Any]]] = {name: [] for name in TASKS}
for _table in TABLES.values():
    for _case in _table:
        CASES[_case["task"]].append(_case)
CASES = {name: cases for name, cases in CASES.items() if cases}
NAMES = sorted(CASES)


def graded(dev: Exam, chosen: dict[str, bytes | None]) -> list[Score]:
    """Score rows of ``dev`` with these answers; tasks not named are missing."""
    scores = []
    truths = dev.truths
    names = {task_id(name): name for name in TASKS}
    for task in dev.split.tasks:
        name = names[task.task_id]
        data = chosen.get(name)
        raw = None if data is None else RawAnswer(task.answer_file, data)
        scores.append(score_answer(task, truths[task.task_id], raw))
    return scores


def report(dev: Exam, scores: list[Score]) -> dict[str, Any]:
    return build_report(dev, Submission(Path("x")), aggregate(scores, {}, {}, {}, TRACKS), [])


def test_no_omission_malformation_or_unwarranted_abstention_beats_an_answer() -> None:
    """Otherwise the best advice to a weak system is to hand in less."""
    for name, cases in CASES.items():
        if TASKS[name].abstain:
            continue
        valid = [c for c in cases if c["status"] == "scored" and not c["kind"].startswith("abst")]
        valid = [c for c in valid if c["kind"] != "null_equivalent"]
        others = [c for c in cases if c not in valid]
        assert valid and others
        assert max(c["points"] for c in others) == 0.0
        assert min(c["loss"] for c in others) >= max(c["loss"] for c in valid), name


def test_on_an_unidentifiable_target_only_an_abstention_pays() -> None:
    """Silence and malformed files are no abstentions."""
    for name, cases in CASES.items():
        if TASKS[name].abstain:
            for case in cases:
                right = case["kind"] in ("abstain_due", "null_equivalent")
                assert (case["points"], case["loss"]) == ((1.0, 0.0) if right else (0.0, 1.0))


ANSWERS = st.fixed_dictionaries({name: st.integers(0, len(CASES[name]) - 1) for name in NAMES}).map(
    lambda picks: {name: CASES[name][k]["answer"] for name, k in picks.items()}
)


@settings(max_examples=5, deadline=None)
@given(ANSWERS, st.sets(st.sampled_from(NAMES), min_size=1, max_size=8))
def test_dropping_answers_never_improves_points_or_the_fixed_score(
    dev: Exam, chosen: dict[str, str | None], dropped: set[str]
) -> None:
    """Errored items silently leaving the denominator is what inspect_ai #3707 was about."""
    whole = {name: text.encode() for name, text in chosen.items() if text is not None}
    part = {name: data for name, data in whole.items() if name not in dropped}
    before, after = report(dev, graded(dev, whole)), report(dev, graded(dev, part))
    assert after["points"] <= before["points"] + 1e-9
    fixed = [r["tracks"]["causalds"]["readings"]["fixed"] for r in (before, after)]
    assert fixed[1]["causalds_score"] >= fixed[0]["causalds_score"] - 1e-9
    for pool in ("n_pass", "n_nrel", "n_f1"):
        assert fixed[0][pool] == fixed[1][pool], "the truth alone fixes the pools"


@settings(max_examples=4, deadline=None)
@given(ANSWERS)
def test_the_report_is_what_its_rows_say(dev: Exam, chosen: dict[str, str | None]) -> None:
    """Headline, census and interval recomputed from the rows by other means."""
    scores = graded(dev, {n: text.encode() for n, text in chosen.items() if text is not None})
    got = report(dev, scores)
    assert got["points"] == pytest.approx(100 * statistics.fmean(s.points for s in scores))
    low, high = got["points_interval"]
    assert 0 <= low <= got["points"] + 1e-9 and got["points"] - 1e-9 <= high <= 100
    census = got["census"]
    for status in ("scored", "missing", "invalid"):
        assert census[status] == sum(s.status == status for s in scores)
    metrics = got["tracks"]["causalds"]["metrics"]
    due = [s.points for s in scores if s.should_abstain]
    assert metrics["abstention_pass_rate"] == pytest.approx(statistics.fmean(due))
