"""Matched ablations: which tasks belong together, and what their losses say."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from grading import Runner, put
from score_rows import failed, row
from small_release import SCHEMAS, restate, task_id, write_shard

from grader.opening import open_release
from grader.pages import page as draw
from grader.release.exam import arms_of
from grader.reports.table import ScoreTable, fill_usage
from grader.scoring.model import Score
from grader.scoring.shape import Task
from grader.statistics import bootstrap
from grader.statistics.bootstrap import cluster_means
from grader.tracks import TRACKS
from grader.tracks.causalds.matched_tasks import matched_figures
from grader.tracks.causalds.tables import SPECIFICATION, decomposition_chart


def task(name: str, view: str, inputs: dict[str, Any], instance: str = "scene") -> Task:
    return Task(
        task_id=name, instance_id=instance, view=view, input_mode="data", prompt="",
        spec=TRACKS["causalds"].variant("effect_estimate.ate_point"), answer_schema="ate",
        answer_file=f"{name}.json", inputs=inputs,
    )  # fmt: skip


def test_the_same_question_under_two_views_is_a_bundle() -> None:
    """The columns differ with the view; the question does not."""
    asked = {"treatment": "A", "outcome": "B"}
    tasks = [
        task("t1", "clean", asked | {"columns": ["A", "B"]}),
        task("t2", "proxy", asked | {"columns": ["A_meas_a", "B"]}),
        task("t3", "clean", asked | {"treatment": "C"}),
        task("t4", "proxy", asked, instance="another scene"),
    ]
    found = arms_of(tasks, {}, TRACKS)
    bundle, _ = found["t1"]
    assert found == {"t1": (bundle, "clean"), "t2": (bundle, "proxy")}


def test_what_an_exam_says_goes_first_and_tellings_are_numbered() -> None:
    tasks = [task(f"t{k}", "clean", {"treatment": name}) for k, name in enumerate("ABCD")]
    stated = {"t0": ("b1", ""), "t1": ("b1", ""), "t2": ("b2", "fictional"), "t3": ("b2", "plain")}
    numbered = {"t0": ("b1", "telling 1"), "t1": ("b1", "telling 2")}
    assert arms_of(tasks, stated, TRACKS) == stated | numbered
    assert arms_of(tasks, {"t0": ("alone", "")}, TRACKS) == {}


def pair(name: str, scene: str, clean: Score, proxy: Score) -> list[Score]:
    return [
        replace(score, task_id=f"{name}/{arm}", instance_id=scene, view=arm, bundle=name, arm=arm)
        for arm, score in (("clean", clean), ("proxy", proxy))
    ]


def point(loss: float) -> Score:
    return row("", "nrel_point", loss)


def figures(scores: list[Score]) -> dict[str, Any]:
    with ScoreTable(scores) as table:
        found = matched_figures(table)
    assert found is not None
    return found


OBSERVED = [
    *pair("p1", "s1", point(0.1), point(0.4)),
    *pair("p2", "s1", point(0.5), point(0.2)),
    *pair("p3", "s2", point(0.2), point(7.0)),
    *pair("p4", "s3", point(0.3), failed("", "nrel_point")),
    *pair("p5", "s3", point(0.0), row("", "nrel_point", 10.0, abstained=True)),
]


def test_paired_capped_deltas_of_a_hand_example() -> None:
    """Deltas +0.3, -0.3, 1 - 0.2, 1 - 0.3 and 1 - 0: a failure costs the cap of 1."""
    (contrast,) = figures(OBSERVED)["contrasts"]
    deltas = [0.3, -0.3, 0.8, 0.7, 1.0]
    mean = sum(deltas) / 5
    assert (contrast["arm"], contrast["reference"]) == ("proxy", "clean")
    assert (contrast["pairs"], contrast["scenes"]) == (5, 3)
    assert contrast["mean"] == pytest.approx(mean)
    sd = (sum((d - mean) ** 2 for d in deltas) / 4) ** 0.5
    assert contrast["sd"] == pytest.approx(sd)
    assert (contrast["worse"], contrast["better"]) == (4, 1)
    assert contrast["survivor_pairs"] == 3
    assert contrast["survivor_mean"] == pytest.approx(0.8 / 3)
    # Figure 10: by what became of validity, the pairs, and what they contribute to the mean.
    parts = {name: (one["pairs"], one["contribution"]) for name, one in contrast["parts"].items()}
    assert parts == {
        "valid in both": (3, pytest.approx(0.8 / 5)),
        "valid in the reference only": (2, pytest.approx(1.7 / 5)),
        "valid in the other only": (0, 0),
        "valid in neither": (0, 0),
    }
    # By scene: sums 0 over two pairs, 0.8 over one, 1.7 over two.
    clusters = {"s1": (0.0, 2), "s2": (0.8, 1), "s3": (1.7, 2)}
    means = cluster_means(clusters, bootstrap.seed_of(clusters))
    assert contrast["interval"] == pytest.approx(bootstrap.percentile_interval(means))


def test_each_arm_says_how_its_answers_failed() -> None:
    clean, proxy = figures(OBSERVED)["arms"]
    assert (clean["arm"], clean["tasks"], clean["committed"]) == ("clean", 5, 5)
    assert clean["mean_loss"] == pytest.approx(1.1 / 5)
    assert (proxy["committed"], proxy["missing"], proxy["false_abstentions"]) == (3, 1, 1)
    assert proxy["mean_loss"] == pytest.approx((0.4 + 0.2 + 1 + 1 + 1) / 5)
    assert proxy["median_survivor_loss"] == pytest.approx(0.4)


def test_each_arm_says_how_conversations_ended_and_what_they_took() -> None:
    """Table 25: context overflows, other limits and calls; a stranger's ending is none."""
    full = "context limit"
    endings = {
        "clean": [*["answered"] * 4, full],
        "proxy": ["answered", "step limit", full, full, "<b>"],
    }
    order = {name: [s.task_id for s in OBSERVED if s.arm == name] for name in endings}
    usage = {
        task: {"ending": ending, "tool_calls": 2 * place}
        for name, told in endings.items()
        for place, (task, ending) in enumerate(zip(order[name], told, strict=True))
    }
    with ScoreTable(OBSERVED) as table:
        fill_usage(table, usage, OBSERVED)
        found = matched_figures(table)
    assert found is not None
    clean, proxy = found["arms"]
    assert (clean["context_exits"], clean["limit_exits"], clean["calls_per_task"]) == (1, 0, 4)
    assert (proxy["context_exits"], proxy["limit_exits"], proxy["calls_per_task"]) == (2, 1, 4)
    assert figures(OBSERVED)["arms"][0]["context_exits"] is None, "nothing was told"
    marks = [(pair["reference_mark"], pair["mark"]) for pair in found["pairs"]]
    assert sum(mark == "ctx" for pair in marks for mark in pair) == 3
    shown = SPECIFICATION.table("pairs", [{"system": "x", "matched": found}]).rows
    cells = [str(cell) for line in shown for cell in line[2:]]
    assert sum(cell.endswith("*") for cell in cells) == 2, "answered, and overflowed all the same"


