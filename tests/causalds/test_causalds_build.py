"""Building scenes: pure, well-formed, silent about what must stay hidden; questions that fit."""

import json
import os
import platform
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from causalds_scenes import asked, plan, private, public, rows, specs, tasks, variant_of, world
from numpy._core import _multiarray_umath as dispatch
from stored_worlds import world_from_json

from builder.equations.quantities import EFFECT_MARGIN
from builder.release.arrow import round_data
from builder.release.attempts import Rejection
from builder.splits.seeds import attempt_key, public_id, stream
from builder.splits.track import InstanceSpec
from builder.tracks.causalds import track
from builder.tracks.causalds.ask.association import _ALONE, _asked_alone
from builder.tracks.causalds.design.eligibility import ELIGIBILITY
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.exams.candidates import label_class
from builder.tracks.causalds.make.scene import column_order
from builder.tracks.causalds.track import MAX_ATTEMPTS, TRACK
from grader.errors import UsageError
from grader.tracks.causalds import TRACK as GRADER

ROOT = Path(__file__).resolve().parents[2]


def test_ids_follow_the_contract_and_say_nothing_else() -> None:
    for spec in specs(scenes=7):
        built = TRACK.build(spec)
        for task in rows(built, ""):
            key = variant_of(task)
            detail = world(built)["task_details"].get(task["task_id"])
            label = key if detail is None else f"{key}/of {detail}"
            assert task["task_id"] == public_id("cds", spec.id_key, label)
            assert task["answer_file"] == task["task_id"] + GRADER.variant(key).shape.suffix
            assert task["instance_id"] == spec.instance_id
    identifiers = [task["task_id"] for built in public() for task in rows(built, "")]
    assert len(set(identifiers)) == len(identifiers)


def test_data_are_the_worlds_own_rows_rounded_once() -> None:
    """Held-out labels must go with the held-out features, row by row, from the stated world."""
    for built in public()[::4]:
        record, row = world(built), rows(built, "_worlds")[0]
        key = attempt_key(bytes.fromhex(row["world_key"]), row["attempt"])
        values = world_from_json(record["world"]).simulate(stream(key, "data"), 500)
        names = {record["variables"][node]["name"]: node for node in record["columns"]}
        scene, label = rows(built, "_scenes")[0], rows(built, "_labels")[0]
        for column in scene["data"]:
            expected = round_data(values[names[column["name"]]][:400])
            assert np.array_equal(column["values"], expected)
        for column in [*scene["test_features"], {"name": label["outcome"], **label}]:
            expected = round_data(values[names[column["name"]]][400:])
            assert np.array_equal(column["values"], expected)


def test_column_order_is_unrelated_to_the_graph() -> None:
    """In the reference release the order was topological in all scenes; here any order does."""
    firsts: Counter[str] = Counter()
    for spec in specs(scenes=36, motifs={"chain": 1}):
        plan = ScenePlan.from_json(spec.config_json)
        firsts["".join(column_order(plan, attempt_key(spec.key, 0)))] += 1
    assert len(firsts) == 6
    assert all(count < 15 for count in firsts.values()), firsts


def test_truths_do_not_depend_on_the_rows() -> None:
    """Population values must not know the sample, least of all the held-out part."""
    few = [TRACK.build(spec) for spec in specs(scenes=7)[:3]]
    many = [TRACK.build(s) for s in specs(scenes=7, rows={"train": 900, "test": 30})[:3]]
    for one, other in zip(few, many, strict=True):
        for (_, a), (_, b) in zip(tasks(one).values(), tasks(other).values(), strict=True):
            assert a["value"] == b["value"] and a["should_abstain"] == b["should_abstain"]
        assert world(one)["levels"] == world(other)["levels"]


def test_effect_inputs_state_the_levels_as_printed() -> None:
    """The truth refers to the printed numbers, not to unrounded ones."""
    for built in public():
        found = tasks(built)
        task, _ = found["effect_estimate.ate_point"]
        inputs = json.loads(task["inputs_json"])
        for level in (inputs["x0"], inputs["x1"]):
            assert f"= {level:g}" in task["prompt"]
            assert float(f"{level:.3g}") == level


def test_a_private_scene_has_one_task_and_shows_only_what_it_needs() -> None:
    """One row of a private exam must not give away another, or more than its question needs."""
    modes = Counter[str]()
    for built in private():
        (task,), (scene,) = rows(built, ""), rows(built, "_scenes")
        assert len(rows(built, "_truth")) == 1
        modes[task["input_mode"]] += 1
        data = task["input_mode"] == "data"
        assert bool(scene["data"]) == bool(scene["columns"]) == data
        predicted = task["family"] == "prediction"
        assert bool(scene["test_features"]) == bool(rows(built, "_labels")) == predicted
    assert sum(modes.values()) == 24 and len(modes) == 2


