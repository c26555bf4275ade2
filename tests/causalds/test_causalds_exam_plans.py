"""Exam files are read, and private scenes are planned for their exams."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from causalds_scenes import ROOT, model, table

from builder.splits.settings import TomlTable, read_toml
from builder.tracks.causalds.design.eligibility import KEYS
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.exams.candidates import built_candidates
from builder.tracks.causalds.exams.model import parse_exam
from builder.tracks.causalds.plan.config import with_exams
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError


def test_every_shipped_exam_file_parses(root: Path) -> None:
    """A broken one would be found by the first user."""
    files = sorted((root / "splits" / "exams").glob("*.toml"))
    assert {file.stem for file in files} >= {"realistic", "balanced", "hard"}
    for file in files:
        parse_exam(read_toml(file))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"kind": "hardest"}, "kind"),
        ({"counts": {"chain": {"prediction": 100}}}, "families"),
        ({"counts": {"chain": {"prediction": 9}}, "families": []}, "tasks"),
        ({"counts": {"link": {"prediction": 100}}, "families": []}, "counts.link"),
        ({"counts": {"chain": {"guess": 100}}, "families": []}, "counts.chain.guess"),
        ({"unidentifiable": 3}, "unidentifiable"),
        ({"tasks": 0}, "tasks"),
        ({"difficulty": 1.5}, "difficulty"),
        ({"strength": {"rungs": 1}}, "strength.rungs"),
        ({"families": [{"of": ["chian"], "weights": {"prediction": 1}}]}, "families"),
        ({"variants": {"prediction": {"point": 1}}}, "variants.prediction.point"),
        ({"views": [{"of": ["prediction"], "weights": {"clean": 0}}]}, "views"),
    ],
)
def test_a_bad_exam_file_is_named_with_its_key(root, change, key):
    """A typo must cost a second."""
    with pytest.raises(UsageError, match=f"realistic.{key}"):
        model(root, "realistic", **change)


def test_private_scenes_are_planned_for_their_exams(root: Path) -> None:
    """Each scene belongs to one exam, with one variant and one view; balanced is balanced. Scene by
    scene, mediation would be planned once for the seven times it is requested."""
    tasks = {"realistic": 100, "balanced": 2 * len(KEYS)}
    exams = tuple((name, model(root, name, tasks=count)) for name, count in tasks.items())
    views = ["clean", "proxy", "proxy_hard"]
    settings = table(scenes=166, composition="full", views=views, words="fictional")
    del settings["motifs"]
    config = with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")
    specs = plan_scenes(config, "test", ROOT, True)
    asked = [ScenePlan.from_json(spec.config_json).questions for spec in specs]
    assert Counter(one.exam for one in asked) == tasks
    assert all(len(one.views) == 1 and one.variant for one in asked)
    balanced = Counter(one.variant for one in asked if one.exam == "balanced")
    assert set(balanced) == set(KEYS) and set(balanced.values()) == {2}
    assert sum(a.exam != b.exam for a, b in pairwise(asked)) > 50, "order tells nothing"
    found = TRACK.composition(config, specs)
    for axis in ("family", "rung", "variant", "view"):
        for level, row in found[f"realistic: {axis}"].items():
            assert abs(row["requested"] - row["realised"]) <= 1, level
    assert found["realistic: family"]["mediation_effect"]["realised"] >= 6
    motifs = found["motif"].values()
    assert sum(abs(row["requested"] - row["realised"]) for row in motifs) / 2 < 0.06 * 166


def test_few_scenes_of_a_private_exam_share_a_domain(root: Path) -> None:
    """They are named before anything is built, exam by exam."""
    exams = (("realistic", model(root, "realistic")), ("hard", model(root, "hard", tasks=20)))
    settings = table(scenes=120, composition="full")
    del settings["motifs"]
    config = with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")
    plans = [ScenePlan.from_json(s.config_json) for s in plan_scenes(config, "test", ROOT, True)]
    told = Counter((plan.questions.exam, plan.telling.domain) for plan in plans)
    assert {exam for exam, _ in told} == {"realistic", "hard"} and max(told.values()) <= 3


def test_a_private_split_refuses_ablations_and_wrong_sums(root: Path) -> None:
    """One scene asked several times would give its own truth away."""
    config = TRACK.parse(TomlTable(table(scenes=60), "here."))
    with pytest.raises(UsageError, match="several times"):
        with_exams(config, (("layer", model(root, "observation-every", tasks=60)),), "here")
    with pytest.raises(UsageError, match="scenes = 30"):
        with_exams(config, (("realistic", model(root, "realistic", tasks=30)),), "here")


def test_a_wanted_class_is_what_a_balanced_scene_is_asked_for(root: Path) -> None:
    """Planned classes come out in the built scenes (four of them, after one that takes long)."""
    exams = (("balanced", model(root, "balanced", tasks=33)),)
    settings = table(scenes=33, composition="full")
    del settings["motifs"]
    config = with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")
    built = [TRACK.build(spec) for spec in plan_scenes(config, "test", ROOT, True)[3:7]]
    had = 0
    for one in built:
        plan = json.loads(one.rows["causalds_worlds"][0]["world_json"])["plan"]["questions"]  # type: ignore[arg-type]
        (found,) = built_candidates(lambda c, _, one=one: one.rows[c])  # type: ignore[misc]
        (task,) = found.tasks
        assert task.variant == plan["variant"]
        had += task.label == plan["wanted"]
    assert had >= 3, "a class that rests on numbers may be too rare in one scene"
