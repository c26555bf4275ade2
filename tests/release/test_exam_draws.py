"""Exams: balanced, spread over scenes, reproducible; with private truth a partition. What cannot be
composed ``plan`` refuses in one line: file, key, remedy."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from builder.commands.main import main as builder
from builder.release import exams as drawing
from builder.splits.config import Draw, SplitConfig
from builder.splits.track import Candidate, DrawnExam, InstanceSpec, PossibleTask, TaskPlan
from builder.tracks import TRACKS
from grader.errors import UsageError

KEY = b"r" * 32
CCR = TRACKS["ccr"]
SCENES = [
    Candidate(
        f"scene-{scene:02d}",
        tuple(
            PossibleTask(f"cds-{scene:02d}{variant}", variant)
            for variant in ("abcde" if scene < 3 else "abcd")
        ),
    )
    for scene in range(30)
]
VARIANT = {task.name: task.variant for scene in SCENES for task in scene.tasks}


def _split(truth, **draws):
    """A split whose exams take a number of tasks, all (None), or all of some variants (a text)."""
    made = tuple(
        Draw(name, "ccr", None, variants=frozenset(of))
        if isinstance(of, str)
        else Draw(name, "ccr", of)
        for name, of in draws.items()
    )
    return SplitConfig("dev", truth, "s", None, (("ccr", None),), made)


def _specs(*variants):
    """Planned instances of one task each."""
    return [
        InstanceSpec("ccr", "dev", i, KEY, f"context-{i:02d}", True, KEY, "{}",
                     TaskPlan(levels=(("variant", variant),)))
        for i, variant in enumerate(variants)
    ]  # fmt: skip


def _assigned(specs, **draws):
    return drawing.assign_exams(_split("private", **draws), CCR, specs, KEY, "x.toml")


def test_variants_take_turns_and_scenes_are_used_evenly():
    """An exam that happens to hold one variant twice as often scores that variant twice, and twenty
    questions about one scene measure one scene. Tasks arrive in the order of ids, which is nobody's
    promise."""
    counts = Counter(VARIANT[name] for name in drawing.balanced_draw(SCENES, 43, KEY))
    assert counts == {"a": 10, "b": 10, "c": 10, "d": 10, "e": 3}
    counts = Counter(name[:-1] for name in drawing.balanced_draw(SCENES, 30, KEY))
    assert max(counts.values()) <= 2 and len(counts) >= 25
    shuffled = random.Random(1).sample(SCENES, len(SCENES))
    assert drawing.balanced_draw(shuffled, 20, KEY) == drawing.balanced_draw(SCENES, 20, KEY)
    assert drawing.balanced_draw(SCENES, 20, b"q" * 32) != drawing.balanced_draw(SCENES, 20, KEY)


def test_public_exams_may_overlap_and_all_means_all():
    """The mini exam is part of the whole. Who asks for too many tasks needs both numbers."""
    exams = drawing.compose_public(_split("public", mini=20, full=None), CCR, SCENES, KEY, "x.toml")
    assert list(exams) == ["mini", "full"]
    full = exams["full"].task_ids
    assert len(set(exams["mini"].task_ids)) == 20
    assert sorted(full) == sorted(VARIANT)
    assert list(full) != sorted(full)
    with pytest.raises(UsageError, match=r"x.toml: .*exams.mini.ccr.tasks: 999 .* there are 123"):
        drawing.compose_public(_split("public", mini=999), CCR, SCENES, KEY, "x.toml")


def test_an_exam_holds_one_side_of_an_instance_whose_tasks_answer_each_other():
    """A prompt that supplies a program prints the answer of whoever is asked to induce it."""

    def apart(one, other):
        return (one == "d") != (other == "d")

    track = replace(CCR, apart=apart)
    kept = drawing.keep_one_side(SCENES, track, KEY)
    sides = {scene.instance_id: [task.variant for task in scene.tasks] for scene in kept}
    assert len(sides) == 30
    assert Counter("d" in side for side in sides.values()) == {True: 15, False: 15}
    for instance, side in sides.items():
        others = "abce" if instance < "scene-03" else "abc"
        assert side == (["d"] if "d" in side else list(others)), "a side is kept whole"
    assert drawing.keep_one_side(SCENES[::-1], track, KEY) == kept[::-1]
    assert drawing.keep_one_side(SCENES, CCR, KEY) == SCENES


def test_private_exams_share_no_instance_and_leave_none_over():
    """An instance in two exams, or in none, breaks the promise of a private split."""
    specs = _specs(*"abcde" * 12)
    found = _assigned(specs, rest=None, small=40)
    assert Counter(found.values()) == {"small": 40, "rest": 20} and len(found) == 60
    variant_of = {spec.instance_id: spec.task_plan.levels[0][1] for spec in specs}
    small = Counter(variant_of[name] for name, exam in found.items() if exam == "small")
    assert set(small.values()) == {8}
    with pytest.raises(UsageError, match=r"x.toml: splits.dev.exams: 20 of 60 .* are in no exam"):
        _assigned(specs, small=40)
    with pytest.raises(UsageError, match=r"exams.small.ccr.tasks: 61 tasks are asked .* are 60"):
        _assigned(specs, small=61)


def test_exams_of_different_variants_share_a_split():
    """A further exam beside the papers' own neither lends them tasks nor takes theirs."""
    drawn = drawing.compose_public(
        _split("public", papers="abc", ours="de"), CCR, SCENES, KEY, "x.toml"
    )
    found = {name: {VARIANT[one] for one in exam.task_ids} for name, exam in drawn.items()}
    assert found == {"papers": set("abc"), "ours": set("de")}
    assert sum(len(exam.task_ids) for exam in drawn.values()) == len(VARIANT)
    assigned = _assigned(_specs(*"abcde"), papers="abc", ours="de")
    assert list(assigned.values()) == ["papers"] * 3 + ["ours"] * 2
    with pytest.raises(UsageError, match=r"1 of 5 instances of ccr are in no exam \(e\)"):
        _assigned(_specs(*"abcde"), papers="abc", ours="d")


