"""What ships: pools, programs and worlds, levels, secrecy, settings, the two controls."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from puzzles import FULL, MATCHED, ROOT, Item, built, extra, items, items_of, of_pool

from baselines.replayscm import symbolic
from builder.gate.exams import HeldExam, borrowed_answers
from builder.release.exams import compose_public
from builder.splits.config import Draw, SplitConfig
from builder.splits.track import BuiltInstance, Candidate, PossibleTask
from builder.tracks import TRACKS
from builder.tracks.replayscm.plan import POOLS, ProgramSettings
from builder.tracks.replayscm.track import TRACK
from grader.errors import UsageError
from grader.io.schemas import first_problem
from grader.tracks.replayscm.boolean import essential, truth_table
from grader.tracks.replayscm.problem import ROOTS, parse_map
from grader.tracks.replayscm.proof import _signature, problem_of


def test_the_matched_design_at_a_small_size() -> None:
    """Matched pools share programs and held-out worlds."""
    counts = Counter(item.pool for item in items())
    assert counts == {label: FULL if label.endswith("-Full") else MATCHED for label in POOLS}
    for instance in built():
        own = items_of(instance)
        targets = [dict(item.truth.target) for item in own]
        assert len({json.dumps(t["gold"]) for t in targets}) == 1
        assert len({json.dumps(t["heldout"]) for t in targets}) == 1
        check_worlds(targets, {item.pool: item.task.inputs for item in own})
        for target in targets:
            assert first_problem("truth/replayscm", json.loads(json.dumps(target))) is None


def check_worlds(targets: list[Any], by_pool: dict[str, Any]) -> None:
    names = next(iter(by_pool.values()))["variables"]
    heldout = {_signature(names, world) for world in targets[0]["heldout"]}
    assert len(heldout) == 8
    for target in targets:
        shown = by_pool[target["pool"]]
        assert not heldout & {_signature(names, world) for world in shown["worlds"]}
        assert all(set(w["targets"]) < set(names) for w in shown["worlds"])
        assert target["level"] != "certified" or target["unique"]
        assert target["level"] != "cex" or len(shown["worlds"]) > 8
    for first, second in (("Ord-Ext", "Hid-Ext"), ("Ord-CEx", "Hid-CEx"), ("Ord-Cert", "Hid-Cert"),
                          ("Ord-Full", "Hid-Full")):  # fmt: skip
        if first in by_pool and second in by_pool:
            hidden = by_pool[second]
            told = {"order": None, "determined": hidden["determined"]}
            assert {**by_pool[first], **told} == hidden, "disclosure is the only difference"
            assert by_pool[first]["determined"] or not hidden["determined"]
    if "Ord-Ext" in by_pool:
        original = by_pool["Ord-Full"]["worlds"]
        extra = by_pool["Ord-Ext"]["worlds"]
        assert extra[: len(original)] == original
        assert 3 <= len(extra) - len(original) <= 4
        cex = by_pool["Ord-CEx"]["worlds"]
        certified = by_pool["Ord-Cert"]["worlds"]
        assert cex[: len(extra)] == extra and len(cex) > len(extra)
        assert certified[: len(cex)] == cex and 1 <= len(certified) - len(cex) <= 25


@pytest.mark.parametrize(
    ("per_pool", "built_of_them"), [(2, 4), pytest.param(40, 480, marks=pytest.mark.slow)]
)
def test_a_private_split_asks_about_every_program_once(per_pool: int, built_of_them: int) -> None:
    """An ordered prompt gives away what a hidden-order prompt of the same program hides."""
    specs = TRACK.plan(ProgramSettings(per_pool=per_pool), "test", ROOT, True)
    assert len(specs) == per_pool * len(POOLS) == len({spec.instance_id for spec in specs})
    instances = [TRACK.build(spec) for spec in specs[:built_of_them]]
    assert all(len(instance.rows["replayscm"]) == 1 for instance in instances)
    assert len({semantic(instance) for instance in instances}) == built_of_them


def test_no_exam_holds_a_program_s_alternatives_beside_its_inductions() -> None:
    """An Alternative-SCM prompt prints what ten inductions of the same program ask for, with hidden
    roots too, for it names the roots: beside each other they are a problem of the exam."""
    programs = defaultdict(list)
    for item in items():
        task = PossibleTask(item.task.task_id, item.task.spec.key)
        programs[item.task.instance_id].append(task)
    candidates = [Candidate(name, tuple(own)) for name, own in programs.items()]
    exam = Draw("main", "replayscm", None)
    split = SplitConfig("dev", "public", "s", None, (("replayscm", None),), (exam,))
    drawn = compose_public(split, TRACK, candidates, ROOT, "x.toml")["main"].task_ids
    truths = {item.task.task_id: item.truth for item in items()}

    def problems(chosen: Collection[str]) -> str:
        tasks = [item.task for item in items() if item.task.task_id in chosen]
        found = borrowed_answers(HeldExam("x", tasks, {}, False), TRACKS, truths)
        return "\n".join(line for line in found if line is not None)

    alternatives = {i.task.instance_id for i in items() if i.task.family == "alternative"}
    answered = [
        item.task.task_id
        for item in items()
        if item.task.family == "induction" and item.task.instance_id in alternatives
    ]
    told = problems(truths)
    assert len(answered) == MATCHED * 10 and all(name in told for name in answered)
    assert problems(drawn) == ""
    held = Counter(item.task.family for item in items() if item.task.task_id in drawn)
    assert held["alternative"] in (1 * 2, 2 * 2) and held["induction"] in (1 * 10 + 2, 2 * 10 + 2)


def semantic(instance: BuiltInstance) -> str:
    """What a program computes: each mechanism's functional parents and truth table over them."""
    world = json.loads(str(instance.rows["replayscm_worlds"][0]["world_json"]))
    mechanisms = parse_map(world["program"]["mechanisms"])
    found = {}
    for child, formula in mechanisms.items():
        names = sorted(essential(formula))
        found[child] = [names, truth_table(formula, names)]
    return json.dumps(found, sort_keys=True)


