"""Each reference reasoner lands in the class that the specification states for it."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from ccr_grading import Exam, exhaustive, ignores

from baselines.ccr import global_wrong, naive, perfect, shifted_model
from baselines.exam import OpenedExam
from baselines.systems import answer_tasks, named_systems
from grader.tracks.ccr.estimates import estimate, weights_of


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
    """VI for compositions of what is wrong, II for the context; other compositions stay VC.

    Up to five components the global pair is the only reference; beyond, the widest pairs asked.
    """
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
    """A reference row that leaves tasks out would not be comparable. The graph of a trap has no
    cutpoint, and once ended the reader of linear prompts."""
    stated = Exam({"seed": "d", "purpose": "direct", "variant": "direct.boolean", "sizes": (3, 3)})
    trap = Exam({"seed": "d", "purpose": "linear", "variant": "direct.trap", "sizes": (4, 4)})
    tasks = [one.pairs[0][0] for one in (exam, stated, trap)]
    asked = OpenedExam(None, "dev", "mini", tuple(tasks), Path())
    for system in named_systems(["all"]):
        if system.name.startswith("ccr-"):
            assert [
                task for task, answer in answer_tasks(system, asked) if json.dumps(answer)
            ] == tasks
