"""The two controls: held-out worlds under other root distributions, and places in the prompt."""

import json
from dataclasses import replace
from functools import cache

from puzzles import ROOT, Item, extra, items_of

from baselines.replayscm import symbolic
from builder.tracks.replayscm.plan import ProgramSettings
from builder.tracks.replayscm.track import TRACK
from grader.tracks.replayscm.problem import ROOTS
from grader.tracks.replayscm.proof import problem_of


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