def test_shared_programs_are_refused_where_truth_is_private() -> None:
    with pytest.raises(UsageError, match="per_pool"):
        TRACK.plan(ProgramSettings(full=5, matched=2), "test", ROOT, True)


def test_pools_levels_and_strata_are_in_no_public_row() -> None:
    """A prompt that says it is certified would say that a unique program exists."""
    for item in items():
        shown = json.dumps(item.task.inputs) + item.task.prompt + item.task.answer_file
        for word in ("-Full", "-Ext", "certified", "unique", "Cert", "CEx", "cells-", "strat"):
            assert word not in shown
        for world in item.truth.target["heldout"]:
            assert json.dumps(world["rows"]) not in shown


def test_a_prompt_holds_what_its_disclosure_says_and_no_more() -> None:
    """One stray line with the order would turn Hidden-order into Ordered."""
    said = {"induction.hidden_roots": "with two members: `roots`,"}
    for item in items():
        inputs, prompt, in_a_row = item.task.inputs, item.task.prompt, item.task.prompt.split()
        several = "with three members: `mechanisms`," if item.task.family == "alternative" else (
            "with one member, `mechanisms`:")  # fmt: skip
        assert said.get(item.task.spec.key, several) in " ".join(in_a_row)
        assert "There are no constants: 0 and 1 cannot be written" in " ".join(in_a_row)
        assert prompt.count(item.task.answer_file) == 1
        assert "at most 4 different variables" in prompt
        assert ("Causal order: X" in prompt) == (item.task.variant in ("ordered",
                "alternative_ordered"))  # fmt: skip
        assert ("Blocks in causal order" in prompt) == (item.task.variant == "block")
        assert (inputs["roots"] is None) == (item.task.variant == "hidden_roots")
        assert ("Reference program" in prompt) == (item.task.family == "alternative")
        for world in inputs["worlds"]:
            assert f"World `{world['id']}`" in prompt
        told = "on eight worlds of the same program and units that you do not see"
        assert (told in prompt) == (item.task.family == "induction")
        for world in item.truth.target["heldout"]:
            assert world["mode"] in ("none", "hard_constant", "hard_assigned")
            assert len(world["targets"]) <= 3


def test_a_prompt_says_whether_its_tables_determine_the_answer() -> None:
    """As the checker proves it; with hidden roots, the roots count too. An alternative is open."""
    for item in items():
        _, _, said = item.task.prompt.partition("## Do the tables determine the answer?\n\n")
        if item.task.family == "alternative":
            assert said.startswith("No, and they need not.")
            continue
        one_root_set = item.task.inputs["roots"] is not None or item.truth.target["unique"]
        assert item.task.inputs["determined"] == (item.truth.target["determined"] and one_root_set)
        assert said.startswith("Yes." if item.task.inputs["determined"] else "No. There are")
        assert ("What is scored is full agreement with" in said) != item.task.inputs["determined"]
        other = {**item.task.inputs, "determined": not item.task.inputs["determined"]}
        problem = problem_of(replace(item.task, inputs=other), item.truth)
        assert problem is not None and "the prompt says determined" in problem
    assert {item.task.inputs.get("determined") for item in items()} == {True, False, None}


