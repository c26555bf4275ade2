"""Exams: balanced, spread over scenes, reproducible; with private truth a partition."""

import random
from collections import Counter

import pytest

from builder.release.config import Draw, ExamConfig, SplitConfig
from builder.release.exams import (
    Candidate,
    DrawnExam,
    balanced_draw,
    draw_exams,
    exam_table,
    one_sided,
)
from grader.errors import UsageError

KEY = b"r" * 32
TASKS = [
    Candidate(f"cds-{scene:02d}{variant}", f"scene-{scene:02d}", variant)
    for scene in range(30)
    for variant in "abcde"
    if variant != "e" or scene < 3
]


def _split(truth, **asked):
    configs = tuple(ExamConfig(name, (Draw("ccr", n),)) for name, n in asked.items())
    return SplitConfig("dev", truth, "s", None, None, (("ccr", None),), configs)


def test_variants_take_turns_until_one_runs_out():
    """An exam that happens to hold one variant twice as often scores that variant twice."""
    counts = Counter(task.variant for task in balanced_draw(TASKS, 43, KEY))
    assert counts == {"a": 10, "b": 10, "c": 10, "d": 10, "e": 3}


def test_scenes_are_used_evenly():
    """Twenty questions about one scene measure one scene."""
    counts = Counter(task.instance_id for task in balanced_draw(TASKS, 30, KEY))
    assert max(counts.values()) <= 2 and len(counts) >= 25


def test_the_draw_does_not_depend_on_the_order_of_its_tasks():
    """Tasks arrive in the order of ids, which is nobody's promise."""
    shuffled = random.Random(1).sample(TASKS, len(TASKS))
    assert balanced_draw(shuffled, 20, KEY) == balanced_draw(TASKS, 20, KEY)
    assert balanced_draw(TASKS, 20, b"q" * 32) != balanced_draw(TASKS, 20, KEY)


def test_public_exams_may_overlap_and_all_means_all():
    """The mini exam is part of the whole."""
    exams = draw_exams(_split("public", mini=20, full=None), "ccr", TASKS, KEY, "x.toml")
    assert list(exams) == ["mini", "full"]
    full = exams["full"].task_ids
    assert len(set(exams["mini"].task_ids)) == 20
    assert sorted(full) == sorted(task.task_id for task in TASKS)
    assert list(full) != sorted(full)


def test_an_exam_holds_one_side_of_an_instance_whose_tasks_answer_each_other():
    """A prompt that supplies a program prints the answer of whoever is asked to induce it."""

    def apart(one, other):
        return (one == "d") != (other == "d")

    kept = one_sided(TASKS, apart, KEY)
    sides = {}
    for task in kept:
        sides.setdefault(task.instance_id, []).append(task.variant)
    assert len(sides) == 30
    assert Counter("d" in side for side in sides.values()) == {True: 15, False: 15}
    for instance, side in sides.items():
        others = "abce" if instance < "scene-03" else "abc"
        assert side == (["d"] if "d" in side else list(others)), "a side is kept whole"
    assert one_sided(TASKS[::-1], apart, KEY) == kept[::-1]
    assert one_sided(TASKS, lambda *_: False, KEY) == TASKS


def test_private_exams_share_no_task_and_leave_none_over():
    """A task in two exams, or in none, breaks the promise of a private split."""
    exams = draw_exams(_split("private", rest=None, small=40), "ccr", TASKS, KEY, "x.toml")
    small, rest = exams["small"].task_ids, exams["rest"].task_ids
    assert len(small) == 40
    assert sorted(small + rest) == sorted(task.task_id for task in TASKS)
    with pytest.raises(UsageError, match="are in no exam"):
        draw_exams(_split("private", small=40), "ccr", TASKS, KEY, "x.toml")


def test_exams_of_different_variants_share_a_split():
    """A further exam beside the papers' own neither lends them tasks nor takes theirs."""
    own = frozenset("de")
    papers, ours = Draw("ccr", None, variants=frozenset("abc")), Draw("ccr", None, variants=own)
    configs = (ExamConfig("papers", (papers,)), ExamConfig("ours", (ours,)))
    for truth in ("public", "private"):
        split = SplitConfig("dev", truth, "s", None, None, (("ccr", None),), configs)
        drawn = draw_exams(split, "ccr", TASKS, KEY, "x.toml")
        found = {name: {task_id[-1] for task_id in exam.task_ids} for name, exam in drawn.items()}
        assert found == {"papers": set("abc"), "ours": own}
        assert sum(len(exam.task_ids) for exam in drawn.values()) == len(TASKS)


def test_asking_for_too_many_tasks_names_the_key_and_the_number_there_is():
    """The user needs both numbers to mend the split file."""
    with pytest.raises(UsageError, match=r"x.toml: .*exams.mini.ccr.tasks: 999 .* there are 123"):
        draw_exams(_split("public", mini=999), "ccr", TASKS, KEY, "x.toml")


def test_positions_count_from_zero_within_each_exam():
    """The grader takes the order of an exam from its positions."""
    matched = DrawnExam(("z", "y"), {"z": ("bundle-001", "proxy")})
    rows = exam_table({"b": matched, "a": DrawnExam(("x",))}).to_pylist()
    assert [(row["bundle"], row["arm"]) for row in rows] == [
        (None, None), ("bundle-001", "proxy"), (None, None),
    ]  # fmt: skip
    assert [(row["exam"], row["position"], row["task_id"]) for row in rows] == [
        ("a", 0, "x"), ("b", 0, "z"), ("b", 1, "y"),
    ]  # fmt: skip
