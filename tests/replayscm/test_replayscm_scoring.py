"""Scoring is semantic and tells a wrong step from missing evidence; the paper's examples."""

import json
import random
import re
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from puzzles import Item, extra, grade, items, of_pool

from builder.tracks.replayscm.check import read, value
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks.replayscm.boolean import Formula, operation, parse, to_text, variables
from grader.tracks.replayscm.problem import make_program, pack, parse_map
from grader.tracks.replayscm.replay import best_separation, replay, separation, shows_difference
from grader.tracks.replayscm.shapes import SeparatingRow, separating_row
from grader.tracks.replayscm.tables import diagnose


def wrong_answer(item: Item, seed: int) -> dict[str, Any]:
    """A legal program near the gold one: some mechanisms replaced by functions of two roots."""
    rng = random.Random(seed)
    gold = json.loads(item.task.shape.gold(item.task, item.truth))
    roots = item.truth.target["roots"]
    for child in sorted(gold["mechanisms"]):
        if rng.random() < 0.4:
            a, b = rng.sample(roots, 2)
            operator = rng.choice(("and", "or", "xor", "iff"))
            gold["mechanisms"][child] = f"({operator} {a} {b})"
    return dict(gold)


def respell(formula: Formula, rng: random.Random) -> Formula:
    """The same function: commuted, doubly negated, by De Morgan, padded with its own variables."""
    if formula.operator:
        children = [respell(child, rng) for child in formula.arguments]
        if formula.operator != "not":
            rng.shuffle(children)
        if formula.operator in ("and", "or") and rng.random() < 0.3:
            dual = "or" if formula.operator == "and" else "and"
            formula = operation("not", operation(dual, *(operation("not", c) for c in children)))
        else:
            formula = operation(formula.operator, *children)
    if rng.random() < 0.2:
        formula = operation("not", operation("not", formula))
    if rng.random() < 0.3:
        own = parse(rng.choice(sorted(variables(formula))))
        idle = operation("and", own, operation("not", own))
        formula = operation("or", formula, idle)
    return formula


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_respelling_an_answer_changes_no_metric(seed: int) -> None:
    """A scorer that looks at spelling rewards style: none of ours may."""
    rng = random.Random(seed)
    item = items()[rng.randrange(len(items()))]
    answer = wrong_answer(item, seed)
    mechanisms = {
        child: to_text(respell(parse(text), rng)) for child, text in answer["mechanisms"].items()
    }
    plain, other = item.grade(answer), item.grade({**answer, "mechanisms": mechanisms})
    assert plain.points == other.points and plain.status == other.status == "scored"
    assert _figures(plain) == _figures(other)


def _figures(result: Any) -> dict[str, Any]:
    """All but those about the spelling itself."""
    return {k: v for k, v in extra(result).items() if k != "ast_size" and "_place_" not in k}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_renaming_the_variables_everywhere_changes_no_metric(seed: int) -> None:
    """Labels carry no meaning: a metric that moves with them has a hidden order in it."""
    rng = random.Random(seed)
    item = items()[rng.randrange(len(items()))]
    shuffled = item.names[:]
    rng.shuffle(shuffled)
    table = dict(zip(item.names, shuffled, strict=True))
    renamed = Item(_renamed_task(item.task, table), _renamed_truth(item.truth, table, item.names))
    answer = wrong_answer(item, seed)
    assert _figures(item.grade(answer)) == _figures(renamed.grade(_rename(answer, table)))


def _rename(value: Any, table: dict[str, str]) -> Any:
    """Names in keys, in lists and inside formulas."""
    if isinstance(value, dict):
        return {table.get(key, key): _rename(item, table) for key, item in value.items()}
    if isinstance(value, list):
        return [_rename(item, table) for item in value]
    if isinstance(value, str) and ("X" in value or value.startswith("(")):
        return " ".join(
            token if token in "()" else table.get(token, token)
            for token in value.replace("(", " ( ").replace(")", " ) ").split()
        )
    return value


def _reordered(worlds: Any, names: list[str], table: dict[str, str]) -> Any:
    """Columns follow the renamed variables' order."""
    back = {new: old for old, new in table.items()}
    places = [names.index(back[name]) for name in names]
    return [
        {**world, "targets": [table[name] for name in world["targets"]],
         "rows": ["".join(row[place] for place in places) for row in world["rows"]]}
        for world in worlds
    ]  # fmt: skip


def _renamed_task(task: Task, table: dict[str, str]) -> Task:
    names = list(task.inputs["variables"])
    inputs = {key: _rename(value, table) for key, value in task.inputs.items() if key != "worlds"}
    inputs |= {"variables": names, "worlds": _reordered(task.inputs["worlds"], names, table)}
    return replace(task, inputs=inputs)


