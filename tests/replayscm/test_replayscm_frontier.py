"""The frontier: programs that their evidence determines, and cells that it leaves open."""

import json
from dataclasses import replace
from typing import Any

import pytest
from puzzles import ROOT, Item, extra, frontier, frontier_built, items_of

from baselines.replayscm.symbolic import symbolic
from builder.replayscm.check.audit import audit_instance
from builder.replayscm.check.enumeration import open_by_enumeration
from builder.replayscm.plan.config import Config
from builder.replayscm.show.statistics import report
from builder.replayscm.track import TRACK
from builder.settings import TomlTable
from grader.model import Truth
from grader.tracks.replayscm.certificates import problem_of
from grader.tracks.replayscm.problem import ROOTS

Table = dict[tuple[int, ...], int]


def found(variant: str) -> tuple[Item, ...]:
    """The records of one variant."""
    return tuple(item for item in frontier() if item.task.variant == variant)


def with_target(truth: Truth, **changed: Any) -> Truth:
    return replace(truth, target={**truth.target, **changed})


@pytest.mark.parametrize("variant", ["hidden_roots", "undetermined"])
def test_certificates_hold_and_the_exact_search_answers(variant: str) -> None:
    """Determined by the audit, proved by the checker, solved by whoever goes through all sets."""
    assert len(found(variant)) == 2
    for item in found(variant):
        assert item.grade(symbolic(item.task)).points == 1
        assert item.truth.target["determined"] == (variant == "hidden_roots")
    for instance in frontier_built():
        rows = instance.rows
        if rows["replayscm"][0]["variant"] != variant:
            continue
        tasks = {"tasks": rows["replayscm"]}
        assert (
            audit_instance(rows["replayscm_worlds"][0], rows["replayscm_truth"], None, tasks) == []
        )


def test_worlds_that_are_missing_or_wrong_break_the_certificate() -> None:
    """As few worlds as the search found: without any one of them something is open."""
    for item in found("hidden_roots"):
        worlds = item.task.inputs["worlds"]
        for place in range(0, len(worlds), 3):
            fewer = {**item.task.inputs, "worlds": worlds[:place] + worlds[place + 1 :]}
            assert problem_of(replace(item.task, inputs=fewer), item.truth) is not None
        shifted = json.loads(json.dumps(item.truth.target["shifted"]))
        names, world = item.names, shifted["worlds"][0]
        child = next(n for n in item.truth.target["gold"] if n not in world["targets"])
        row, place = world["rows"][0], names.index(child)
        world["rows"][0] = row[:place] + str(1 - int(row[place])) + row[place + 1 :]
        assert problem_of(item.task, with_target(item.truth, shifted=shifted)) is not None


def test_open_cells_that_are_stated_wrongly_break_the_certificate() -> None:
    """One more, one less, or one without a program that shows it."""
    for item in found("undetermined"):
        stated = item.truth.target["undetermined"]
        name = sorted(stated)[0]
        rows = int(stated[name], 16)
        for other in (rows & (rows - 1), rows ^ 0xFF):
            wrong = {**stated, name: format(other, "x")}
            assert problem_of(item.task, with_target(item.truth, undetermined=wrong)) is not None
        fewer = with_target(item.truth, witnesses=item.truth.target["witnesses"][:-1])
        assert "witnesses" in str(problem_of(item.task, fewer))


def tables(item: Item) -> dict[int, list[tuple[tuple[int, ...], Table]]]:
    """By computed variable, each set of at most four others that fits, with what it was seen to do:
    read off row by row, with dictionaries."""
    names, inputs = item.names, item.task.inputs
    rows = [
        ([int(bit) for bit in row], {names.index(name) for name in world["targets"]})
        for world in inputs["worlds"]
        for row in world["rows"]
    ]
    result: dict[int, list[tuple[tuple[int, ...], Table]]] = {}
    for v in (names.index(name) for name in item.truth.target["gold"]):
        others = [u for u in range(len(names)) if u != v]
        for members in subsets(others):
            seen: Table = {}
            if all(
                seen.setdefault(tuple(row[u] for u in members), row[v]) == row[v]
                for row, clamped in rows
                if v not in clamped
            ):
                result.setdefault(v, []).append((members, seen))
    return result


