"""The frontier exam: truths by two methods, shortcuts that fail, prompts that hold all."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from ccr_grading import Exam
from ccr_worlds import built, figure_4

from baselines.ccr.frontier import Patterns, interval_ends, seen, wanted
from baselines.ccr.reasoners import enumerating, perfect
from baselines.shortcuts import SHORTCUTS
from benchmarks.built import pairs_of
from builder.attempts import Rejected
from builder.ccr.ask.questions import VERDICTS, Verdict
from builder.ccr.ask.text import decimal
from builder.ccr.ask.themes import THEMES
from builder.ccr.check.audit import audit_instance
from builder.ccr.frontier.bounds import (
    MEASURES,
    REGIMES,
    Margins,
    bounds,
    draw_margins,
    extreme,
    measured,
)
from builder.ccr.frontier.cases import COPIED
from builder.ccr.frontier.chains import TEMPLATES, Chain, Known, Template, checked
from builder.ccr.frontier.draw import random_context
from builder.ccr.frontier.effects import Enumeration
from builder.ccr.frontier.fitting import fit
from builder.ccr.frontier.prompts import bounds_prompt
from builder.ccr.make.graph import ancestors, cut_tree
from builder.ccr.make.quantities import enumerated_quantities, twin_quantities
from builder.ccr.plan.contexts import FRONTIER_VARIANTS
from builder.ccr.track import TRACK
from builder.settings import TomlTable
from builder.track import Built
from grader.model import RawAnswer, Truth
from grader.score import score_answer
from grader.shape import Task
from grader.tracks.ccr.tables import simulates

CASE_LISTS = ("do_true", "do_false", "joint")


@cache
def made(variant: str, number: int, theme: str = "abstract") -> Built:
    return built(f"frontier/{number}", **plan(variant, number, theme))


def plan(variant: str, number: int, theme: str = "abstract") -> dict[str, object]:
    verdict = VERDICTS[number % 3] if variant == "frontier.deductive" else None
    fields = {"purpose": "frontier", "variant": variant, "theme": theme, "verdict": verdict}
    return {**fields, "sizes": ()}


def asked(variant: str, number: int, theme: str = "abstract") -> tuple[Task, Truth]:
    (pair,) = pairs_of(made(variant, number, theme), "ccr")
    return pair


def points(task: Task, truth: Truth, answer: object) -> float:
    raw = RawAnswer(task.answer_file, json.dumps(answer).encode())
    return score_answer(task, truth, raw).points


def agree_twice(count: int) -> int:
    """Every quantity of ``count`` contexts, with evidence and without, by both methods."""
    compared = 0
    rng = np.random.default_rng(5)
    for _ in range(count):
        context = random_context((2, 8), rng)
        table, nodes = Enumeration(context), context.dag.nodes
        for y in range(len(nodes)):
            for x in ancestors(context.dag, y)[:-1]:
                others = [name for name in nodes if name not in (nodes[x], nodes[y])]
                evidence = ((others[int(rng.integers(len(others)))], bool(rng.random() < 0.5)),)
                for known in ((), evidence):
                    if not table.event(known).any():
                        continue
                    pair = nodes[x], nodes[y]
                    found = twin_quantities(context, pair, dict(known))
                    assert found == table.quantities(pair, known), (context, pair, known)
                    compared += len(found)
    return compared


def test_elimination_and_enumeration_give_the_same_fractions() -> None:
    """The first is published, the second goes by definitions alone."""
    assert agree_twice(5) > 300


@pytest.mark.slow
def test_five_hundred_contexts_differ_nowhere() -> None:
    """As above, at length."""
    assert agree_twice(500) > 30_000


def test_without_denials_and_evidence_nothing_has_changed() -> None:
    """The paper's contexts are the special case."""
    context = figure_4()
    table = Enumeration(context)
    for pair, values in enumerated_quantities(context).items():
        assert values == table.quantities(pair) == twin_quantities(context, pair)
    assert len(cut_tree(context.dag).pairs) == 6 and "denied" not in context.to_json()


@pytest.mark.parametrize("variant", FRONTIER_VARIANTS)
def test_the_enumerator_answers_from_the_prompt_alone(variant: str) -> None:
    """One wrong answer means that a prompt lacks, or garbles, what is needed."""
    solved_by_the_enumerator(variant, 0, "abstract")


@pytest.mark.slow
@pytest.mark.parametrize("theme", sorted(THEMES))
@pytest.mark.parametrize("variant", FRONTIER_VARIANTS)
def test_every_theme_tells_every_variant(variant: str, theme: str) -> None:
    """The same in all themes."""
    for number in range(3):
        solved_by_the_enumerator(variant, number, theme)


def solved_by_the_enumerator(variant: str, number: int, theme: str) -> None:
    task, truth = asked(variant, number, theme)
    assert points(task, truth, enumerating(task)) == 1.0
    assert points(task, truth, json.loads(task.shape.gold(task, truth))) == 1.0


