"""Metrics and sums against scikit-learn, SciPy and brute force, for every finite double; and skill:
0 is what knowing nothing earns, 100 is gold, and a ratio of sums between."""

import json
import math
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grading import Runner, put
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from score_rows import row
from sklearn import metrics
from small_release import FLOORS, TASKS, variant_of, write_manifest

from benchmarks.commonness import Case, cases, line, main, regress
from grader.pages.leaderboard import rank
from grader.reports.aggregate import aggregate
from grader.reports.build import spread_of
from grader.reports.redact import with_figure
from grader.scoring.model import Mark, Predictions, Truth, Unit
from grader.scoring.shape import Task
from grader.scoring.track import Track
from grader.statistics import bootstrap
from grader.statistics.bootstrap import cluster_means, detectable_difference, percentile_interval
from grader.statistics.skill import measure, members, on_scale, overall_skill
from grader.tracks.causalds import TRACK as GRADER
from grader.tracks.causalds.scoring import point_predictor, prediction_interval

NUMBERS = st.floats(-1e3, 1e3)
BINARY = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.floats(-0.5, 1.5) | st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=40,
)


def task(key: str) -> Task:
    return Task("t", "i", GRADER.variant(key), "clean", "data", "", "", "t.csv", {"alpha": 0.1})


def truth(kind: str, labels: list[float]) -> Truth:
    target = {"kind": kind, "sd": float(np.std(labels)), "rows": len(labels)}
    return Truth("t", "i", False, "chain", None, None, target, tuple(labels))


def predicted(kind: str, labels: list[float], answers: list[float]) -> Mark:
    return point_predictor(
        task("prediction.point_predictor"), truth(kind, labels), Predictions(tuple(answers))
    )


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=40))
def test_rmse_mae_and_r2_agree_with_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    """Eq. 1's numerator, and what is shown beside it."""
    labels, answers = [list(column) for column in zip(*pairs, strict=True)]
    assume(np.std(labels) > 1e-3)
    got = predicted("continuous", labels, answers)
    rmse = metrics.root_mean_squared_error(labels, answers)
    assert got.value == pytest.approx(rmse, rel=1e-9, abs=1e-12)
    assert got.loss == pytest.approx(rmse / (1 + np.std(labels)), rel=1e-9, abs=1e-12)
    assert got.extra["mae"] == pytest.approx(metrics.mean_absolute_error(labels, answers))
    assert got.extra["r2"] == pytest.approx(metrics.r2_score(labels, answers), rel=1e-6, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(BINARY)
def test_auc_brier_and_log_loss_agree_with_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    """AUC ranks predictions as given; Brier clips to [0, 1], log loss to [1e-6, 1 - 1e-6]."""
    labels, answers = [list(column) for column in zip(*pairs, strict=True)]
    got = predicted("binary", labels, answers)
    brier = metrics.brier_score_loss(labels, np.clip(answers, 0, 1), pos_label=1)
    inner = np.clip(answers, 1e-6, 1 - 1e-6)
    assert got.extra["brier"] == pytest.approx(brier, abs=1e-12)
    assert got.extra["log_loss"] == pytest.approx(
        metrics.log_loss(labels, inner, labels=[0.0, 1.0]), rel=1e-9
    )
    assert got.loss == pytest.approx(math.sqrt(brier) / (1 + np.std(labels)), abs=1e-12)
    if len(set(labels)) == 2:
        assert got.metric == "auc"
        assert got.value == pytest.approx(metrics.roc_auc_score(labels, answers), abs=1e-12)
    else:
        assert got.metric == "brier" and got.value == got.extra["brier"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=30))
def test_prediction_intervals_average_row_scores(rows: list[tuple[float, float, float]]) -> None:
    """The paper averages at every level; coverage includes the bounds."""
    lower, upper = [min(a, b) for a, b, _ in rows], [max(a, b) for a, b, _ in rows]
    labels = [y for _, _, y in rows]
    answer = Predictions(tuple(lower), tuple(lower), tuple(upper))
    got = prediction_interval(
        task("prediction.prediction_interval"), truth("continuous", labels), answer
    )
    low, high, y = np.array(lower), np.array(upper), np.array(labels)
    score = np.mean(high - low + 20 * (low - y) * (y < low) + 20 * (y - high) * (y > high))
    assert got.value == pytest.approx(score, rel=1e-9, abs=1e-9)
    assert got.loss == pytest.approx(score / (1 + np.std(y)), rel=1e-9, abs=1e-9)
    assert got.coverage == pytest.approx(np.mean((low <= y) & (y <= high)))
    assert got.width == pytest.approx(np.mean(high - low))


