"""Private truth cannot be mined: clients without knowledge against what a submitter is shown."""

import fcntl
import json
import math
import random
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from grading import Runner

from grader.opening import open_release
from grader.release.exam import Split, shown_half
from grader.reports.ledger import Ledger, show_all
from grader.reports.redact import FIGURES, SUBMISSIONS, Ladder, overall, weights
from grader.scoring.model import Unit

TASKS, FAMILIES = 260, 10
Answers = list[int]
Shown = Sequence[float | None]
"""All figures that a submitter sees of one submission."""
Show = Callable[[Answers], Shown]


class Host:
    """A private exam of yes/no tasks, each an instance of its own, and what its host shows."""

    def __init__(self, seed: int) -> None:
        self.truth = random.Random(f"truth {seed}").choices((0, 1), k=TASKS)
        self.half = shown_half([f"i{k}" for k in range(TASKS)], seed.to_bytes(32, "big"))
        self.ladder = Ladder.from_weights([2 / TASKS] * (TASKS // 2))
        self.figures: list[float | None] = []

    def points(self, answers: Answers, which: Callable[[int], bool] = lambda _: True) -> float:
        marks = [
            a == t for k, (a, t) in enumerate(zip(answers, self.truth, strict=True)) if which(k)
        ]
        return 100 * statistics.fmean(marks)

    def in_half(self, k: int) -> bool:
        return f"i{k}" in self.half

    def by_family(self, answers: Answers) -> Shown:
        """As redacted reports were: points of each family, to a tenth of a task."""
        return [self.points(answers, lambda k, f=f: k % FAMILIES == f) for f in range(FAMILIES)]

    def by_ladder(self, answers: Answers) -> Shown:
        self.figures.append(
            self.ladder.next_figure(self.figures, self.points(answers, self.in_half))
        )
        return [self.figures[-1]]


def one_in_each_family(show: Show, rng: random.Random) -> Answers:
    """Turns one answer in each family at a time, and keeps what its family's points gained by."""
    best = rng.choices((0, 1), k=TASKS)
    seen = list(show(best))
    for turn in range(min(SUBMISSIONS - 1, TASKS // FAMILIES)):
        tried = [1 - a if k // FAMILIES == turn else a for k, a in enumerate(best)]
        found = show(tried)
        for place, (old, new) in enumerate(zip(seen, found, strict=True)):
            if old is not None and new is not None and new > old:
                every = len(found) == 1
                best = [
                    tried[k] if every or k % FAMILIES == place else a for k, a in enumerate(best)
                ]
                seen[place] = new
    return best


def hill_climber(size: int) -> Callable[[Show, random.Random], Answers]:
    """Guesses ``size`` tasks anew each time, and keeps what the figure gained by."""

    def attack(show: Show, rng: random.Random) -> Answers:
        best = rng.choices((0, 1), k=TASKS)
        seen = show(best)[0]
        for _ in range(SUBMISSIONS - 1):
            tried = list(best)
            for k in rng.sample(range(TASKS), size):
                tried[k] = rng.randrange(2)
            found = show(tried)[0]
            if found is not None and (seen is None or found > seen):
                best, seen = tried, found
        return best

    return attack


def weighted_vote(show: Show, rng: random.Random) -> Answers:
    """Blum and Hardt's attack on boards: random answers, and the vote of those above the first."""
    votes = [0.0] * TASKS
    first = None
    for _ in range(SUBMISSIONS - 1):
        tried = rng.choices((0, 1), k=TASKS)
        found = math.fsum(x or 0.0 for x in show(tried))
        first = found if first is None else first
        for k, answer in enumerate(tried):
            votes[k] += (1 if found > first else -1) * (2 * answer - 1)
    return [int(vote > 0) for vote in votes]


ATTACKS = {
    "one in each family": one_in_each_family,
    "large steps": hill_climber(TASKS),
    "middling steps": hill_climber(60),
    "small steps": hill_climber(8),
    "weighted vote": weighted_vote,
}


def climbs(attack: Callable[[Show, random.Random], Answers], seeds: int) -> tuple[float, float]:
    """Mean points above chance at the end: of the whole exam, and of its final half."""
    whole, final = [], []
    for seed in range(seeds):
        host = Host(seed)
        best = attack(host.by_ladder, random.Random(seed))
        whole.append(host.points(best) - 50)
        final.append(host.points(best, lambda k, host=host: not host.in_half(k)) - 50)
    return statistics.fmean(whole), statistics.fmean(final)


def test_family_points_gave_the_whole_exam_away() -> None:
    """What is mended: the attack works where figures are fine, or it would prove nothing."""
    host = Host(1)
    best = one_in_each_family(host.by_family, random.Random(1))
    assert host.points(best) > 99


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_climbs_ten_points_in_a_hundred_submissions(name: str) -> None:
    """On average; in the final half there is nothing to gain at all."""
    whole, final = climbs(ATTACKS[name], 12)
    assert whole < 10
    assert abs(final) < 3 * 100 * 0.5 / math.sqrt(12 * TASKS / 2)


@pytest.mark.parametrize("instances", [8, 16, 33, 65, 130, 500, 5000])
def test_steps_cover_the_scale_and_exceed_noise(instances: int) -> None:
    ladder = Ladder(instances)
    assert ladder.levels * ladder.step > 100
    noise = 100 * math.sqrt(math.log(SUBMISSIONS) / (2 * instances))
    assert ladder.step >= min(100, noise)
    assert ladder.figures == (0 if instances < 22 else FIGURES)


def test_a_new_figure_needs_a_step_and_figures_end() -> None:
    ladder = Ladder(130)
    assert (ladder.step, ladder.figures) == (14, 3)
    assert ladder.next_figure([], 45.0) == 42 and ladder.next_figure([42.0], 55.9) == 42.0
    assert (
        ladder.next_figure([42.0, 42.0], 56.0) == 56
        and ladder.next_figure([42.0, 56.0], 99.0) == 98.0
    )
    assert ladder.next_figure([42.0, 56.0, 70.0], 99.0) == 70.0
    assert ladder.next_figure([42.0] * SUBMISSIONS, 99.0) == 42.0
    assert ladder.interval(42)[0] < 42 < 56 < ladder.interval(42)[1]


def test_weights_and_points_are_of_the_same_mean() -> None:
    """Parts weigh alike within a track, and tracks in an exam."""
    tracks = [
        [Unit("a", 1.0, None), Unit("b", 0.0, None)],
        [Unit("c", 0.5, None, part="x"), *(Unit(f"d{k}", 1.0, None, part="y") for k in range(4))],
    ]
    shares = weights(tracks)
    assert sum(shares.values()) == pytest.approx(1) and shares["c"] == 4 * shares["d1"] == 0.25
    expected = sum(shares[unit.instance] * unit.points for units in tracks for unit in units)
    assert overall(tracks) == pytest.approx(100 * expected)


def test_half_of_the_exam_is_shown_and_only_the_salt_says_which(release: Path) -> None:
    names = [f"i{k}" for k in range(101)]
    halves = [shown_half(names, bytes([salt]) * 32) for salt in (1, 2)]
    assert halves[0] != halves[1] and {len(half) for half in halves} == {50}
    split = Split.open(open_release(release), "test")
    exam = split.choose_exam_for()
    shown = {task.task_id for task in exam.tasks if task.instance_id in exam.shown_instances}
    rest = {task.task_id for task in exam.final().tasks}
    assert shown and rest and shown | rest == {t.task_id for t in exam.tasks} and not shown & rest
    every = replace(split, exam="all").choose_exam_for()
    assert every.shown_instances >= exam.shown_instances, "what one keeps back another hides too"
    assert not {t.instance_id for t in exam.final().tasks} & every.shown_instances


def test_the_ledger_counts_submissions_and_says_what_they_told(
    runner: Runner, secret: Path, tmp_path: Path
) -> None:
    ledger = ("--ledger", tmp_path / "ledger.json")
    folder = tmp_path / "in"
    shutil.copytree(secret, folder / "acme@1")
    assert runner.run("grade", folder / "acme@1", *runner.test, *ledger).code == 0
    board = runner.place / "board.json"
    assert runner.run("leaderboard", folder, *runner.test, *ledger, "--json", board).code == 0
    written = json.loads((tmp_path / "ledger.json").read_text("utf-8"))
    ((key, teams),) = written["exams"].items()
    assert key.endswith("/test/demo") and list(teams) == ["acme"]
    assert len(teams["acme"]) == 1, "the same answers twice are one submission"
    (line,) = json.loads(board.read_text("utf-8"))
    assert line["report"]["points"] is None, "an exam of eight tasks has no figure to show"
    shown = runner.run("leaderboard", folder, *runner.test, *ledger).out
    assert "Ledger of demo" in shown and "1/100" in shown and "0/0" in shown
    (tmp_path / "ledger.json").write_text('{"exams": [1]}')
    assert "is no ledger" in runner.fails("grade", folder / "acme@1", *runner.test, *ledger)


def test_the_final_ranking_is_made_once(runner: Runner, secret: Path, tmp_path: Path) -> None:
    """One submission of each team, the same answers again, and nothing that comes later."""
    ledger = ("--ledger", tmp_path / "ledger.json")
    folder = tmp_path / "in"
    for name in ("acme@1", "acme@2"):
        shutil.copytree(secret, folder / name)
    command = ("leaderboard", folder, *runner.test, *ledger, "--final")
    assert "2 submissions of team" in runner.fails(*command)
    assert not (tmp_path / "ledger.json").exists()
    (folder / "acme@2").rename(folder / "bell")
    first = runner.run(*command).out
    assert first.count("100.0") >= 2
    assert runner.run(*command).out == first
    for file in (folder / "acme@1").iterdir():
        file.write_text("{}")
    shutil.copytree(folder / "bell", folder / "later")
    again = runner.run(*command)
    for late in ("acme@1", "later"):
        assert f"failed: {late}: handed in after the final ranking" in again.err
    assert "failed: bell" not in again.err
    board = runner.run(*command[:-1]).out
    assert "no new figure is shown" in " ".join(board.split())
    exam = Split.open(open_release(runner.release), "test").choose_exam_for()
    closed = Ledger(tmp_path / "ledger.json", exam)
    closed.enter("acme", "hash", 80.0, Ladder(130))
    assert closed.show({}, "acme", Ladder(130)) == {}, "no figure after the end"


def test_two_boards_at_once_lose_no_submission(release: Path, tmp_path: Path) -> None:
    """Whoever comes second waits, and reads what the first has written."""
    path = tmp_path / "ledger.json"
    exam = Split.open(open_release(release), "test").choose_exam_for()
    report = {"floor": None, "tracks": {}}
    held = report | {"held": {"answers": "b", "points": 50.0, "instances": 130}}
    with path.with_name("ledger.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with ThreadPoolExecutor() as pool:
            second = pool.submit(show_all, path, exam, [(Path("bell.parquet"), held)])
            time.sleep(0.1)
            assert not second.done() and not path.exists()
            first = Ledger(path, exam)
            first.enter("acme", "a", 50.0, Ladder(130))
            first.save()
            fcntl.flock(lock, fcntl.LOCK_UN)
    (shown,) = second.result()
    assert "held" not in shown and 0 < shown["points"] == Ladder(130).next_figure([], 50.0)
    assert [row["team"] for row in Ledger(path, exam).teams(Ladder(130))] == ["acme", "bell"]
