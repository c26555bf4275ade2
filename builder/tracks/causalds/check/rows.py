"""Hold rows as they were written against the world: tables, labels, measurements, calibration."""

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np
import scipy

from builder.tracks.causalds.check.equations import (
    Array,
    NotAuditable,
    conditional_mean,
    noise_scale,
)
from builder.tracks.causalds.check.stored_scene import StoredScene

Record = Mapping[str, Any]
Columns = Mapping[str, Array]

_SIGMAS: Final = 7.0
"""Standard errors by which sample statistics may stray (heavy tails widen them a little)."""

_ROUNDING: Final = 1e-4


def audit_scene(scene: StoredScene, label_row: Record | None, scene_row: Record) -> list[str]:
    """Return the problems of one view's columns, values and labels against the world. Rows are of
    ``causalds_labels`` (None where the scene has none) and ``causalds_scenes``."""
    record, view = scene.record, scene_row["view"]
    data, features, calibration = (
        {column["name"]: np.asarray(column["values"], np.float64) for column in scene_row[part]}
        for part in ("data", "test_features", "calibration")
    )
    shown = record["views"].get(view)
    if shown is None:
        return [f"the world row knows no view {view}"]
    kinds = {column["name"]: column["kind"] for column in shown["columns"]}
    kinds |= {node["name"]: node["kind"] for node in record["variables"].values()}
    problems = list(_check_columns(record, shown, scene_row))
    tables = [data, features, calibration]
    if label_row is not None and len(label_row["values"]):
        outcome = scene.names[scene.y]
        labels = np.asarray(label_row["values"], np.float64)
        if label_row["outcome"] != outcome:
            problems.append(f"labels of {label_row['outcome']}, the outcome is {outcome}")
        tables.append({outcome: labels})
        known = data if outcome in data else calibration
        problems += _check_labels(outcome, labels, known, features)
    for table in tables:
        problems += _check_values(kinds, table)
    if data:
        try:
            problems += _check_view(record, view, data, calibration)
            problems += _check_correlations(scene, data, calibration)
        except NotAuditable as error:
            return [*problems, f"cannot be audited: {error}"]
    return problems


def _check_columns(record: Record, shown: Record, scene_row: Record) -> Iterator[str]:
    """Yield columns that are not those of the world row, or measure something else."""
    expected = [{"name": c["name"], "kind": c["kind"]} for c in shown["columns"]]
    stated = [dict(column) for column in scene_row["columns"]]
    if stated != expected and (stated or scene_row["calibration"]):
        yield f"columns {stated}, the world says {expected}"
    for column in shown["columns"]:
        variable = record["variables"][column["node"]]
        measures = column["node"] in shown["bundles"]
        plain = column["name"] == variable["name"] and column["kind"] == variable["kind"]
        if column["measures"] is not measures or not (
            column["name"].startswith(f"{variable['name']}_meas_") if measures else plain
        ):
            yield f"column {column['name']} is not what the world says of it"
    observed = set(record["variables"]) - set(record["world"]["latent"])
    if {column["node"] for column in shown["columns"]} != observed:
        yield "the columns do not show the observed nodes"


def _check_values(kinds: Mapping[str, str], table: Columns) -> Iterator[str]:
    """Yield columns that are not finite, not 0 and 1 though binary, or of more than six digits."""
    for name, column in table.items():
        if not np.isfinite(column).all():
            yield f"{name}: a value is not finite"
        elif kinds.get(name) == "binary":
            if not np.isin(column, (0.0, 1.0)).all():
                yield f"{name}: binary, but not all 0 or 1"
        elif any(np.float32(f"{value:.6g}") != np.float32(value) for value in column[:50]):
            yield f"{name}: more than six significant digits"


def _check_labels(outcome: str, labels: Array, data: Columns, features: Columns) -> Iterator[str]:
    """Yield features whose rank correlation with the labels is not that with the known outcome."""
    # Ranks, because a few extreme values can move Pearson's r by more than its usual error. As many
    # training rows as held-out ones: more would hardly sharpen the comparison.
    seen = slice(0, max(labels.size, 1))
    known, held_out = _ranks(data[outcome][seen]), _ranks(labels)
    for name, column in features.items():
        if column.size != labels.size:
            yield f"{labels.size} labels for {column.size} held-out rows"
            return
        train, train_error = _agreement(_ranks(data[name][seen]), known)
        test, test_error = _agreement(_ranks(column), held_out)
        if abs(train - test) > _SIGMAS * math.hypot(train_error, test_error) + _ROUNDING:
            yield f"correlation with {name}: {train:.3f} in training, {test:.3f} held out"


