"""The causalds table of a split file, and its planning: quotas, indices, private exams."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from causalds_scenes import ROOT, SEVEN, model, specs, table

from builder.equations.mechanisms import STRAIGHT, mixture_weights
from builder.graphs.motifs import MOTIFS
from builder.splits.config import load_config
from builder.splits.seeds import instance_key, public_id
from builder.splits.settings import TomlTable, read_toml
from builder.splits.track import InstanceSpec
from builder.tracks import TRACKS
from builder.tracks.causalds.design.eligibility import ELIGIBILITY, KEYS, association_vanishes
from builder.tracks.causalds.design.scene_plan import (
    PlannedEquations,
    Questions,
    ScenePlan,
    Structure,
    Wording,
)
from builder.tracks.causalds.design.shares import largest_remainder
from builder.tracks.causalds.exams.candidates import built_candidates
from builder.tracks.causalds.exams.model import parse_exam
from builder.tracks.causalds.make.scene import narrate
from builder.tracks.causalds.plan.config import PRESETS, SceneSettings, with_exams
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError

WHERE = "x.toml: splits.dev.causalds"


def test_a_table_is_read_and_completed_by_the_defaults_of_the_paper() -> None:
    """Zero weights drop out, motifs come in catalogue order, whatever the file's order."""
    config = TRACK.parse(TomlTable(table(motifs={"iv": 2, "chain": 0.5, "fork": 0}), f"{WHERE}."))
    assert list(config.motifs.items()) == [("chain", 0.5), ("iv", 2.0)]
    assert (config.scenes, config.rows.train, config.rows.test) == (28, 400, 100)
    config = TRACK.parse(TomlTable({"scenes": 1, "motifs": {"chain": 1}}, f"{WHERE}."))
    assert (config.rows.train, config.rows.test) == (16000, 4000)
    assert (config.treatment_binary, config.outcome_binary) == (0.75, 0.4)
    with pytest.raises(UsageError, match=r"causalds\.scenes: missing"):
        TRACK.parse(TomlTable({"motifs": {"chain": 1}}, f"{WHERE}."))


