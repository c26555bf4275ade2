"""Formulas of effects: gold by the ID algorithm, models twice, and who is asked."""

import json
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from builder.causal.graph import LatentDAG
from builder.causal.identification import identify_distribution
from builder.causal.notation import notation, parts
from builder.causal.proof.estimand import Hedge
from builder.causal.proof.expression import (
    Expression,
    Probability,
    Product,
    Ratio,
    Sum,
    free_variables,
    product,
    total,
)
from builder.causal.proof.sampling import random_query
from builder.causalds.check.formula import close, formula_values, models_again
from builder.causalds.exams.draw import BuiltTask, draw_exam
from builder.causalds.exams.model import FAMILIES, ExamModel
from builder.causalds.make.models import DiscreteModels, draw_tables, has_models, joint, models_of
from builder.causalds.plan.config import parse_config
from builder.causalds.track import TRACK
from builder.floors.twin import asked
from builder.settings import TomlTable
from builder.track import Built, InstanceSpec
from grader.errors import Invalid, UsageError
from grader.model import RawAnswer
from grader.score import score
from grader.submission.check import check
from grader.tracks.causalds.estimand.language import MAX_NODES, read_formula, text_of
from grader.tracks.causalds.estimand.scoring import TOLERANCE
from grader.tracks.causalds.estimand.value import Models, Undefined, values

KEY = "identification.estimand_formula"
Query = tuple[LatentDAG, str, str, Expression]


def queries(seed: int, count: int) -> Iterator[Query]:
    """Random graphs with an effect that is identifiable."""
    rng = np.random.default_rng(seed)
    while count:
        graph, x, y = random_query(rng, (3, 12), (0, 4))
        found = identify_distribution(graph, x, y)
        if has_models(graph) and not isinstance(found, Hedge):
            count -= 1
            yield graph, x, y, found


def off(text: str, query: Query, models: Models, effects: object) -> float:
    """By how much the grader finds the value of a formula off; infinity for none."""
    graph, x, y, _ = query
    try:
        formula = read_formula(text, graph.observed, (x, y))
        found = np.array(values(formula, models, x, y))
    except (Invalid, Undefined):
        return float("inf")
    gap = np.abs(found - np.array(effects)).max()
    return float(gap) if np.isfinite(gap) else float("inf")


def published(models: DiscreteModels) -> Models:
    """As the grader reads them; every node is told by its own name."""
    return Models.of(json.loads(models.to_labels({node: node for node in models.measured})))


def gold_is_right(query: Query) -> None:
    graph, x, y, found = query
    text = notation(found)
    models = models_of(graph, x, y, text)
    assert parts(found) <= MAX_NODES
    assert off(text, query, published(models), models.effects) < TOLERANCE / 1000
    again = formula_values(text, models.measured, models.joints, x, y)
    assert again is not None and close(again, models.effects, TOLERANCE / 1000)


def changed(query: Query, rng: np.random.Generator) -> Expression:
    """The right formula with one conditional or one sum changed."""
    graph, _, _, found = query
    spots = parts(found)
    chosen = int(rng.integers(spots))

    def step(e: Expression) -> Expression:
        nonlocal chosen
        chosen -= 1
        here = chosen == -1
        match e:
            case Probability(targets, given):
                return other(targets, given) if here else e
            case Sum(over, body) if here:
                kept = tuple(name for name in over if name != over[int(rng.integers(len(over)))])
                return total(kept, body)
            case Sum(over, body):
                return Sum(over, step(body))
            case Product(factors):
                return Product(tuple(step(one) for one in factors))
            case Ratio(above, below):
                return Ratio(below, above) if here else Ratio(step(above), step(below))
        raise AssertionError(e)

    def other(targets: tuple[str, ...], given: tuple[str, ...]) -> Expression:
        name = str(rng.choice([v for v in graph.observed if v not in targets] or targets))
        if name in given:
            return Probability(targets, tuple(v for v in given if v != name))
        return Probability(targets, (*given, name)) if name not in targets else Probability((name,))

    return step(found)


def closed(expression: Expression, x: str, y: str) -> Expression:
    """Averaged over what a change has left free."""
    left = tuple(sorted(free_variables(expression) - {x, y}))
    return total(left, product((Probability(left), expression))) if left else expression


def wrong_ones(seed: int, count: int) -> Iterator[tuple[Query, str]]:
    """Changed formulas that differ by 1e-3 from the right one on some model of the graph."""
    rng = np.random.default_rng(seed)
    for query in queries(seed, 100 * count):
        graph, x, y, found = query
        text = notation(closed(changed(query, rng), x, y))
        for _ in range(3):
            fresh = joint(graph, draw_tables(graph, rng)).reshape(-1, order="F")
            models = Models(graph.observed, (tuple(fresh.tolist()),))
            right = values(read_formula(notation(found), graph.observed, (x, y)), models, x, y)
            if 1e-3 < off(text, query, models, right) < float("inf"):
                yield query, text
                count -= 1
                break
        if not count:
            return


def wrong_is_not_accepted(query: Query, text: str) -> None:
    graph, x, y, _ = query
    models = models_of(graph, x, y, text)
    assert off(text, query, published(models), models.effects) > TOLERANCE, text


def test_the_formula_of_the_id_algorithm_has_the_right_value() -> None:
    """On random graphs, by the grader's evaluation and by the gate's."""
    for query in queries(1, 60):
        gold_is_right(query)


def test_a_formula_with_one_thing_changed_has_another_value() -> None:
    """Wherever it is wrong for some model of the graph."""
    for query, text in wrong_ones(2, 30):
        wrong_is_not_accepted(query, text)