def by_instance(sums: list[float], counts: list[int]) -> dict[str, tuple[float, int]]:
    return {f"i{k}": pair for k, pair in enumerate(zip(sums, counts, strict=True))}


def test_the_bootstrap_is_a_function_of_the_task_ids() -> None:
    """Identical answers with different intervals are what users complain about."""
    clusters = {f"i{k}": (float(k % 3), 2) for k in range(12)}
    seed = bootstrap.seed_of(["b", "a"])
    assert seed == bootstrap.seed_of(["a", "b"]) != bootstrap.seed_of(["a", "c"])
    assert cluster_means(clusters, seed) == cluster_means(clusters, seed)
    assert cluster_means(clusters, seed) != cluster_means(clusters, seed + 1)
    tracks = {name: Track(name=name, variants=()) for name in "ab"}
    places = [(name, f"{name}{k}", k % 3 / 2) for name in tracks for k in range(12)]
    rows = [row(task, "pass", loss, instance_id=task, track=name) for name, task, loss in places]
    both, alone = (aggregate(some, {}, {}, {}, tracks).parts["a"] for some in (rows, rows[:12]))
    assert both["points_interval"] == alone["points_interval"], "--track changes no interval"


def test_the_bootstrap_interval_agrees_with_scipys() -> None:
    """Resampling instances, then the ratio of sums, percentile method: SciPy's as reference."""
    generator = np.random.default_rng(5)
    counts = generator.integers(1, 6, 60)
    sums = generator.random(60) * counts
    ours = bootstrap.percentile_interval(
        cluster_means(by_instance(sums.tolist(), counts.tolist()), 7)
    )
    theirs = stats.bootstrap(
        (sums, counts),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True, vectorized=True, method="percentile", n_resamples=20_000,
        rng=np.random.default_rng(6),
    )  # fmt: skip
    # The tail quantile of 1000 replicates has a standard error of about sd/13.
    tolerance = 4 * theirs.standard_error * math.sqrt(0.025 * 0.975 / 1000) / 0.0584
    assert ours[0] == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours[1] == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


def test_one_instance_has_an_interval_of_no_width() -> None:
    low, high = bootstrap.percentile_interval(cluster_means({"i": (1.5, 3)}, 1))
    assert low == high == 0.5


BOUNDED = st.floats(-1e300, 1e300)
"""What a score row may hold."""


@given(st.lists(BOUNDED, min_size=2, max_size=20))
def test_moments_exist_for_every_number_of_a_score_row(values: list[float]) -> None:
    """Squares of 1e160 used to overflow."""
    spread = spread_of(values)
    slack = 1e-9 * max(map(abs, values)) + 1e-300
    assert spread is not None and spread["sd"] >= 0
    assert min(values) - slack <= spread["mean"] <= max(values) + slack
    assert detectable_difference(values) >= 0
    low, high = percentile_interval(values)
    assert low <= high


def numeric(value: float) -> dict[str, str]:
    """An answer with one number wherever a number is asked for, by the task's short name."""
    found = {}
    for name, task in TASKS.items():
        shape = variant_of(task.key).shape
        if shape.suffix == ".json" and shape.pool == "nrel_point":
            found[name] = json.dumps({shape.field: value})
        elif shape.suffix == ".json" and shape.pool == "nrel_interval":
            ends = {"ci_lower": min(value, -value), "ci_upper": max(value, -value)}
            found[name] = json.dumps({shape.field: 0.0, **ends})
    return found


def test_a_huge_number_in_one_attempt_ends_nothing(runner, gold_source, tmp_path):
    """``{"value": 1e160}`` ended a whole board with exit 3, and a grading by itself."""
    several = tmp_path / "board" / "several"
    for number in (1, 2, 3):
        shutil.copytree(gold_source, several / f"attempt-{number}")
    answers = numeric(1e160)
    assert len(answers) > 4
    for name, text in answers.items():
        put(several / "attempt-2", name, text)
    one = tmp_path / "board" / "one"
    shutil.copytree(several / "attempt-2", one)
    dev = (*runner.dev, "--exam", "all")
    for source in (several, one):
        assert runner.grade(source, "--html", tmp_path / "page.html").code == 0
    assert runner.run("compare", one, several, *dev).code == 0
    out = tmp_path / "board.json"
    run = runner.run("leaderboard", tmp_path / "board", *dev, "--json", out)
    assert run.code == 0 and "failed" not in run.err
    assert len(json.loads(out.read_text("utf-8"))) == 2


def made(slope: float, groups: int = 12, noise: float = 0.05) -> list[Case]:
    rng = random.Random(23)
    found = []
    for g in range(groups):
        for _ in range(4):
            x = math.log(rng.randint(1, 400))
            y = g / 20 + slope * x + rng.gauss(0, noise)
            found.append(Case(f"g{g}", f"g{g}", x, y))
    return found


