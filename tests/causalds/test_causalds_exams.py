"""Exams: the composition model, the draws from built tasks, the planning of private scenes."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from causalds_scenes import ROOT, model, public, table

from builder.splits.settings import TomlTable
from builder.splits.track import Candidate, DrawnExam, PossibleTask
from builder.tracks.causalds.design.eligibility import KEYS, VARIANTS
from builder.tracks.causalds.design.scene_plan import VIEWS, ScenePlan
from builder.tracks.causalds.exams import priors
from builder.tracks.causalds.exams.candidates import built_candidates, planned_candidates
from builder.tracks.causalds.exams.compose import classes_of, compose
from builder.tracks.causalds.exams.model import FAMILIES, ComposedExam
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError

Hosts = Mapping[str, Mapping[str, Collection[str]]]
"""Family to variant to the views in which a scene can be asked it."""

DOMINANCE = "mediation_effect.direct_vs_indirect_dominance"
KEY = b"a key of an exam, 32 bytes long."


def scenes() -> list[Candidate]:
    """The built tests' public scenes."""

    def read(config: str, columns: Any) -> Any:
        return [{c: row[c] for c in columns} for b in public() for row in b.rows[config]]

    return built_candidates(read)


def limited(keep: Callable[[PossibleTask], bool]) -> list[Candidate]:
    return [replace(one, tasks=tuple(filter(keep, one.tasks))) for one in scenes()]


def taken(found: Sequence[Candidate], exam: DrawnExam) -> list[PossibleTask]:
    names = set(exam.task_ids)
    return [task for one in found for task in one.tasks if task.name in names]


def scene(name: object, structure: str, hosts: Hosts, *labels: str, domain: str = "") -> Candidate:
    """A scene that can be asked some variants in some views, with these classes of answers."""
    tasks = (
        PossibleTask(
            f"{name}/{family}.{variant}/{view}/{label}", f"{family}.{variant}", view, label
        )
        for family, variants in hosts.items()
        for variant, views in variants.items()
        for view in views
        for label in labels or ("True", "False")
    )
    traits = {"structure": structure, "kind": structure, "domain": domain}
    return Candidate(str(name), tuple(tasks), traits)


def test_published_priors_are_the_weights_of_the_realistic_exam(root: Path) -> None:
    exam = model(root, "realistic")
    assert priors.family_weights(exam, "iv")["effect_estimate"] == pytest.approx(0.222944, abs=1e-4)
    assert priors.family_weights(exam, "grafted_2") == priors.family_weights(exam, "triangle")
    assert priors.family_weights(exam, "napkin")["identification"] == pytest.approx(
        0.15 / 1.0, abs=1e-3
    )
    assert "counterfactual_identification" not in priors.family_weights(exam, "napkin")
    assert priors.variant_weights(exam, "association")["argmax_change"] == pytest.approx(0.463863)
    evenly = 1 / len(priors.RANKS["bias_diagnostic"])
    assert set(priors.variant_weights(exam, "bias_diagnostic").values()) == {evenly}
    views = priors.view_weights(exam, "mediation_effect", VIEWS)
    assert views["proxy_hard"] == pytest.approx(0.312326)
    for structure in ("chain", "fork", "iv", "collider", "grafted_1", "napkin"):
        assert sum(priors.family_weights(exam, structure).values()) == pytest.approx(1)


def test_difficulty_tilts_as_in_equation_six(root: Path) -> None:
    """exp(beta (2d-1) (rung-2)) and its like, by hand for d = 1; d = 0.5 changes nothing."""
    flat, steep = model(root, "realistic"), model(root, "realistic", difficulty=1.0)
    before, after = priors.family_weights(flat, "chain"), priors.family_weights(steep, "chain")
    third, first = (after[f] / before[f] for f in ("mediation_effect", "prediction"))
    assert third / first == pytest.approx(np.exp(2))  # rungs 3 and 1
    views = priors.view_weights(steep, "causal_sketch", VIEWS)
    expected = 0.164384 / 0.544521 * np.exp(2)
    assert views["proxy_hard"] / views["clean"] == pytest.approx(expected, rel=1e-5)
    variants = priors.variant_weights(steep, "prediction")
    ratio = variants["prediction_interval"] / variants["point_predictor"]
    assert ratio == pytest.approx(0.645656 / 0.354344 * np.exp(1), rel=1e-5)