@pytest.mark.parametrize("variant", FRONTIER_VARIANTS)
def test_the_audit_agrees_and_sees_a_changed_truth(variant: str) -> None:
    """A gate that accepts anything proves nothing."""
    rows = made(variant, 0).rows
    (world,), (truth,) = rows["ccr_worlds"], rows["ccr_truth"]
    assert audit_instance(world, [truth]) == []
    target = json.loads(str(truth["target_json"]))
    if "answers" in target:
        first = target["answers"]["joint"]
        target["answers"]["joint"] = "10"[int(first[0])] + first[1:]
    elif "intervals" in target:
        target["intervals"]["Q1"]["least"] = "1/37"
    elif "verdict" in target:
        target["verdict"] = "insufficient"
    else:
        target["quantities"]["Q1"]["exact"] = "1/3"
    assert audit_instance(world, [truth | {"target_json": json.dumps(target)}])
    assert audit_instance(world, [truth | {"should_abstain": True}])


@pytest.mark.parametrize("variant", ["frontier.direct", "frontier.evidence"])
def test_seeing_is_not_doing(variant: str) -> None:
    """In the paper's contexts conditioning gave every value; here hardly any, PNS is not ATE, and
    the formulas for monotone functions without confounding solve no task."""
    right = listed = 0
    for number in range(2):
        task, truth = asked(variant, number)
        patterns = Patterns.of(task.prompt)
        for name, quantity in wanted(task.prompt).items():
            exact = Fraction(truth.target["quantities"][name]["exact"])
            right += abs(seen(patterns.joint(quantity)) - exact) <= abs(exact) / 10
            listed += 1
        assert points(task, truth, perfect(task)) == 0.0
    assert right <= 0.3 * listed


def sharp(count: int) -> None:
    """Both ends of every interval are attained by explicit models with the told margins, and linear
    programming over all models goes no further; so do the prompts' numbers."""
    rng = np.random.default_rng(3)
    words = THEMES["abstract"]([5] * 3, rng)
    done = 0
    while done < count:
        regime = REGIMES[done % len(REGIMES)]
        try:
            strata = draw_margins(regime, rng)
        except Rejected:
            continue
        done += 1
        models = {
            least: [extreme(one, largest=not least) for one in strata] for least in (True, False)
        }
        for cells in models.values():
            assert tuple(Margins.of(one, regime != "observed") for one in cells) == strata
            assert all(p >= 0 for one in cells for p in one.values())
            assert sum(sum(one.values()) for one in cells) == 1
        prompt = bounds_prompt(words, strata, MEASURES[regime], "a.json", rng)
        found = interval_ends(prompt)
        for number, measure in enumerate(MEASURES[regime], start=1):
            interval = bounds(measure, strata)
            assert interval == tuple(measured(measure, models[least]) for least in (True, False))
            assert found[f"Q{number}"] == pytest.approx([float(end) for end in interval], abs=1e-7)


def test_bounds_are_sharp() -> None:
    """By the closed formulas, by explicit models and by linear programming."""
    sharp(9)


@pytest.mark.slow
def test_two_hundred_bounds_are_sharp() -> None:
    """As above, at length."""
    sharp(200)