def test_figures_hold_every_pair_and_parts_that_add_up() -> None:
    """Figure 9: a cell for each pair and view, with its loss or why there is none. Figure 10: bars
    on either side of 0, whose lengths add up to the mean."""
    found = {"system": "x", "matched": figures(OBSERVED)}
    grid = SPECIFICATION.table("pairs", [found])
    assert grid.head[2:] == ["clean", "proxy"]
    cells = [cell for line in grid.rows for cell in line[2:]]
    assert {cell.kind for cell in cells} == {"heat"}  # type: ignore[union-attr]
    assert Counter(map(str, cells)) == Counter(["0.10", "0.40", "0.50", "0.20", "0.20", "1.00",
                                                "0.30", "missing", "0.00", "abst"])  # fmt: skip
    (bars,) = decomposition_chart([found])
    told = re.findall(r"pairs, ([+-][0-9.]+)</title>", bars.markup())
    (contrast,) = found["matched"]["contrasts"]
    assert sum(map(float, told)) == pytest.approx(contrast["mean"], abs=2e-3) and len(told) == 4
    for name in ("pairs", "decomposition_chart"):
        assert SPECIFICATION.blocks(name, [{"system": "x"}]) == []


def test_targets_that_are_not_identifiable_enter_no_contrast_of_views() -> None:
    due = row("", "pass", 0.0, should_abstain=True, abstained=True)
    found = figures([*OBSERVED, *pair("p6", "s9", due, due)])
    assert found["contrasts"][0]["pairs"] == 5 and found["arms"][0]["tasks"] == 5


