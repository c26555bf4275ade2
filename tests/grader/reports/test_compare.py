"""Two submissions compared: the sign test, paired differences, honest coverage, redaction."""

import json
import random
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from grading import Runner, put
from score_rows import row
from small_release import OUTSIDE_EXAM, TASKS, answer_file, task_id

from grader.io.schemas import first_problem
from grader.scoring.model import Score
from grader.statistics.paired_tests import compare_points, difference, sign_test


def test_the_sign_test_counts_every_outcome() -> None:
    """All strings of n fair coins that are no likelier than what was seen."""
    for n in range(9):
        for wins in range(n + 1):
            extreme = abs(wins - n / 2)
            flips = list(product((0, 1), repeat=n))
            share = sum(abs(sum(flip) - n / 2) >= extreme for flip in flips) / len(flips)
            assert sign_test(wins, n - wins) == pytest.approx(share)
    assert sign_test(1100, 1100) == 1.0
    with pytest.raises(ValueError, match="negative"):
        sign_test(-1, 3)


def pair(instance: str, first: float, second: float) -> tuple[Score, Score]:
    """Two score rows of one task, told apart by their points."""
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
