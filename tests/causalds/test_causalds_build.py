"""Building scenes: pure, well-formed, and silent about what must stay hidden."""

import json
import os
import platform
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from causalds_scenes import private, public, rows, specs, tasks, variant_of, world
from numpy._core import _multiarray_umath as dispatch
from stored_worlds import world_from_json

from builder.equations.margins import EFFECT_MARGIN
from builder.release.arrow import round_data
from builder.release.attempts import Rejection
from builder.splits.seeds import attempt_key, public_id, stream
from builder.tracks.causalds import track
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.make.scene import column_order
from builder.tracks.causalds.track import MAX_ATTEMPTS, TRACK
from grader.errors import UsageError
from grader.tracks import variant

ROOT = Path(__file__).resolve().parents[2]


def _plain(value: Any) -> Any:
    """Arrays as bytes, so that equality means equal bits."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.tobytes())
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def test_building_twice_gives_the_same_rows() -> None:
    """A scene is rebuilt alone, by any worker, in any order."""
    planned = specs(scenes=7)[:3]
    first = [_plain(TRACK.build(spec).rows) for spec in planned]
    second = [_plain(TRACK.build(spec).rows) for spec in reversed(planned)]
    assert first == second[::-1]


def test_ids_follow_the_contract_and_say_nothing_else() -> None:
    """Ids depend on the id key and the variant's name alone."""
    for spec in specs(scenes=7):
        built = TRACK.build(spec)
        for task in rows(built, ""):
            key = variant_of(task)
            detail = world(built)["task_details"].get(task["task_id"])
            label = key if detail is None else f"{key}/of {detail}"
            assert task["task_id"] == public_id("cds", spec.id_key, label)
            assert task["answer_file"] == task["task_id"] + variant("causalds", key).shape.suffix
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


def test_rejections_move_on_to_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scene that misses a bound is replaced by rule, and the replacement is recorded."""
    sample = track.sample_hidden_world
    calls: list[bytes] = []

    def refuse_twice(plan: Any, key: bytes) -> Any:
        calls.append(key)
        if len(calls) <= 2:
            raise Rejection("numerical error above its bound")
        return sample(plan, key)

    monkeypatch.setattr(track, "sample_hidden_world", refuse_twice)
    spec = specs()[0]
    built = TRACK.build(spec)
    assert built.rejections == {"numerical error above its bound": 2}
    assert rows(built, "_worlds")[0]["attempt"] == 2
    assert calls == [attempt_key(spec.key, k) for k in range(3)]


def test_an_infeasible_plan_is_an_error_that_names_the_instance(monkeypatch):
    """Endless retries would hang a build without a word."""

    def refuse(plan: Any, key: bytes) -> Any:
        raise Rejection("no world in range")

    monkeypatch.setattr(track, "sample_hidden_world", refuse)
    with pytest.raises(UsageError, match=rf"causalds/dev/3: .*no world in range {MAX_ATTEMPTS};"):
        TRACK.build(specs()[3])


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


def older_processors() -> list[dict[str, str]]:
    """Environments in which NumPy does without any of its special code, and without the newest.

    The matrix library, which makes a choice of its own, is told to take another one too.
    """
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
    """The promise of the release format, kept for all four tracks; and the whole of it, which fast
    tests make smaller, passes its gate."""
    for place, environment in enumerate([dict(os.environ), *older_processors()]):
        out = tmp_path / str(place)
        command = [sys.executable, "build_dataset.py", "build", "splits/mini.toml"]
        command += ["--out", str(out), "--quiet", "--workers", "1"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert _files(out) == _files(tmp_path / "0")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