def test_a_private_protocol_stays_in_one_exam():
    """All pairs of a context are one protocol; half of it in another exam would tell on it."""
    whole = replace(_specs("a")[0], task_plan=TaskPlan((3, 6)))
    assert _assigned([whole], all=None) == {"context-00": "all"}
    with pytest.raises(UsageError, match=r'several tasks.*write tasks = "all"'):
        _assigned([whole], some=3)
    specs = [replace(whole, task_plan=TaskPlan((3, 6), "all"))]
    rows = [{"task_id": f"ccr-{i}", "instance_id": "context-00"} for i in range(4)]
    split = _split("private", all=None)
    exams = drawing.private_exams(split, CCR, specs, lambda config, columns: rows, KEY)
    assert sorted(exams["all"].task_ids) == [row["task_id"] for row in rows]


def test_positions_count_from_zero_within_each_exam():
    """The grader takes the order of an exam from its positions."""
    matched = DrawnExam(("z", "y"), {"z": ("bundle-001", "proxy")})
    rows = drawing.exam_table({"b": matched, "a": DrawnExam(("x",))}).to_pylist()
    assert [(row["bundle"], row["arm"]) for row in rows] == [
        (None, None), ("bundle-001", "proxy"), (None, None),
    ]  # fmt: skip
    assert [(row["exam"], row["position"], row["task_id"]) for row in rows] == [
        ("a", 0, "x"), ("b", 0, "z"), ("b", 1, "y"),
    ]  # fmt: skip


SPLITS = """
name = "small"
version = "0.1.0"

[splits.dev]
truth = "{truth}"
{root}
[splits.dev.{track}]
{table}
{exams}
"""

LABORATORIES = "per_suite = 5"
FULL = 'scenes = 40\ncomposition = "full"\nwords = "fictional"'
CHAINS = 'scenes = 66\nmotifs = { chain = 1 }\nwords = "fictional"'


@pytest.mark.parametrize(
    ("track", "truth", "table", "exams", "says"),
    [
        (  # the other suites' laboratories would be built, and asked in no exam
            "causalab", "private", LABORATORIES,
            'a = { tasks = "all", variants = ["laboratory.linear"] }',
            "splits.dev.exams: 5 of 250 instances of causalab are in no exam",
        ),
        (
            "causalab", "private", LABORATORIES, "a = { tasks = 7 }",
            'let one exam take tasks = "all" of these variants',
        ),
        (
            "causalds", "private", FULL, 'a = { exam = "exams/realistic.toml" }',
            "splits.dev.causalds.scenes: 40, but its exams take 100 tasks",
        ),
        (
            "causalds", "private", CHAINS,
            'a = { exam = "exams/private-example.toml" }',
            "splits.dev.exams.a.causalds: every task of",
        ),
        (
            "causalds", "public", FULL, 'a = { exam = "exams/realistic.toml" }',
            "a.causalds.tasks: 100 tasks are asked, one a scene, but there are 40",
        ),
        (
            "causalds", "public", FULL, "a = { tasks = 9999 }",
            "splits.dev.exams.a.causalds.tasks: 9999 tasks are asked but there are",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_composed_is_refused_by_the_plan(
    tmp_path, capsys, track, truth, table, exams, says
):
    """An hour of building, and then a refusal, is too late."""
    name, _, draw = exams.partition(" = ")
    root = 'seed = "s"' if truth == "public" else 'secret_env = "NO_SUCH_SECRET"'
    text = SPLITS.format(
        truth=truth, root=root, track=track, table=table,
        exams=f"[splits.dev.exams.{name}]\n{track} = {draw}",
    )  # fmt: skip
    file = tmp_path / "small.toml"
    file.write_text(text, encoding="utf-8")
    assert builder(["plan", str(file)]) == 2
    told = capsys.readouterr().err
    assert str(file) in told and says in told and len(told.splitlines()) == 1
