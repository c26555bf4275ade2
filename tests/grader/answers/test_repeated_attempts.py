"""pass@k, pass^k, best and worst of k, and attempt folders, against brute force and hand work."""

import json
import shutil
import statistics
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from grading import Runner, put
from score_rows import failed, row
from small_release import TASKS, task_id

from grader.reports.build import spread_of
from grader.scoring.model import Score
from grader.tracks.causalds.repeats import pass_all_k, pass_at_k, repeats


def test_both_estimators_are_the_share_of_all_choices() -> None:
    """Every way to choose k of n attempts, counted one by one."""
    for n in range(1, 7):
        for c in range(n + 1):
            marks = [place < c for place in range(n)]
            for k in range(1, n + 1):
                chosen = list(combinations(marks, k))
                assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
                assert pass_all_k(n, c, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


@pytest.mark.parametrize("misuse", [(3, 1, 0), (3, 1, 4), (3, -1, 1), (3, 4, 1), (0, 0, 1)])
def test_misuse_raises(misuse: tuple[int, int, int]) -> None:
    """An estimate from fewer attempts than k would look like the real thing."""
    for estimator in (pass_at_k, pass_all_k):
        with pytest.raises(ValueError, match="attempts"):
            estimator(*misuse)


def grid() -> list[list[Score]]:
    """Three attempts at four pass/fail tasks and two numbers, one of them once left out."""
    passed = {"always": "111", "never": "000", "late": "001", "first": "100"}
    attempts = []
    for turn in range(3):
        scores = [
            row(name, "pass", 1.0 - float(marks[turn]), family="id", rung=1 + (name == "late"),
                should_abstain=name == "late")
            for name, marks in passed.items()
        ]  # fmt: skip
        scores.append(row("steady", "nrel_point", (0.5, 0.25, 0.75)[turn], rung=2))
        if turn == 1:
            scores.append(failed("flaky", "nrel_point", rung=2))
        else:
            scores.append(row("flaky", "nrel_point", (0.1, 0, 0.3)[turn], rung=2))
        attempts.append(scores)
    return attempts


def test_the_pass_pool_of_a_hand_made_grid() -> None:
    found = repeats(grid())
    assert found["attempts"] == 3
    binary = found["binary"]
    # passes: 3, 0, 1, 1 of 3. pass@1 = 5/12; pass@2 = (1 + 0 + 2/3 + 2/3)/4; pass@3 = 3/4.
    assert binary["pass_at"] == pytest.approx([5 / 12, 7 / 12, 3 / 4])
    assert binary["pass_all"] == pytest.approx([5 / 12, 1 / 4, 1 / 4])
    # In the order they came: always and first at once, late with the third.
    assert binary["pass_at_first"] == [0.5, 0.5, 0.75]
    assert (binary["tasks"], binary["unstable"], binary["stable_fail"]) == (4, 0.5, 0.25)
    assert binary["mean_success"] == pytest.approx(5 / 12)
    assert found["slices"]["rung"]["2"]["pass_at"] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert found["slices"]["abstention"] == {
        "id": {"tasks": 1, "pass_at": pytest.approx([1 / 3, 2 / 3, 1]),
               "pass_all": pytest.approx([1 / 3, 0, 0])}
    }  # fmt: skip


def test_best_and_worst_of_k_of_a_hand_made_grid() -> None:
    """A task has a best loss once one attempt is valid, a worst loss only if all are."""
    found = repeats(grid())
    assert found is not None
    pool = found["pools"]["nrel_point"]
    assert pool["tasks"] == 2
    assert [line["valid"] for line in pool["best"]] == [2, 2, 2]
    assert [line["valid"] for line in pool["worst"]] == [2, 1, 1]
    assert [line["median"] for line in pool["best"]] == pytest.approx([0.3, 0.175, 0.175])
    assert [line["median"] for line in pool["worst"]] == pytest.approx([0.3, 0.5, 0.75])
    # Nothing left out: the attempt without an answer costs the cap.
    assert [line["median_fixed"] for line in pool["worst"]] == pytest.approx([0.3, 5.25, 5.375])
    assert pool["run_sd_tasks"] == 1
    assert pool["run_sd"] == pytest.approx(statistics.stdev([0.5, 0.25, 0.75]))


def test_pools_follow_the_truth_and_not_the_answers() -> None:
    """A wrong abstention is no candidate, and moves no task into the pass pool."""
    answered = [row("x", "nrel_point", 0.2), row("y", "pass", 0.0)]
    declined = [
        row("x", "nrel_point", 10.0, abstained=True, paper_pool="pass", paper_loss=1.0),
        row("y", "pass", 0.0),
    ]
    found = repeats([declined, answered])
    assert found["binary"]["tasks"] == 1
    best = found["pools"]["nrel_point"]["best"]
    assert [line["valid"] for line in best] == [0, 1]
    assert [line["median"] for line in best] == [None, 0.2]


def test_the_spread_of_runs_is_that_of_complete_exams() -> None:
    """Table 7: the sample standard deviation of the scores themselves."""
    found = spread_of([0.3, 0.5, 0.4])
    assert found is not None and found["mean"] == pytest.approx(0.4)
    assert found["sd"] == pytest.approx(0.1) and found["relative_sd"] == pytest.approx(0.25)
    assert spread_of([0.3, None]) is None and spread_of([0.3]) is None


def three(gold: Path, place: Path) -> Path:
    """Three attempts: right, one effect wrong, one effect and one label missing."""
    for number in (1, 2, 3):
        shutil.copytree(gold, place / f"attempt-{number}")
    put(place / "attempt-2", "ate", json.dumps({"ate": 2.0}))
    (place / "attempt-3" / f"{task_id('ate')}.json").unlink()
    (place / "attempt-3" / f"{task_id('method_unid')}.json").unlink()
    (place / "run.json").write_text(json.dumps({"system": "thrice"}))
    return place


def usage(folder: Path, name: str, tokens: Any) -> None:
    line = {"task_id": task_id(name), "input_tokens": tokens}
    (folder / "usage.jsonl").write_text(json.dumps(line) + "\n")


def test_attempt_folders_are_graded_and_their_usage_is_merged(runner, gold, tmp_path):
    """The usage of joined attempts used to be lost; counted twice it would double the cost."""
    place = three(gold, tmp_path / "thrice")
    usage(place / "attempt-1", "ate", 100)
    usage(place / "attempt-2", "ate", 300)
    usage(place / "attempt-3", "ett", 50)
    run = runner.grade(place, "--full")
    report = run.report
    assert (
        "attempts as complete exams" in run.out
        and f"{100 * (len(TASKS) - 2) / len(TASKS):.1f}" in run.out
    )
    assert report["submission"]["system"] == "thrice"
    assert report["points"] == 100  # the first attempt is the headline
    assert report["usage"]["input_tokens"] == (200 + 50) / 2
    runs = report["attempts"]["runs"]
    assert [run["attempt"] for run in runs] == ["attempt-1", "attempt-2", "attempt-3"]
    assert [run["usage"]["input_tokens"] for run in runs] == [100, 300, 50]
    # NRelErr of 2 for 1 is 1/2: it earns 2/3 of one of n points; then two tasks are missing.
    n = len(TASKS)
    points = report["attempts"]["points"]["causalds"]
    assert points["runs"] == pytest.approx([100, 100 * (n - 1 / 3) / n, 100 * (n - 2) / n])
    assert points["sd"] == pytest.approx(statistics.stdev(points["runs"]))
    figures = report["tracks"]["causalds"]["attempts"]
    # Of the pass/fail tasks one failed once: two of three attempts pass it.
    tasks = figures["binary"]["tasks"]
    assert figures["binary"]["pass_at"] == pytest.approx([1 - 1 / 3 / tasks, 1, 1])
    assert figures["binary"]["pass_all"][2] == pytest.approx(1 - 1 / tasks)
    pool = figures["pools"]["nrel_point"]
    assert pool["worst"][0]["valid"] == pool["tasks"] > pool["worst"][2]["valid"]


def test_an_attempt_graded_alone_is_its_run(runner: Runner, gold: Path, tmp_path: Path) -> None:
    """Each run is a complete exam, scored like a submission of its own."""
    place = three(gold, tmp_path / "thrice")
    runs = runner.grade(place).report["attempts"]["runs"]
    for run in runs:
        alone = runner.grade(place / run["attempt"]).report
        assert run["points"] == {"causalds": alone["points"]}
        readings = alone["tracks"]["causalds"]["readings"]
        for name, reading in readings.items():
            assert run["causalds_score"][name] == reading["causalds_score"]


def test_a_single_attempt_folder_is_an_ordinary_submission(runner, gold, tmp_path):
    (tmp_path / "once").mkdir()
    shutil.copytree(gold, tmp_path / "once" / "attempt-1")
    (tmp_path / "once" / "attempt-2").mkdir()
    report = runner.grade(tmp_path / "once").report
    assert report["points"] == 100 and "attempts" not in report
    assert "attempt-2: no answer in it; left out" in report["notices"]


def test_validate_and_explain_look_at_one_attempt_and_pack_refuses(runner, gold, tmp_path):
    """A packed file holds one answer a task; of several attempts it would be a pick of the best."""
    place = three(gold, tmp_path / "thrice")
    run = runner.run("validate", place, *runner.dev)
    assert run.code == 0 and "of 3 attempts, attempt-1 is looked at" in run.out
    run = runner.run("explain", task_id("ate"), *runner.dev, "--answers", place)
    assert "points     100.0 of 100" in run.out
    at = (*runner.dev, "--name", "x")
    message = runner.fails("pack", place, *at, "--out", tmp_path / "x.parquet")
    assert "pack one of them, such as" in message and "attempt-1" in message
    assert not (tmp_path / "x.parquet").exists()
