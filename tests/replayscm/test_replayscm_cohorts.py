"""Cohorts of programs: settings of their making, shortcut pressure, structure compared."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from puzzles import ROOT

from builder.splits.settings import TomlTable
from builder.splits.track import BuiltInstance
from builder.tracks.replayscm import plan as planning
from builder.tracks.replayscm.check import read, value
from builder.tracks.replayscm.generate import SEED_WORLDS, TRAINING_WORLDS, generate
from builder.tracks.replayscm.show import report
from builder.tracks.replayscm.track import TRACK
from grader.errors import UsageError
from grader.tracks.replayscm.boolean import depth, parse, size

SMALL = planning.Generation(variables=(5, 6), operators=("and", "or"), sizes=(3, 6), depths=(2, 3),
                   rows=(5, 7), proposals=40, survivor_reduction=(0.5, 1.0), scored_worlds=2,
                   scored_cells=12, disambiguation=False)  # fmt: skip


@pytest.fixture(scope="module")
def base() -> tuple[BuiltInstance, ...]:
    config = planning.ProgramSettings(
        full=2, matched=1, base=3, base_generation=planning.BaseGeneration(**asdict(SMALL))
    )
    return tuple(TRACK.build(spec) for spec in TRACK.plan(config, "dev", ROOT, False)[-3:])


def parsed(text: str) -> planning.ProgramSettings:
    return TRACK.parse(TomlTable(tomllib.loads(text), "x.toml: splits.dev.replayscm."))


def test_a_cohort_is_made_as_its_table_says(base: tuple[BuiltInstance, ...]) -> None:
    for one in base:
        pools = [json.loads(str(row["target_json"]))["pool"] for row in one.rows["replayscm_truth"]]
        assert pools == ["Ord-Base", "Hid-Base"]
        for written in one.rows["replayscm"]:
            inputs = json.loads(str(written["inputs_json"]))
            assert 5 <= len(inputs["variables"]) <= 6
            assert len(inputs["worlds"]) == TRAINING_WORLDS, "none was added"
            assert all(5 <= len(world["rows"]) <= 7 for world in inputs["worlds"])
        world = json.loads(str(one.rows["replayscm_worlds"][0]["world_json"]))
        for text in world["program"]["mechanisms"].values():
            formula = parse(text)
            assert not {"not", "xor", "iff"} & set(text.replace("(", " ").split())
            assert 3 <= size(formula) <= 6 and 2 <= depth(formula) <= 3


def test_the_gate_derives_a_base_cohort_again(base: tuple[BuiltInstance, ...]) -> None:
    """And sees one cell that the hidden program does not give."""
    for one in base:
        tasks = {"tasks": one.rows["replayscm"]}
        (world,), (truth, _) = one.rows["replayscm_worlds"], one.rows["replayscm_truth"]
        assert TRACK.audit(world, one.rows["replayscm_truth"], None, tasks) == []
        target = json.loads(str(truth["target_json"]))
        first = target["heldout"][0]
        names = sorted({*target["gold"], *target["roots"]}, key=lambda name: int(name[1:]))
        place = next(
            k for k, v in enumerate(names) if v in target["gold"].keys() - first["targets"]
        )
        cells = first["rows"][0]
        first["rows"][0] = cells[:place] + "10"[int(cells[place])] + cells[place + 1 :]
        told = TRACK.audit(world, [{**truth, "target_json": json.dumps(target)}], None, tasks)
        assert any("does not reproduce the held-out worlds" in problem for problem in told)


def test_the_generation_report_tells_the_cohorts_apart(base: tuple[BuiltInstance, ...]) -> None:
    """Base programs in tables of their own: theirs have no worlds that disambiguate."""
    worlds = [json.loads(str(one.rows["replayscm_worlds"][0]["world_json"])) for one in base]
    truths = {str(row["task_id"]): json.loads(str(row["target_json"]))
              for one in base for row in one.rows["replayscm_truth"]}  # fmt: skip
    text = "\n".join(report(worlds, truths))
    assert "## Base cohort, Programs" in text and "## Programs" not in text
    assert "| disambiguation worlds | 0–3 | 0 |" in text and "3 programs, 6 records" in text


def test_other_programs_are_the_same_with_a_base_cohort() -> None:
    without = TRACK.plan(planning.ProgramSettings(full=3, matched=1), "dev", ROOT, False)
    with_base = TRACK.plan(planning.ProgramSettings(full=3, matched=1, base=2), "dev", ROOT, False)
    assert with_base[: len(without)] == without and len(with_base) == len(without) + 2
    plan = planning.ProgramPlan.from_json(with_base[-1].config_json)
    assert not plan.generation.disambiguation and plan.pools == planning.BASE_POOLS
    private = TRACK.plan(planning.ProgramSettings(per_pool=1, base=2), "test", ROOT, True)[-2:]
    pools = [planning.ProgramPlan.from_json(s.config_json).pools for s in private]
    assert pools == [planning.BASE_POOLS[:1], planning.BASE_POOLS[1:]]


def test_each_program_keeps_the_thresholds_of_its_stratum() -> None:
    """Of the paper's Table B.2, over the written rows; each pool has all strata in its shares."""
    config = planning.ProgramSettings(
        per_pool=3, base=3, strata=dict.fromkeys(planning.STRATA, 1.0)
    )
    specs = TRACK.plan(config, "dev", ROOT, False)
    realised = TRACK.composition(config, specs)["stratum"]
    assert realised == {name: {"requested": 13.0, "realised": 13} for name in planning.STRATA}
    plans = [planning.ProgramPlan.from_json(spec.config_json) for spec in specs]
    for pool in planning.POOLS.values():
        assert {plan.stratum for plan in plans if plan.pools == (pool,)} == {*planning.STRATA}
    assert all(plan.generation.disambiguation == (len(plan.pools) == 1) for plan in plans)
    for spec, plan in zip(specs, plans, strict=True):
        if plan.pools[0].label not in ("Ord-Full", "Ord-Base"):
            continue
        written = TRACK.build(spec).rows["replayscm_worlds"][0]
        record = json.loads(str(written["world_json"]))
        asked, training = (
            replace(planning.PAPER, **planning.STRATA[record["stratum"]]),
            record["levels"]["original"],
        )
        modes = [world["mode"] for world in training]
        assert modes.count("hard_assigned") >= asked.assigned_worlds
        assert modes.count("hard_constant") >= asked.constant_worlds
        least, most = asked.survivor_reduction
        assert least <= record["statistics"]["survivor_reduction"] <= most <= 0.95
        for child in record["program"]["mechanisms"]:
            scored = [world for world in training if child not in world["targets"]]
            assert len(scored) >= asked.scored_worlds
            assert sum(len(world["rows"]) for world in scored) >= asked.scored_cells
            assert len(training) - len(scored) <= asked.clamped_worlds
        known = [world["targets"] for world in training]
        share = sum(world["targets"] not in known for world in record["heldout"]) / 8
        assert asked.novelty[0] <= share <= asked.novelty[1]


