"""Private truth cannot be mined: clients without knowledge against what a submitter is shown."""

import math
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grading import list_teams

from grader.release.exam import Exam, shown_half
from grader.reports.ledger import Ledger
from grader.reports.redact import SUBMISSIONS, Ladder

Answers = np.ndarray[Any, Any]
"""By task 0, 1, or -1 for no answer."""
Show = Callable[[Answers], float | None]
"""The figure that a submitter sees of one submission, if any."""


@dataclass
class Client:
    """Somebody without knowledge of an exam of yes/no tasks, under several team names.

    ``step`` is the ladder's; of :data:`SUBMISSIONS` each name has as many as any other.
    """

    show: Show
    seed: int
    tasks: int
    step: float
    names: int = 1

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def guesses(self, share: float = 1.0) -> Answers:
        """Random answers to so many tasks, and none to the others."""
        answers = self.rng.integers(0, 2, self.tasks)
        answers[self.rng.permutation(self.tasks)[round(share * self.tasks) :]] = -1
        return answers

    def name(self, number: int) -> int:
        """Whose name submission ``number`` of all bears."""
        return number * self.names // SUBMISSIONS

    def is_first(self, number: int) -> bool:
        return number == 0 or self.name(number) > self.name(number - 1)


class Host:
    """A private exam of yes/no tasks, each an instance of its own, and what its host shows."""

    def __init__(self, seed: int, shown: int = 130) -> None:
        self.tasks = 2 * shown
        self.truth = np.random.default_rng([seed, 1]).integers(0, 2, self.tasks)
        half = shown_half([f"i{k}" for k in range(self.tasks)], seed.to_bytes(32, "big"))
        self.half = np.array([f"i{k}" in half for k in range(self.tasks)])
        self.ladder = Ladder.from_weights([1 / shown] * shown)

    def points(self, answers: Answers, which: slice | Answers = slice(None)) -> float:
        return 100 * float(np.mean(answers[which] == self.truth[which]))

    def by_ledger(self, ledger: Ledger, names: int) -> Show:
        """What the ledger shows of submissions, which come one name after the other."""
        handed_in = Client(lambda _: None, 0, self.tasks, self.ladder.step, names)
        count = iter(range(SUBMISSIONS))

        def show(answers: Answers) -> float | None:
            team = f"team-{handed_in.name(next(count))}"
            digest, points = answers.tobytes().hex(), self.points(answers, self.half)
            ledger.enter(team, digest, points, self.ladder)
            report: dict[str, Any] = {"floor": None, "tracks": {}, "points": None, "notices": []}
            figure: float | None = ledger.show(report, team, self.ladder)["points"]
            return figure

        return show


def large_steps(client: Client) -> Answers:
    """Guesses all tasks anew each time, and keeps what has the best figure."""
    best = client.guesses()
    seen = client.show(best)
    for _ in range(SUBMISSIONS - 1):
        tried = client.guesses()
        found = client.show(tried)
        if found is not None and (seen is None or found > seen):
            best, seen = tried, found
    return best


def weighted_vote(client: Client) -> Answers:
    """Blum and Hardt's attack on boards: random answers, and the vote of those above the first."""
    votes = np.zeros(client.tasks)
    first = None
    for _ in range(SUBMISSIONS - 1):
        tried = client.guesses()
        found = client.show(tried) or 0.0
        first = found if first is None else first
        votes += (1 if found > first else -1) * (2 * tried - 1)
    return (votes > 0).astype(int)