def test_rejections_move_on_to_the_next_attempt_and_end_in_an_error_that_names_it(monkeypatch):
    """A scene that misses a bound is replaced by rule, and the replacement is recorded."""
    sample, calls, refused = track.sample_hidden_world, list[bytes](), 2

    def refuse_some(plan: Any, key: bytes) -> Any:
        calls.append(key)
        if len(calls) <= refused:
            raise Rejection("no world in range")
        return sample(plan, key)

    monkeypatch.setattr(track, "sample_hidden_world", refuse_some)
    spec = specs()[3]
    built = TRACK.build(spec)
    assert built.rejections == {"no world in range": 2}
    assert rows(built, "_worlds")[0]["attempt"] == 2
    assert calls == [attempt_key(spec.key, k) for k in range(3)]
    refused = 1000
    with pytest.raises(UsageError, match=rf"causalds/dev/3: .*no world in range {MAX_ATTEMPTS};"):
        TRACK.build(spec)


def test_a_planned_task_that_is_not_eligible_is_redrawn() -> None:
    """Which natural effect is larger cannot be asked near a tie: another world is needed."""
    planned = specs(private=True, scenes=66, motifs={"mediation": 1})
    asked = [s for s in planned if "direct_vs_indirect_dominance" in s.config_json]
    for spec in asked:
        for index in range(40):
            built = TRACK.build(replace(spec, key=attempt_key(spec.key, 1000 + index)))
            if "planned task not eligible" in built.rejections:
                quantities = world(built)["quantities"]
                direct, indirect = (abs(quantities[name]["value"]) for name in ("nde", "nie"))
                assert abs(direct - indirect) >= EFFECT_MARGIN * quantities["outcome_sd"]["value"]
                return
    pytest.fail("no attempt was ever redrawn; the margin is not applied")


def test_a_graph_that_suits_no_planned_mechanism_gets_the_plainest(monkeypatch):
    """One scene in several hundred would else stop a build whose secret nobody can choose."""
    sample = track.sample_hidden_world

    def refuse_the_planned(plan: Any, key: bytes) -> Any:
        if (plan.equations.continuous, plan.equations.binary) != track.PLAINEST:
            raise Rejection("no world in range")
        return sample(plan, key)

    monkeypatch.setattr(track, "sample_hidden_world", refuse_the_planned)
    profiles = {"continuous": {"interaction_response": 1}, "binary": {"noisy_and": 1}}
    built = TRACK.build(specs(profiles=profiles)[0])
    assert built.rejections == {"no world in range": track.PROFILE_ATTEMPTS}
    plan = world(built)["plan"]["equations"]
    assert (plan["continuous"], plan["binary"]) == track.PLAINEST


PRESENT = "collider_phenomenon.induced_association_boolean"
BOTH = ("True", "False")


def test_no_answer_to_induced_associations_is_right_in_three_of_four() -> None:
    """In a large split, where chance does not hide it."""
    hosts = _present_hosts()
    both, there, absent = (len(hosts[one]) for one in (BOTH, ("True",), ("False",)))
    present = both + _ALONE * there
    assert 0.4 < present / (present + both + absent) < 0.75
    assert (both + there) / (2 * both + there + absent) > 0.8  # if all were asked


def test_a_scene_with_one_of_each_is_asked_about_an_association_and_its_absence() -> None:
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


@cache
def _present_hosts() -> dict[tuple[str, ...], list[InstanceSpec]]:
    """Of a public split composed as large ones are, what can be asked, by what it can answer."""
    hosts: dict[tuple[str, ...], list[InstanceSpec]] = defaultdict(list)
    kinds = {"treatment_binary": 0.5, "outcome_binary": 0.4, "rows": {"train": 60, "test": 30}}
    for spec in plan({"scenes": 400, "composition": "full", **kinds}):
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


def older_processors() -> list[dict[str, str]]:
    """Environments in which NumPy does without any of its special code, and without the newest."""
    known = [name for name in dispatch.__cpu_dispatch__ if dispatch.__cpu_features__[name]]
    if not known:
        pytest.skip("this processor has no features that NumPy could do without")
    kernels = ("Prescott", "Haswell") if platform.machine() == "x86_64" else ("", "")
    return [
        {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "NPY_DISABLE_CPU_FEATURES": " ".join(without),
            **({"OPENBLAS_CORETYPE": kernel} if kernel else {}),
        }
        for without, kernel in zip((known, known[1:]), kernels, strict=True)
        if without
    ]


@pytest.mark.slow
def test_mini_has_the_same_bytes_on_other_processors(tmp_path):
    """The promise of the release format, kept for all four tracks."""
    for place, environment in enumerate([dict(os.environ), *older_processors()]):
        out = tmp_path / str(place)
        command = [sys.executable, "build_dataset.py", "build", "splits/mini.toml"]
        command += ["--out", str(out), "--quiet", "--workers", "1"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        written, first = (
            {str(p.relative_to(top)): p.read_bytes() for p in top.rglob("*") if p.is_file()}
            for top in (out, tmp_path / "0")
        )
        assert written == first
