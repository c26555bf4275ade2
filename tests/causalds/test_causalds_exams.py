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

from builder.causalds.complete import KEYS
from builder.causalds.exams.built import BuiltTask, built_tasks
from builder.causalds.exams.cells import (
    RANKS,
    Cell,
    choose_slot,
    family_weights,
    variant_weights,
    view_weights,
)
from builder.causalds.exams.draw import draw_exam
from builder.causalds.exams.model import FAMILIES, ExamModel, parse_exam
from builder.causalds.exams.quotas import deal_cells
from builder.causalds.plan.config import Config, with_exams
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.plan.types import ScenePlan
from builder.causalds.track import TRACK
from builder.settings import TomlTable, read_toml
from builder.track import InstanceSpec
from grader.errors import UsageError

DOMINANCE = "mediation_effect.direct_vs_indirect_dominance"
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
    families = Counter(choose_slot(exam, "chain", hosts, rng)[0] for _ in range(4000))
    expected = 0.203032 / (0.203032 + 0.113322)
    assert families["effect_estimate"] / 4000 == pytest.approx(expected, abs=0.03)
    share = view_weights(exam, "effect_estimate", ("clean", "proxy"))["clean"]
    assert share == pytest.approx(0.362522 / (0.362522 + 0.325152))


def test_what_has_no_weight_is_chosen_evenly(root: Path) -> None:
    """Zero mass must not end in an error or in the first of a list."""
    exam = model(root, "realistic")
    hosts = {"effect_estimate": {"ate_sign_only": ["clean"], "ate_vs_assoc_sign_match": ["clean"]}}
    rng = np.random.default_rng(4)
    found = Counter(choose_slot(exam, "chain", hosts, rng)[1] for _ in range(400))
    assert len(found) == 2 and min(found.values()) > 140
    assert view_weights(exam, "identification", ("proxy_hard",)) == {"proxy_hard": 1}


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


def _any(_: int, __: Cell) -> tuple[str, ...]:
    """Answers of all classes alike."""
    return ("True", "False")


def test_a_deal_with_a_constant_label_is_dealt_again(root: Path) -> None:
    """Of 60 scenes four have another verdict; whether the seven that are asked for theirs agree is
    a matter of luck, and most deals would be constant."""
    exam, views = model(root, "realistic"), ("clean",)
    key = "counterfactual_identification.identifiable_boolean"

    def classes(scene: int, _: Cell) -> tuple[str, ...]:
        return ("False",) if scene < 4 else ("True",)

    for seed in range(12):
        structures, hosts = ["confounding"] * 60, [_everything(views)] * 60
        rng = np.random.default_rng(seed)
        cells = deal_cells(exam, structures, hosts, views, rng, classes)
        asked = [scene for scene, cell in enumerate(cells) if cell.key == key]
        assert len(asked) >= 6 and {classes(scene, cells[0]) for scene in asked} == {
            ("False",),
            ("True",),
        }


def _everything(views: tuple[str, ...]) -> dict[str, dict[str, tuple[str, ...]]]:
    return {family: dict.fromkeys(names, views) for family, names in FAMILIES.items()}


def test_quotas_are_the_priors_rounded_and_go_to_scenes_that_host_them(root: Path) -> None:
    """Of 40 scenes 8 have something in between: they take the three mediation tasks that all
    scenes together ask for, and no other family is a task off."""
    exam, views = model(root, "realistic"), ("clean", "proxy", "proxy_hard")
    structures = ["confounding"] * 20 + ["iv"] * 12 + ["chain"] * 8
    hosts = [
        {f: v for f, v in _everything(views).items() if f != "mediation_effect" or s == "chain"}
        for s in structures
    ]
    wanted: Counter[str] = Counter()
    for structure in structures:
        wanted.update(family_weights(exam, structure))
    for seed in range(5):
        cells = deal_cells(exam, structures, hosts, views, np.random.default_rng(seed), _any)
        found = Counter(cell.family for cell in cells)
        assert all(abs(found[family] - share) < 1 for family, share in wanted.items())
        assert found["mediation_effect"] == round(wanted["mediation_effect"]) == 2
        asked = {s for s, cell in zip(structures, cells, strict=True)
                 if cell.family == "mediation_effect"}  # fmt: skip
        assert asked == {"chain"}


