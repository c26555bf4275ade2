"""Several runs: two submissions compared, and repeated attempts of one, against hand work."""

import json
import random
import shutil
import statistics
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from grading import Runner, put
from score_rows import failed, row
from small_release import OUTSIDE_EXAM, TASKS, answer_file, task_id

from grader.io.schemas import first_problem
from grader.reports.build import spread_of
from grader.scoring.model import Score
from grader.statistics.paired_tests import compare_points, difference, sign_test
from grader.tracks.causalds.figures import pass_all_k, pass_at_k, repeats


def test_the_sign_test_counts_every_outcome() -> None:
    """All strings of n fair coins that are no likelier than what was seen."""
    for n in range(9):
        for wins in range(n + 1):
            extreme = abs(wins - n / 2)
            flips = list(product((0, 1), repeat=n))
            share = sum(abs(sum(flip) - n / 2) >= extreme for flip in flips) / len(flips)
            assert sign_test(wins, n - wins) == pytest.approx(share)
    assert sign_test(1100, 1100) == 1.0


def pair(instance: str, first: float, second: float) -> tuple[Score, Score]:
    one, two = (row("t", "pass", 0.0, instance_id=instance, points=p) for p in (first, second))
    return one, two


def test_a_line_is_paired_and_clustered() -> None:
    """Differences 0.5, -0.25, 0, 0.25: tasks of one scene count as one in the test by instance."""
    pairs = [
        pair("s1", 1.0, 0.5), pair("s1", 0.25, 0.5), pair("s2", 0.75, 0.75), pair("s3", 0.5, 0.25),
    ]  # fmt: skip
    found = compare_points(pairs)
    assert (found["first"], found["second"], found["difference"]) == (62.5, 50.0, 12.5)
    assert (found["tasks"], found["instances"]) == (4, 3)
    assert found["by_task"] == {"wins": 2, "ties": 1, "losses": 1, "p_value": 1.0}
    assert found["by_instance"] == {"wins": 2, "ties": 1, "losses": 0, "p_value": 0.5}
    low, high = found["interval"]
    assert 0 <= low <= 12.5 <= high <= 25
    assert found["detectable"] > 0


def test_pairing_sees_what_independent_intervals_miss() -> None:
    """Scenes differ by far more than the systems do; the difference is the same in each."""
    generator = random.Random(3)
    bases = [generator.random() * 0.8 for _ in range(40)]
    found = compare_points([pair(f"s{k}", base + 0.05, base) for k, base in enumerate(bases)])
    assert found["interval"] == pytest.approx([5.0, 5.0])
    assert found["detectable"] == pytest.approx(0.0, abs=1e-9)
    assert found["by_instance"]["wins"] == 40
    # Without replicates there is none.
    found = difference(3.0, 1.0, [])
    assert found["difference"] == 2.0 and found["interval"] is found["detectable"] is None
    assert compare_points([pair("only", 1.0, 0.0)])["interval"] is None


@pytest.fixture
def weaker(gold: Path, tmp_path: Path) -> Path:
    """Gold with an effect off by half of its scale, a wrong label, and one answer missing."""
    folder = Path(shutil.copytree(gold, tmp_path / "weaker"))
    put(folder, "ate", json.dumps({"ate": 2.0}))
    put(folder, "sign", json.dumps({"sign": "-"}))
    (folder / answer_file("sketch")).unlink()
    return folder


def compared(
    runner: Runner, first: Path, second: Path, *options: str | Path
) -> tuple[dict[str, Any], str]:
    """The comparison of two folders as data, and what the command prints."""
    file = runner.place / "comparison.json"
    words = options or ("--split", "dev", "--exam", "all")
    run = runner.run("compare", first, second, "--release", runner.release, "--json", file, *words)
    assert run.code == 0, run.err
    result: dict[str, Any] = json.loads(file.read_text("utf-8"))
    assert first_problem("comparison", result) is None
    return result, run.out


