"""What is asked of a scene: details, labels, and truths that must fit together."""

import json
from collections import Counter, defaultdict
from functools import cache
from types import SimpleNamespace

import pytest
from causalds_scenes import asked, plan, public, world

from builder.splits.track import InstanceSpec
from builder.tracks.causalds.ask.association import _ALONE, _asked_alone
from builder.tracks.causalds.design.eligibility import ELIGIBILITY
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.exams.candidates import label_class
from builder.tracks.causalds.track import TRACK


def test_questions_of_one_variant_name_different_things() -> None:
    """Two questions with the same inputs would be one question counted twice."""
    for built in public():
        inputs = Counter((key, task["inputs_json"]) for key, task, _ in asked(built))
        assert max(inputs.values()) == 1


PRESENT = "collider_phenomenon.induced_association_boolean"
BOTH = ("True", "False")


@cache
def composed() -> list[InstanceSpec]:
    """Plans of a public-truth split composed as large ones are."""
    rows = {"train": 60, "test": 30}
    kinds = {"treatment_binary": 0.5, "outcome_binary": 0.4}
    return plan({"scenes": 400, "rows": rows, "composition": "full", **kinds})


def test_no_answer_to_induced_associations_is_right_in_three_of_four() -> None:
    """In a large split, where chance does not hide it: a constant earned 81 points in 20,000
    scenes. Counted are the scenes that have an association to ask for, or its absence."""
    hosts = _present_hosts()
    both, there, absent = (len(hosts[one]) for one in (BOTH, ("True",), ("False",)))
    present = both + _ALONE * there
    assert 0.4 < present / (present + both + absent) < 0.75
    assert (both + there) / (2 * both + there + absent) > 0.8  # if all were asked


def test_a_scene_with_one_of_each_is_asked_about_an_association_and_its_absence() -> None:
    """Others with an association alone are asked by chance, about a quarter of them."""
    answers = [
        sorted(
            json.loads(truth["target_json"])["accepted"][0]
            for key, _, truth in asked(TRACK.build(spec))
            if key == PRESENT
        )
        for spec in _present_hosts()[BOTH][:3]
    ]
    assert [False, True] in answers
    assert set(map(tuple, answers)) <= {(False, True), (False,)}  # where it is hardly there
    keys = [bytes([first, second]) for first in range(16) for second in range(125)]
    chosen = sum(_asked_alone(SimpleNamespace(key=key)) for key in keys)  # type: ignore[arg-type]
    assert chosen / len(keys) == pytest.approx(_ALONE, abs=0.03)


def _present_hosts() -> dict[tuple[str, ...], list[InstanceSpec]]:
    """The composed plans that can be asked, by what they can answer."""
    hosts: dict[tuple[str, ...], list[InstanceSpec]] = defaultdict(list)
    for spec in composed():
        planned = ScenePlan.from_json(spec.config_json)
        if ELIGIBILITY[PRESENT].hosts(planned):
            hosts[ELIGIBILITY[PRESENT].classes(planned)].append(spec)
    return hosts


def test_the_classes_that_planning_expects_are_those_that_come_out() -> None:
    """A balanced private exam is planned by them."""
    for built in public():
        record = world(built)
        planned = ScenePlan.from_json(json.dumps(record["plan"]))
        classes: dict[str, set[str]] = defaultdict(set)
        for key, _, truth in asked(built):
            target = json.loads(truth["target_json"])
            classes[key].add(label_class(target, truth["value"], truth["should_abstain"]))
        for key, found in classes.items():
            possible = set(ELIGIBILITY[key].classes(planned))
            if key.endswith("direct_vs_indirect_dominance"):
                possible.add("tie")
            if key.startswith(("collider_phenomenon", "association.")):
                possible |= {"zero", "unknown", "False"}  # zeros that the equations make
            assert found <= possible, (key, record["plan"]["structure"]["motif"], found, possible)
