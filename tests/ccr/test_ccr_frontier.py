"""The frontier exam: truths by two methods, shortcuts that fail, prompts that hold all."""

import json
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from ccr_worlds import built, figure_4

from baselines.ccr.frontier import Patterns, seen, wanted
from baselines.ccr.reasoners import enumerating, perfect
from baselines.shortcuts import SHORTCUTS
from benchmarks.built import pairs_of
from builder.ccr.ask.themes import THEMES
from builder.ccr.check.audit import audit_instance
from builder.ccr.frontier.cases import COPIED
from builder.ccr.frontier.draw import random_context
from builder.ccr.frontier.effects import Enumeration
from builder.ccr.make.graph import ancestors, cut_tree
from builder.ccr.make.quantities import enumerated_quantities, twin_quantities
from builder.ccr.plan.contexts import FRONTIER_VARIANTS
from builder.ccr.track import TRACK
from builder.settings import TomlTable
from builder.track import Built
from grader.model import RawAnswer, Truth
from grader.score import score_answer
from grader.shape import Task

CASE_LISTS = ("do_true", "do_false", "joint")


@cache
def made(variant: str, number: int, theme: str = "abstract") -> Built:
    return built(f"frontier/{number}", purpose="frontier", variant=variant, theme=theme, sizes=())


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