def test_a_variant_is_chosen_by_the_weights_of_what_a_scene_can_host(root: Path) -> None:
    """Frequencies over many draws against the restricted, renormalised weights."""
    exam, rng = model(root, "realistic"), np.random.default_rng(4)
    hosts = ["prediction.point_predictor", "effect_estimate.ate_point", "effect_estimate.ate_uq_95"]
    found = Counter(priors.choose_variant(exam, "chain", hosts, rng) for _ in range(4000))
    expected = 0.203032 / (0.203032 + 0.113322)
    assert 1 - found["prediction.point_predictor"] / 4000 == pytest.approx(expected, abs=0.03)
    share = priors.view_weights(exam, "effect_estimate", ("clean", "proxy"))["clean"]
    assert share == pytest.approx(0.362522 / (0.362522 + 0.325152))
    weightless = ["effect_estimate.ate_sign_only", "effect_estimate.ate_vs_assoc_sign_match"]
    found = Counter(priors.choose_variant(exam, "chain", weightless, rng) for _ in range(400))
    assert len(found) == 2 and min(found.values()) > 140
    assert priors.view_weights(exam, "identification", ("proxy_hard",)) == {"proxy_hard": 1}


def test_a_composed_exam_asks_every_scene_once(root: Path) -> None:
    exam, found = model(root, "realistic", tasks=24), scenes()
    drawn = compose(exam, found, KEY, "x")
    of = {task.name: one.instance_id for one in found for task in one.tasks}
    assert len(drawn.task_ids) == len({of[name] for name in drawn.task_ids}) == 24
    turned = [replace(one, tasks=one.tasks[::-1]) for one in found[::-1]]
    assert compose(exam, turned, KEY, "x").task_ids == drawn.task_ids
    assert compose(exam, found, ROOT, "x").task_ids != drawn.task_ids
    for levels in drawn.composition.values():
        assert sum(row["realised"] for row in levels.values()) == 24
        assert sum(row["requested"] for row in levels.values()) == pytest.approx(24, abs=0.2)


def test_a_plan_is_composed_by_the_rules_of_what_is_built(root: Path) -> None:
    """The plans of built scenes host all that was built of them."""
    plans = [
        ScenePlan.from_json(json.dumps(json.loads(str(row["world_json"]))["plan"]))
        for built in public()
        for row in built.rows["causalds_worlds"]
    ]
    planned = planned_candidates(((str(i), plan) for i, plan in enumerate(plans)), 3)
    for may, has in zip(planned, scenes(), strict=True):
        assert may.traits == has.traits
        there = Counter((task.variant, task.view) for task in has.tasks)
        able = Counter((task.variant, task.view) for task in may.tasks)
        assert all(count <= able[cell] for cell, count in there.items())
    with pytest.raises(UsageError, match=f"there are {len(planned)} scenes"):
        compose(model(root, "realistic", tasks=len(planned) + 1), planned, KEY, "x")


def _confounding(odd: int) -> list[Candidate]:
    """Sixty scenes that can be asked everything, the first ``odd`` with another verdict."""
    hosts = _everything(("clean",))
    return [scene(i, "confounding", hosts, "False" if i < odd else "True") for i in range(60)]


def test_a_deal_with_a_constant_label_is_dealt_again(root: Path) -> None:
    """Of 60 scenes four have another verdict."""
    exam, views = model(root, "realistic"), ("clean",)
    key = "counterfactual_identification.identifiable_boolean"
    found = _confounding(4)
    for seed in range(12):
        cells = priors.deal_cells(exam, found, views, np.random.default_rng(seed))
        asked = [place for place, cell in enumerate(cells) if cell.variant == key]
        assert len(asked) >= 6 and {place < 4 for place in asked} == {True, False}


def test_a_private_deal_does_not_look_at_answers(root: Path) -> None:
    """Dealt again until not all agree, seven known answers of eight that agree tell the eighth."""
    exam = model(root, "realistic", tasks=60)
    asked = []
    for odd in (4, 0):
        drawn = compose(exam, _confounding(odd), KEY, "x", private=True)
        asked.append(sorted(name.rpartition("/")[0] for name in drawn.task_ids))
    assert asked[0] == asked[1]


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
        wanted.update(priors.family_weights(exam, structure))
    scenes = [scene(i, *of) for i, of in enumerate(zip(structures, hosts, strict=True))]
    for seed in range(5):
        cells = priors.deal_cells(exam, scenes, views, np.random.default_rng(seed))
        found = Counter(VARIANTS[cell.variant].family for cell in cells)
        assert all(abs(found[family] - share) < 1 for family, share in wanted.items())
        assert found["mediation_effect"] == round(wanted["mediation_effect"]) == 2
        families = [VARIANTS[cell.variant].family for cell in cells]
        asked = zip(families, structures, strict=True)
        assert {s for f, s in asked if f == "mediation_effect"} == {"chain"}


def test_a_deal_follows_the_priors_of_each_structure(root: Path) -> None:
    """Quotas fix the totals; who gets a family is still a matter of the structure's own prior."""
    exam, views = model(root, "realistic"), ("clean",)
    structures = ["collider", "iv"] * 30
    scenes = [scene(i, name, _everything(views)) for i, name in enumerate(structures)]
    found: Counter[str] = Counter()
    for seed in range(20):
        cells = priors.deal_cells(exam, scenes, views, np.random.default_rng(seed))
        found.update(s for s, c in zip(structures, cells, strict=True)
                     if VARIANTS[c.variant].family == "effect_estimate")  # fmt: skip
    expected = 0.103702 / (0.103702 + 0.222944)
    assert found["collider"] / found.total() == pytest.approx(expected, abs=0.07)


