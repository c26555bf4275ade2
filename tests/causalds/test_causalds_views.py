"""The observation layer: what views share, what they change, and how much they still tell."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from causalds_scenes import ROOT, table
from scipy import integrate

from builder.equations.noise import Noise, Spread
from builder.equations.profiles import is_empirical
from builder.splits.settings import TomlTable
from builder.splits.track import Built, InstanceSpec
from builder.tracks.causalds.check.audit import audit_instance
from builder.tracks.causalds.design.scene_plan import VIEWS, ScenePlan, Thresholds, View
from builder.tracks.causalds.make.measure import (
    Concept,
    Measurement,
    NoBundle,
    draw_bundle,
)
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK

ALL_VIEWS = ("clean", "proxy", "proxy_hard")


@cache
def _planned() -> Sequence[InstanceSpec]:
    config = TRACK.parse(
        TomlTable({
            "scenes": 24, "composition": "full", "rows": {"train": 900, "test": 100},
            "views": list(ALL_VIEWS), "outcome_measured": 0.3,
            "planted": {"napkin": 0.05, "mediation_confounded": 0.05},
        }, "test.toml: splits.dev.causalds."),
    )  # fmt: skip
    return tuple(plan_scenes(config, "dev", ROOT, False))


@cache
def built_scene(index: int) -> Built:
    """One of the scenes that all tests look at, for those that one is enough for."""
    return TRACK.build(_planned()[index])


def built() -> tuple[Built, ...]:
    """All of them, built once a process."""
    return tuple(built_scene(index) for index in range(len(_planned())))


def plain(scene: Mapping[str, Any]) -> dict[str, Any]:
    """A scene row as it is read back from Parquet."""
    return {
        **scene,
        **{
            part: [{**c, "values": list(map(float, c["values"]))} for c in scene[part]]
            for part in ("data", "test_features", "calibration")
        },
    }


def scenes(one: Built) -> dict[str, dict[str, Any]]:
    return {row["view"]: plain(row) for row in one.rows["causalds_scenes"]}


def values(row: Mapping[str, Any], part: str) -> dict[str, np.ndarray]:
    return {c["name"]: np.asarray(c["values"]) for c in row[part]}


def world(one: Built) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(one.rows["causalds_worlds"][0]["world_json"])
    return record


def test_truths_and_verdicts_are_the_same_in_every_view() -> None:
    """A view changes how hard a question is, never its answer."""
    for one in built():
        truth = {row["task_id"]: row for row in one.rows["causalds_truth"]}
        details = world(one)["task_details"]
        by_view: dict[str, dict[tuple[str, str], tuple[object, ...]]] = {v: {} for v in ALL_VIEWS}
        for task in one.rows["causalds"]:
            row = truth[task["task_id"]]
            key = f"{task['family']}.{task['variant']}", details.get(task["task_id"], "")
            by_view[task["view"]][key] = tuple(
                row[c] for c in ("should_abstain", "value", "value_se", "target_json", "structure")
            )
        for view in ALL_VIEWS[1:]:
            assert by_view[view].items() <= by_view["clean"].items()
            # Measured variables have wider margins: some labels are asked in the clean view only.
            wider = {key for key, _ in set(by_view["clean"]) - set(by_view[view])}
            assert all(key.startswith(("association.", "collider_", "effect_")) for key in wider)
            assert not any(key.endswith(("_point", "_95", "_predictor")) for key in wider)


def test_a_world_is_stored_in_the_nine_digits_that_it_was_built_from() -> None:
    """Every further digit would be another one on another processor, and so would the shard."""

    def numbers(value: object) -> list[float]:
        if isinstance(value, dict):
            return [n for part in value.values() for n in numbers(part)]
        if isinstance(value, list):
            return [n for part in value for n in numbers(part)]
        return [value] if isinstance(value, float) else []

    for one in built():
        record = world(one)
        found = numbers([record["world"], record["views"], record["quantities"]])
        assert len(found) > 20
        assert [n for n in found if n != float(f"{n:.9g}")] == []


def test_only_synthetic_profiles_put_squares_into_measurements() -> None:
    """Which profiles are empirical is a property of theirs, not of their place in a table."""
    squared: dict[str, bool] = {}
    for one in built():
        record = world(one)
        bundles = [b for view in record["views"].values() for b in view["bundles"].values()]
        found = any(
            any(m["parameters"].get("squares", ())) for b in bundles for m in b["measurements"]
        )
        name = record["plan"]["equations"]["continuous"]
        squared[name] = squared.get(name, False) or found
    assert set(squared.values()) == {True, False}
    assert all(found is not is_empirical("continuous", name) for name, found in squared.items())


def test_views_share_their_rows() -> None:
    """The untouched columns are the same numbers, row by row."""
    for one in built():
        rows = scenes(one)
        clean = {part: values(rows["clean"], part) for part in ("data", "test_features")}
        for view in ALL_VIEWS[1:]:
            for part, columns in clean.items():
                shown = values(rows[view], part)
                for name in columns.keys() & shown.keys():
                    assert np.array_equal(columns[name], shown[name])
                assert len({v.size for v in (*columns.values(), *shown.values())}) == 1


def test_replaced_variables_appear_in_calibration_rows_only() -> None:
    """A column of the variable itself would make its measurements pointless."""
    replaced = 0
    for one in built():
        rows, record = scenes(one), world(one)
        clean = values(rows["clean"], "data")
        assert rows["clean"]["calibration"] == []
        for view in ALL_VIEWS[1:]:
            bundles = record["views"][view]["bundles"]
            names = {record["variables"][node]["name"] for node in bundles}
            data, calibration = values(rows[view], "data"), values(rows[view], "calibration")
            assert not names & data.keys() and calibration.keys() == data.keys() | names
            chosen = record["views"][view]["calibration"]
            share = VIEWS[view].calibration
            assert len(chosen) == round(share * 900) == len(set(chosen))
            for name in names:
                assert np.array_equal(calibration[name], clean[name][chosen])
                assert {f"{name}_meas_a", f"{name}_meas_b"} <= data.keys()
            outcome = record["variables"][record["outcome"]]["name"]
            features = values(rows[view], "test_features")
            assert not [n for n in features if n.partition("_meas_")[0] == outcome]
            replaced += len(names)
    assert replaced > 60


def test_calibration_rows_are_a_simple_random_sample() -> None:
    """Chosen rows must look like any others: their mean index is that of a random draw."""
    indices = [
        np.mean(world(one)["views"][view]["calibration"]) / 899
        for one in built()
        for view in ALL_VIEWS[1:]
    ]
    assert abs(np.mean(indices) - 0.5) < 4 * np.sqrt(1 / 12 / 90 / len(indices))


def test_every_view_agrees_with_its_second_derivation() -> None:
    """Columns, laws of measurements, information and truths, read back from the rows."""
    for one in built()[::2]:
        (record,), (label,) = one.rows["causalds_worlds"], one.rows["causalds_labels"]
        label = {**label, "values": list(map(float, label["values"]))}
        views = {task["task_id"]: task["view"] for task in one.rows["causalds"]}
        for view, scene in scenes(one).items():
            truths = [t for t in one.rows["causalds_truth"] if views[t["task_id"]] == view]
            assert audit_instance(record, truths, label, scene) == []


def test_the_audit_sees_a_changed_measurement() -> None:
    """A check that cannot fail is no check."""
    one = built()[0]
    (record,), (label,) = one.rows["causalds_worlds"], one.rows["causalds_labels"]
    label = {**label, "values": list(map(float, label["values"]))}
    document = json.loads(record["world_json"])
    bundle = next(iter(document["views"]["proxy"]["bundles"].values()))
    for measurement in bundle["measurements"]:
        key = "bias" if "bias" in measurement["parameters"] else "gain"
        measurement["parameters"][key] += 2.0
    changed = {**record, "world_json": json.dumps(document)}
    views = {task["task_id"]: task["view"] for task in one.rows["causalds"]}
    truths = [t for t in one.rows["causalds_truth"] if views[t["task_id"]] == "proxy"]
    problems = audit_instance(changed, truths, label, scenes(one)["proxy"])
    assert any("noise sds" in text or "sigmas" in text for text in problems)


def _measurements(count: int) -> list[Measurement]:
    concept, found = Concept(0.4, 1.7, False, (-4.0, 5.0)), []
    for i in range(count):
        bundle = draw_bundle(np.random.default_rng(100 + i), concept, VIEWS["proxy_hard"])
        found += bundle.measurements
    return found


def test_information_is_the_fisher_information_of_the_measurement() -> None:
    """Against the variance of the score, by quadrature: equal for Gaussian and binary ones."""
    at, step = np.array([0.9]), 1e-4
    for one in _measurements(8):
        stated = float(one.information(at)[0])
        p = one.mean(np.array([at[0] - step, at[0], at[0] + step]))
        slope = (p[2] - p[0]) / (2 * step)
        if one.noise is None:
            expected = slope**2 * (1 / p[1] + 1 / (1 - p[1]))
        else:
            scale = float(one.scale(at)[0])
            gauss = Measurement(one.mechanism, one.parameters, Noise("gauss", scale, ()))

            def score_squared(w: float, g: Measurement = gauss, s: float = scale) -> float:
                def density(z: float) -> float:
                    gap = (w - float(g.mean(np.array([z]))[0])) / s
                    return float(np.exp(-0.5 * gap * gap) / (s * np.sqrt(2 * np.pi)))

                d = (density(at[0] + step) - density(at[0] - step)) / (2 * step)
                return d * d / max(density(at[0]), 1e-300)

            middle = float(one.mean(at)[0])
            expected, _ = integrate.quad(score_squared, middle - 7 * scale, middle + 7 * scale)
        assert stated == pytest.approx(expected, rel=2e-3, abs=1e-9)


def test_separation_of_a_binary_concept_is_that_of_simulated_measurements() -> None:
    """Squared mean difference and mutual information, from a million draws."""
    rng = np.random.default_rng(3)
    concept = Concept(0.35, float(np.sqrt(0.35 * 0.65)), True, (0.0, 1.0))
    x = (rng.random(200_000) < 0.35).astype(float)
    for i in range(6):
        for one in draw_bundle(np.random.default_rng(i), concept, VIEWS["proxy"]).measurements[:3]:
            w = one.draw(rng, x)
            if one.noise is None:
                joint = np.array([[np.mean((x == a) & (w == b)) for b in (0, 1)] for a in (0, 1)])
                apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
                expected = float((joint * np.log(joint / apart)).sum())
            else:
                pooled = 0.65 * w[x == 0].var() + 0.35 * w[x == 1].var()
                expected = float((w[x == 1].mean() - w[x == 0].mean()) ** 2 / pooled)
            assert one.separation(0.35) == pytest.approx(expected, rel=0.06, abs=4e-4)


def test_thresholds_that_nothing_meets_end_in_a_clear_failure() -> None:
    """A scene that cannot be measured is replaced by rule, not measured badly."""
    view = View("proxy", (1, 1), (2, 2), (1.0, 3.0), thresholds=Thresholds(50, 50, 50, 50))
    with pytest.raises(NoBundle):
        draw_bundle(np.random.default_rng(0), Concept(0.0, 1.0, False, (-3, 3)), view)


def test_noise_of_varying_scale_lowers_information_where_it_is_large() -> None:
    """The denominator depends on the place (paper A.6)."""
    even = _measurements(6)
    one = next(m for m in even if m.noise is not None and m.noise.spread is None)
    assert one.noise is not None
    uneven = Measurement(
        one.mechanism,
        one.parameters,
        Noise(one.noise.family, one.noise.scale, one.noise.shape, Spread((1.0,), 0.0)),
    )
    ratio = uneven.information(np.array([-3.0, 3.0])) / one.information(np.array([-3.0, 3.0]))
    assert ratio[0] > 5 * ratio[1]


def test_a_binary_measurement_far_from_its_threshold_tells_nothing() -> None:
    """Its probability is 1 to the last digit there; 0/0 once made all its information unknown."""
    one = next(m for m in _measurements(12) if m.noise is None)
    far = one.information(np.array([-1e6, 1e6]))
    assert np.array_equal(far, [0.0, 0.0])


def test_private_scenes_ship_one_view_each() -> None:
    """One scene under two views would give away what the measurements hide."""
    config = TRACK.parse(TomlTable(table(scenes=30, views=list(ALL_VIEWS)), "t."))
    planned = plan_scenes(config, "test", ROOT, True)
    plans = [ScenePlan.from_json(spec.config_json) for spec in planned]
    assert sorted(plan.questions.views[0].name for plan in plans) == sorted(ALL_VIEWS * 10)
    for spec in planned[:6]:
        rows = TRACK.build(spec).rows
        assert len(rows["causalds_scenes"]) == len(rows["causalds"]) == 1
        assert rows["causalds_scenes"][0]["view"] == rows["causalds"][0]["view"]
        if rows["causalds"][0]["input_mode"] == "story":
            assert rows["causalds_scenes"][0]["calibration"] == []


def test_prompts_explain_measurements_in_full_and_only_where_there_are_any() -> None:
    """Without the note a test taker could not know what the columns are."""
    for one in built()[:6]:
        record = world(one)
        for task in one.rows["causalds"]:
            bundles = record["views"][task["view"]]["bundles"]
            prompt = task["prompt"]
            explained = bool(bundles) and task["input_mode"] == "data"
            assert ("## Measurements" in prompt) == explained
            for bundle in bundles.values() if explained else ():
                assert all(m["column"] in prompt for m in bundle["measurements"])
            random_sample = "`calibration.parquet`" in prompt and "simple random sample" in prompt
            assert random_sample == explained
