"""Frontier exams drawn from tasks that are built, where truth is public."""

from collections import Counter
from dataclasses import replace

import pytest
from frontier_exams import ONE, model_of

from builder.causalds.exams.built import BuiltTask
from builder.causalds.exams.draw import draw_exam
from builder.causalds.exams.model import parse_exam
from builder.causalds.exams.shares import drawn_shares
from builder.settings import TomlTable
from grader.errors import UsageError


def _task(number: int, key: str, label: str, **changes: object) -> BuiltTask:
    view = "proxy" if number % 3 == 1 else "clean"
    found = BuiltTask(f"t{number}", f"s{number // 2}", key, view, "wild_m_bias", label, "")
    wild = number % 4 != 0
    return replace(found, **{"wild": wild, "aside": wild, **changes})  # type: ignore[arg-type]


def _pool(key: str = "effect_estimate.ate_point", **changes: object) -> list[BuiltTask]:
    found = []
    for number in range(40):
        label = "abstain" if number % 5 == 0 else "value"
        misled = number % 2 == 0 and label == "value"
        made = {"reversed": number % 7 < 3, "misled": misled, **changes}
        found.append(_task(number, key, label, **made))
    return found


def test_a_public_exam_is_drawn_from_what_is_built() -> None:
    """Abstentions, views and wild graphs in their shares, signs in turn, no question twice."""
    model = model_of(tasks=9, variants=ONE, views={"clean": 2, "proxy": 1}, wild=2 / 3)
    pool = _pool()
    drawn = draw_exam(model, pool, b"k" * 32, "x")
    tasks = [task for task in pool if task.task_id in drawn.task_ids]
    assert len(tasks) == 9 and sum(task.label == "abstain" for task in tasks) == 3
    assert Counter(task.view for task in tasks) == {"clean": 6, "proxy": 3}
    assert sum(task.wild for task in tasks) == 6
    assert drawn.composition["graph"]["wild"] == {"requested": 6.0, "realised": 6}
    effects = [task for task in tasks if task.label != "abstain"]
    signs = drawn.composition["signs of effect and association"]
    assert signs["differ"]["realised"] == sum(bool(task.reversed) for task in effects)
    assert [row["requested"] for row in signs.values()] == [3.0, 3.0]
    plain = drawn.composition["plain estimates"]
    assert plain["mislead"] == {"requested": pytest.approx(5.4), "realised": 6}
    assert sum(task.misled for task in effects) == 6
    assert draw_exam(model, pool[::-1], b"k" * 32, "x") == drawn, "order of candidates is nothing"


def test_other_exams_leave_wild_graphs_out() -> None:
    """The papers' exams stay what they are in a split that has wild scenes, too."""
    model = parse_exam(TomlTable({"kind": "balanced", "tasks": 8}, "x: "))
    pool = _pool()
    tame = [task for task in pool if not task.aside]
    assert draw_exam(model, pool, b"k" * 32, "x") == draw_exam(model, tame, b"k" * 32, "x")
    assert drawn_shares(model, pool) == drawn_shares(model, tame)


def test_floors_are_averaged_as_the_exam_draws() -> None:
    """The weight asked for on abstentions, wild graphs their share of each class."""
    for key, part in (("mediation_effect.effect_point", 0.75), ("effect_estimate.ate_point", 1.0)):
        family, _, name = key.partition(".")
        model = model_of(tasks=9, variants={family: {name: 1}}, wild=0.75)
        pool = _pool(key=key)
        shares = drawn_shares(model, pool)
        silent = sum(shares[task.task_id] for task in pool if task.label == "abstain")
        assert silent == pytest.approx(0.33) and sum(shares.values()) == pytest.approx(1)
        wild = sum(shares[task.task_id] for task in pool if task.wild)
        assert wild == pytest.approx(part), "total effects are asked on wild graphs"
        assert not drawn_shares(model, _pool(key=key, left_out=True))


def test_a_public_exam_takes_agreement_and_conflict_in_turn() -> None:
    """As long as there are tasks of both; of what reasons say nothing of, none before that."""
    pool = []
    for number, task in enumerate(_pool(view="clean")):
        prior = ("agrees", "conflicts", "none")[number % 3] if task.label == "value" else ""
        alone = {"instance_id": task.task_id, "wild": True, "reversed": None}
        pool.append(replace(task, prior=prior, **alone))  # type: ignore[arg-type]
    model = model_of(tasks=9, variants=ONE, views={"clean": 1}, wild=1)
    drawn = draw_exam(model, pool, b"k" * 32, "x")
    there = Counter(task.prior for task in pool if task.task_id in drawn.task_ids)
    assert there == {"": 3, "agrees": 3, "conflicts": 3}
    assert drawn.composition["reasons"]["conflicts"] == {"requested": 3.0, "realised": 3}


def test_a_split_without_wild_scenes_is_told_so() -> None:
    """In one line, with what to write."""
    tame = [replace(task, wild=False) for task in _pool()]
    with pytest.raises(UsageError, match=r"about wild graphs, and the split has none; see"):
        draw_exam(model_of(tasks=9, variants=ONE), tame, b"k" * 32, "x")
    with pytest.raises(UsageError, match=r"wild graphs whose stories imply them, and the split"):
        draw_exam(model_of(tasks=9, variants=ONE, implied=[0.6, 0.9]), _pool(), b"k" * 32, "x")