def _renamed_truth(truth: Truth, table: dict[str, str], names: list[str]) -> Truth:
    target = {
        key: value if key == "heldout" else _rename(value, table)
        for key, value in truth.target.items()
    }
    target["heldout"] = _reordered(truth.target["heldout"], names, table)
    target |= {key: truth.target[key] for key in ("pool", "level")}
    return replace(truth, target=target)


def _gold(item: Item) -> str:
    return item.task.shape.gold(item.task, item.truth)


def test_gold_scores_one_point_everywhere_and_is_exact_in_structure() -> None:
    """A truth that its own scorer does not accept is no truth."""
    for item in items():
        result = item.grade(_gold(item))
        assert (result.status, result.points, result.loss) == ("scored", 1.0, 0.0), result.message
        if item.task.family == "induction":
            figures = extra(result)
            assert figures["parent_f1"] == figures["local_full"] == 1 and figures["parent_shd"] == 0


def test_a_train_exact_answer_fails_held_out_only_where_evidence_is_missing() -> None:
    """(L): the counterexample is exact on training and wrong in undetermined cells alone."""
    seen = 0
    for item in items():
        shown = item.truth.target["counterexample"]
        if shown is None or item.task.family != "induction":
            continue
        answer = dict(shown) if item.pool == "Hid-Roots" else {"mechanisms": shown["mechanisms"]}
        figures = extra(item.grade(answer))
        assert figures["train_exact"] == 1 and figures["heldout_exact"] == 0
        assert figures["wrong_determined"] == 0 and figures["wrong_undetermined"] > 0
        seen += 1
    assert seen > 10


def test_on_determined_items_held_out_exact_equals_train_exact() -> None:
    determined = [item for item in items() if item.truth.target["determined"]]
    assert len(determined) >= 6
    for seed, item in enumerate(determined):
        if item.task.family == "induction":
            for answer in (wrong_answer(item, seed), json.loads(_gold(item))):
                figures = extra(item.grade(answer))
                assert figures["heldout_exact"] == figures["train_exact"]
                assert figures["wrong_undetermined"] == 0


def test_the_reference_itself_is_no_alternative() -> None:
    """Returning what was given must earn nothing, however it is spelled."""
    item = of_pool("Alt-Hid")[0]
    answer = json.loads(_gold(item))
    answer["mechanisms"] = {
        child: f"(not (not {text}))" for child, text in item.task.inputs["reference"].items()
    }
    result = item.grade(answer)
    assert result.points == 0 and extra(result)["distinct"] == 0
    assert "reference" in result.message


def test_an_experiment_that_shows_nothing_costs_the_task_but_not_the_alternative() -> None:
    """Joint success needs all three; its parts are reported apart."""
    item = of_pool("Alt-Ord")[0]
    answer = json.loads(_gold(item))
    for experiment, witness in (
        ({"variable": "X99", "value": 0}, answer["witness"]),
        (answer["intervention"], {}),
    ):
        result = item.grade({**answer, "intervention": experiment, "witness": witness})
        figures = extra(result)
        assert result.points == 0 and figures["alternative"] == 1 and figures["joint"] == 0
        assert ("X99" in result.message) == (experiment["variable"] == "X99")


def test_edit_locality_of_a_single_edit() -> None:
    """The audit's alternatives change one mechanism: Table G.4 must say so."""
    for item in (*of_pool("Alt-Ord"), *of_pool("Alt-Hid")):
        figures = extra(item.grade(_gold(item)))
        assert figures["one_variable_edit"] == figures["joint"] == 1
        assert 0 < figures["optimality"] <= 1
        assert figures["local_match"] == 1 - 1 / len(item.truth.target["gold"])


def test_a_wrong_answer_is_diagnosed_beside_the_gold_program() -> None:
    """The named row, by an interpreter of our own: on it the answer's mechanism and the gold one
    differ, and no training row shows its pattern, since the answer fits them all (Appendix I)."""
    seen = 0
    for item in items():
        shown = item.truth.target["counterexample"]
        if shown is None or item.task.family == "alternative":
            continue
        checked, result = grade(item, shown)
        lines = dict(diagnose(item.task, item.truth, checked))
        sizes = [
            sum(len(re.findall(r"\w+", text)) for text in program.values())
            for program in (shown["mechanisms"], item.truth.target["gold"])
        ]
        assert lines["AST size"] == f"{sizes[0]} nodes; the gold program's {sizes[1]}"
        assert [extra(result)[key] for key in ("ast_size", "ast_gold")] == sizes
        assert lines["support"].startswith("0 training rows show ")
        assert extra(result)["separating_support"] == 0
        told = re.fullmatch(
            r"world (heldout_\d\d) \((.*)\), unit u(\d\d): with (.*), "
            r"gold has (X\d+)=([01]), the answer ([01])", lines["separates"],
        )  # fmt: skip
        assert told is not None
        world = next(w for w in item.truth.target["heldout"] if w["id"] == told[1])
        row = dict(zip(item.names, map(int, world["rows"][int(told[3])]), strict=True))
        pattern = {name: int(bit) for name, bit in (one.split("=") for one in told[4].split(", "))}
        assert pattern.items() <= row.items() and told[5] not in world["targets"]
        assert world["mode"] in told[2] and all(name in told[2] for name in world["targets"])
        assert value(read(shown["mechanisms"][told[5]]), pattern) == int(told[7])
        assert row[told[5]] == int(told[6]) != int(told[7])
        seen += 1
    assert seen > 5
    gold = items()[0]
    checked, _ = grade(gold, json.loads(gold.task.shape.gold(gold.task, gold.truth)))
    lines = dict(diagnose(gold.task, gold.truth, checked))
    assert lines["edges"] == "all right"
    assert lines["separates"] == "no held-out row: the answer replays them all"


