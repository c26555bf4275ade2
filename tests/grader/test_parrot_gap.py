"""The parrot gap against numbers worked by hand, its interval against plain resampling."""

from dataclasses import replace
from typing import Any

import pytest
from score_rows import row

from grader.model import Score, Truth
from grader.report.redact import redact
from grader.report.skill import on_scale
from grader.statistics import bootstrap
from grader.statistics.resample import Draws
from grader.tracks.causalds import tables
from grader.tracks.causalds.parrot import parrot
from grader.tracks.causalds.replicates import Weights

FLOORS = {"t1": 0.2, "t2": 0.4, "t3": 0.2, "t4": 0.4, "t5": 0.3, "t6": 0.3}
SCORES = [
    row("t1", "pass", 0.0, instance_id="a"),
    row("t2", "pass", 0.0, instance_id="b"),
    row("t3", "pass", 1.0, instance_id="c"),
    row("t4", "pass", 0.0, instance_id="a"),
    row("t5", "pass", 1.0, instance_id="d"),
    row("t6", "pass", 0.0, instance_id="e"),
]
PRIORS = {
    "t1": "agrees", "t2": "agrees", "t3": "conflicts", "t4": "conflicts", "t5": "agrees",
    "t6": "none",
}  # fmt: skip


def _scores(floors: bool = True) -> list[Score]:
    return [replace(s, floor=FLOORS[s.task_id] if floors else None) for s in SCORES]


def _truths(priors: dict[str, str]) -> dict[str, Truth]:
    return {
        name: Truth(name, "i", False, "chain", 1.0, 0.0, {"prior": prior})
        for name, prior in priors.items()
    }


def _draws(count: int = 200) -> Weights:
    return Weights.of(Draws.of(sorted({s.instance_id for s in SCORES}), 5, count))


def test_the_gap_is_the_difference_of_two_skills() -> None:
    """Ratios of sums on each side; tasks that nothing is expected of are on neither."""
    found = parrot(_scores(), _truths(PRIORS), _draws())
    assert found is not None
    # agrees: gained (1-.2)+(1-.4)+(0-.3) = 1.1 of .8+.6+.7 = 2.1; conflicts: (0-.2)+(1-.4) of 1.4
    assert found["agrees"] == {
        "tasks": 3, "points": pytest.approx(200 / 3), "skill": pytest.approx(100 * 1.1 / 2.1),
    }  # fmt: skip
    assert found["conflicts"]["skill"] == pytest.approx(100 * 0.4 / 1.4)
    assert found["gap"] == pytest.approx(100 * (1.1 / 2.1 - 0.4 / 1.4))
    assert found["gap_interval"][0] < found["gap"] < found["gap_interval"][1]


def test_both_sides_of_a_replicate_hold_the_same_instances() -> None:
    """The instance a has a task on each side: its draws must not be two."""
    draws = _draws()
    expected: list[float] = []
    names = sorted(draws.place, key=draws.place.__getitem__)
    for weights in draws.rows:
        times = dict(zip(names, weights, strict=True))
        skills = []
        for side in ("agrees", "conflicts"):
            rows = [s for s in _scores() if PRIORS[s.task_id] == side]
            drawn = [s for s in rows for _ in range(times[s.instance_id])]
            gain = sum(s.points - (s.floor or 0) for s in drawn)
            room = sum(1 - (s.floor or 0) for s in drawn)
            skills.append(on_scale(gain, 0, room))
        if skills[0] is not None and skills[1] is not None:
            expected.append(skills[0] - skills[1])
    found = parrot(_scores(), _truths(PRIORS), draws)
    assert found is not None
    assert found["gap_interval"] == pytest.approx(bootstrap.percentile_interval(expected))


@pytest.mark.parametrize(
    "priors",
    [{}, dict.fromkeys(PRIORS, "none"), dict.fromkeys(PRIORS, "agrees")],
)
def test_without_tasks_on_both_sides_there_is_no_gap(priors: dict[str, str]) -> None:
    """Nor where truths say nothing of what one would expect."""
    assert parrot(_scores(), _truths(priors), _draws()) is None


def test_without_floors_the_gap_is_null_and_points_remain() -> None:
    """Skill needs the lower end of its scale."""
    found = parrot(_scores(floors=False), _truths(PRIORS), _draws())
    assert found is not None and found["gap"] is None and found["gap_interval"] is None
    assert found["conflicts"]["points"] == pytest.approx(50.0)
    large = parrot(_scores(), _truths(PRIORS), None)
    assert large is not None and large["gap"] is not None and large["gap_interval"] is None


def _part(found: dict[str, Any]) -> dict[str, Any]:
    usage = {"total_tokens": None, "unmetered": 0}
    marks = dict.fromkeys(
        ("points", "points_interval", "detectable", "skill", "skill_interval", "skill_detectable",
         "floor", "ceiling"),
    )  # fmt: skip
    return {**marks, "tasks": 6, "attempted": 6, "metrics": {}, "readings": {}, "slices": {},
            "usage": usage, "parrot": found}  # fmt: skip


def test_the_gap_is_told_to_the_maintainer_alone() -> None:
    """A redacted report has no such member, and no table shows one."""
    found = parrot(_scores(), _truths(PRIORS), _draws())
    assert found is not None
    part = _part(found)
    report = {"tracks": {"causalds": part}, **{k: None for k in part if k != "parrot"}}
    hidden = redact(report)["tracks"]["causalds"]
    assert "parrot" not in hidden
    shown = tables.parrot([{**part, "system": "one"}])
    assert [str(cell) for cell in shown.rows[0]][-2:][0] == f"{found['gap']:+.1f}"
    assert tables.parrot([{**hidden, "system": "one"}]).rows == []


def test_a_board_has_a_column_where_a_report_has_a_gap() -> None:
    """Boards of private exams, whose reports are redacted, have none."""
    found = parrot(_scores(), _truths(PRIORS), _draws())
    assert found is not None
    told, untold = (
        {"submission": {"system": "one"}, "tracks": {"causalds": {**_part(found), **more}}}
        for more in ({}, {"parrot": None})
    )
    headings = [name for name, _ in tables.board_columns([told, untold])]
    assert tables.board_columns([told, untold])[-1] == (
        tables.GAP,
        [f"{found['gap']:+.1f}", "–"],
    )
    assert [name for name, _ in tables.board_columns([untold, untold])] == headings[:-1]