def _proxy(**settings: object) -> dict[str, object]:
    return {"views": ["clean", "proxy"], "observation": {"proxy": settings}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scene": 3}, ".scene: unknown key; did you mean 'scenes'?"),
        ({"scenes": 0}, ".scenes: must be a whole number from 1"),
        ({"rows": 100}, ".rows: must be a table"),
        ({"rows": {"train": 10}}, ".rows.train: must be a whole number from 50"),
        ({"motifs": {}}, ".motifs: no weight is positive"),
        ({"motifs": {"chian": 1}}, ".motifs.chian: unknown key; did you mean 'chain'?"),
        ({"composition": "papre"}, ".composition: unknown name \"papre\"; did you mean 'paper'?"),
        ({"grafts": 1}, ".grafts: must be a list of the shares"),
        ({"grafts": [0, 0]}, ".grafts: no weight is positive"),
        ({"grafts": [0.5, 0.5], "motifs": {"frontdoor": 1}}, ".grafts: 14 scenes with grafts"),
        ({"grafts": [0.5, -1]}, ".grafts[1]: must be a number from 0"),
        ({"auxiliary": {"iv": 1}}, ".auxiliary.iv: unknown key"),
        ({"confounded": 0.5, "motifs": {"chain": 1}}, ".confounded: 14 scenes are to become"),
        ({"planted": {"napkn": 0.1}}, ".planted.napkn: unknown key; did you mean 'napkin'?"),
        ({"planted": {"napkin": 0.01}, "motifs": {"chain": 1}}, ".planted: planted structures"),
        ({"planted": {"napkin": 0.5}}, ".planted: 14 scenes are wanted out of the 4"),
        ({"profiles": {"continuous": {"linear": 1}}}, ".profiles.continuous.linear: unknown key"),
        ({"profiles": {"discrete": {}}}, ".profiles.discrete: unknown key"),
        ({"profiles": {"binary": {"noisy_or": 0}}}, ".profiles.binary: no weight is positive"),
        ({"views": []}, ".views: must be a list of names"),
        ({"views": ["clear"]}, ".views: unknown name \"clear\"; did you mean 'clean'?"),
        ({"diagnostics": 1}, ".diagnostics: must be true or false"),
        (_proxy(colums=[1, 2]), ".observation.proxy.colums: unknown key; did you mean 'columns'?"),
        (_proxy(columns=[3, 2]), ".observation.proxy.columns: 3 is more than 2; swap them"),
        (_proxy(columns=[2.5, 3]), ".observation.proxy.columns: must be two whole numbers from 1"),
        (_proxy(noise=[1]), ".observation.proxy.noise: must be two numbers from 0.001 to 1000"),
        (_proxy(calibration=2), ".observation.proxy.calibration: must be a number from 0 to 1"),
        (_proxy(thresholds={"min": 1}), ".observation.proxy.thresholds.min: unknown key"),
        ({"tellings": "llm"}, '.words: words = "knowledge" has no model\'s tellings'),
        ({"tellings": "five"}, '.tellings: must be a whole number of at least 0, or "llm"'),
        (_proxy(window=[0.8, 0.3]), ".observation.proxy.window"),
        (_proxy(window=[0.3, 1.8]), ".observation.proxy.window"),
        ({"views": ["clean", "clean"]}, ".views: a name is listed twice"),
    ],
)
def test_bad_values_are_refused_by_name(changes: dict[str, object], message: str) -> None:
    """A mistake in a split file must be found before any work, and say where it is."""
    with pytest.raises(UsageError) as error:
        TRACK.parse(TomlTable(table(**changes), f"{WHERE}."))
    assert f"{WHERE}{message}" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["mini", "leak-400", "private-example", pytest.param("main", marks=pytest.mark.slow)]
)
def test_the_split_files_of_the_repository_are_good(root: Path, name: str) -> None:
    """What documentation and tests build must at least parse, and plan."""
    release = load_config(root / "splits" / f"{name}.toml", TRACKS)
    assert release.name == name
    for split in release.splits:
        configs = dict(split.tracks)
        planned = {
            track: TRACKS[track].plan(config, split.name, bytes(32), split.private)
            for track, config in configs.items()
        }
        config = configs["causalds"]
        retellings = 0 if split.private else 3 * config.tellings
        assert len(planned["causalds"]) == config.scenes + retellings
        assert all(planned.values())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"composition": "full", "harmless": 1.0}, "harmless: must be less than 1"),
        ({"composition": "full", "harmless": 0.99}, "there are"),
        ({"motifs": {"iv": 1}, "harmless": 0.5}, "harmless: 28 scenes without an unmeasured"),
        (
            {"composition": "full", "treatment_binary": 1.0, "planted": {"napkin": 0.2}},
            "treatment_binary: 28 binary treatments are wanted, but the 6 scenes of napkin have a "
            "continuous one; ask for at most 0.78",
        ),
    ],
)
def test_quotas_that_no_scenes_meet_are_named_while_planning(changes, message):
    """Some quotas hang on others; planning finds them out, and nothing has been built by then."""
    config = TRACK.parse(TomlTable({"scenes": 28, **changes}, f"{WHERE}."))
    with pytest.raises(UsageError) as error:
        TRACK.plan(config, "dev", b"x" * 32, False)
    assert str(error.value).startswith("splits.dev.causalds.") and message in str(error.value)


def _plans(planned: list[InstanceSpec]) -> list[ScenePlan]:
    return [ScenePlan.from_json(spec.config_json) for spec in planned]


def test_largest_remainder() -> None:
    assert largest_remainder({"a": 1, "b": 1, "c": 1}, 10) == {"a": 4, "b": 3, "c": 3}
    assert largest_remainder({"a": 0.5, "b": 0.3, "c": 0.2}, 7) == {"a": 4, "b": 2, "c": 1}
    assert largest_remainder({"a": 0.1, "b": 0.9}, 3) == {"a": 0, "b": 3}
    assert largest_remainder({"a": 2, "b": 0}, 5) == {"a": 5, "b": 0}


def test_motifs_and_kinds_meet_their_shares() -> None:
    """A release states its composition; rounding must not shift it."""
    plans = _plans(specs(scenes=100))
    motifs = Counter(plan.structure.motif for plan in plans)
    assert set(motifs) == set(SEVEN) and set(motifs.values()) == {14, 15}
    assert Counter(plan.structure.treatment_kind for plan in plans)["binary"] == 50
    assert Counter(plan.structure.outcome_kind for plan in plans)["binary"] == 40
    for motif in SEVEN:
        kinds = [plan.structure.treatment_kind for plan in plans if plan.structure.motif == motif]
        assert 6 <= kinds.count("binary") <= 9, "kinds are spread over the motifs"


