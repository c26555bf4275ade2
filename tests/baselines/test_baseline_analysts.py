"""The analysts on scenes whose effects are known by construction."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from small_exam import STORIES, M, X, Y, Z, ask, every_task, measured, scene, simulate
from some_cases import some_of

from baselines.causalds.effect_plan import efficient_set
from baselines.causalds.informed_analyst import SOLVERS as INFORMED
from baselines.causalds.informed_analyst import larger, make_solver
from baselines.causalds.naive_analyst import SOLVERS as NAIVE
from baselines.causalds.naive_analyst import make_solver as make_naive_solver
from baselines.exam import ShownScene, constants_of, write_answer
from builder.graphs.identification import valid_adjustment_sets
from builder.graphs.motifs import MOTIFS
from grader.scoring.model import RawAnswer
from grader.scoring.score import check
from grader.scoring.shape import Task
from grader.tracks import VARIANTS


def naive(task: Task, of: ShownScene) -> Any:
    return make_naive_solver(of)(task)


def informed(task: Task, of: ShownScene) -> Any:
    return make_solver(of)(task)


SOLVERS = {
    "constant": lambda task, of: next(iter(constants_of(task).values())),
    "naive": naive,
    "informed": informed,
    "double-sampling": lambda task, of: make_solver(of, corrected=True)(task),
}


@pytest.mark.parametrize(
    ("name", "motif"),
    [
        *(("double-sampling", motif) for motif in sorted(STORIES)),
        *some_of((("informed", motif) for motif in sorted(STORIES)), 2),
        *((name, motif) for name in ("constant", "naive") for motif in ("iv", "mediation")),
    ],
)
def test_every_answer_is_valid(name: str, motif: str, tmp_path: Path) -> None:
    """A baseline that breaks the format would set the floor of the scale too low."""
    whole = motif in ("iv", "mediation")
    clean = scene(motif, n=120, binary_y=motif == "iv")
    shown = [measured(clean, known=60)]
    if whole and name != "double-sampling":  # which is informed there
        shown.append(clean)
    for of in shown:
        for task in every_task(of):
            if task.spec.family == "prediction" and not whole:
                continue
            write_answer(tmp_path, task, SOLVERS[name](task, of))
            data = (tmp_path / task.answer_file).read_bytes()
            checked = check(task, RawAnswer(task.answer_file, data))
            assert checked.status == "scored", (task.spec.key, checked.message)


def test_both_analysts_have_every_variant_and_no_other() -> None:
    """A variant without a function would end the run in the middle of an exam."""
    asked = {variant.key for variant in VARIANTS if variant.track == "causalds"}
    assert set(INFORMED) == asked and set(NAIVE) < asked


def test_a_constant_sketch_names_the_variables_of_the_story() -> None:
    """Edges between made-up names can never be right: the floor would lie too low."""
    of = scene("mediation", n=50)
    told = {name.casefold() for name in (X, Y, Z, M)}
    texts = constants_of(ask("causal_sketch.edges_only", of), of.story)
    sketch = json.loads(texts["every pair"])
    assert {edge[end].casefold() for edge in sketch["edges"] for end in edge} <= told


def answer(key: str, of: ShownScene, analyst: Any = informed) -> dict[str, Any]:
    result = analyst(ask(key, of), of)
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize(
    ("motif", "effect"),
    [("confounding", 1.5), ("frontdoor", 1.2), ("fork", 0.0), ("collider", 0.0)],
)
def test_informed_finds_the_effect_that_naive_misses(motif: str, effect: float) -> None:
    """The better analyst would not be better for the right reason."""
    of = scene(motif)
    found = answer("effect_estimate.ate_uq_95", of)
    half = found["ci_upper"] - found["ate"]
    assert abs(found["ate"] - effect) <= 1.5 * half < 0.2
    value = answer("counterfactual_effect.effect_point", of)["value"]
    assert value == pytest.approx(effect, abs=0.12)
    if motif in ("frontdoor", "collider"):
        assert abs(answer("effect_estimate.ate_point", of, naive)["ate"] - effect) > 0.3


def test_informed_abstains_where_the_effect_is_not_identifiable() -> None:
    """Committing to a number that no data can support would be rewarded by luck."""
    of = scene("iv")
    assert answer("effect_estimate.ate_point", of) == {"ate": None}
    assert answer("effect_estimate.ate_uq_95", of)["ci_lower"] is None
    assert answer("counterfactual_effect.effect_point", of) == {"value": None}


@pytest.mark.parametrize(
    ("motif", "method", "minimal", "answers"),
    [
        ("confounding", "backdoor", [[Z]], ([Z], 1, 1, [], True)),
        ("frontdoor", "frontdoor", "no_backdoor", ("no_backdoor",) * 4 + (True,)),
        ("iv", "none", "non_id", ("non_id",) * 4 + (False,)),
        ("mediation", "backdoor", [[]], ([], 0, 2, [M], True)),
        ("fork", "trivial_zero", [[Z]], ([Z], 1, 1, [], True)),
        ("collider", "trivial_zero", [[]], ([], 0, 1, [Z], True)),
    ],
)
def test_informed_answers_what_the_story_alone_decides(motif, method, minimal, answers):
    """The method, the five cells of sets and the two of verdicts are read off one graph."""
    of = scene(motif, n=50)
    adjust, size, count, forbidden, yes = answers
    assert answer("identification.method_label", of) == {"method": method}
    assert answer("identification.all_minimal_adjustment_sets", of) == {"adjustment_sets": minimal}
    assert answer("identification.one_valid_adjustment_set", of) == {"adjust": adjust}
    assert answer("identification.minimal_adjustment_set_size", of) == {"k": size}
    assert answer("identification.n_valid_adjustment_sets", of) == {"n": count}
    assert answer("bias_diagnostic.forbidden_controls_list", of) == {"forbidden": forbidden}
    assert answer("identification.identifiable_boolean", of) == {"identifiable": yes}
    key = "counterfactual_identification.identifiable_boolean"
    assert answer(key, of) == {"identifiable": yes}


def test_natural_effects_of_a_confounded_mediator_are_told_apart() -> None:
    """Direct 0.5, through M 1.0 for a unit of X; without Z as control the split is wrong."""
    of = scene("mediation", n=3000)
    for estimand, effect in (("NDE", 0.5), ("NIE", 1.0)):
        task = ask("mediation_effect.effect_uq_95", of, estimand=estimand)
        found = informed(task, of)
        assert isinstance(found, dict)
        assert found["ci_lower"] < effect < found["ci_upper"] < effect + 0.2
        sign = informed(ask("mediation_effect.sign_only", of, estimand=estimand), of)
        assert sign == {"sign": "+"}
    assert answer("mediation_effect.direct_vs_indirect_dominance", of) == {"dominant": "indirect"}


@pytest.mark.parametrize(
    ("direct", "indirect", "label"),
    [(1, -2, "indirect"), (-2, 1, "direct"), (1, -0.96, "tie"), (0.94, 1, "indirect")],
)
def test_dominance_has_a_tie_band_of_five_percent(direct, indirect, label):
    """Sizes count, not signs, and near equality is a label of its own."""
    assert larger(direct, indirect) == label


def test_a_collider_induces_association_and_bias_and_a_common_cause_does_not() -> None:
    """X and Y apart: given their common effect they are not, and r itself is exactly zero."""
    of = scene("collider")
    key = "collider_phenomenon.induced_association"
    assert answer(f"{key}_boolean", of) == {"association_present": True}
    assert answer(f"{key}_sign_only", of) == {"sign": "-"}
    before_after = {"sign_before": "unknown", "sign_after": "-"}
    assert answer("association.sign_before_after", of) == before_after
    assert answer("association.effect_size_point", of) == {"value": 0.0}
    assert answer("association.sign_only", of, naive)["sign"] in "+-"
    assert answer("association.delta_sign_only", of)["sign"] == "-"
    assert answer("bias_diagnostic.collider_bias_boolean", of) == {"bias_present": True}
    fork = scene("fork")
    assert answer("bias_diagnostic.collider_bias_boolean", fork) == {"bias_present": False}
    assert answer("association.sign_before_after", fork)["sign_after"] == "unknown"
    assert answer("effect_estimate.ate_vs_assoc_sign_match", fork) == {"matches": False}
    assert answer("effect_estimate.ate_sign_only", fork) == {"sign": "0"}


def test_informed_is_fooled_by_a_measured_confounder() -> None:
    """What is left of the measurement error after calibration is left of the confounding too."""
    clean = scene("confounding", n=4000)
    right = answer("effect_estimate.ate_uq_95", clean)
    assert right["ci_lower"] < 1.5 < right["ci_upper"]
    found = answer("effect_estimate.ate_uq_95", measured(clean))
    misses = max(found["ci_lower"] - 1.5, 1.5 - found["ci_upper"])
    assert misses > found["ci_upper"] - found["ci_lower"]


def test_the_two_analysts_differ_only_where_something_is_measured() -> None:
    """The step from one to the other is then the price of measurement error alone."""
    clean = scene("mediation", n=600)
    for task in every_task(clean):
        assert repr(informed(task, clean)) == repr(SOLVERS["double-sampling"](task, clean))


def test_data_that_contradict_the_reading_win() -> None:
    """One misread sentence would turn a strong correlation into 'unknown'."""
    of = scene("fork")
    misread = ShownScene(of.instance_id, of.view, STORIES["collider"], of.data, of.test)
    assert answer("association.sign_only", misread) == {"sign": "+"}


def test_a_story_without_columns_still_gives_the_sketch() -> None:
    """In a private split a story-only scene lists no columns at all."""
    of = scene("frontdoor")
    bare = ShownScene(of.instance_id, of.view, of.story, {}, {})
    edges = informed(ask("causal_sketch.edges_only", of), bare)
    assert isinstance(edges, dict)
    assert {(e["from"].casefold(), e["to"].casefold()) for e in edges["edges"]} == {
        (a.casefold(), b.casefold()) for a, b in [(X, M), (M, Y), ("Draught", X), ("Draught", Y)]
    }


@pytest.mark.parametrize("binary_y", [False, True])
def test_prediction_intervals_cover_nine_in_ten(binary_y: bool) -> None:
    """Intervals that are too narrow are the dearest mistake under the interval score."""
    of = scene("confounding", seed=4, binary_y=binary_y)
    truth = simulate("confounding", 1700, 4, binary_y)[Y][1500:]
    table = informed(ask("prediction.prediction_interval", of), of)
    assert isinstance(table, str)
    columns = np.genfromtxt(table.splitlines(), delimiter=",", names=True)
    inside = np.mean((truth >= columns["lower"]) & (truth <= columns["upper"]))
    assert inside > 0.84
    error = np.mean((truth - columns["prediction"]) ** 2)
    assert error < 0.5 * truth.var() if not binary_y else error < 0.8 * truth.var()


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    """Bootstrap draws shared between tasks would make a rerun of one task differ."""
    of = scene("confounding")
    task, solve = ask("effect_estimate.ate_uq_95", of), make_solver(of)
    solve(ask("prediction.point_predictor", of))
    assert solve(task) == informed(task, of)


@pytest.mark.parametrize("name", sorted(MOTIFS))
def test_the_efficient_set_is_always_a_valid_one(name: str) -> None:
    """An efficient estimate of the wrong quantity is worth nothing."""
    motif = MOTIFS[name]
    valid = valid_adjustment_sets(motif.graph, motif.treatment, motif.outcome)
    if valid:
        found = efficient_set(motif.graph, motif.treatment, motif.outcome)
        assert frozenset(found) in valid


def test_the_logistic_scene_has_the_effect_of_its_mechanism() -> None:
    """The binary-outcome estimator would be tested against the wrong number."""
    of = scene("confounding", n=6000, seed=2, binary_y=True)
    rng = np.random.default_rng(0)
    z = rng.standard_normal(400_000)
    effect = float(np.mean(expit(0.75 - 2 * z) - expit(-0.75 - 2 * z)))
    found = answer("effect_estimate.ate_point", of)["ate"]
    assert found == pytest.approx(effect, abs=0.03)