def test_a_deal_follows_the_priors_of_each_structure(root: Path) -> None:
    """Quotas fix the totals; who gets a family is still a matter of the structure's own prior."""
    exam, views = model(root, "realistic"), ("clean",)
    structures = ["collider", "iv"] * 30
    hosts = [_everything(views)] * 60
    found: Counter[str] = Counter()
    for seed in range(20):
        cells = deal_cells(exam, structures, hosts, views, np.random.default_rng(seed), _any)
        found.update(s for s, c in zip(structures, cells, strict=True)
                     if c.family == "effect_estimate")  # fmt: skip
    expected = 0.103702 / (0.103702 + 0.222944)
    assert found["collider"] / found.total() == pytest.approx(expected, abs=0.07)


def test_what_no_scene_can_be_asked_goes_to_what_they_can(root: Path) -> None:
    """No exam fails for a family without hosts; it moves, and the composition says so."""
    exam = model(root, "realistic")
    hosts = [{"prediction": {"point_predictor": ("proxy",)}}] * 3
    cells = deal_cells(
        exam, ["chain"] * 3, hosts, ("clean", "proxy"), np.random.default_rng(1), _any
    )
    assert [(c.key, c.view) for c in cells] == [("prediction.point_predictor", "proxy")] * 3


def test_a_balanced_exam_takes_every_variant_and_every_class(root: Path) -> None:
    """Every variant equally often where there are enough; no class of answers left out. These few
    scenes have one answer only to one variant, dominance, which is asked of three of them."""
    found = [task for task in tasks() if task.key != DOMINANCE]
    drawn = draw_exam(model(root, "balanced", tasks=5 * len(KEYS)), found, KEY, "x")
    chosen = [task for task in found if task.task_id in set(drawn.task_ids)]
    counts = Counter(task.key for task in chosen)
    assert set(counts) == set(KEYS) - {DOMINANCE} and set(counts.values()) <= {4, 5, 6}
    for key, count in counts.items():
        there = {task.label for task in found if task.key == key}
        assert len({task.label for task in chosen if task.key == key}) == min(count, len(there))


def test_a_label_that_is_always_the_same_is_not_asked_for(root: Path) -> None:
    """Nine times "there is bias" would be nine points for a word; numbers may stay."""
    boolean = "bias_diagnostic.collider_bias_boolean"
    found = [task for task in tasks() if task.key != boolean or task.label == "True"]
    assert sum(task.key == boolean for task in found) >= 3
    drawn = draw_exam(model(root, "balanced", tasks=90), found, KEY, "x")
    asked = {task.key for task in found if task.task_id in set(drawn.task_ids)}
    assert boolean not in asked and "prediction.point_predictor" in asked
    alone = [task for task in found if task.key == boolean]
    assert len(draw_exam(model(root, "balanced", tasks=3), alone, KEY, "x").task_ids) == 3


def test_matched_exams_hold_whole_groups(root: Path) -> None:
    """An ablation pairs the same question under every view, or in every telling."""
    base = tasks()
    views = [
        BuiltTask(f"{t.task_id}/{view}", t.instance_id, t.key, view, t.structure, t.label,
                  t.question)
        for t in base for view in ("clean", "proxy", "proxy_hard")
    ]  # fmt: skip
    drawn = draw_exam(model(root, "observation-every", tasks=60), views, KEY, "x")
    arms = Counter(arm for _, arm in drawn.bundles.values())
    assert arms == {"clean": 20, "proxy": 20, "proxy_hard": 20} and len(drawn.task_ids) == 60
    groups: dict[str, set[str]] = {}
    for task_id, (bundle, _) in drawn.bundles.items():
        groups.setdefault(bundle, set()).add(task_id.rpartition("/")[0])
    assert all(len(members) == 1 for members in groups.values())
    with pytest.raises(UsageError, match="matched ones are 0"):
        draw_exam(model(root, "verbalisation-swap"), base, KEY, "x")