def test_the_command_compares_task_by_task(runner: Runner, gold: Path, weaker: Path) -> None:
    """One estimate has one interval, parts add up to the whole, and the other way round every sign
    is turned."""
    n, lost = len(TASKS), 1 / 3 + 1 + 1
    result, out = compared(runner, gold, weaker)
    track = result["tracks"]["causalds"]
    assert result["points"]["difference"] == pytest.approx(100 * lost / n)
    record = {"wins": 3, "ties": n - 3, "losses": 0, "p_value": 0.25}
    assert track["tasks"]["by_task"] == record
    counts = {"tasks": n, "both": n - 1, "first_only": 1, "second_only": 0, "neither": 0}
    assert result["answered"] == counts
    both = track["answered_by_both"]
    assert both["tasks"] == n - 1
    assert both["difference"] == pytest.approx(100 * (1 / 3 + 1) / (n - 1))
    assert track["families"]["association"]["by_task"]["wins"] == 1
    assert track["pools"]["f1"]["difference"] == pytest.approx(100 / track["pools"]["f1"]["tasks"])
    score = track["readings"]["fixed"]["causalds_score"]
    assert score["first"] == 0 < score["second"] and score["difference"] == -score["second"]
    assert f"answered by both {n - 1}, first only 1" in out
    low, high = result["points"]["interval"]
    assert [low, high] == track["points"]["interval"] == track["tasks"]["interval"]
    for part in ("families", "pools"):
        assert sum(row["tasks"] for row in track[part].values()) == n
        weighted = sum(row["tasks"] * row["difference"] for row in track[part].values())
        assert weighted / n == pytest.approx(track["tasks"]["difference"])
    assert task_id("ate") not in json.dumps(track)
    back, _ = compared(runner, weaker, gold)
    assert back["points"]["difference"] == -result["points"]["difference"]
    assert back["points"]["interval"] == pytest.approx([-high, -low])
    scores = [
        r["tracks"]["causalds"]["readings"]["paper"]["causalds_score"] for r in (result, back)
    ]
    assert scores[0]["difference"] == pytest.approx(-scores[1]["difference"])
    result, out = compared(runner, gold, gold)
    assert result["points"]["interval"] == [0, 0]
    assert result["tracks"]["causalds"]["tasks"]["by_instance"]["p_value"] == 1
    assert "no difference at all" in out


def test_the_exam_is_the_one_that_holds_what_either_answered(runner, gold, tmp_path):
    """The first answered fewer tasks; the exam must not be chosen by it alone."""
    (gold / answer_file(OUTSIDE_EXAM)).unlink()
    few, empty = tmp_path / "few", tmp_path / "empty"
    few.mkdir()
    empty.mkdir()
    shutil.copy(gold / answer_file("ate"), few)
    result, _ = compared(runner, few, gold, "--split", "dev")
    assert result["exam"] == "mini" and result["answered"]["second_only"] == len(TASKS) - 2
    assert "no answer here" in runner.fails("compare", gold, empty, *runner.dev)
    assert "no such folder" in runner.fails("compare", gold, tmp_path / "nowhere", *runner.dev)


def test_a_private_comparison_is_for_the_maintainer(runner, secret, tmp_path):
    """Whether one of two own answers wins says which is nearer to the truth."""
    other = Path(shutil.copytree(secret, tmp_path / "other"))
    (other / answer_file("ate", "test")).write_text(json.dumps({"ate": 1.01}))
    assert "--reveal" in runner.fails("compare", secret, other, *runner.test)
    full, _ = compared(runner, secret, other, "--split", "test", "--reveal")
    assert full["tracks"]["causalds"]["tasks"]["by_task"]["wins"] == 1


def test_the_first_screen_is_a_line_a_track_and_fits(runner, gold, weaker, monkeypatch):
    """Every table of every track was 70 lines of 160 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    words = ("compare", gold, weaker, *runner.dev, "--exam", "all")
    short, full = runner.run(*words).out, runner.run(*words, "--full").out
    assert len(short.splitlines()) <= 24 and max(map(len, short.splitlines())) <= 80
    assert "causalds" in short and "sign test: exact" in full and len(full) > len(short)
    assert "win/tie/loss and p (sign test) count instances" in short


def test_both_estimators_are_the_share_of_all_choices() -> None:
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
