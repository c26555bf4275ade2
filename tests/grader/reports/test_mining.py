"""Private truth cannot be mined: clients without knowledge against what a submitter is shown."""

import fcntl
import json
import math
import re
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grading import Runner

from grader.errors import UsageError
from grader.opening import open_release
from grader.release.exam import Exam, Split, shown_half
from grader.reports.ledger import TEAMS, Ledger, show_all
from grader.reports.redact import FIGURES, SUBMISSIONS, Ladder, overall, weights
from grader.scoring.model import Unit

FAMILIES = 10
Answers = np.ndarray[Any, Any]
"""By task 0, 1, or -1 for no answer."""
Shown = Sequence[float | None]
"""All figures that a submitter sees of one submission."""
Show = Callable[[Answers], Shown]


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
        """Whether it is the first under its name."""
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

    def by_family(self, answers: Answers) -> Shown:
        """As redacted reports were: points of each family, to a tenth of a task."""
        return [self.points(answers, slice(f, None, FAMILIES)) for f in range(FAMILIES)]

    def by_ledger(self, ledger: Ledger, names: int) -> Show:
        """What the ledger shows of submissions, which come one name after the other."""
        handed_in = Client(lambda _: (), 0, self.tasks, self.ladder.step, names)
        count = iter(range(SUBMISSIONS))

        def show(answers: Answers) -> Shown:
            team = f"team-{handed_in.name(next(count))}"
            digest, points = answers.tobytes().hex(), self.points(answers, self.half)
            ledger.enter(team, digest, points, self.ladder)
            report: dict[str, Any] = {"floor": None, "tracks": {}, "points": None, "notices": []}
            return [ledger.show(report, team, self.ladder)["points"]]

        return show


