"""Algorithm 1, quadrants, estimates and replicates by hand; the classes of reference reasoners."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from ccr_worlds import Exam, Solver, exhaustive, ignores
from hypothesis import given
from hypothesis import strategies as st

from baselines.ccr import global_wrong, naive, noise, perfect, shifted_model
from baselines.exam import OpenedExam
from baselines.systems import answer_tasks, named_systems
from grader.pipeline import merge_attempts
from grader.tracks.ccr import algorithm, contexts_of
from grader.tracks.ccr.algorithm import estimate, resample, weights_of
from grader.tracks.ccr.contexts import ContextResult

NODES = ("X", "C", "D", "Y")
VALUES = {"XC": 0.5, "CD": 0.4, "DY": 0.6, "XD": 0.2, "CY": 0.24, "XY": 0.12}
EXACT = {(a, b): value for (a, b), value in VALUES.items()}


def target(**changes: object) -> dict[str, object]:
    """Four units with weights 0.1, 0.2, 0.3, 0.4, in the cells 11, 10, 00, 10: PNS 0.6."""
    return {
        "cause": "A",
        "effect": "B",
        "answers": {"factual": "1100", "do_true": "1101", "do_false": "1000"},
        "weights": {"numerators": [1, 2, 3, 4], "denominator": 10},
        "exact": {"pns": "3/5", "pn": "6/7", "ps": "2/3", "ate": "3/5"},
    } | changes


def answers(true: str, false: str, factual: str = "1100") -> dict[str, list[int]]:
    codes = {"1": 1, "0": 0, "?": -1}
    return {
        "factual": [codes[c] for c in factual],
        "do_true": [codes[c] for c in true],
        "do_false": [codes[c] for c in false],
    }


def test_algorithm_1_returns_all_errors_of_the_running_example() -> None:
    """Six external errors, and two for each of the three compositions."""
    estimates = EXACT | {("X", "Y"): 0.15, ("X", "C"): 0.55}
    errors = algorithm.algorithm_1(NODES, [("X", "Y")], EXACT, estimates)
    assert errors.eta[("X", "Y")] == pytest.approx(0.25)
    assert errors.eta[("X", "C")] == pytest.approx(0.1)
    found = {c.path: c for c in errors.compositions}
    assert set(found) == {("X", "C", "Y"), ("X", "D", "Y"), ("X", "C", "D", "Y")}
    assert found["X", "C", "Y"].value == pytest.approx(0.132)
    assert found["X", "C", "Y"].external == pytest.approx(0.1)
    assert found["X", "C", "Y"].internal == pytest.approx(0.018 / 0.15)
    assert found["X", "D", "Y"].external == pytest.approx(0)
    assert found["X", "D", "Y"].internal == pytest.approx(0.2)
    assert (found["X", "C", "Y"].truth, found["X", "C", "Y"].whole) == (0.12, 0.15)
    sizes = [algorithm.error_or_none(whole, 0.132, absolute=True) for whole in (0.12, 0.15, None)]
    assert sizes == [pytest.approx(0.012), pytest.approx(0.018), None]


def test_a_missing_estimate_leaves_its_compositions_without_errors() -> None:
    """An estimate that is not there must not be taken for zero, which would be consistent."""
    estimates: dict[tuple[str, str], float | None] = dict(EXACT)
    estimates["X", "D"] = None
    errors = algorithm.algorithm_1(NODES, [("X", "Y")], EXACT, estimates)
    found = {c.path: c for c in errors.compositions}
    assert errors.eta[("X", "D")] is None
    assert found["X", "D", "Y"].external is None and found["X", "D", "Y"].internal is None
    assert found["X", "C", "Y"].external == pytest.approx(0)
    estimates["X", "Y"] = None
    errors = algorithm.algorithm_1(NODES, [("X", "Y")], EXACT, estimates)
    assert all(c.internal is None for c in errors.compositions)

    # The internal error divides by the reasoner's own estimate: zero agrees with zero only.
    nothing = dict.fromkeys(EXACT, 0.0)
    for composition in algorithm.algorithm_1(NODES, [("X", "Y")], EXACT, nothing).compositions:
        assert composition.internal == 0 and composition.external == 1
    some = EXACT | {("X", "Y"): 0.0}
    for composition in algorithm.algorithm_1(NODES, [("X", "Y")], EXACT, some).compositions:
        assert composition.internal == math.inf


@given(st.floats(1e-6, 1e6), st.floats(-1, 1))
def test_the_error_is_relative_to_the_reference(reference: float, shift: float) -> None:
    """Eq. G.3; a difference of exactly 10% counts as the same."""
    assert algorithm.relative_error(reference, reference * (1 + shift)) == pytest.approx(
        abs(shift), abs=1e-9
    )
    assert algorithm.agrees(reference, reference * 1.1) and algorithm.agrees(
        reference, reference * 0.9
    )
    assert not algorithm.agrees(reference, reference * 1.1001)


def test_completeness_asks_equivalent_quantities_to_agree_with_each_other() -> None:
    """Two compositions at +9% and -9% are valid, and do not agree with each other."""
    assert algorithm.is_complete(NODES, EXACT, EXACT)
    assert algorithm.all_agree([0.109, 0.1])
    assert not algorithm.all_agree([0.109, 0.091]) and not algorithm.all_agree([0.1, None])
    off = EXACT | {("X", "D"): 0.2 * 1.09, ("C", "Y"): 0.24 * 0.92}
    assert not algorithm.is_complete(NODES, EXACT, off)
    assert len(algorithm.paths(NODES, ("X", "Y"))) == 4


def test_pn_and_ps_compose_by_appendix_b() -> None:
    """Eq. B.28 and B.29 on numbers worked by hand."""
    values = {("X", "Y"): {"pn": 0.5, "ps": 0.8}, ("Y", "Z"): {"pn": 0.4, "ps": 0.5}}
    found = algorithm.compose_pn_ps(values, ("X", "Y", "Z"))
    assert found == pytest.approx((1 / (5 + 0.25 * 1.5), 1 / (2.5 + 1 * 1)))


def test_estimates_follow_the_weights() -> None:
    """PNS is the weight of units with the effect under do(true) and not under do(false)."""
    pair = estimate(target(), [answers("1101", "1000")])
    measures = {"pns": 0.6, "pn": 0.6 / 0.7, "ps": 0.6 / 0.9, "ate": 0.6}
    assert {name: pair[f"estimate_{name}"] for name in measures} == pytest.approx(measures)
    assert [pair[f"accuracy_{rung}"] for rung in ("factual", "do_true", "do_false")] == [1, 1, 1]
    assert pair["monotonicity_violations"] == 0


def test_the_joint_event_is_counted_and_what_is_unreadable_counts_as_wrong() -> None:
    """With a monotonicity violation PNS and ATE differ: 0.2, and 0.2 - 0.3. An answer that is left
    out can never help, nor hide in the average; two of twelve are too many, whatever they weigh."""
    pair = estimate(target(), [answers("1100", "1010")])
    assert pair["estimate_pns"] == pytest.approx(0.2)
    assert pair["estimate_ate"] == pytest.approx(0.3 - 0.4)
    assert pair["monotonicity_violations"] == pytest.approx(0.3)
    one_in_twelve = estimate(target(), [answers("110?", "1000")])
    assert one_in_twelve["invalid_answers"] == 1 and one_in_twelve["answers"] == 12
    assert one_in_twelve["estimate_pns"] == pytest.approx(0.2)  # the unit of weight 0.4 is lost
    assert one_in_twelve["accuracy_do_true"] == 0.75
    pair = estimate(target(), [answers("?101", "?000")])
    assert "estimate_pns" not in pair and pair["invalid_answers"] == 2


def test_stratified_units_share_their_cell() -> None:
    """Cell 10 has probability 0.6 and two units: the estimate loses half of it with one of them."""
    weights = {"cells": {"11": "1/10", "10": "3/5", "00": "3/10"}}
    truth = target(weights=weights)
    right = estimate(truth, [answers("1101", "1000")])
    assert right["estimate_pns"] == pytest.approx(0.6)
    cells = {"answers": {"factual": "110000", "do_true": "111100", "do_false": "110000"}}
    wider = target(weights=weights, **cells)
    half = {"factual": [0] * 6, "do_true": [1, 1, 1, 0, 0, 0], "do_false": [1, 1, 0, 0, 0, 0]}
    pair = estimate(wider, [half])
    assert pair["estimate_pns"] == pytest.approx(0.3)


def test_resampling_picks_one_replicate_a_unit() -> None:
    sets = [answers("1101", "1000"), answers("1100", "1000"), answers("1101", "1000")]
    values = resample(target(), sets, "seed")
    assert len(values) == 1000 and {round(v, 9) for v in values} == {0.2, 0.6}
    share = sum(v > 0.5 for v in values) / 1000
    assert share == pytest.approx(2 / 3, abs=4 * math.sqrt(2 / 9 / 1000))
    assert values == resample(target(), sets, "seed")
    assert resample(target(), [sets[0]] * 3, "seed") == [pytest.approx(0.6)] * 1000


def replicated(exam: Exam, solvers: list[Solver]) -> list[ContextResult]:
    attempts = [exam.grade(solver)[1] for solver in solvers]
    checked = merge_attempts([task for task, _ in exam.pairs], attempts)
    return contexts_of(exam.scores(checked), exam.truths, checked)


def test_replicates_have_shares_of_valid_estimates() -> None:
    """The 90% and 75% rules have something to decide."""
    exam = exhaustive(4)
    for result in replicated(exam, [perfect] * 3):
        assert result.complete and result.quadrant == "VC"
        assert all(row["valid_share"] == 1 for row in result.pairs)
    noisy = [noise(0.03, str(k)) for k in range(5)]
    rows = [row for result in replicated(exam, noisy) for row in result.pairs]
    assert any(0.05 < row["valid_share"] < 0.95 for row in rows)
    assert all(row["valid"] == (row["valid_share"] >= 0.9) for row in rows)
    for result in replicated(exam, [perfect, perfect, lambda task: None]):
        assert all(row["eta"] is None and not row["valid"] for row in result.pairs)
        assert result.quadrant == "II"


def test_the_headline_averages_contexts_with_stated_values() -> None:
    """Half for compositions, half for direct and deductive tasks; one alone where only one is."""
    stated = [
        {"seed": f"s{k}", "purpose": "direct", "variant": "direct.boolean", "sizes": (3, 3)}
        for k in range(2)
    ]
    exam = Exam({"seed": "exam/1", "sizes": (3, 3)}, *stated)
    summary = exam.summary(ignores)
    assert summary.metrics["points_simulation"] == 0 and summary.metrics["points_stated"] == 100
    assert summary.points == 50
    assert len(summary.replicates) == 1000 and set(summary.replicates) == {50.0}
    nothing = exam.summary(lambda task: None)
    assert nothing.points == 0 and nothing.metrics["complete_share"] == 0
    assert exhaustive(2).summary(perfect).points == 100


def test_only_compositions_that_were_asked_in_full_count() -> None:
    """An exam that draws some pairs of a context must not call the others invalid."""
    exam = exhaustive(1)
    first = exam.pairs[0][1].target["tree"][:2]
    exam.pairs = [
        (task, truth)
        for task, truth in exam.pairs
        if [truth.target["cause"], truth.target["effect"]] != first
    ]
    assert exam.contexts(perfect) == []
    assert exam.summary(perfect).points == 100


@pytest.fixture(scope="module")
def exam() -> Exam:
    return exhaustive(9)


@pytest.fixture(scope="module")
def long_exam() -> Exam:
    """Stratified units; of nine components, pairs in place of the global one."""
    return Exam({"seed": "three", "sizes": (4, 4, 4)}, {"seed": "nine", "sizes": (3,) * 9})


@pytest.fixture(scope="module", params=["exhaustive", "stratified"])
def any_exam(request: pytest.FixtureRequest, exam: Exam, long_exam: Exam) -> Exam:
    return exam if request.param == "exhaustive" else long_exam


@pytest.mark.parametrize(
    ("solver", "quadrant"), [(perfect, "VC"), (shifted_model, "IC"), (ignores, "IC")]
)
def test_a_reference_reasoner_lands_in_its_class(any_exam, solver, quadrant):
    """The acceptance test of the taxonomy: at both levels, whatever the units and the length."""
    results = any_exam.contexts(solver)
    assert len(results) == len({task.instance_id for task, _ in any_exam.pairs})
    for result in results:
        assert {row["class"] for row in result.compositions} == {quadrant}
        assert result.quadrant == quadrant
        assert result.complete == (solver is perfect)


def test_local_right_global_wrong_is_valid_and_inconsistent(any_exam: Exam) -> None:
    """VI for compositions of what is wrong, II for the context; other compositions stay VC. Up to
    five components the global pair is the only reference; beyond, the widest pairs asked."""
    solver = global_wrong([task for task, _ in any_exam.pairs])
    for result in any_exam.contexts(solver):
        wrong = [row["path"] for row in result.pairs if not row["valid"]]
        assert wrong
        for row in result.compositions:
            of_wrong = [row["path"][0], row["path"][-1]] in wrong
            assert row["class"] == ("VI" if of_wrong else "VC")
        assert result.quadrant == "II"
        off = [row["eta"] for row in result.pairs if row["path"] in wrong]
        assert all(eta is not None and eta > 2 * 0.1 for eta in off)


def test_truncation_fails_on_long_chains_only(exam: Exam, long_exam: Exam) -> None:
    """A reasoner that loses the thread is right about neighbours and wrong about the ends."""
    for one in (exam, long_exam):
        curves = one.summary(naive).members["details"]["curves"]
        valid = [row["valid"] for row in curves if row["axis"] == "shortest_path"]
        assert valid[0] > 0.5 and valid[-1] == 0


@pytest.mark.parametrize("rate", [0.01, 0.2])
def test_flip_noise_has_the_stated_mean_over_200_seeds(exam: Exam, rate: float) -> None:
    """E[PNS estimate] = (1 - e)(p(1 - 2e) + e), within four standard errors."""
    task, truth = max(exam.pairs, key=lambda pair: len(pair[1].target["answers"]["factual"]))
    right = perfect(task)
    bits = {rung: np.array(right[rung]) for rung in ("do_true", "do_false")}  # type: ignore[index]
    weights = np.array(weights_of(truth.target))
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        flipped = {rung: bits[rung] ^ (rng.random(len(weights)) < rate) for rung in bits}
        answers = {rung: flipped[rung].astype(int).tolist() for rung in bits}
        pair = estimate(truth.target, [{**answers, "factual": answers["do_true"]}])
        found.append(pair["estimate_pns"])
    p = float(Fraction(truth.target["exact"]["pns"]))
    expected = (1 - rate) * (p * (1 - 2 * rate) + rate)
    assert abs(np.mean(found) - expected) <= 4 * np.std(found) / np.sqrt(200)


def test_every_system_answers_every_kind_of_task(exam: Exam) -> None:
    """A reference row that leaves tasks out would not be comparable."""
    stated = Exam({"seed": "d", "purpose": "direct", "variant": "direct.boolean", "sizes": (3, 3)})
    trap = Exam({"seed": "d", "purpose": "linear", "variant": "direct.trap", "sizes": (4, 4)})
    tasks = [one.pairs[0][0] for one in (exam, stated, trap)]
    asked = OpenedExam(None, "dev", "mini", tuple(tasks), Path())
    for system in named_systems(["all"]):
        if system.name.startswith("ccr-"):
            answered = [task for task, answer in answer_tasks(system, asked) if json.dumps(answer)]
            assert answered == tasks
