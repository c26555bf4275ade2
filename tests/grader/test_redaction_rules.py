"""What a report of a private split gives away, attacked as a submitter would."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grading import Runner
from score_rows import row
from small_release import answer_file

from grader.io.schemas import first_problem
from grader.model import Score
from grader.report.aggregate import aggregate
from grader.report.coarse import FEWEST, redact_loss, redact_points
from grader.report.redact import redact
from grader.report.skill import members as members_of


def report(scores: list[Score], **members: Any) -> dict[str, Any]:
    """The causalds part of a full report, in the shape that ``redact`` takes."""
    made = aggregate(scores, {}, {}, {}).parts["causalds"] | members
    shown = redact({**members_of(None), "points": made["points"], "points_interval": [0.0, 100.0],
                    "detectable": 1.23456, "census": {"tasks": len(scores)},
                    "tracks": {"causalds": made}})  # fmt: skip
    found: dict[str, Any] = shown["tracks"]["causalds"]
    return found


def interval_task(name: str, width: float, identifiable: bool) -> Score:
    """An answered interval: its width is seen only where the target is identifiable."""
    if not identifiable:
        return row(name, "pass", 1.0, should_abstain=True, family="effect", instance_id=name)
    extra = json.dumps({"normalised_width": width})
    return row(
        name, "nrel_interval", 1.0, coverage=1.0, width=width, extra_json=extra, family="effect",
        instance_id=name, nominal=0.95,
    )  # fmt: skip


def test_widths_chosen_as_powers_of_two_do_not_spell_out_who_must_abstain() -> None:
    """The mean width used to be the binary number whose digits are the identifiable tasks."""
    secret = [True, False, True, True, False, True, True, True]
    scores = [interval_task(f"t{k}", 2.0**k, known) for k, known in enumerate(secret)]
    text = json.dumps(report(scores))
    assert "width" not in text
    other = [not known for known in secret]
    swapped = [
        interval_task(f"t{k}", 2.0**k, known) for k, known in enumerate([*other, True, True])
    ]
    again = json.dumps(report(swapped))
    for figure in (sum(2.0**k for k, known in enumerate(secret) if known), 2.0):
        assert str(figure) not in text + again


def test_a_huge_answer_does_not_reveal_its_target() -> None:
    """|1e6 - truth| / (1 + |truth|) gives the truth to as many digits as one likes."""
    truth = 0.8371
    losses = [(1e6 - truth) / (1 + truth)] * 7
    scores = [
        row(f"t{k}", "nrel_point", loss, instance_id=f"i{k}") for k, loss in enumerate(losses)
    ]
    shown = report(scores)
    numbers = [v for r in shown["readings"].values() for v in r.values() if isinstance(v, float)]
    slices = [
        value
        for levels in shown["slices"].values()
        for line in levels.values()
        for reading in line["readings"].values()
        for value in reading.values()
        if isinstance(value, float)
    ]
    assert numbers and slices and max([*numbers, *slices]) <= 10.0
    assert "mean_nrel_err" not in json.dumps(shown)


@pytest.mark.parametrize("answered", range(1, FEWEST))
def test_a_few_answers_have_no_median_and_no_coverage(answered: int) -> None:
    """The median over one valid answer is that answer's loss; its coverage bisects the target."""
    scores = [row(f"t{k}", "nrel_point", 0.123, instance_id=f"i{k}") for k in range(answered)]
    scores += [interval_task(f"u{k}", 1.0, True) for k in range(answered)]
    few = report(scores[:answered])
    for reading in few["readings"].values():
        assert all(value is None for value in reading.values()), reading
    shown = report(scores)
    assert "coverage" not in shown["metrics"]
    assert all(line["coverage"] is None for line in shown["calibration"])
    for levels in few["slices"].values():
        assert all(line["points"] is None for line in levels.values())


@pytest.mark.parametrize("tasks", [5, 8, 40, 100, 1000])
def test_one_answer_shows_its_points_to_one_digit_in_any_slice(tasks: int) -> None:
    """In a family of 8 tasks a tenth of a point is 0.008 of a task: its error to half a percent."""
    told = {redact_points(100 * share / tasks / 1000, tasks) for share in range(1001)}
    assert len(told) <= 11
    spread = {redact_points(100 * share / tasks / 1000, tasks, 5) for share in range(1001)}
    assert len(spread) <= 3
    right = [100 * count / tasks for count in range(tasks + 1)]
    if tasks <= 100:  # yes/no tasks lose nothing
        assert [redact_points(value, tasks) for value in right] == [round(v, 1) for v in right]


def test_losses_are_capped_and_two_digits_long() -> None:
    assert redact_loss(0.12345) == 0.12 and redact_loss(6.3349) == 6.3
    assert redact_loss(123.0) == 10.0 and redact_loss(None) is None
    assert redact_loss([0.119, 55.5]) == [0.12, 10.0]
    assert redact_loss(math.inf) == 10.0


def test_no_count_follows_the_truth() -> None:
    scores = [interval_task(f"t{k}", 1.0, k % 3 > 0) for k in range(30)]
    shown = report(scores)
    assert "structure" not in shown["slices"]
    (line,) = shown["calibration"]
    assert line["coverage"] == 1.0 and line["valid"] is line["tasks"] is None
    assert line["coverage_interval"] is None  # Wilson's width is a function of the count
    for reading in shown["readings"].values():
        assert reading["n_pass"] is reading["n_nrel"] is reading["n_f1"] is None
    kept = {"coverage"}
    assert set(shown["metrics"]) == kept