def told(bundle: str, *losses: float) -> list[Score]:
    return [
        row(f"{bundle}/{k}", "nrel_point", loss, bundle=bundle, arm=f"telling {k}",
            structure="iv", instance_id=f"{bundle}/{k}")
        for k, loss in enumerate(losses)
    ]  # fmt: skip


def test_ranges_inside_a_bundle_of_tellings() -> None:
    """Ranges 0, 0.02 and 1 - 0.4 (capped): two moved, one of them far."""
    found = figures([*told("b1", 0.3, 0.3), *told("b2", 0.1, 0.11, 0.12), *told("b3", 0.4, 9.0)])
    assert found["contrasts"] == []
    ranges = found["ranges"]
    assert (ranges["bundles"], ranges["nontrivial"], ranges["large"]) == (3, 2, 1)
    assert ranges["mean"] == pytest.approx(0.62 / 3) and ranges["max"] == pytest.approx(0.6)
    assert [line["bundle"] for line in ranges["listed"]] == ["b3", "b2", "b1"]
    sds = [0.0, 0.01, 0.6 / 2**0.5]
    assert ranges["mean_sd"] == pytest.approx(sum(sds) / 3)
    low, high = ranges["interval"]
    assert 0 <= low <= ranges["mean"] <= high <= 0.6


def test_an_exam_without_bundles_has_no_ablation() -> None:
    with ScoreTable([row("t", "pass", 0.0)]) as table:
        assert matched_figures(table) is None


def test_an_exam_states_its_bundles_in_two_optional_columns(runner, own_release, gold):
    """Two tasks made partners by the exam alone; the report then compares their losses."""
    bundles = {"ate": ("b1", "fictional"), "ate_extra": ("b1", "plain")}
    schema = SCHEMAS["causalds_exams"] | {"bundle": "VARCHAR", "arm": "VARCHAR"}
    rows: list[dict[str, Any]] = [
        {"exam": "swap", "position": position, "task_id": task_id(name), **dict(
            zip(("bundle", "arm"), bundles.get(name, (None, None)), strict=True))}
        for position, name in enumerate(["ate", "ate_extra", "sign"])
    ]  # fmt: skip
    shard = "causalds_exams/dev-00000-of-00001.parquet"
    known = dict(SCHEMAS)
    SCHEMAS["causalds_exams"] = schema
    try:
        write_shard(duckdb.connect(), own_release / "public" / shard, "causalds_exams", rows)
    finally:
        SCHEMAS.update(known)
    restate(own_release / "public", shard, rows)
    release = open_release(own_release)
    assert release.exam_bundles("dev") == {
        "swap": {task_id(name): found for name, found in bundles.items()}
    }
    put(gold, "ate", json.dumps({"ate": 2.0}))
    report = Runner(own_release, runner.place, runner.capsys).grade(gold, exam="swap").report
    found = report["tracks"]["causalds"]["matched"]
    assert [arm["arm"] for arm in found["arms"]] == ["fictional", "plain"]
    assert found["ranges"]["max"] == pytest.approx(0.5), "1 answered 2 is off by half"
    assert found["ranges"]["listed"][0]["variant"] == "effect_estimate.ate_point"
    page = SPECIFICATION.of_reports([report])
    (section,) = [one for one in page if one.title == "causalds: matched ablation"]
    html = draw.page("title", "", [section], "")
    assert "every bundle" in html and "effect_estimate.ate_point" in html


def test_exams_without_the_columns_state_nothing(release: Path) -> None:
    assert open_release(release).exam_bundles("dev") == {}