def subsets(names: list[int]) -> list[tuple[int, ...]]:
    sets: list[tuple[int, ...]] = [()]
    for name in names:
        sets += [(*chosen, name) for chosen in sets if len(chosen) < 4]
    return sets


@pytest.mark.parametrize("n", [8, *(pytest.param(n, marks=pytest.mark.slow) for n in (9, 10))])
def test_open_cells_are_those_that_all_orders_and_values_leave_open(n: int) -> None:
    """A third way: no closure, no sets of wrong cells, no program; every order of the variables."""
    specs = TRACK.plan(Config(0, 0, 0, 0, 4), "dev", ROOT, True)
    (item,) = (
        item
        for spec in specs
        if json.loads(spec.config_json)["variables"] == n
        for item in items_of(TRACK.build(spec))
    )
    stated = json.loads(item.task.shape.gold(item.task, item.truth))["open"]
    assert open_by_enumeration(item.task.inputs) == stated


def test_f1_counts_pairs_once_and_unasked_ones_as_wrong() -> None:
    """2|A and B| / (|A| + |B|) by hand."""
    item = found("undetermined")[0]
    right = json.loads(item.task.shape.gold(item.task, item.truth))["open"]
    count = sum(map(len, right.values()))
    assert count and item.grade({"open": right}).points == 1
    row = next(row for row, names in right.items() if names)
    root = item.task.inputs["roots"][0]
    more = {**right, row: [*right[row], right[row][0], root, "X99"], "row_77": ["X1"]}
    result = item.grade({"open": more})
    assert result.points == pytest.approx(2 * count / (2 * count + 3))
    assert extra(result)["unasked_cells"] == 3 and "3 of the cells" in result.message
    assert item.grade({"open": {}}).points == 0
    assert item.grade({"open": {row: right[row]}}).points == pytest.approx(
        2 * len(right[row]) / (len(right[row]) + count)
    )
    assert item.grade({"open": right[row]}).status == "invalid"


def test_a_reversible_edge_leaves_a_smaller_set_that_no_program_can_use() -> None:
    """Variables with four parents are explained by fewer, in each program: that is the trap."""
    for item in found("hidden_roots"):
        fitting = tables(item)
        gold = item.truth.target["gold"]
        smaller = [
            v for v in fitting if min(len(m) for m, _ in fitting[v])
            < len({w for w in gold[item.names[v]].replace("(", " ").replace(")", " ").split()
                   if w[0] == "X"})
        ]  # fmt: skip
        assert len(smaller) >= 2


def test_variables_are_listed_in_an_order_of_the_task_s_own() -> None:
    """Neither labels nor places may tell the causal order; every list follows the same one."""
    listings = set()
    for item in (*found("hidden_roots"), *found("undetermined")):
        names = item.names
        assert sorted(names, key=lambda name: int(name[1:])) != names
        listings.add(tuple(names))
        for world in (*item.task.inputs["worlds"], *item.truth.target["heldout"]):
            assert world["targets"] == sorted(world["targets"], key=names.index)
        assert f"- Variables: {', '.join(names)}." in item.task.prompt
    assert len(listings) == 4


def test_places_and_shifted_worlds_are_reported_beside_the_points() -> None:
    """Both controls see the answer, and neither counts."""
    for item in found("hidden_roots"):
        n, gold = len(item.names), item.truth.target["gold"]
        result = item.grade(symbolic(item.task))
        figures = extra(result)
        assert figures["shifted_exact"] == figures["shifted_world_exact"] == 1
        assert sum(figures[f"asked_place_{k}"] for k in range(5)) == len(gold) == n - ROOTS
        assert sum(figures[f"right_place_{k}"] for k in range(5)) == n - ROOTS
        first = next(name for name in item.names if name in gold)
        spoilt = json.loads(item.task.shape.gold(item.task, item.truth))
        spoilt["mechanisms"][first] = f"(not {gold[first]})"
        wrong = extra(item.grade(spoilt))
        fifth = 5 * item.names.index(first) // n
        assert wrong[f"right_place_{fifth}"] == wrong[f"asked_place_{fifth}"] - 1
        assert wrong["shifted_exact"] == 0


