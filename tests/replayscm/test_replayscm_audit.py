"""The complete audit against brute force, and the tables it and the generator stand on."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from puzzles import Item, built, items

from builder.gate.part_check import CERTIFICATES, Findings, grade_known_answers
from builder.release.reader import PartRows
from builder.tracks import TRACKS
from builder.tracks.replayscm.check import audit_instance
from builder.tracks.replayscm.generate import SHORTCUT_SIZE, _small_functions
from builder.tracks.replayscm.plan import Generation, ProgramSettings
from builder.tracks.replayscm.synthesis import smallest_formulas
from builder.tracks.replayscm.tables import sets_of
from grader.io.jsonio import canonical_json
from grader.scoring.model import Truth
from grader.tracks.replayscm.boolean import essential, size, truth_table, variables
from grader.tracks.replayscm.problem import Problem, pack, parse_map, read_problem
from grader.tracks.replayscm.proof import problem_of


def test_the_sizes_of_smallest_formulas_are_those_found_before() -> None:
    """Functions of four variables by the size of their smallest formula; 15 is the largest."""
    table = smallest_formulas()
    expected = [0, 4, 4, 26, 48, 159, 331, 1030, 1678, 4604, 7232, 12846, 16136, 14874, 5980, 584]
    assert np.bincount(table.sizes).tolist() == expected


def test_a_smallest_formula_is_the_function_and_has_the_size() -> None:
    """Counterexamples and alternatives are printed from this table."""
    table = smallest_formulas()
    names = ("A", "B", "C", "D")
    for function in np.random.default_rng(1).integers(0, 1 << 16, 400).tolist():
        formula = table.formula(function, names)
        assert truth_table(formula, names) == function
        assert size(formula) == table.sizes[function]


def test_the_number_of_shortcut_functions_is_as_found_before() -> None:
    """Different functions of AST size at most five over three to nine variables."""
    sets = [sets_of(p).members[1:] for p in range(3, 10)]
    found = [sum(len(_small_functions(len(m), SHORTCUT_SIZE)) for m in one) for one in sets]
    assert found == [78, 239, 545, 1047, 1799, 2858, 4284]


def brute_force(item: Item) -> tuple[bool, dict[str, int]]:
    """Every acyclic choice of consistent parent sets, every filling of unseen patterns.

    Returns whether all candidates are held-out exact, and the rows where some is wrong: the
    definitions themselves, without closure, pairs or first wrong cells. A filling matters in a
    held-out row only through the patterns met there, so each row is decided with the values its
    unseen patterns may take.
    """
    problem = read_problem(item.task.inputs)
    heldout = pack(problem.names, item.truth.target["heldout"])
    gold = parse_map(item.truth.target["gold"])
    children = sorted(gold)
    choices = [list(_sets(problem, child)) for child in children]
    wrong = dict.fromkeys(children, 0)
    for combination in itertools.product(*choices):
        graph = {c: names for c, (names, _) in zip(children, combination, strict=True)}
        order = _order(graph)
        if order is None:
            continue
        tables = {c: table for c, (_, table) in zip(children, combination, strict=True)}
        for row in range(heldout.full.bit_length()):
            observed = {name: heldout.values[name] >> row & 1 for name in problem.names}
            free = [child for child in order if not heldout.clamped[child] >> row & 1]
            for values in _outcomes(free, graph, tables, observed):
                for child in free:
                    if values[child] != observed[child]:
                        wrong[child] |= 1 << row
    return not any(wrong.values()), {c: rows for c, rows in wrong.items() if rows}


def _sets(problem: Problem, child: str) -> Iterator[tuple[tuple[str, ...], dict[int, int]]]:
    training = problem.training
    for count in range(problem.max_parents + 1):
        for names in itertools.combinations(sorted(problem.possible_parents(child)), count):
            table: dict[int, int] = {}
            consistent = True
            for row in range(training.full.bit_length()):
                if training.clamped[child] >> row & 1:
                    continue
                key = _key(names, {n: training.values[n] >> row & 1 for n in names})
                value = training.values[child] >> row & 1
                consistent &= table.setdefault(key, value) == value
            if consistent:
                yield names, table


def _key(names: tuple[str, ...], row: dict[str, int]) -> int:
    return sum(row[name] << bit for bit, name in enumerate(names))


def _order(graph: dict[str, tuple[str, ...]]) -> list[str] | None:
    try:
        order = TopologicalSorter(graph).static_order()
        return [child for child in order if child in graph]
    except CycleError:
        return None


def _outcomes(
    free: list[str],
    graph: dict[str, tuple[str, ...]],
    tables: dict[str, dict[int, int]],
    observed: dict[str, int],
) -> Iterator[dict[str, int]]:
    """All rows that some filling of the unseen patterns produces."""
    rows = [dict(observed)]
    for child in free:
        after = []
        for row in rows:
            key = _key(graph[child], row)
            known = tables[child].get(key)
            for value in (known,) if known is not None else (0, 1):
                after.append({**row, child: value})
        rows = after
    yield from rows


def small_items(n: int = 5) -> list[Item]:
    config = ProgramSettings(full=2, matched=1, generation=Generation(variables=(n, n)))
    return [item for item in items(config) if item.task.inputs["roots"] is not None]


@pytest.mark.parametrize("n", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_brute_force_agrees_on_small_programs(n: int) -> None:
    """Determined, and every single undetermined cell, by the definition itself."""
    found = small_items(n)
    assert {item.truth.target["determined"] for item in found} == {True, False}
    for item in found:
        target = item.truth.target
        stated = {name: int(text, 16) for name, text in target["undetermined"].items()}
        assert brute_force(item) == (target["determined"], stated), item.pool


def test_every_record_is_proved_again_by_the_independent_checker() -> None:
    """Two implementations of the audit that share no code must say the same of every record."""
    found = [(item.pool, problem_of(item.task, item.truth)) for item in items()]
    assert [problem for problem in found if problem[1]] == []


def test_certified_programs_of_five_variables_are_the_only_ones() -> None:
    """All acyclic combinations of consistent parent sets, and nothing but the gold functions."""
    certified = [item for item in small_items() if item.truth.target["level"] == "certified"]
    assert certified
    for item in certified:
        problem, gold = read_problem(item.task.inputs), parse_map(item.truth.target["gold"])
        children = sorted(gold)
        for combination in itertools.product(*(list(_sets(problem, child)) for child in children)):
            chosen = dict(zip(children, combination, strict=True))
            if _order({child: names for child, (names, _) in chosen.items()}) is None:
                continue
            for child, (names, table) in chosen.items():
                assert len(table) == 1 << len(names) and set(essential(gold[child])) <= set(names)
                function = sum(value << pattern for pattern, value in table.items())
                idle = sorted(set(variables(gold[child])) - set(names))
                whole = truth_table(gold[child], [*names, *idle])
                assert whole & ((1 << len(table)) - 1) == function


def test_the_checker_sees_a_false_certificate() -> None:
    """A checker that agrees with everything proves nothing."""
    item = next(item for item in items() if not item.truth.target["determined"])
    for lie in (
        {"determined": True, "counterexample": None},
        {"deviating": item.truth.target["deviating"] + 1},
        {"counterexample": None},
        {"counterexample": {"mechanisms": item.truth.target["gold"],
                            "roots": item.truth.target["roots"]}},
        {"level": "certified"},
    ):  # fmt: skip
        assert problem_of(item.task, lied(item, **lie)) is not None, lie


def test_the_check_of_a_part_names_a_false_certificate() -> None:
    """The gate does not prove again what the worker that staged a part has proved; so that must."""
    rows = next(one.rows for one in built() if len(one.rows["replayscm"]) > 1)
    (world,) = rows["replayscm_worlds"]
    name = str(world["instance_id"])

    def found(truths: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
        tables: Any = SimpleNamespace(truth={str(truth["task_id"]): truth for truth in truths})
        told = PartRows(tables, {name: rows["replayscm"]}, {name: truths}, {}, ())
        checked = Findings()
        grade_known_answers(TRACKS["replayscm"], told, checked)
        return int(checked.counts["proved"]), checked.problems[CERTIFICATES]

    truths = rows["replayscm_truth"]
    assert found(truths) == (len(truths), [])
    target = json.loads(str(truths[0]["target_json"]))
    lie = {"determined": not target["determined"]}
    lies = [{**truths[0], "target_json": canonical_json({**target, **lie})}, *truths[1:]]
    ((problem,), proved) = found(lies)[::-1]
    assert problem.startswith(f"{truths[0]['task_id']}: ") and proved == len(truths)


def lied(item: Item, **lie: object) -> Truth:
    return replace(item.truth, target={**item.truth.target, **lie})


def test_the_checker_sees_one_undetermined_cell_too_many_or_too_few() -> None:
    """Too large a set calls errors of reasoning missing evidence; a counterexample cannot tell."""
    seen = 0
    for item in items():
        stated = {v: int(rows, 16) for v, rows in item.truth.target["undetermined"].items()}
        heldout = item.truth.target["heldout"]
        targets = [world["targets"] for world in heldout for _ in world["rows"]]
        free = {
            name: sum(1 << row for row, clamped in enumerate(targets) if name not in clamped)
            for name in item.truth.target["gold"]
        }
        child, cells = next((v, rows & ~stated.get(v, 0)) for v, rows in free.items()
                            if rows & ~stated.get(v, 0))  # fmt: skip
        more = {**stated, child: stated.get(child, 0) | (cells & -cells)}
        lies = [more]
        if stated:
            child = max(stated)
            fewer = {**stated, child: stated[child] & (stated[child] - 1)}
            lies.append({v: rows for v, rows in fewer.items() if rows})
            seen += 1
        for lie in lies:
            told = {v: format(rows, "x") for v, rows in lie.items()}
            assert "stated" in str(problem_of(item.task, lied(item, undetermined=told)))
    assert seen > 5


def test_a_level_that_does_not_begin_with_the_one_before_is_refused() -> None:
    rows = next(one.rows for one in built() if len(one.rows["replayscm"]) > 1)
    (world,) = rows["replayscm_worlds"]
    record = json.loads(str(world["world_json"]))

    def problems(levels: dict[str, object]) -> list[str]:
        told = {**world, "world_json": canonical_json({**record, "levels": levels})}
        found = audit_instance(told, rows["replayscm_truth"], None, {"tasks": rows["replayscm"]})
        return [problem for problem in found if "do not begin" in problem]

    assert problems(record["levels"]) == []
    for level in ("original", "extra", "cex"):
        assert problems({**record["levels"], level: record["levels"][level][::-1]}), level