def test_a_quotient_of_tokens_is_no_way_around_the_rounding() -> None:
    """tokens / (1 - score) with all its digits would give the score with all of its own."""
    scores = [row(f"t{k}", "pass", float(k < 3), instance_id=f"i{k}") for k in range(17)]
    costs = {"total_tokens": 1e12, "unmetered": 0, "tasks": 17}
    shown = report(scores, usage=costs)
    rounded = round(3 / 17, 2)
    assert shown["usage"]["tokens_per_quality"]["fixed"] == pytest.approx(1e12 / (1 - rounded))


def ccr_track(pairs: int, answered: int) -> dict[str, Any]:
    """A ccr track with every figure it can have."""
    metrics: dict[str, Any] = {
        "contexts": 6, "compositions": pairs, "unit_answers": 40, "unit_answers_invalid": 1,
        "points_simulation": 12.345, "compositions_vc": 0.4567, "contexts_vc": 0.5,
        "pairs_valid": 0.1234, "median_eta": 0.0987654, "accuracy_do_true": 0.51234,
        "monotonicity_violations": 0.01,
    }  # fmt: skip
    family = {"simulation": {"tasks": pairs, "missing": pairs - answered, "invalid": 0,
                             "points": 10.04, "floor": None, "ceiling": 100.0}}  # fmt: skip
    return {
        **members_of(None),
        "points": 12.345, "points_interval": [1.0, 2.0], "detectable": 3.0, "tasks": pairs,
        "attempted": answered, "metrics": metrics, "readings": {}, "slices": {"family": family},
        "usage": {"total_tokens": None, "unmetered": 0, "tasks": 0},
        "details": {"contexts": [{"nodes": ["X", "Y"]}]},
    }  # fmt: skip


def redacted_ccr(pairs: int, answered: int) -> dict[str, Any]:
    whole = {
        **members_of(None),
        "points": 1.0,
        "points_interval": None,
        "detectable": None,
        "census": {"tasks": 9},
    }
    shown = redact({**whole, "tracks": {"ccr": ccr_track(pairs, answered)}})
    found: dict[str, Any] = shown["tracks"]["ccr"]
    return found


def test_ccr_keeps_its_shares_and_loses_what_solves_for_a_target() -> None:
    """A redacted ccr report had no figure at all; the error of a median pair is its target."""
    shown = redacted_ccr(40, 40)
    assert shown["metrics"] == {
        "contexts": 6, "unit_answers": 40, "unit_answers_invalid": 1, "points_simulation": 12.5,
        "compositions_vc": 0.46, "contexts_vc": 0.5, "pairs_valid": 0.12, "accuracy_do_true": 0.51,
        "monotonicity_violations": 0.01,
    }  # fmt: skip
    assert "details" not in shown and "0.0987" not in json.dumps(shown)


def test_one_answered_pair_does_not_show_its_accuracy() -> None:
    """Over a single answered unit the accuracy is the hidden outcome of that unit."""
    metrics = redacted_ccr(40, 1)["metrics"]
    assert "accuracy_do_true" not in metrics and "pairs_valid" in metrics
    small = redacted_ccr(8, 8)["metrics"]
    assert not {"accuracy_do_true", "pairs_valid", "compositions_vc", "points_simulation"} & set(
        small
    )


def test_a_private_report_with_attempts_keeps_to_the_schema(runner: Runner, tmp_path: Path) -> None:
    """Attempts at a private split: rounded, without pool sizes, and no row per task."""
    at = ("--release", runner.release, "--split", "test")
    for number in (1, 2):
        folder = tmp_path / "twice" / f"attempt-{number}"
        assert runner.run("gold", *at, "--out", folder, "--reveal").code == 0
    (tmp_path / "twice" / "attempt-2" / answer_file("ate", "test")).write_text("{")
    file, page = tmp_path / "report.json", tmp_path / "page.html"
    words = ("grade", tmp_path / "twice", *at, "--json", file, "--html", page)
    assert runner.run(*words).code == 0
    shown = json.loads(file.read_text("utf-8"))
    assert first_problem("report", shown) is None
    figures = shown["tracks"]["causalds"]["attempts"]
    assert figures["binary"] is None and "abstention" not in figures["slices"]
    assert all(pool["tasks"] is None for pool in figures["pools"].values())
    assert all(
        line["median"] is None for pool in figures["pools"].values() for line in pool["best"]
    )
    assert shown["attempts"]["points"]["causalds"]["runs"] == [100.0, 87.5]
    assert "Every task" not in page.read_text("utf-8")


def test_every_track_of_a_redacted_run_can_be_shown(mini_release: Path) -> None:
    """Tables and pages read what redaction leaves of causalds, ccr and replayscm, and no more."""
    from rich.console import Console

    from grader.exam import Split
    from grader.io.release import Release
    from grader.pipeline import grade
    from grader.report.comparison import compare
    from grader.show.pages import comparison_page, page
    from grader.show.terminal import comparison_view, report_view

    split = replace(Split.open(Release.open(mini_release), None, "mini"), reveal=False)
    graded = grade(split.choose_exam_for(), mini_release)  # a folder without answers
    assert graded.report["redacted"] and first_problem("report", graded.report) is None
    comparison = compare(graded, graded)
    assert first_problem("comparison", comparison) is None
    console = Console(width=140)
    with console.capture() as shown:
        console.print(report_view(graded.report))
        console.print(comparison_view(comparison))
    for track in ("causalds", "ccr", "replayscm"):
        assert track in shown.get()
        assert track in page([(1, graded.report)], "x") and track in comparison_page(comparison)