def test_indices_do_not_tell_the_plan() -> None:
    """Indices order the worlds; sorted motifs would follow from them."""
    motifs = [plan.structure.motif for plan in _plans(specs(scenes=70))]
    runs = sum(a != b for a, b in pairwise(motifs))
    assert runs > 40, motifs
    other = [plan.structure.motif for plan in _plans(specs(scenes=70, root=bytes(32)))]
    assert other != motifs


def test_specs_carry_the_keys_of_the_contract() -> None:
    """Ids and worlds must be derivable from the root alone, and apart from each other."""
    for index, spec in enumerate(specs(scenes=5)):
        assert spec.index == index and spec.track == "causalds" and spec.split == "dev"
        assert spec.key == instance_key(ROOT, "causalds", "dev", index)
        assert spec.id_key == instance_key(ROOT, "causalds", "dev", index, "id")
        assert spec.instance_id == public_id("scene", spec.id_key, "scene")


@pytest.mark.parametrize("scenes", [10, 60, 97])
def test_private_plans_spread_the_variants_evenly(scenes: int) -> None:
    plans = _plans(specs(private=True, scenes=scenes))
    counts = Counter(plan.questions.variant for plan in plans)
    hosted = {key for key in KEYS if any(ELIGIBILITY[key].hosts(plan) for plan in plans)}
    assert len(counts) == min(scenes, len(hosted))
    assert max(counts.values()) - min(counts.values()) <= 1, counts
    assert all(ELIGIBILITY[str(plan.questions.variant)].hosts(plan) for plan in plans)


def test_private_plans_cope_where_few_scenes_can_host_a_variant() -> None:
    """With binary outcomes only there is no interval to predict; the others share its place."""
    for changes in ({"outcome_binary": 1.0}, {"motifs": {"fork": 1}}, {"scenes": 1}):
        plans = _plans(specs(private=True, **{"scenes": 30, **changes}))
        assert all(ELIGIBILITY[str(plan.questions.variant)].hosts(plan) for plan in plans)


TELLINGS = {"knowledge", "knowledge_second", "fictional", "anonymous"}
ADJUSTMENT = {key for key in KEYS if "adjustment_set" in key or "forbidden" in key}
MEDIATION = {key for key in KEYS if key.startswith("mediation_effect.")}
DOMINANCE = {"mediation_effect.direct_vs_indirect_dominance"}
TWO_OTHERS = {"association.argmax_change"}
INDUCED = {"collider_phenomenon.induced_association_boolean"}
BIAS = {"bias_diagnostic.collider_bias_boolean"}
HOSTS: dict[str, set[str]] = {
    "chain": DOMINANCE | TWO_OTHERS,
    "mediation": TWO_OTHERS | INDUCED,
    "confounding": MEDIATION | TWO_OTHERS | INDUCED | BIAS,
    "frontdoor": DOMINANCE | TWO_OTHERS | INDUCED,
    "iv": MEDIATION | TWO_OTHERS | INDUCED | BIAS,
    "fork": ADJUSTMENT | MEDIATION | TWO_OTHERS | BIAS,
    "collider": ADJUSTMENT | MEDIATION | TWO_OTHERS,
}
"""What a scene of a motif can not be asked, whatever its kinds (paper 3.4)."""


@pytest.mark.parametrize("motif", SEVEN)
@pytest.mark.parametrize("outcome", ["continuous", "binary"])
def test_the_eligibility_table(motif: str, outcome: Any) -> None:
    """Effects are asked without a directed path too (value 0), adjustment sets are not."""
    structure = Structure.from_motif(MOTIFS[motif], motif, "binary", outcome)
    equations = PlannedEquations("linear_additive", "single_regulator_logistic", 100, 50)
    plan = ScenePlan(structure, equations, Wording(), Questions())
    missing = HOSTS[motif] | ({"prediction.prediction_interval"} if outcome == "binary" else set())
    assert {key for key in ELIGIBILITY if not ELIGIBILITY[key].hosts(plan)} == missing