def test_what_a_prompt_says_of_shared_unit_labels_is_so() -> None:
    """Thresholds are shared and levels are not: values move, and never against each other."""
    moved = 0
    for item in items():
        told = "each root the unit has a hidden threshold between 0 and 1, the same in every world"
        assert told in " ".join(item.task.prompt.split())
        worlds = [*item.task.inputs["worlds"], *item.truth.target["heldout"]]
        for root in item.truth.target["roots"]:
            place = item.names.index(root)
            columns = [
                [row[place] == "1" for row in world["rows"]]
                for world in worlds
                if root not in world["targets"]
            ]
            for first, second in combinations(columns, 2):
                pairs = set(zip(first, second, strict=False))
                assert not {(True, False), (False, True)} <= pairs
                moved += len(pairs - {(True, True), (False, False)})
    assert moved


def test_blocks_are_runs_of_the_order_and_hide_it_inside() -> None:
    """Within a block the list must be by label, or the order is told after all."""
    for item in of_pool("Block"):
        blocks = item.task.inputs["blocks"]
        assert sorted(name for block in blocks for name in block) == sorted(item.names)
        assert blocks[0] == item.task.inputs["roots"] and max(map(len, blocks[1:])) >= 2
        for block in blocks:
            assert block == sorted(block, key=lambda name: int(name[1:]))


@cache
def shifted_items() -> tuple[Item, ...]:
    """Records of some programs with shifted worlds, alternatives left out."""
    specs = TRACK.plan(ProgramSettings(per_pool=1, shifted=True), "test", ROOT, True)
    found = [item for spec in specs[:6] for item in items_of(TRACK.build(spec))]
    return tuple(item for item in found if item.task.family == "induction")


def test_shifted_worlds_change_the_truth_alone() -> None:
    """What a test taker sees is the same with and without the control."""
    plain = TRACK.plan(ProgramSettings(per_pool=1), "test", ROOT, True)
    spec = next(s for s in plain if s.task_plan.levels[0][1] == "induction.hidden")
    shifted = TRACK.plan(ProgramSettings(per_pool=1, shifted=True), "test", ROOT, True)[spec.index]
    before, after = TRACK.build(spec).rows, TRACK.build(shifted).rows
    assert before["replayscm"] == after["replayscm"]
    (old,), (new,) = before["replayscm_truth"], after["replayscm_truth"]
    target = json.loads(str(new["target_json"]))
    assert target.pop("shifted")["worlds"] and target == json.loads(str(old["target_json"]))


def test_a_shifted_world_or_its_verdict_that_is_wrong_breaks_the_certificate() -> None:
    """The control's own certificate is proved again like that of the held-out worlds."""
    for item in shifted_items():
        assert problem_of(item.task, item.truth) is None
        stated = item.truth.target["shifted"]
        lie = {**stated, "determined": not stated["determined"]}
        told = replace(item.truth, target={**item.truth.target, "shifted": lie})
        assert "stated" in str(problem_of(item.task, told))
        wrong = json.loads(json.dumps(stated))
        world = wrong["worlds"][0]
        child = next(n for n in item.truth.target["gold"] if n not in world["targets"])
        row, place = world["rows"][0], item.names.index(child)
        world["rows"][0] = row[:place] + str(1 - int(row[place])) + row[place + 1 :]
        told = replace(item.truth, target={**item.truth.target, "shifted": wrong})
        assert "does not reproduce the held-out worlds" in str(problem_of(item.task, told))


def test_shifted_worlds_have_the_interventions_of_the_held_out_ones_and_other_roots() -> None:
    """Rare roots, or one coin for all: what training never shows over a world."""
    for item in shifted_items():
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


def test_places_and_shifted_worlds_are_reported_beside_the_points() -> None:
    """Both controls see the answer, and neither counts."""
    for item in shifted_items():
        n, gold = len(item.names), item.truth.target["gold"]
        answer = json.loads(item.task.shape.gold(item.task, item.truth))
        figures = extra(item.grade(answer))
        assert figures["shifted_exact"] == figures["shifted_world_exact"] == 1
        assert sum(figures[f"asked_place_{k}"] for k in range(5)) == len(gold) == n - ROOTS
        assert sum(figures[f"right_place_{k}"] for k in range(5)) == n - ROOTS
        first = next(name for name in item.names if name in gold)
        answer["mechanisms"][first] = f"(not {gold[first]})"
        wrong = extra(item.grade(answer))
        fifth = 5 * item.names.index(first) // n
        assert wrong[f"right_place_{fifth}"] == wrong[f"asked_place_{fifth}"] - 1
        assert wrong["shifted_exact"] == 0
        assert item.grade(symbolic(item.task)).status == "scored"