def test_a_matched_exam_may_be_restricted(root: Path) -> None:
    """Numbers about identifiable targets, from data (A.13): nothing else, and whole groups."""
    numeric = ("effect_estimate.ate_point", "mediation_effect.effect_uq_95")
    other = ("identification.method_label", "effect_estimate.ate_sign_only")
    built = [
        BuiltTask(f"{scene}-{key}-{view}", f"s{scene}", key, view, "chain", "value", "",
                  abstains=scene % 2 == 0)
        for scene in range(20) for key in (*numeric, *other)
        for view in ("clean", "proxy", "proxy_hard")
    ]  # fmt: skip
    exam = model(root, "observation-layer", tasks=60)
    drawn = draw_exam(exam, built, KEY, "x")
    parts = [task_id.split("-") for task_id in drawn.task_ids]
    assert len(parts) == 60 and {key for _, key, _ in parts} == set(numeric)
    assert all(int(scene) % 2 for scene, _, _ in parts)
    with pytest.raises(UsageError, match="matched ones are 60"):
        draw_exam(model(root, "observation-layer", tasks=63), built, KEY, "x")
    for change, key in (({"variants": ["no.such"]}, "variants"), ({"identifiable": 1}, "identifi"),
                        ({"input_mode": "air"}, "input_mode")):  # fmt: skip
        with pytest.raises(UsageError, match=key):
            model(root, "observation-layer", **change)


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


def _private_specs(root: Path, **tasks: int) -> tuple[Config, list[InstanceSpec]]:
    exams = tuple((name, model(root, name, tasks=count)) for name, count in tasks.items())
    scenes = sum(tasks.values())
    views = ["clean", "proxy", "proxy_hard"]
    settings = table(scenes=scenes, composition="full", views=views, words="fictional")
    del settings["motifs"]
    config = with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")
    return config, plan_scenes(config, "test", ROOT, True)


def _private_plans(root: Path, **tasks: int) -> list[ScenePlan]:
    _, specs = _private_specs(root, **tasks)
    return [ScenePlan.from_json(spec.config_json) for spec in specs]


def test_private_scenes_are_planned_for_their_exams(root: Path) -> None:
    """Each scene belongs to one exam, with one variant and one view; balanced is balanced."""
    plans = _private_plans(root, realistic=40, balanced=2 * len(KEYS), hard=40)
    assert Counter(plan.exam for plan in plans) == {
        "realistic": 40,
        "balanced": 2 * len(KEYS),
        "hard": 40,
    }
    assert all(len(plan.views) == 1 and plan.variant for plan in plans)
    balanced = Counter(plan.variant for plan in plans if plan.exam == "balanced")
    assert set(balanced) == set(KEYS) and set(balanced.values()) == {2}
    exams = [plan.exam for plan in plans]
    assert sum(a != b for a, b in pairwise(exams)) > 60, "order tells nothing"


def test_private_exams_keep_to_their_priors(root: Path) -> None:
    """Scene by scene, mediation would be planned once for the seven times it is requested, and the
    balanced exam would thin out confounding."""
    config, specs = _private_specs(root, realistic=100, balanced=165)
    found = TRACK.composition(config, specs)
    for axis in ("family", "rung", "variant", "view"):
        for level, row in found[f"realistic: {axis}"].items():
            assert abs(row["requested"] - row["realised"]) <= 1, level
    assert found["realistic: family"]["mediation_effect"]["realised"] >= 6
    motifs = found["motif"].values()
    assert sum(abs(row["requested"] - row["realised"]) for row in motifs) / 2 < 0.06 * 265
    assert abs(found["motif"]["confounding"]["realised"] - 82) <= 6


def test_a_private_split_refuses_ablations_and_wrong_sums(root: Path) -> None:
    """One scene asked several times would give its own truth away."""
    config = TRACK.parse(TomlTable(table(scenes=60), "here."))
    with pytest.raises(UsageError, match="several times"):
        with_exams(config, (("layer", model(root, "observation-every", tasks=60)),), "here")
    with pytest.raises(UsageError, match="scenes = 30"):
        with_exams(config, (("realistic", model(root, "realistic", tasks=30)),), "here")


def test_a_wanted_class_is_what_a_balanced_scene_is_asked_for(root: Path) -> None:
    """Planned classes come out in the built scenes (eight of them, after one that takes long)."""
    exams = (("balanced", model(root, "balanced", tasks=33)),)
    settings = table(scenes=33, composition="full")
    del settings["motifs"]
    config = with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")
    built = [TRACK.build(spec) for spec in plan_scenes(config, "test", ROOT, True)[3:11]]
    had = 0
    for one in built:
        plan = json.loads(one.rows["causalds_worlds"][0]["world_json"])["plan"]  # type: ignore[arg-type]
        (task,) = built_tasks(lambda c, _, one=one: one.rows[c])  # type: ignore[misc]
        assert task.key == plan["variant"]
        had += task.label == plan["wanted"]
    assert had >= 7, "a class that rests on numbers may be too rare in one scene"
