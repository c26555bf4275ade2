"""Exams: the composition model, the draws from built tasks, the planning of private scenes."""

import json
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from causalds_scenes import ROOT, public, table

from builder.causalds.ask import ASKERS
from builder.causalds.exams.cells import (
    RANKS,
    choose_cell,
    family_weights,
    variant_weights,
    view_weights,
)
from builder.causalds.exams.draw import BuiltTask, built_tasks, draw_exam
from builder.causalds.exams.model import FAMILIES, ExamModel, parse_exam
from builder.causalds.plan.config import with_exams
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.plan.types import ScenePlan
from builder.causalds.track import TRACK
from builder.settings import TomlTable, read_toml
from grader.errors import UsageError

KEY = b"a key of an exam, 32 bytes long."


def model(root: Path, name: str, **changes: object) -> ExamModel:
    """A shipped exam file, with some keys changed."""
    text = (root / "splits" / "exams" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_exam(TomlTable({**tomllib.loads(text), **changes}, f"{name}."))


def tasks() -> list[BuiltTask]:
    """The built tasks of the tests' public scenes."""

    def read(config: str, columns: Any) -> Any:
        return [{c: row[c] for c in columns} for b in public() for row in b.rows[config]]

    return built_tasks(read)


def test_every_shipped_exam_file_parses(root: Path) -> None:
    """A broken one would be found by the first user."""
    files = sorted((root / "splits" / "exams").glob("*.toml"))
    assert {file.stem for file in files} >= {"realistic", "balanced", "hard"}
    for file in files:
        parse_exam(read_toml(file))


def test_published_priors_are_the_weights_of_the_realistic_exam(root: Path) -> None:
    """Untilted, with rows that add up to one; spot values of the published tables."""
    exam = model(root, "realistic")
    assert family_weights(exam, "iv")["effect_estimate"] == pytest.approx(0.222944, abs=1e-4)
    assert family_weights(exam, "grafted_2") == family_weights(exam, "triangle")
    assert family_weights(exam, "napkin")["identification"] == pytest.approx(0.15 / 1.0, abs=1e-3)
    assert "counterfactual_identification" not in family_weights(exam, "napkin")
    assert variant_weights(exam, "association")["argmax_change"] == pytest.approx(0.463863)
    evenly = 1 / len(RANKS["bias_diagnostic"])
    assert set(variant_weights(exam, "bias_diagnostic").values()) == {evenly}
    assert view_weights(exam, "mediation_effect")["proxy_hard"] == pytest.approx(0.312326)
    for structure in ("chain", "fork", "iv", "collider", "grafted_1", "napkin"):
        assert sum(family_weights(exam, structure).values()) == pytest.approx(1)


def test_difficulty_tilts_as_in_equation_six(root: Path) -> None:
    """exp(beta (2d-1) (rung-2)) and its like, by hand for d = 1; d = 0.5 changes nothing."""
    flat, steep = model(root, "realistic"), model(root, "realistic", difficulty=1.0)
    before, after = family_weights(flat, "chain"), family_weights(steep, "chain")
    ratio = (after["mediation_effect"] / before["mediation_effect"]) / (
        after["prediction"] / before["prediction"]
    )
    assert ratio == pytest.approx(np.exp(2))  # rungs 3 and 1
    views = view_weights(steep, "causal_sketch")
    assert views["proxy_hard"] / views["clean"] == pytest.approx(
        0.164384 / 0.544521 * np.exp(2), rel=1e-5
    )
    variants = variant_weights(steep, "prediction")
    assert variants["prediction_interval"] / variants["point_predictor"] == pytest.approx(
        0.645656 / 0.354344 * np.exp(1), rel=1e-5
    )


def test_ranks_order_every_variant() -> None:
    """A variant without a rank could not be tilted."""
    assert {family: set(names) for family, names in RANKS.items()} == {
        family: set(names) for family, names in FAMILIES.items()
    }


def test_cells_follow_the_weights_of_what_a_scene_can_host(root: Path) -> None:
    """Frequencies over many draws against the restricted, renormalised weights."""
    exam = model(root, "realistic")
    hosts = {
        "prediction": {"point_predictor": ["clean"]},
        "effect_estimate": {"ate_point": ["clean", "proxy"], "ate_uq_95": ["clean", "proxy"]},
    }
    rng = np.random.default_rng(4)
    cells = [choose_cell(exam, "chain", hosts, rng) for _ in range(4000)]
    families = Counter(cell.family for cell in cells if cell)
    expected = 0.203032 / (0.203032 + 0.113322)
    assert families["effect_estimate"] / 4000 == pytest.approx(expected, abs=0.03)
    views = Counter(c.view for c in cells if c and c.family == "effect_estimate")
    share = views["clean"] / sum(views.values())
    assert share == pytest.approx(0.362522 / (0.362522 + 0.325152), abs=0.04)


def test_what_has_no_weight_is_chosen_evenly(root: Path) -> None:
    """Zero mass must not end in an error or in the first of a list."""
    exam = model(root, "realistic")
    hosts = {"effect_estimate": {"ate_sign_only": ["clean"], "ate_vs_assoc_sign_match": ["clean"]}}
    rng = np.random.default_rng(4)
    found = Counter(
        cell.variant for _ in range(400) if (cell := choose_cell(exam, "chain", hosts, rng))
    )
    assert len(found) == 2 and min(found.values()) > 140
    assert choose_cell(exam, "chain", {}, rng) is None


def test_a_composed_exam_asks_every_scene_once(root: Path) -> None:
    """One task a scene, whatever the order in which tasks are met."""
    exam, found = model(root, "realistic", tasks=30), tasks()
    drawn = draw_exam(exam, found, KEY, "x")
    scenes = {task.task_id: task.instance_id for task in found}
    assert len(drawn.task_ids) == len({scenes[name] for name in drawn.task_ids}) == 30
    assert draw_exam(exam, found[::-1], KEY, "x").task_ids == drawn.task_ids
    assert draw_exam(exam, found, ROOT, "x").task_ids != drawn.task_ids
    for levels in drawn.composition.values():
        assert sum(row["realised"] for row in levels.values()) == 30
        assert sum(row["requested"] for row in levels.values()) == pytest.approx(30, abs=0.2)


def test_a_balanced_exam_takes_every_variant_and_every_class(root: Path) -> None:
    """Every variant equally often where there are enough; no class of answers left out."""
    found = tasks()
    drawn = draw_exam(model(root, "balanced", tasks=5 * len(ASKERS)), found, KEY, "x")
    chosen = [task for task in found if task.task_id in set(drawn.task_ids)]
    counts = Counter(task.key for task in chosen)
    assert set(counts) == set(ASKERS) and set(counts.values()) <= {4, 5}
    for key, count in counts.items():
        there = {task.label for task in found if task.key == key}
        assert len({task.label for task in chosen if task.key == key}) == min(count, len(there))


def test_matched_exams_hold_whole_groups(root: Path) -> None:
    """An ablation pairs the same question under every view, or in every telling."""
    base = tasks()
    views = [
        BuiltTask(f"{t.task_id}/{view}", t.instance_id, t.key, view, t.structure, t.label,
                  t.question)
        for t in base for view in ("clean", "proxy", "proxy_hard")
    ]  # fmt: skip
    drawn = draw_exam(model(root, "observation-layer", tasks=60), views, KEY, "x")
    arms = Counter(arm for _, arm in drawn.bundles.values())
    assert arms == {"clean": 20, "proxy": 20, "proxy_hard": 20} and len(drawn.task_ids) == 60
    groups: dict[str, set[str]] = {}
    for task_id, (bundle, _) in drawn.bundles.items():
        groups.setdefault(bundle, set()).add(task_id.rpartition("/")[0])
    assert all(len(members) == 1 for members in groups.values())
    with pytest.raises(UsageError, match="matched ones are 0"):
        draw_exam(model(root, "verbalisation-swap"), base, KEY, "x")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"kind": "hardest"}, "kind"),
        ({"tasks": 0}, "tasks"),
        ({"difficulty": 1.5}, "difficulty"),
        ({"strength": {"rungs": 1}}, "strength.rungs"),
        ({"families": [{"of": ["chian"], "weights": {"prediction": 1}}]}, "families"),
        ({"variants": {"prediction": {"point": 1}}}, "variants.prediction.point"),
        ({"views": [{"of": ["prediction"], "weights": {"clean": 0}}]}, "views"),
    ],
)
def test_a_bad_exam_file_is_named_with_its_key(
    root: Path, change: dict[str, object], key: str
) -> None:
    """A typo must cost a second."""
    with pytest.raises(UsageError, match=f"realistic.{key}"):
        model(root, "realistic", **change)


