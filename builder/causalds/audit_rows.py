"""The released tables of a scene held against its world."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from builder.causalds.audit_numbers import NotAuditable, Population

Row = Mapping[str, Any]
Table = dict[str, npt.NDArray[np.float64]]

_SIGMAS: Final = 7.0
"""Sample statistics may stray this many standard errors (heavy tails widen them a little)."""


def audit_scene(
    record: Mapping[str, Any], label_row: Row | None, scene_row: Row, population: Population
) -> list[str]:
    """Problems of columns, values and labels; ``record`` is the parsed ``world_json``."""
    variables = {node["name"]: node for node in record["variables"].values()}
    data, features = (_table(scene_row[part]) for part in ("data", "test_features"))
    problems = _columns(record, scene_row, data, features)
    problems += _values(variables, data) + _values(variables, features)
    if label_row is not None:
        outcome = record["variables"][record["outcome"]]["name"]
        labels = np.asarray(label_row["values"], dtype=np.float64)
        if label_row["outcome"] != outcome:
            problems.append(f"labels of {label_row['outcome']}, the outcome is {outcome}")
        problems += _values(variables, {outcome: labels})
        problems += _alignment(outcome, labels, data, features)
    return problems + _correlations(record, data, population)


def _columns(record: Mapping[str, Any], scene_row: Row, data: Table, features: Table) -> list[str]:
    """Names, kinds and order of the public columns."""
    nodes = [record["variables"][node] for node in record["columns"]]
    expected = [{"name": node["name"], "kind": node["kind"]} for node in nodes]
    stated = [dict(column) for column in scene_row["columns"]]
    if not data:
        empty = not stated and not features
        return [] if empty else ["columns or test features without data"]
    problems = [] if stated == expected else [f"columns {stated}, the world says {expected}"]
    names = [column["name"] for column in expected]
    if list(data) != names:
        problems.append(f"data has {list(data)}, the world says {names}")
    outcome = record["variables"][record["outcome"]]["name"]
    if features and list(features) != [name for name in names if name != outcome]:
        problems.append(f"test features are {list(features)}")
    observed = set(record["variables"]) - set(record["world"]["latent"])
    if set(record["columns"]) != observed:
        problems.append("the columns are not the observed nodes")
    return problems


def _values(variables: Mapping[str, Mapping[str, Any]], table: Table) -> list[str]:
    """Lengths, finiteness, 0/1 coding and six significant digits."""
    if len({column.size for column in table.values()}) > 1:
        return ["columns of different lengths"]
    problems = []
    for name, column in table.items():
        if not np.isfinite(column).all():
            problems.append(f"{name}: a value is not finite")
        elif variables.get(name, {}).get("kind") == "binary":
            if not np.isin(column, (0.0, 1.0)).all():
                problems.append(f"{name}: binary, but not all 0 or 1")
        elif any(np.float32(f"{v:.6g}") != np.float32(v) for v in column[:50]):
            problems.append(f"{name}: more than six significant digits")
    return problems


def _alignment(
    outcome: str, labels: npt.NDArray[np.float64], data: Table, features: Table
) -> list[str]:
    """Held-out labels must go with the held-out rows as they do in training."""
    problems = []
    for name, column in features.items():
        if column.size != labels.size:
            return [f"{labels.size} labels for {column.size} held-out rows"]
        train, test = _pearson(data[name], data[outcome]), _pearson(column, labels)
        sigma = math.sqrt(1 / data[name].size + 1 / labels.size)
        if _fisher_gap(train, test) > _SIGMAS * sigma:
            problems.append(
                f"correlation with {name}: {train:.3f} in training, {test:.3f} held out"
            )
    return problems


def _correlations(record: Mapping[str, Any], data: Table, population: Population) -> list[str]:
    """Every sample correlation must be that of the world."""
    names = {node: record["variables"][node]["name"] for node in record["columns"]}
    problems = []
    for i, a in enumerate(record["columns"] if data else ()):
        for b in record["columns"][i + 1 :]:
            try:
                expected = population.correlation(a, b)
            except NotAuditable as error:
                return [f"cannot be audited: {error}"]
            sample = _pearson(data[names[a]], data[names[b]])
            sigma = 1 / math.sqrt(data[names[a]].size)
            if _fisher_gap(sample, expected.value) > _SIGMAS * sigma:
                problems.append(
                    f"{names[a]} and {names[b]} correlate {sample:.3f} in the data, "
                    f"{expected.value:.3f} in the world"
                )
    return problems


def _fisher_gap(r: float, other: float) -> float:
    """Distance of two correlations where their sampling error is about 1 / sqrt(n) (Fisher)."""
    return abs(math.atanh(0.9999 * r) - math.atanh(0.9999 * other))


def _pearson(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    if a.std() == 0 or b.std() == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _table(columns: Sequence[Mapping[str, Any]]) -> Table:
    return {column["name"]: np.asarray(column["values"], dtype=np.float64) for column in columns}