@pytest.mark.parametrize("slope", [-0.1, 0.0, 0.07])
def test_the_slope_is_that_of_a_regression_with_a_dummy_for_each_group(slope: float) -> None:
    found = made(slope)
    names = sorted({case.group for case in found})
    design = np.array([[case.commonness, *(case.group == n for n in names)] for case in found],
                      dtype=float)  # fmt: skip
    by_hand = np.linalg.lstsq(design, np.array([case.loss for case in found]), rcond=None)[0][0]
    told = regress(found)
    assert told.slope == pytest.approx(by_hand) and (told.tasks, told.groups) == (48, 12)
    assert told.interval is not None and told.interval[0] < slope < told.interval[1]
    assert told.rank is not None and (told.rank > 0) == (told.slope > 0)


def test_groups_without_variation_say_nothing() -> None:
    flat = [Case("a", "a", 1.0, 0.0), Case("a", "a", 1.0, 1.0)]
    assert regress(flat).slope is None and "–" in line("x", regress(flat))
    assert regress([*flat, *made(0.1)]).slope == pytest.approx(regress(made(0.1)).slope)


def test_tasks_are_held_against_their_like() -> None:
    """Inside bundles where these have several pairs; else inside variants, by scene."""
    told = [row(f"t{k}", "nrel_point", 0.1 * k, bundle=f"b{k // 2}", instance_id=f"i{k}")
            for k in range(4)]  # fmt: skip
    supports = {"i0": 5, "i1": 50, "i2": 7}
    bundled = list(cases(told, supports))
    assert [case.group for case in bundled] == ["b0", "b0", "b1"], "i3 has no known support"
    apart = list(cases(told, {"i0": 5, "i2": 7}))
    assert {case.cluster for case in apart} == {"i0", "i2"} and len({c.group for c in apart}) == 1
    assert max(case.loss for case in cases([row("t", "nrel_point", 9.0, instance_id="i0")],
                                           supports)) == 1  # fmt: skip


def test_a_release_without_pairs_is_told_how_to_have_some(release, gold_source, capsys):
    assert main([str(release), str(gold_source), "--split", "dev", "--exam", "all"]) == 2
    assert "starts from a pair of CauseNet" in capsys.readouterr().err


DEV = ("--split", "dev")
SHARE = st.floats(0, 1, allow_nan=False)


def units(*rows: tuple[float, float]) -> list[Unit]:
    """Units of (points, floor), each of an instance of its own."""
    return [Unit(str(k), *row) for k, row in enumerate(rows)]


def test_gold_is_100_and_saying_nothing_is_below_0(runner: Runner, gold: Path) -> None:
    """A scale needs both ends, and its zero is not silence."""
    best = runner.grade(gold, exam="mini").report
    assert best["skill"] == best["tracks"]["causalds"]["skill"] == pytest.approx(100)
    assert best["skill_interval"] == pytest.approx([100, 100])
    for file in gold.glob("cds-*"):
        file.unlink()
    report = runner.grade(gold, exam="mini").report
    floor = report["floor"]
    keys = [TASKS[name].key for name in TASKS if name != "ate_extra"]
    assert floor == pytest.approx(100 * sum(FLOORS[key]["points"] for key in keys) / len(keys))
    assert report["points"] == 0
    assert report["skill"] == pytest.approx(-100 * floor / (100 - floor))
    sliced = report["tracks"]["causalds"]["slices"]["variant"]["effect_estimate.ate_point"]
    assert sliced["floor"] == 40.0
    assert sliced["skill"] == pytest.approx(-100 * 40 / 60)


@given(st.lists(st.tuples(SHARE, st.floats(0, 0.9)), min_size=1, max_size=12))
def test_skill_is_a_ratio_of_sums(rows: list[tuple[float, float]]) -> None:
    """A variant that a constant nearly wins must weigh little, not explode."""
    found = measure(units(*rows), 1)
    assert found is not None
    gained = sum(points - floor for points, floor in rows)
    room = sum(1 - floor for _, floor in rows)
    assert found.value == pytest.approx(100 * gained / room, abs=1e-9)