def one_in_each_family(client: Client) -> Answers:
    """Turns one answer in each family at a time, and keeps what its family's points gained by."""
    best = client.guesses()
    seen = list(client.show(best))
    place = np.arange(client.tasks)
    for turn in range(min(SUBMISSIONS - 1, client.tasks // FAMILIES)):
        tried = np.where(place // FAMILIES == turn, 1 - best, best)
        found = client.show(tried)
        for family, (old, new) in enumerate(zip(seen, found, strict=True)):
            if old is not None and new is not None and new > old:
                mine = (len(found) == 1) | (place % FAMILIES == family)
                best = np.where(mine, tried, best)
                seen[family] = new
    return best


def hill_climber(share: float) -> Callable[[Client], Answers]:
    """Guesses a share of the tasks anew each time, and keeps what the figure gained by."""

    def attack(client: Client) -> Answers:
        best = client.guesses()
        seen = client.show(best)[0]
        for _ in range(SUBMISSIONS - 1):
            again = client.guesses(share)
            tried = np.where(again >= 0, again, best)
            found = client.show(tried)[0]
            if found is not None and (seen is None or found > seen):
                best, seen = tried, found
        return best

    return attack


def weighted_vote(client: Client) -> Answers:
    """Blum and Hardt's attack on boards: random answers, and the vote of those above the first."""
    votes = np.zeros(client.tasks)
    first = None
    for _ in range(SUBMISSIONS - 1):
        tried = client.guesses()
        found = math.fsum(x or 0.0 for x in client.show(tried))
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
        (found,) = client.show(tried)
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
            seen = client.show(kept)[0] or 0.0
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
        (found,) = client.show(tried)
        if found is not None and found > seen:
            kept, seen = tried, found
    return np.where(kept < 0, client.guesses(), kept)


ATTACKS = {
    "one in each family": one_in_each_family,
    "large steps": hill_climber(1.0),
    "middling steps": hill_climber(0.25),
    "small steps": hill_climber(0.03),
    "weighted vote": weighted_vote,
    "vote at the edge": vote_at_the_edge,
    "from below": climb_from_below,
}
STRONGEST = ("large steps", "weighted vote", "vote at the edge", "from below")


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
def exam(release: Path) -> Exam:
    """A private exam, for the ledger's sake alone."""
    return Split.open(open_release(release), "test").choose_exam_for()


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


def list_teams(folder: Path, *teams: str) -> None:
    """Write the maintainer's list beside a ledger in ``folder``."""
    (folder / TEAMS).write_text("# teams\n" + "".join(f"{team}\n" for team in teams), "utf-8")


def test_family_points_gave_the_whole_exam_away() -> None:
    """What is mended: the attack works where figures are fine, or it would prove nothing."""
    host = Host(1)
    best = one_in_each_family(Client(host.by_family, 1, host.tasks, host.ladder.step))
    assert host.points(best) > 99


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_climbs_ten_points_in_a_hundred_submissions(
    name: str, climb: Callable[..., tuple[float, float]]
) -> None:
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
@pytest.mark.parametrize("attack", STRONGEST)
def test_nobody_mines_more_than_the_bound(
    attack: str, names: int, shown: int, climb: Callable[..., tuple[float, float]]
) -> None:
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
    shutil.copytree(secret, folder / "acme-2")
    empty = runner.run("leaderboard", folder, *runner.test, *ledger)
    assert empty.code == 0 and "Ledger of demo" in empty.out and "1/100" not in empty.out
    list_teams(tmp_path, "acme")
    assert runner.run("grade", folder / "acme@1", *runner.test, *ledger).code == 0
    board = runner.place / "board.json"
    assert runner.run("leaderboard", folder, *runner.test, *ledger, "--json", board).code == 0
    written = json.loads((tmp_path / "ledger.json").read_text("utf-8"))
    ((key, teams),) = written["exams"].items()
    assert key.endswith("/test/demo") and list(teams) == ["acme"]
    assert len(teams["acme"]) == 1, "the same answers twice are one submission"
    (line, _) = json.loads(board.read_text("utf-8"))
    assert line["report"]["points"] is None, "an exam of eight tasks has no figure to show"
    shown = runner.run("leaderboard", folder, *runner.test, *ledger).out
    assert "Ledger of demo" in shown and "1/100" in shown and "0/0" in shown
    (tmp_path / "ledger.json").write_text('{"exams": [1]}')
    assert "is not a ledger" in runner.fails("grade", folder / "acme@1", *runner.test, *ledger)


def test_a_first_figure_waits_until_its_team_is_listed(exam: Exam, tmp_path: Path) -> None:
    """A new name cost nothing, and told as much as the first submission of a known team."""
    path, ladder = tmp_path / "ledger.json", Ladder(130)
    held = {"answers": "a", "points": 50.0, "instances": ladder.instances}
    report: dict[str, Any] = {"floor": None, "tracks": {}, "notices": [], "held": held}
    handed = [(Path(f"{name}.parquet"), report) for name in ("acme@2", "acme-2")]
    for listed in ((), ("acme",)):
        list_teams(tmp_path, *listed)
        for source, shown in zip(handed, show_all(path, exam, handed), strict=True):
            known = source[0].stem.partition("@")[0] in listed
            assert shown.get("points") == (42 if known else None)
            assert shown["notices"] == [] if known else "has not listed" in shown["notices"][0]
        assert [row["team"] for row in Ledger(path, exam).teams(ladder)] == list(listed)


def test_a_list_of_teams_that_holds_something_else_is_refused(exam: Exam, tmp_path: Path) -> None:
    list_teams(tmp_path, "acme", "", "bell@2")
    with pytest.raises(UsageError, match=r'teams\.txt, line 4: "bell@2" .* list "bell"'):
        Ledger(tmp_path / "ledger.json", exam)
    (tmp_path / TEAMS).write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"teams\.txt: cannot be read"):
        Ledger(tmp_path / "ledger.json", exam)


def test_the_final_ranking_is_made_once(runner: Runner, secret: Path, tmp_path: Path) -> None:
    """One submission of each team, the same answers again, and nothing that comes later."""
    ledger = ("--ledger", tmp_path / "ledger.json")
    folder = tmp_path / "in"
    for name in ("acme@1", "acme@2"):
        shutil.copytree(secret, folder / name)
    command = ("leaderboard", folder, *runner.test, *ledger, "--final")
    assert "has 2 submissions here" in runner.fails(*command)
    assert not (tmp_path / "ledger.json").exists()
    (folder / "acme@2").rename(folder / "bell")
    first = runner.run(*command).out
    assert first.count("100.0") >= 2
    assert runner.run(*command).out == first
    for file in (folder / "acme@1").iterdir():
        file.write_text("{}")
    shutil.copytree(folder / "bell", folder / "later")
    list_teams(tmp_path, "acme")
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
    list_teams(tmp_path, "acme", "bell")
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