def _check_correlations(scene: StoredScene, data: Columns, calibration: Columns) -> Iterator[str]:
    """Yield pairs of observed variables that correlate otherwise than in the simulated units."""
    for nodes in combinations(scene.record["columns"], 2):
        a, b = (scene.names[node] for node in nodes)
        shown = data if a in data and b in data else calibration  # there where one is replaced
        if a not in shown or b not in shown:
            continue  # reported above
        expected = scene.population.correlation(*nodes)
        varies = shown[a].std() > 0 and shown[b].std() > 0
        sample = float(np.corrcoef(shown[a], shown[b])[0, 1]) if varies else 0.0
        # The influence function knows the sampling error under any dependence.
        sigma = expected.se * math.sqrt(1.0 + scene.population.draws / shown[a].size)
        if abs(sample - expected.value) > _SIGMAS * sigma + _ROUNDING:
            yield (
                f"{a} and {b} correlate {sample:.3f} in the data, {expected.value:.3f} in the world"
            )


def _ranks(column: Array) -> Array:
    """Return a column's ranks, standardised, ties sharing theirs. All 0 where nothing varies."""
    ranks = scipy.stats.rankdata(column)
    spread = ranks.std()
    return np.asarray((ranks - ranks.mean()) / spread if spread > 0 else 0.0 * ranks)


def _agreement(za: Array, zb: Array) -> tuple[float, float]:
    """Return the correlation of two columns of standardised ranks, and its standard error."""
    if not za.any() or not zb.any():
        return 0.0, 1.0 / math.sqrt(za.size)
    r = float(np.mean(za * zb))
    influence = za * zb - 0.5 * r * (za**2 + zb**2)
    return r, float(influence.std()) / math.sqrt(za.size)


_DATA_ROUNDING: Final = 1e-5


def _check_view(record: Record, view: str, data: Columns, calibration: Columns) -> Iterator[str]:
    """Yield problems of a view's measurements and calibration rows, given columns by name."""
    shown = record["views"][view]
    names = {node: record["variables"][node]["name"] for node in record["columns"]}
    gold = [names[node] for node in record["columns"] if node in shown["bundles"]]
    if set(calibration) != ({*data, *gold} if gold else set()):
        yield f"calibration has the columns {sorted(calibration)}"
        return
    chosen = np.asarray(shown["calibration"], dtype=int)
    if len(set(chosen.tolist())) != len(chosen):
        yield "a calibration row was drawn twice"
    for name in data if gold else ():
        if not np.array_equal(data[name][chosen], calibration[name]):
            yield f"calibration rows of {name} are not the rows drawn from the data"
    for node, bundle in shown["bundles"].items():
        measured = f"{names[node]} ({view})"
        for one in bundle["measurements"]:
            values = calibration[one["column"]], calibration[names[node]]
            for problem in _check_measurement(one, *values):
                yield f"{measured}: {one['column']} {problem}"


def _spread_of_squares(noise: Record) -> float:
    """Return the sd of squared noise from its law's fourth moment; samples may lack the tail."""
    match noise["family"]:
        case "laplace":
            return math.sqrt(5.0)
        case "student_t":
            (freedom,) = noise["shape"]
            return math.sqrt(2.0 * (freedom - 1.0) / (freedom - 4.0))
        case _:
            return math.sqrt(2.0)


def _check_measurement(one: Record, values: Array, gold: Array) -> Iterator[str]:
    """Yield where ``values`` do not come from the concept's ``gold`` as the equation says."""
    size, node = len(gold), {**one, "name": one["column"]}
    mean = conditional_mean(node, [gold], size)
    if one["noise"] is None:
        z = float((values - mean).sum()) / math.sqrt(float((mean * (1.0 - mean)).sum()))
        if abs(z) > _SIGMAS:
            yield f"is 1 more or less often than it should be ({z:.1f} sigmas)"
        return
    rest = (values - mean) / noise_scale(node, [gold], size)
    spread = float(np.mean(rest**2))
    error = max(float(np.std(rest**2)), _spread_of_squares(one["noise"])) / math.sqrt(size)
    if abs(float(rest.mean())) > _SIGMAS / math.sqrt(size) + _DATA_ROUNDING:
        yield f"is off by {rest.mean():.3f} noise sds"
    if abs(spread - 1.0) > _SIGMAS * error:
        yield f"has {spread:.3f} times the noise variance it should have"