def test_what_no_scene_can_be_asked_goes_to_what_they_can(root: Path) -> None:
    """No exam fails for a family without hosts; it moves, and the composition says so."""
    exam = model(root, "realistic")
    alike = [scene(i, "chain", {"prediction": {"point_predictor": ("proxy",)}}) for i in range(3)]
    cells = priors.deal_cells(exam, alike, ("clean", "proxy"), np.random.default_rng(1))
    assert [(c.variant, c.view) for c in cells] == [("prediction.point_predictor", "proxy")] * 3


def test_a_balanced_exam_takes_every_variant_and_every_class(root: Path) -> None:
    found = limited(lambda task: task.variant != DOMINANCE)
    chosen = taken(found, compose(model(root, "balanced", tasks=5 * len(KEYS)), found, KEY, "x"))
    counts = Counter(task.variant for task in chosen)
    assert set(counts) == set(KEYS) - {DOMINANCE} and set(counts.values()) <= {4, 5, 6}
    labels = {(task.variant, task.label) for one in found for task in one.tasks}
    for key, count in counts.items():
        there = sum(variant == key for variant, _ in labels)
        asked = len({task.label for task in chosen if task.variant == key})
        assert asked == min(count, there)


def test_a_label_that_is_always_the_same_is_not_asked_for(root: Path) -> None:
    """Nine times "there is bias" would be nine points for a word; numbers may stay."""
    boolean = "bias_diagnostic.collider_bias_boolean"
    found = limited(lambda task: task.variant != boolean or task.label == "True")
    alone = limited(lambda task: task.variant == boolean and task.label == "True")
    assert sum(len(one.tasks) for one in alone) >= 3
    exam = compose(model(root, "balanced", tasks=90), found, KEY, "x")
    asked = {task.variant for task in taken(found, exam)}
    assert boolean not in asked and "prediction.point_predictor" in asked
    assert exam.left_out[boolean] == "True" and not exam.left_out.keys() & asked
    assert not compose(model(root, "balanced", tasks=9), found, KEY, "x", private=True).left_out
    assert len(compose(model(root, "balanced", tasks=3), alone, KEY, "x").task_ids) == 3
    with pytest.raises(UsageError, match=f"every task of {boolean} .* has the same answer"):
        hosts = _everything(("clean",))
        del hosts["bias_diagnostic"]["collider_bias_boolean"]
        classes_of([scene(0, "chain", hosts), *alone], "x")


def test_what_a_rare_variant_cannot_take_goes_to_the_others(root: Path) -> None:
    """An exam has as many tasks as it says, and asks no planned scene twice."""
    rare = {"prediction": {"prediction_interval": ("clean",)}}
    common = {"association": {"sign_only": ("clean",), "effect_size_point": ("clean",)}}
    found = [scene(i, "chain", common | (rare if i < 2 else {})) for i in range(12)]
    exam = compose(model(root, "balanced", tasks=12), found, KEY, "x", private=True)
    assert len({name.partition("/")[0] for name in exam.task_ids}) == 12
    counts = Counter(task.variant for task in taken(found, exam))
    assert sorted(counts.values()) == [2, 5, 5]
    with pytest.raises(UsageError, match="13 tasks are asked but there are 12"):
        compose(model(root, "balanced", tasks=13), found, KEY, "x", private=True)


def test_matched_exams_hold_whole_groups(root: Path) -> None:
    """An ablation pairs the same question under every view, or in every telling."""
    views = [
        replace(one, tasks=tuple(
            replace(task, name=f"{task.name}/{view}", view=view)
            for task in one.tasks for view in ("clean", "proxy", "proxy_hard")
        ))
        for one in scenes()
    ]  # fmt: skip
    drawn = compose(model(root, "observation-every", tasks=60), views, KEY, "x")
    arms = Counter(arm for _, arm in drawn.bundles.values())
    assert arms == {"clean": 20, "proxy": 20, "proxy_hard": 20} and len(drawn.task_ids) == 60
    groups: dict[str, set[str]] = {}
    for task_id, (bundle, _) in drawn.bundles.items():
        groups.setdefault(bundle, set()).add(task_id.rpartition("/")[0])
    assert all(len(members) == 1 for members in groups.values())
    with pytest.raises(UsageError, match="only 0 are matched"):
        compose(model(root, "verbalisation-swap"), scenes(), KEY, "x")