def test_the_interval_draws_points_and_floors_of_the_same_tasks() -> None:
    """Beside a plain bootstrap of instances, written again."""
    rows = [Unit(f"i{k % 20}", (k * 7 % 10) / 10, k % 3 / 4) for k in range(60)]
    found = measure(rows, 3)
    generator, drawn = random.Random(11), []
    for _ in range(4000):
        chosen = [f"i{generator.randrange(20)}" for _ in range(20)]
        picked = [unit for name in chosen for unit in rows if unit.instance == name]
        gained = sum(unit.points - (unit.floor or 0) for unit in picked)
        drawn.append(100 * gained / sum(1 - (unit.floor or 0) for unit in picked))
    drawn.sort()
    assert found is not None
    interval = members(found)["skill_interval"]
    assert interval == pytest.approx([drawn[100], drawn[3899]], abs=2.5)


def test_nothing_is_said_where_nothing_can_be_shown() -> None:
    """No floor, or a floor of all points: a division by nothing is no skill."""
    assert measure([], 1) is None
    assert measure([Unit("a", 1.0, None), Unit("b", 1.0, 0.5)], 1) is None
    assert measure(units((1.0, 1.0)), 1) is None
    assert on_scale(50, 0) == 50 and on_scale(50, None) is None
    assert overall_skill({"one": measure(units((1.0, 0.5)), 1), "two": None}) is None


def variants(manifest: Any) -> Any:
    return manifest["floors"]["dev"]["causalds"]["variants"]


DAMAGES: dict[str, Any] = {
    "no floors of this split": lambda manifest: manifest["floors"].pop("dev"),
    "graded by other rules": lambda manifest: manifest["floors"]["dev"]["causalds"].update(rules=0),
    "effect_estimate.ate_point has no floor": lambda manifest: variants(manifest).pop(
        "effect_estimate.ate_point"
    ),
    "is no share of its points": lambda manifest: variants(manifest).update(
        {"effect_estimate.ate_point": {"points": 7}}
    ),
    "no floors": lambda manifest: manifest.update(floors=[1]),
}


@pytest.mark.parametrize("said", DAMAGES)
def test_floors_that_do_not_hold_are_one_line(runner, own_release, gold, said):
    """Skill of other floors would be a number of nothing; points stay."""
    side = own_release / "public"
    manifest = json.loads((side / "manifest.json").read_text("utf-8"))
    DAMAGES[said](manifest)
    write_manifest(side, manifest)
    own = Runner(own_release, runner.place, runner.capsys)
    report = own.grade(gold, exam="mini").report
    assert report["skill"] is None and report["points"] == 100
    (notice,) = [text for text in report["notices"] if "skill" in text]
    assert said in notice and "\n" not in notice
    if said == "no floors":
        board = own.run("leaderboard", gold.parent, "--release", own_release, *DEV)
        assert "skill" not in board.out


def test_a_shown_skill_says_no_more_than_the_points_beside_it() -> None:
    """A second sum of the same marks, weighed otherwise, could be solved for single ones."""
    silent = {"floor": 20.0, "skill": None, "tracks": {"one": {}, "other": {}}}
    shown = with_figure(silent, 42.0, [30.0, 60.0], 14)
    assert shown["points"] == 42.0 and shown["skill"] == round(100 * 22 / 80, 1)
    assert shown["skill_interval"] == [round(100 * 10 / 80, 1), round(100 * 40 / 80, 1)]
    assert shown["tracks"] == silent["tracks"]
    bare = with_figure({**silent, "floor": None}, 42.0, [30.0, 60.0], 14)
    assert bare["skill"] is None and bare["points"] == 42.0


def test_boards_rank_by_skill_and_comparisons_are_of_skill(runner, gold, tmp_path):
    """Tracks whose floors differ weigh differently in points."""
    first: dict[str, Any] = {"points": 60.0, "skill": 10.0, "submission": {"system": "a"}}
    second = {"points": 50.0, "skill": 40.0, "submission": {"system": "b"}}
    absent = {"points": None, "skill": None, "submission": {"system": "c"}}
    assert [row["submission"]["system"] for _, row in rank([absent, first, second])] == list("bac")
    unscaled = [row | {"skill": None} for row in (absent, first, second)]
    assert [row["submission"]["system"] for _, row in rank(unscaled)] == list("abc")
    worse = Path(shutil.copytree(gold, tmp_path / "worse"))
    put(worse, "ate", '{"ate": 1e9}')
    out, page = tmp_path / "compared.json", tmp_path / "board.html"
    at = (*runner.dev, "--exam", "mini")
    run = runner.run("compare", gold, worse, *at, "--json", out)
    found = json.loads(out.read_text("utf-8"))
    assert run.code == 0 and " skill " in run.out
    share = 100 / (100 - found["skill"]["floor"])
    assert found["skill"]["difference"] == pytest.approx(share * found["points"]["difference"])
    assert runner.run("leaderboard", tmp_path, *at, "--html", page).code == 0
    text = page.read_text("utf-8")
    assert "Skill and points, with 95% intervals" in text and "floor " in text