def test_shifted_worlds_have_the_interventions_of_the_held_out_ones_and_other_roots() -> None:
    """Rare roots, or one coin for all: what training never shows over a world."""
    for item in found("hidden_roots"):
        target = item.truth.target
        for world, other in zip(target["heldout"], target["shifted"]["worlds"], strict=True):
            assert (world["mode"], world["targets"]) == (other["mode"], other["targets"])
            free = [item.names.index(r) for r in target["roots"] if r not in world["targets"]]
            columns = [[row[place] for row in other["rows"]] for place in free]
            tied = all(
                columns[0] == column or all(a != b for a, b in zip(columns[0], column, strict=True))
                for column in columns
            )
            rare = all(min(c.count("0"), c.count("1")) <= len(c) / 3 for c in columns)
            assert tied or rare


def test_a_prompt_shows_no_computed_cell_of_the_rows_asked_about() -> None:
    """Nor what is right of them."""
    for item in found("undetermined"):
        (block,) = item.task.prompt.split("## Rows asked about")[1].split("```")[1:2]
        shown = [line.split()[1:] for line in block.strip().splitlines()[1:]]
        for cells, world in zip(shown, item.truth.target["heldout"], strict=True):
            known = set(item.task.inputs["roots"]) | set(world["targets"])
            for name, cell, value in zip(item.names, cells, world["rows"][0], strict=True):
                assert cell == (value if name in known else "?")
        assert "Formulas" not in item.task.prompt


def test_the_paper_s_records_are_the_same_with_and_without_the_frontier() -> None:
    """A further exam must not change the old one; shifted worlds change its truth alone."""
    plain = TRACK.plan(Config(0, 0, 1), "test", ROOT, True)
    more = TRACK.plan(Config(0, 0, 1, 2, 1), "test", ROOT, True)
    assert more[: len(plain)] == plain and len(more) == len(plain) + 3
    spec = next(s for s in plain if s.asked.levels[0][1] == "induction.hidden")
    shifted = TRACK.plan(Config(0, 0, 1, 0, 0, True), "test", ROOT, True)[spec.index]
    before, after = TRACK.build(spec).rows, TRACK.build(shifted).rows
    assert before["replayscm"] == after["replayscm"]
    (old,), (new,) = before["replayscm_truth"], after["replayscm_truth"]
    target = json.loads(str(new["target_json"]))
    assert target.pop("shifted")["worlds"] and target == json.loads(str(old["target_json"]))
    (item,) = items_of(TRACK.build(shifted))
    assert problem_of(item.task, item.truth) is None
    assert item.grade(symbolic(item.task)).status == "scored"


def test_the_generation_report_has_frontier_programs_in_a_table_of_their_own() -> None:
    """They have neither Original worlds nor a place among the paper's figures."""
    worlds = [
        json.loads(str(b.rows["replayscm_worlds"][0]["world_json"])) for b in frontier_built()
    ]
    truths = {item.task.task_id: dict(item.truth.target) for item in frontier()}
    _, table, _ = report(worlds, truths)
    assert "| determined | 2 | 10.50 (10–11) |" in table and "| open | 2 | 8.50 (8–9) |" in table


def test_the_settings_of_the_frontier_are_off_by_default() -> None:
    """And stand by themselves or beside the paper's."""

    def parse(**table: object) -> Any:
        return TRACK.parse(TomlTable(table, "here.replayscm."))

    assert parse(per_pool=3) == Config(0, 0, 3, 0, 0, False)
    assert parse(frontier=5) == Config(0, 0, 0, 5, 0, False)
    assert parse(full=3, matched=1, undetermined=2, shifted=True) == Config(3, 1, 0, 0, 2, True)