def test_a_matched_exam_may_be_restricted(root: Path) -> None:
    numeric = ("effect_estimate.ate_point", "mediation_effect.effect_uq_95")
    other = ("identification.method_label", "effect_estimate.ate_sign_only")
    built = [
        Candidate(f"s{number}", tuple(
            PossibleTask(f"{number}-{key}-{view}", key, view, "value", abstains=number % 2 == 0)
            for key in (*numeric, *other) for view in ("clean", "proxy", "proxy_hard")
        ), {"structure": "chain", "domain": ""})
        for number in range(20)
    ]  # fmt: skip
    exam = model(root, "observation-layer", tasks=60)
    drawn = compose(exam, built, KEY, "x")
    parts = [task_id.split("-") for task_id in drawn.task_ids]
    assert len(parts) == 60 and {key for _, key, _ in parts} == set(numeric)
    assert all(int(number) % 2 for number, _, _ in parts)
    with pytest.raises(UsageError, match="only 60 are matched"):
        compose(model(root, "observation-layer", tasks=63), built, KEY, "x")
    for change, key in (({"variants": ["no.such"]}, "variants"), ({"identifiable": 1}, "identifi"),
                        ({"input_mode": "air"}, "input_mode")):  # fmt: skip
        with pytest.raises(UsageError, match=key):
            model(root, "observation-layer", **change)


@pytest.mark.parametrize(("kind", "tasks", "most"), [
    ("realistic", 30, 3), ("realistic", 36, 6), ("balanced", 33, 6), ("balanced", 59, 6),
])  # fmt: skip
def test_few_tasks_of_an_exam_share_a_domain(root: Path, kind: str, tasks: int, most: int) -> None:
    """Readers met the same cyclists seven times."""
    offered = {family: dict.fromkeys(names, VIEWS) for family, names in FAMILIES.items()}
    none = "" if kind == "balanced" else "domain 9"
    domains = [*(f"domain {number}" for number in range(9)), none]
    many = [scene(k, "chain", offered, domain=domains[min(k % 20, 9)]) for k in range(120)]
    exam = compose(model(root, kind, tasks=tasks), many, KEY, "here")
    ids = set(exam.task_ids)
    told = Counter(one.traits["domain"] for one in many for t in one.tasks if t.name in ids)
    assert max(told.values()) <= most, told
    assert max(Counter(name.partition("/")[0] for name in exam.task_ids).values()) == 1


@cache
def paper_scenes() -> Sequence[Candidate]:
    """Planned scenes in the composition of the paper's split, fewer of them."""
    settings = table(scenes=400, composition="paper", words="fictional", views=list(VIEWS))
    del settings["motifs"]
    specs = plan_scenes(TRACK.parse(TomlTable(settings, "here.")), "dev", ROOT, False)
    assert TRACK.exams is not None
    return TRACK.exams.planned(specs)


def test_table_11_is_met_number_for_number(root: Path) -> None:
    exam = model(root, "causalds-paper")
    assert isinstance(exam, ComposedExam)
    drawn = compose(exam, paper_scenes(), KEY, "here")
    of_task = {task.name: (one, task) for one in paper_scenes() for task in one.tasks}
    asked = [of_task[name] for name in drawn.task_ids]
    cells = Counter((s.traits["structure"], t.variant.partition(".")[0]) for s, t in asked)
    assert cells == {(s, f): n for s, row in exam.counts.items() for f, n in row.items()}
    assert len({one.instance_id for one, _ in asked}) == 100
    assert sum(one.traits["kind"].endswith("False") for one, _ in asked) == 30
    assert drawn.composition["family"]["prediction"] == {"requested": 15, "realised": 15}
    found = {view: row["realised"] for view, row in drawn.composition["view"].items()}
    assert sum(abs(found[v] - n) for v, n in zip(VIEWS, (48, 32, 20), strict=True)) < 12


@pytest.mark.parametrize(("change", "keep", "told"), [
    ({}, 100, r"counts\.[a-z_.0-9]+: \d tasks are asked, (one a scene, )?but \d scenes"),
    ({"unidentifiable": 99}, 300, "not all of them at once .* unidentifiable = 99"),
    ({"counts": {"fork": {"mediation_effect": 1}}, "tasks": 1, "unidentifiable": 0}, 400,
     r"counts\.fork\.mediation_effect: 1 tasks are asked, but 0 scenes"),
    ({"counts": {"chain": {"prediction": 9}}, "tasks": 9, "unidentifiable": 9}, 400,
     "unidentifiable: 9 are asked, but the ATE of [0-8] scenes"),
])  # fmt: skip
def test_counts_that_cannot_be_met_name_the_one_that_is_short(root, change, keep, told):
    """Before the build: the plan composes the exam from what scenes may be asked."""
    with pytest.raises(UsageError, match=told):
        compose(model(root, "causalds-paper", **change), paper_scenes()[:keep], KEY, "here")
