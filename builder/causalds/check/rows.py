"""The released tables of a scene held against its world."""

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

from builder.causalds.check.equations import NotAuditable
from builder.causalds.check.hidden import Hidden
from builder.causalds.check.views import audit_view

Row = Mapping[str, Any]
Columns = dict[str, npt.NDArray[np.float64]]

_SIGMAS: Final = 7.0
"""Sample statistics may stray this many standard errors (heavy tails widen them a little)."""

_ROUNDING: Final = 1e-4


def audit_scene(hidden: Hidden, label_row: Row | None, scene_row: Row) -> list[str]:
    """Problems of columns, values and labels."""
    record, view = hidden.record, scene_row["view"]
    data, features, calibration = (
        {column["name"]: np.asarray(column["values"], np.float64) for column in scene_row[part]}
        for part in ("data", "test_features", "calibration")
    )
    shown = record["views"].get(view)
    if shown is None:
        return [f"the world row knows no view {view}"]
    kinds = {column["name"]: column["kind"] for column in shown["columns"]}
    kinds |= {node["name"]: node["kind"] for node in record["variables"].values()}
    problems = _columns(record, shown, scene_row, data, features)
    for table in (data, features, calibration):
        problems += _values(kinds, table)
    if label_row is not None and len(label_row["values"]):
        outcome = hidden.names[hidden.y]
        labels = np.asarray(label_row["values"], dtype=np.float64)
        if label_row["outcome"] != outcome:
            problems.append(f"labels of {label_row['outcome']}, the outcome is {outcome}")
        problems += _values(kinds, {outcome: labels})
        known = data if outcome in data else calibration
        problems += _alignment(outcome, labels, known, features)
    if data:
        try:
            problems += audit_view(record, view, data, calibration)
            problems += _correlations(hidden, data, calibration)
        except NotAuditable as error:
            return [*problems, f"cannot be audited: {error}"]
    return problems


def _columns(
    record: Row, shown: Row, scene_row: Row, data: Columns, features: Columns
) -> list[str]:
    """Names, kinds and order of the public columns."""
    expected = [{"name": c["name"], "kind": c["kind"]} for c in shown["columns"]]
    stated = [dict(column) for column in scene_row["columns"]]
    if not data:
        empty = not stated and not features and not scene_row["calibration"]
        return [] if empty else ["columns, test features or calibration rows without data"]
    problems = [] if stated == expected else [f"columns {stated}, the world says {expected}"]
    if list(data) != [column["name"] for column in expected]:
        problems.append(f"data has {list(data)}, the world says {expected}")
    rest = [c["name"] for c in shown["columns"] if c["node"] != record["outcome"]]
    if features and list(features) != rest:
        problems.append(f"test features are {list(features)}")
    for column in shown["columns"]:
        variable = record["variables"][column["node"]]
        measures = column["node"] in shown["bundles"]
        prefix = f"{variable['name']}_meas_"
        plain = column["name"] == variable["name"] and column["kind"] == variable["kind"]
        if column["measures"] is not measures or not (
            column["name"].startswith(prefix) if measures else plain
        ):
            problems.append(f"column {column['name']} is not what the world says of it")
    observed = set(record["variables"]) - set(record["world"]["latent"])
    if {column["node"] for column in shown["columns"]} != observed:
        problems.append("the columns do not show the observed nodes")
    return problems


def _values(kinds: Mapping[str, str], table: Columns) -> list[str]:
    """Lengths, finiteness, 0/1 coding and six significant digits."""
    if len({column.size for column in table.values()}) > 1:
        return ["columns of different lengths"]
    problems = []
    for name, column in table.items():
        if not np.isfinite(column).all():
            problems.append(f"{name}: a value is not finite")
        elif kinds.get(name) == "binary":
            if not np.isin(column, (0.0, 1.0)).all():
                problems.append(f"{name}: binary, but not all 0 or 1")
        elif not _six_digits(column[:50]):
            problems.append(f"{name}: more than six significant digits")
    return problems


def _six_digits(column: npt.NDArray[np.float64]) -> bool:
    """Whether no value has more significant digits."""
    rounded = np.array([float(f"{v:.6g}") for v in column.tolist()], np.float32)
    return bool((rounded == column.astype(np.float32)).all())


def _alignment(
    outcome: str, labels: npt.NDArray[np.float64], data: Columns, features: Columns
) -> list[str]:
    """Held-out labels must go with the held-out rows as they do in training."""
    problems = []
    # Ranks, because a few extreme values can move Pearson's r by more than its usual error. As many
    # training rows as held-out ones: more would hardly sharpen the comparison.
    seen = slice(0, max(labels.size, 1))
    known, held_out = _ranks(data[outcome][seen]), _ranks(labels)
    for name, column in features.items():
        if column.size != labels.size:
            return [f"{labels.size} labels for {column.size} held-out rows"]
        train, train_error = _agreement(_ranks(data[name][seen]), known)
        test, test_error = _agreement(_ranks(column), held_out)
        if abs(train - test) > _SIGMAS * math.hypot(train_error, test_error) + _ROUNDING:
            problems.append(
                f"correlation with {name}: {train:.3f} in training, {test:.3f} held out"
            )
    return problems


def _correlations(hidden: Hidden, data: Columns, calibration: Columns) -> Iterator[str]:
    """Every sample correlation must be that of the world; replaced variables by calibration."""
    for nodes in combinations(hidden.record["columns"], 2):
        a, b = (hidden.names[node] for node in nodes)
        shown = data if a in data and b in data else calibration
        if a not in shown or b not in shown:
            continue  # reported above
        expected = hidden.population.correlation(*nodes)
        sample = _pearson(shown[a], shown[b])
        # The influence function knows the sampling error under any dependence.
        sigma = expected.se * math.sqrt(1.0 + hidden.population.draws / shown[a].size)
        if abs(sample - expected.value) > _SIGMAS * sigma + _ROUNDING:
            yield (
                f"{a} and {b} correlate {sample:.3f} in the data, {expected.value:.3f} in the world"
            )


def _ranks(column: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Standardised ranks, ties sharing theirs; all 0 where nothing varies."""
    ranks = scipy.stats.rankdata(column)
    spread = ranks.std()
    return np.asarray((ranks - ranks.mean()) / spread if spread > 0 else 0.0 * ranks)


def _agreement(za: npt.NDArray[np.float64], zb: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Rank correlation and its standard error, that of the influence function over the rows."""
    if not za.any() or not zb.any():
        return 0.0, 1.0 / math.sqrt(za.size)
    r = float(np.mean(za * zb))
    influence = za * zb - 0.5 * r * (za**2 + zb**2)
    return r, float(influence.std()) / math.sqrt(za.size)


def _pearson(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    if a.std() == 0 or b.std() == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