def vote_at_the_edge(client: Client) -> Answers:
    """Answers so many tasks that a new figure is as likely as none, and counts votes by that.

    A first figure under a new name then tells one bit, the most that it can.
    """
    votes = np.zeros(client.tasks)
    normal = statistics.NormalDist()
    edge = 0.0
    for number in range(SUBMISSIONS):
        if client.is_first(number):
            edge = client.step * (50 // client.step)
        share = min(1.0, edge / 50)
        tried = client.guesses(share)
        deviation = 100 * math.sqrt(share / 2 * (1 - share / 2) / (client.tasks / 2))
        distance = (edge - 50 * share) / deviation
        above = 1 - normal.cdf(distance)
        found = client.show(tried)
        told = normal.pdf(distance)
        if found is not None and found >= edge:
            told, edge = told / above, found + client.step
        else:
            told = -told / (1 - above)
        votes += told * np.where(tried < 0, 0, 2 * tried - 1)
    return (votes > 0).astype(int)


def climb_from_below(client: Client) -> Answers:
    """Begins without an answer, and fixes a block of answers whenever luck makes a step of it."""
    kept = np.full(client.tasks, -1)
    seen = 0.0
    half = client.tasks // 2
    for number in range(SUBMISSIONS):
        if client.is_first(number):
            seen = client.show(kept) or 0.0
            continue
        # A block of m answers gains 50 m / tasks points; two deviations more make it a step.
        block = next(
            m for m in range(client.tasks + 1)
            if m == client.tasks
            or 50 * m / client.tasks + 2 * 50 * math.sqrt(m / 2) / half >= client.step
        )  # fmt: skip
        free = client.rng.permutation(np.flatnonzero(kept < 0))[:block]
        tried = kept.copy()
        tried[free] = client.rng.integers(0, 2, len(free))
        found = client.show(tried)
        if found is not None and found > seen:
            kept, seen = tried, found
    return np.where(kept < 0, client.guesses(), kept)


ATTACKS = {
    "large steps": large_steps,
    "weighted vote": weighted_vote,
    "vote at the edge": vote_at_the_edge,
    "from below": climb_from_below,
}


def bound(ladder: Ladder, teams: int, submissions: int) -> float:
    """The most points of the whole exam that clients without knowledge gain on average, who pool
    what so many teams with so many submissions each are told: the formula of SECURITY.md.

    What one team is told is one of so many stories: at which submissions its figure rose, and to
    what. The best of r answers to n instances is above their mean by √(ln r / 2n) on average.
    """
    stories = sum(
        math.comb(submissions - 1, figures - 1) * math.comb(ladder.levels, figures)
        for figures in range(1, ladder.figures + 1)
    )
    return min(50.0, 50 * math.sqrt(teams * math.log(stories) / (2 * ladder.instances)))


@pytest.fixture
def climb(exam: Exam, tmp_path: Path) -> Callable[..., tuple[float, float]]:
    """Mean points above chance at the end: of the whole exam, and of its final half."""

    def run(
        attack: str, seeds: int, *, shown: int = 130, names: int = 1, listed: int = 1
    ) -> tuple[float, float]:
        list_teams(tmp_path, *(f"team-{number}" for number in range(listed)))
        whole, final = [], []
        for seed in range(seeds):
            host = Host(seed, shown)
            show = host.by_ledger(Ledger(tmp_path / "ledger.json", exam), names)
            best = ATTACKS[attack](Client(show, seed, host.tasks, host.ladder.step, names))
            whole.append(host.points(best) - 50)
            final.append(host.points(best, ~host.half) - 50)
        return statistics.fmean(whole), statistics.fmean(final)

    return run


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_climbs_ten_points_in_a_hundred_submissions(name, climb):
    """On average; in the final half there is nothing to gain at all."""
    whole, final = climb(name, 12)
    assert whole < 10
    assert abs(final) < 3 * 100 * 0.5 / math.sqrt(12 * 130)


def test_names_that_are_not_listed_mine_nothing(climb: Callable[..., tuple[float, float]]) -> None:
    """99 names had a first figure each, and mined twice what is promised."""
    promised = bound(Ladder(60), 1, math.ceil(SUBMISSIONS / 99))
    attack = "vote at the edge"
    assert climb(attack, 8, shown=60, names=99, listed=99)[0] > 1.5 * promised
    assert climb(attack, 8, shown=60, names=99, listed=1)[0] <= promised
    assert abs(climb(attack, 8, shown=60, names=99, listed=0)[0]) < promised / 2


@pytest.mark.slow
@pytest.mark.parametrize("shown", [60, 130, 430])
@pytest.mark.parametrize("names", [1, 10, 99])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nobody_mines_more_than_the_bound(attack, names, shown, climb):
    """A hundred submissions under several names, of which one is listed, or every one."""
    for listed in {1, names}:
        whole, _ = climb(attack, 16, shown=shown, names=names, listed=listed)
        assert whole <= bound(Ladder(shown), listed, math.ceil(SUBMISSIONS / names)), listed


def test_the_page_on_security_states_the_bound(root: Path) -> None:
    """Its table: points of the whole exam, by listed teams and instances shown."""
    text = (root / "SECURITY.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (\d+) \|(.*)\|$", text, re.MULTILINE)
    assert [row[:2] for row in rows] == [("1", "1"), ("1", "100"), ("10", "10"), ("99", "1")]
    for teams, each, cells in rows:
        figures = [f"{bound(Ladder(shown), int(teams), int(each)):.1f}" for shown in (60, 130, 430)]
        assert [cell.strip() for cell in cells.split("|")] == figures