def test_settings_are_read_and_refused_by_name() -> None:
    text = """full = 4
matched = 2
base = 3
generation = { variables = [7, 8], rows = [8, 9], scored_cells = 20 }
base_generation = { operators = ["and", "not"], survivor_reduction = [0.5, 1] }
"""
    config = parsed(text)
    assert config.generation == planning.Generation(variables=(7, 8), rows=(8, 9), scored_cells=20)
    base = planning.BaseGeneration(operators=("not", "and"), survivor_reduction=(0.5, 1.0))
    assert config.base_generation == base and not base.disambiguation
    assert parsed("full = 4\nmatched = 2").generation == planning.Generation()
    wrong = {
        "": "full: ",
        "matched = 5": "full: ",
        "full = 5\nmatched = 6": "matched: ",
        "full = 0\nmatched = 0": "full: ",
        "full = true\nmatched = 0": "full: ",
        "full = 5\nmatched = 2\nfulll = 1": "fulll: ",
        "per_pool = 3\nfull = 5": "per_pool: ",
        "per_pool = 'many'": "per_pool: ",
        "full = 4\nmatched = 2\ngeneration = { rows = [8, 40] }": "generation.rows",
        "full = 4\nmatched = 2\ngeneration = { operators = ['not'] }": "generation.operators",
        "full = 4\nmatched = 2\ngeneration = { speed = 1 }": "unknown key",
        "full = 4\nmatched = 2\nbase_generation = {}": "base = 100",
        "full = 4\nstrata = { cells-34 = 1 }": "strata.cells-34: unknown key",
        "full = 4\nstrata = { cells-33 = 0 }": "no weight is positive",
        "full = 4\nstrata = { cells-33 = 1 }\ngeneration = { scored_cells = 9 }": "strata set it",
        "full = 4\ngeneration = { survivor_reduction = 0.75 }": "the least and the most",
        "full = 4\ngeneration = { survivor_reduction = [0.9, 0.8] }": "swap them",
        "full = 4\ngeneration = { novelty = [0.3, 0.35] }": "no number of 8 worlds",
    }
    for text, told in wrong.items():
        with pytest.raises(
            UsageError, match=rf"^x\.toml: splits\.dev\.replayscm\..*{told}"
        ) as refused:
            parsed(text)
        assert "\n" not in str(refused.value)