def test_four_tellings_share_the_problem_and_nothing_else() -> None:
    """The ablation holds graph and data fixed while every name changes."""
    planned = specs(scenes=6, words="knowledge", tellings=2, views=["clean"])
    plans = _plans(planned)
    again, plan = next(x for x in zip(planned, plans, strict=True) if x[1].equations.world_key)
    (world,) = TRACK.build(again).rows["causalds_worlds"]
    assert world["world_key"] == plan.equations.world_key != again.key.hex()
    for bundle in {plan.telling.bundle for plan in plans} - {None}:
        members = [plan for plan in plans if plan.telling.bundle == bundle]
        assert {plan.telling.arm for plan in members} == TELLINGS
        assert len({(plan.structure.query, plan.equations.world_key) for plan in members}) == 1
        told = [narrate(plan, b"words").variables for plan in members]
        kinds = [{node: variable.kind for node, variable in one.items()} for one in told]
        assert kinds == [members[0].structure.kinds] * 4
        names = [{variable.name for variable in one.values()} for one in told]
        assert all(not a & b for i, a in enumerate(names) for b in names[:i])


def test_a_scene_whose_names_an_answer_could_mix_up_is_a_bug_of_the_builder(monkeypatch):
    """Answers are read generously, which is fair only while no two names are read alike."""
    plan = _plans(specs(scenes=1, words="anonymous", views=["clean"]))[0]
    told = narrate(plan, b"words")
    first, second, *_ = told.variables
    alike = {
        **told.variables,
        first: replace(told.variables[first], name="Valve"),
        second: replace(told.variables[second], name="Valves (open)"),
    }
    verbaliser = {"anonymous": lambda *_: replace(told, variables=alike)}
    monkeypatch.setattr("builder.tracks.causalds.make.scene.VERBALISERS", verbaliser)
    with pytest.raises(ValueError, match=r"cannot tell these names apart.*Valve"):
        narrate(plan, b"words")


def test_small_splits_have_both_answers_to_whether_an_association_is_left() -> None:
    """In some scene a third variable leaves treatment and outcome unassociated, which few graphs do
    alone: a profile of straight lines is swapped in, and every quota of profiles stays met."""
    swapped = 0
    for seed in range(6):
        asked = {"composition": "full", "words": "fictional", "motifs": PRESETS["full"]["motifs"]}
        plans = _plans(specs(root=bytes([seed]) * 32, scenes=36, **asked))
        hosts = [plan for plan in plans if association_vanishes(plan)]
        assert hosts
        swapped += all(plan.equations.continuous in STRAIGHT for plan in hosts)
        profiles = Counter(plan.equations.continuous for plan in plans)
        shares = largest_remainder(mixture_weights("continuous"), 36)
        assert profiles == Counter({name: n for name, n in shares.items() if n})
    assert swapped, "lines made the difference somewhere"


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


def _with_exams(exams: Any, **changes: object) -> SceneSettings:
    """A private split in the full composition that is these exams."""
    settings = table(composition="full", **changes)
    del settings["motifs"]
    return with_exams(TRACK.parse(TomlTable(settings, "here.")), exams, "here")


def test_private_scenes_are_planned_for_their_exams(root: Path) -> None:
    """Each scene belongs to one exam, with one variant and one view."""
    tasks = {"realistic": 100, "balanced": 2 * len(KEYS)}
    exams = tuple((name, model(root, name, tasks=count)) for name, count in tasks.items())
    views = ["clean", "proxy", "proxy_hard"]
    config = _with_exams(exams, scenes=166, views=views, words="fictional")
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
    config = _with_exams(exams, scenes=120)
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
    exams = (("balanced", model(root, "balanced", tasks=33)),)
    config = _with_exams(exams, scenes=33)
    built = [TRACK.build(spec) for spec in plan_scenes(config, "test", ROOT, True)[3:7]]
    had = 0
    for one in built:
        plan = json.loads(one.rows["causalds_worlds"][0]["world_json"])["plan"]["questions"]  # type: ignore[arg-type]
        (found,) = built_candidates(lambda c, _, one=one: one.rows[c])  # type: ignore[misc]
        (task,) = found.tasks
        assert task.variant == plan["variant"]
        had += task.label == plan["wanted"]
    assert had >= 3, "a class that rests on numbers may be too rare in one scene"