def test_the_replay_example_of_section_three() -> None:
    """Y = not R replays both rows; Y = R fails: the definition in one line."""
    free = {"id": "a", "mode": "none", "targets": [], "rows": ["01"]}
    held = {"id": "b", "mode": "hard_constant", "targets": ["R"], "rows": ["10"]}
    worlds = pack(("R", "Y"), [free, held])
    assert replay(make_program(("R",), parse_map({"Y": "(not R)"})), worlds).exact
    failing = replay(make_program(("R",), parse_map({"Y": "R"})), worlds)
    assert (failing.worlds_exact, failing.cells_wrong, failing.cells) == (0, 2, 2)


CASE_THREE = {
    "X1": "(xor X3 X8)",
    "X2": "(xor X3 X8)",
    "X6": "(xor X1 X2)",
    "X7": "(xor X1 X2)",
    "X5": "(iff X4 (xor (and X1 X6) (or X2 X4)))",
}
REFERENCE, ALTERNATIVE = (
    make_program(("X3", "X4", "X8"), parse_map(program))
    for program in (CASE_THREE, {**CASE_THREE, "X6": "X7"})
)


def test_case_three_witness() -> None:
    """With X4 = 1, X8 = 0, X3 = 1 the reference gives X6 = 0, X5 = 1, the alternative 1 and 0."""
    assert separation(REFERENCE, ALTERNATIVE, "X7", 1) == (1.0, 0.375)
    assert best_separation(REFERENCE, ALTERNATIVE) == 1.0
    assert separation(REFERENCE, ALTERNATIVE, "X7", 0)[0] == 0.0
    witness = {"X4": 1, "X8": 0, "X3": 1}
    assert shows_difference(REFERENCE, ALTERNATIVE, "X7", 1, witness)
    assert not shows_difference(REFERENCE, ALTERNATIVE, "X7", 0, witness)
    assert not shows_difference(REFERENCE, ALTERNATIVE, "X7", 1, {"X4": 1, "X8": 0})
    names = tuple(f"X{k}" for k in range(1, 9))
    world = {"id": "w", "mode": "hard_constant", "targets": ["X7"], "rows": ["11111010"]}
    packed = pack(names, [world])
    assert replay(REFERENCE, packed).exact
    wrong = replay(ALTERNATIVE, packed).wrong
    assert {name for name, rows in wrong.items() if rows} == {"X5", "X6"}


def test_case_four_separator() -> None:
    """The shorter (or X6 X7) fails where X1 = X4 = X6 = 1 and X7 = 0, which no training row shows.
    A row where X2 is set shows nothing of its mechanism."""
    gold = parse_map({"X2": "(xor X1 X4 (and X4 (xor X1 X4 X7)))"})
    program = make_program(("X1", "X4", "X6", "X7"), parse_map({"X2": "(or X6 X7)"}))
    names = ("X1", "X2", "X4", "X6", "X7")
    train = [
        {"id": "a", "mode": "none", "targets": [], "rows": ["00000", "11101"]},
        {"id": "b", "mode": "hard_constant", "targets": ["X2"], "rows": ["11110"]},
    ]
    held = [
        {"id": "h", "mode": "hard_assigned", "targets": ["X4", "X7"], "rows": ["00000", "10110"]}
    ]
    heldout = pack(names, held)
    found = separating_row(program, gold, pack(names, train), heldout, replay(program, heldout))
    assert found == SeparatingRow(1, "X2", {"X1": 1, "X4": 1, "X6": 1, "X7": 0}, 0, 0)
    exact = make_program(("X1", "X4", "X6", "X7"), gold)
    assert separating_row(exact, gold, heldout, heldout, replay(exact, heldout)) is None