def formulas(names: list[str], nodes: int) -> Iterator[Any]:
    """Every formula of so many nodes, as trees, not minding doubles."""
    if nodes == 1:
        yield from names
        return
    for inside in formulas(names, nodes - 1):
        yield ("not", inside)
    for count in range(2, nodes):
        for parts in product(range(1, nodes), repeat=count):
            if sum(parts) == nodes - 1:
                for arguments in product(*(list(formulas(names, part)) for part in parts)):
                    known = ("and", "or", "xor", "iff")[: 4 if count == 2 else 3]
                    yield from ((operator, *arguments) for operator in known)


def test_kill_coverage_by_going_through_all_small_formulas() -> None:
    """A second enumerator and interpreter, over two programs of four and five variables."""
    settings = planning.Generation(
        variables=(4, 5), proposals=20, survivor_reduction=(0.3, 0.9), scored_worlds=1,
        scored_cells=1, disambiguation=False,
    )  # fmt: skip
    seen = set()
    for seed in range(90):
        if len(seen) == 2:
            break
        try:
            evidence = generate(np.random.default_rng(seed), settings)
        except Exception:  # rejected
            continue
        program = evidence.program
        names = [f"X{v + 1}" for v in range(program.n)]
        gold = {name: read(text) for name, text in program.mechanisms().items()}
        covered, before, after = [], 0, 0
        for place, child in enumerate(program.order):
            if child not in program.windows:
                continue
            earlier = [f"X{v + 1}" for v in program.order[:place]]
            everything = [
                dict(zip(earlier, bits, strict=True)) for bits in product((0, 1), repeat=place)
            ]
            mine = tuple(value(gold[f"X{child + 1}"], row) for row in everything)
            rows = [
                [dict(zip(names, map(int, line), strict=True)) for line in world.rows]
                if child not in world.targets else []
                for world in evidence.training
            ]  # fmt: skip
            standing = {
                table: tree
                for nodes in range(1, 6) for tree in formulas(earlier, nodes)
                if fits(tree, child, rows[:SEED_WORLDS])
                and (table := tuple(value(tree, row) for row in everything)) != mine
                and len({*table}) > 1
            }.values()  # fmt: skip
            left = [tree for tree in standing if fits(tree, child, rows[SEED_WORLDS:])]
            covered.append(len(left) < len(standing))
            before, after = before + len(standing), after + len(left)
        assert evidence.kill_coverage == sum(covered) / len(covered)
        assert evidence.statistics["survivor_reduction"] == pytest.approx(1 - after / before)
        assert 0.3 <= 1 - after / before <= 0.9
        seen.add(evidence.kill_coverage)
    assert len(seen) == 2, "two different shares"


def fits(tree: Any, child: int, worlds: list[list[dict[str, int]]]) -> bool:
    return all(value(tree, row) == row[f"X{child + 1}"] for world in worlds for row in world)