def _private_plans(root: Path, **tasks: int) -> list[ScenePlan]:
    exams = tuple((name, model(root, name, tasks=count)) for name, count in tasks.items())
    scenes = sum(tasks.values())
    settings = table(scenes=scenes, composition="full", views=["clean", "proxy", "proxy_hard"])
    del settings["motifs"]
    config = with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")
    specs = plan_scenes(config, "test", ROOT, True)
    return [ScenePlan.from_json(spec.config_json) for spec in specs]


def test_private_scenes_are_planned_for_their_exams(root: Path) -> None:
    """Each scene belongs to one exam, with one variant and one view; balanced is balanced."""
    plans = _private_plans(root, realistic=40, balanced=2 * len(ASKERS), hard=40)
    assert Counter(plan.exam for plan in plans) == {
        "realistic": 40,
        "balanced": 2 * len(ASKERS),
        "hard": 40,
    }
    assert all(len(plan.views) == 1 and plan.variant for plan in plans)
    balanced = Counter(plan.variant for plan in plans if plan.exam == "balanced")
    assert set(balanced) == set(ASKERS) and set(balanced.values()) == {2}
    exams = [plan.exam for plan in plans]
    assert sum(a != b for a, b in pairwise(exams)) > 60, "order tells nothing"


def test_a_private_split_refuses_ablations_and_wrong_sums(root: Path) -> None:
    """One scene asked several times would give its own truth away."""
    config = TRACK.parse(TomlTable(table(scenes=60), "here."))
    with pytest.raises(UsageError, match="several times"):
        with_exams(config, (("layer", model(root, "observation-layer", tasks=60)),), "here")
    with pytest.raises(UsageError, match="scenes = 30"):
        with_exams(config, (("realistic", model(root, "realistic", tasks=30)),), "here")


def test_a_wanted_class_is_what_a_balanced_scene_is_asked_for(root: Path) -> None:
    """Planned classes come out in the built scenes (a few of them, built)."""
    exams = (("balanced", model(root, "balanced", tasks=33)),)
    settings = table(scenes=33, composition="full")
    del settings["motifs"]
    config = with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")
    built = [TRACK.build(spec) for spec in plan_scenes(config, "test", ROOT, True)[:8]]
    for one in built:
        plan = json.loads(one.rows["causalds_worlds"][0]["world_json"])["plan"]  # type: ignore[arg-type]
        (task,) = built_tasks(lambda c, _, one=one: one.rows[c])  # type: ignore[misc]
        assert task.key == plan["variant"] and task.label == plan["wanted"]