@pytest.mark.slow
def test_gold_is_accepted_on_2000_graphs_and_2000_changed_formulas_are_not() -> None:
    """The same on many."""
    for query in queries(3, 2000):
        gold_is_right(query)
    refused = 0
    for query, text in wrong_ones(4, 2000):
        wrong_is_not_accepted(query, text)
        refused += 1
    assert refused == 2000


def test_the_napkin_is_averaged_over_its_instrument() -> None:
    """The functional mentions a variable that makes no difference; none but the ends stays free."""
    edges = (("W", "Z"), ("Z", "X"), ("X", "Y"), ("U", "W"), ("U", "X"), ("V", "W"), ("V", "Y"))
    graph = LatentDAG(("U", "V", "W", "Z", "X", "Y"), edges, frozenset("UV"))
    found = identify_distribution(graph, "X", "Y")
    assert not isinstance(found, Hedge) and free_variables(found) == {"X", "Y"}
    assert "/" in notation(found) and "sum{Z}( P(Z) * " in notation(found)
    gold_is_right((graph, "X", "Y", found))


def test_models_worked_out_exactly_are_those_that_are_published() -> None:
    """Whole numbers, one variable eliminated after another, against arrays over all of them."""
    for graph, x, y, _ in queries(5, 12):
        models = models_of(graph, x, y, "world")
        drawn = nx.DiGraph(graph.edges)
        drawn.add_nodes_from(graph.nodes)
        record = {"models": models.to_world(graph)}
        hidden = SimpleNamespace(graph=drawn, latent=graph.latent, x=x, y=y, record=record)
        again = models_again(hidden, models.measured)  # type: ignore[arg-type]
        assert close(models.joints, again.joints) and close(models.effects, again.effects)
        for tables in models.tables:
            assert all((t >= 100).all() and (t <= 900).all() for t in tables.values())
            assert all((t.sum(axis=-1) == 1000).all() for t in tables.values())
            assert all(tables[node].shape[-1] == 4 for node in graph.latent)


def test_a_formula_is_shown_as_it_was_read() -> None:
    """What `explain` prints says the same."""
    text = "P(a) * (P(b) / (P(c) * P(d | a, b))) / sum{ c,d }((P(c, d)))"
    formula = read_formula(text, "abcd", "abcd")
    assert text_of(formula) == "P(a) * (P(b) / (P(c) * P(d | a, b))) / sum{c, d}(P(c, d))"
    assert read_formula(text_of(formula), "abcd", "abcd") == formula


# --- who is asked -------------------------------------------------------------------------------


def _split(**more: object) -> TomlTable:
    table = {"scenes": 6, "rows": {"train": 60, "test": 20}, "composition": "full", **more}
    return TomlTable(table, "splits.dev.causalds: ")


def _specs(**more: object) -> list[InstanceSpec]:
    return TRACK.plan(parse_config(_split(**more)), "dev", b"formulas" * 4, False)


def test_a_split_asks_it_by_name_and_all_else_is_as_it_was() -> None:
    """Bytes of tasks and truths are those of the split without it."""
    plain, also = _specs(), _specs(also=[KEY])
    assert [replace(s, config_json="") for s in plain] == [replace(s, config_json="") for s in also]
    assert all('"also"' not in spec.config_json for spec in plain)
    seen = 0
    for one, other in list(zip(plain, also, strict=True))[:3]:
        before, after = TRACK.build(one), TRACK.build(other)
        formulas = _formula_tasks(after)
        seen += len(formulas)
        assert not _formula_tasks(before)
        for config in ("causalds", "causalds_truth"):
            kept = [row for row in after.rows[config] if row["task_id"] not in formulas]
            assert kept == before.rows[config]
    assert seen == 3


def _formula_tasks(built: Built) -> set[object]:
    return {row["task_id"] for row in built.rows["causalds"] if row["variant"] in KEY.split(".")}


def test_an_unknown_name_is_one_line() -> None:
    """Also where the variant is one that is asked anyhow."""
    for name in ("identification.method_label", "formula"):
        with pytest.raises(UsageError, match="also"):
            parse_config(_split(also=[name]))


@pytest.mark.parametrize("kind", ["balanced", "composed", "views"])
def test_the_exams_of_the_paper_never_ask_it(kind: str) -> None:
    """Their drawings are those from the tasks without it."""
    assert "estimand_formula" not in FAMILIES["identification"]
    keys = ["identification.method_label", "causal_sketch.edges_only", KEY]
    tasks = [
        BuiltTask(f"{scene}-{key}-{view}", f"s{scene}", key, view, "chain", label, "")
        for scene in range(12)
        for key in keys
        for view, label in (("clean", "ab"[scene % 2]), ("proxy", "ab"[scene % 2]))
    ]
    model = ExamModel(kind, 8)  # type: ignore[arg-type]
    drawn = draw_exam(model, tasks, b"k" * 32, "exam")
    assert not any(KEY in task for task in drawn.task_ids)
    usual = [task for task in tasks if task.key != KEY]
    assert drawn == draw_exam(model, usual, b"k" * 32, "exam")


def test_what_is_said_of_an_answer_names_what_was_evaluated() -> None:
    """`explain` prints the message of the mark."""
    task, truth = next(
        (task, truth)
        for spec in _specs(also=[KEY])
        for task, truth in asked("causalds", TRACK.build(spec))
        if task.spec.key == KEY and not truth.should_abstain
    )
    x, y = task.inputs["treatment"], task.inputs["outcome"]
    raw = RawAnswer("f", json.dumps({"formula": f"P({y},{x})"}).encode())
    row = score(task, truth, check(task, raw))
    assert row.points == 0 and f"P({y}, {x})" in row.message and "on model" in row.message
    gold = RawAnswer("f", task.shape.gold(task, truth).encode())
    assert score(task, truth, check(task, gold)).points == 1