def deduced(verdict: Verdict, template: Template, count: int, seed: int) -> None:
    """What algebra says of questions, a search over explicit models finds."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < count:
        try:
            question = checked(template(Chain(rng, [f"V{k}" for k in range(16)]), verdict))
        except Rejected:
            continue
        done += 1
        printed = [replace(one, value=Fraction(decimal(one.value))) for one in question.givens]
        answer, value = fit(question.edges, printed, question.target).answer
        assert answer == verdict, question
        if question.value is not None:
            assert value == pytest.approx(float(question.value), rel=0.03)


CASES = [(verdict, each) for verdict, row in TEMPLATES.items() for each in dict.fromkeys(row)]


@pytest.mark.parametrize(("verdict", "template"), [CASES[0], CASES[5], CASES[12], CASES[14]])
def test_deductions_follow_from_a_search_over_models(verdict: Verdict, template: Template) -> None:
    """A value, one past an inner node, a contradiction there, and a value that does not follow."""
    deduced(verdict, template, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("verdict", "template"), CASES)
def test_every_kind_of_deduction_follows(verdict: Verdict, template: Template) -> None:
    """As above, every kind, ten times."""
    deduced(verdict, template, 10, 2)


def test_the_same_givens_have_other_answers_on_other_graphs() -> None:
    """A whole above the product by way of a middle node: possible past a node that is no cutpoint,
    contradictory where it is one."""
    a, b, d, y = "abdy"
    givens = [
        Known("pns", (a, y), Fraction(2, 10)), Known("pns", (a, b), Fraction(4, 10)),
        Known("pns", (a, d), Fraction(5, 10)), Known("pns", (d, b), Fraction(6, 10)),
    ]  # fmt: skip
    target = Known("pns", (b, y))
    through = [(a, d), (d, b), (b, y)]
    answer, value = fit([*through, (a, b)], givens, target).answer
    assert answer == "value" and value == pytest.approx(0.5, rel=0.02)
    assert fit(through, givens, target).answer == ("inconsistent", None)
    assert fit([*through, (a, b)], givens[2:], givens[1]).answer == ("insufficient", None)
    less = [givens[0], replace(givens[1], value=Fraction(26, 100)), *givens[2:]]
    assert fit([*through, (a, b)], less, target).answer == ("inconsistent", None)


def test_numbers_for_every_deduction_earn_no_more_than_a_word() -> None:
    """Where a third of the right answers are values, a number always is right less often."""
    shortcut = {name: solve for _, name, _, solve in SHORTCUTS}["always-consistent"]
    right = 0.0
    for number in range(15):
        task, truth = asked("frontier.deductive", number)
        ((_, answer),) = shortcut(None, [task])  # type: ignore[arg-type]
        right += points(task, truth, answer)
    assert right <= 15 / 3


def test_intervals_are_graded_by_both_ends() -> None:
    """An error of more than 0.01 at one end of one interval is one too many."""
    task, truth = asked("frontier.bounds", 0)
    gold = json.loads(task.shape.gold(task, truth))["intervals"]
    for end in (0, 1):
        for error, worth in ((0.009, 1.0), (-0.009, 1.0), (0.02, 0.0)):
            told = [value + error * (k == end) for k, value in enumerate(gold["Q1"])]
            assert points(task, truth, {"intervals": {**gold, "Q1": told}}) == worth
    del gold["Q1"]
    assert points(task, truth, {"intervals": gold}) == 0.0
    for bad in ({"Q9": [0, 1]}, {"Q1": [0]}, {"Q1": 0.5}):
        raw = RawAnswer(task.answer_file, json.dumps({"intervals": bad}).encode())
        assert score_answer(task, truth, raw).status == "invalid"


def test_copied_facts_and_constant_lists_are_no_answer() -> None:
    """At most 64 cases; no list is constant; copying is right in at most 60% of the cells."""
    shortcut = {name: solve for _, name, _, solve in SHORTCUTS}["copy-facts"]
    for number in range(2):
        task, truth = asked("frontier.simulation", number)
        answers = truth.target["answers"]
        assert tuple(answers) == tuple(sorted(CASE_LISTS))
        ((_, copied),) = shortcut(None, [task])  # type: ignore[arg-type]
        assert isinstance(copied, dict)
        cells = right = 0
        for name in CASE_LISTS:
            assert len(answers[name]) <= 64 and {*answers[name]} == {"0", "1"}
            pairs = list(zip(answers[name], copied[name], strict=True))
            cells, right = cells + len(pairs), right + sum((a == "1") == b for a, b in pairs)
        assert right <= COPIED * cells
        assert points(task, truth, copied) < 0.35


def test_a_case_counts_when_all_its_answers_are_right() -> None:
    """Two of three suppositions are no understanding of a case."""
    task, truth = asked("frontier.simulation", 0)
    gold = json.loads(task.shape.gold(task, truth))
    count = len(gold["joint"])
    wrong = gold | {"joint": [not gold["joint"][0], *gold["joint"][1:]]}
    assert points(task, truth, wrong) == pytest.approx(1 - 1 / count)
    assert points(task, truth, gold | {"joint": ["?"] * count}) == 0.0
    checked = score_answer(task, truth, RawAnswer(task.answer_file, b'{"do_true": [true]}'))
    assert checked.status == "invalid" and checked.points == 0.0


def test_a_report_of_the_frontier_alone_speaks_of_no_compositions() -> None:
    """Nothing is simulated pair by pair: empty tables of the taxonomy would say nothing."""
    exam = Exam(*({"seed": f"frontier/{k}", **plan(variant, k)} for k in (0, 1)
                  for variant in ("frontier.bounds", "frontier.deductive")))  # fmt: skip
    truths = exam.truths
    found = exam.summary(
        lambda task: (
            json.loads(task.shape.gold(task, truths[task.task_id]))
            if task.variant == "deductive"
            else None
        )
    )
    assert found.points == found.metrics["points_frontier"] == 50.0
    assert not simulates({"metrics": found.metrics})


def test_contexts_of_the_papers_exams_are_the_same_beside_a_frontier() -> None:
    """Their bytes must not depend on a further exam."""
    table = {"simulation": 4, "direct": 5, "deductive": 6, "linear": 3}
    alone, beside = (
        TRACK.plan(TRACK.parse(TomlTable({**table, **more}, "here.")), "dev", b"root", False)
        for more in ({}, {"frontier": 7})
    )
    assert beside[: len(alone)] == alone and len(beside) == len(alone) + 7
    variants = {json.loads(spec.config_json)["variant"] for spec in beside[len(alone) :]}
    assert variants == {*FRONTIER_VARIANTS}
