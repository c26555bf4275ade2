"""Measurements and calibration rows held against what the world row says of them."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from builder.causalds.check.equations import Array, conditional_mean, noise_scale

Columns = Mapping[str, npt.NDArray[np.float64]]
Record = Mapping[str, Any]
_SIGMAS: Final = 7.0
_OUTCOME_FACTOR: Final = 1.75
_FINE_GRID: Final = 1501
"""Points of a concept's support: three times as many as the builder looks at, and others."""
_DATA_ROUNDING: Final = 1e-5


def audit_view(record: Record, view: str, data: Columns, calibration: Columns) -> Iterator[str]:
    """Problems of one view's bundles, information and calibration subset."""
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
            for problem in _law(one, *values):
                yield f"{measured}: {one['column']} {problem}"
    for node, key, found, needed in information(record, view):
        if found < needed:
            yield f"{names[node]} ({view}): {key} of its information is {found:.3g}, " + (
                f"below {needed:g}"
            )


def information(record: Record, view: str) -> Iterator[tuple[str, str, float, float]]:
    """(node, threshold, information on a fine grid, what is needed) of every bundle of a view."""
    settings = next(v for v in record["plan"]["questions"]["views"] if v["name"] == view)
    for node, bundle in record["views"][view]["bundles"].items():
        factor = _OUTCOME_FACTOR if node == record["outcome"] else 1.0
        binary = record["variables"][node]["kind"] == "binary"
        found = _separation(bundle) if binary else _information(bundle)
        for key, least in settings["thresholds"].items():
            yield node, key, found[key], factor * least


def _spread_of_squares(noise: Record) -> float:
    """The standard deviation of squared standardised noise, from its fourth moment: a sample that
    lacks the rare large values of a heavy tail would take itself for exact. Mixtures have light
    tails."""
    match noise["family"]:
        case "laplace":
            return math.sqrt(5.0)
        case "student_t":
            (freedom,) = noise["shape"]
            return math.sqrt(2.0 * (freedom - 1.0) / (freedom - 4.0))
        case _:
            return math.sqrt(2.0)


def _law(one: Record, values: Array, gold: Array) -> Iterator[str]:
    """Whether the column comes about from the concept as it says."""
    size = len(gold)
    mean = conditional_mean(_node(one), [gold], size)
    if one["noise"] is None:
        z = float((values - mean).sum()) / math.sqrt(float((mean * (1.0 - mean)).sum()))
        if abs(z) > _SIGMAS:
            yield f"is 1 more or less often than it should be ({z:.1f} sigmas)"
        return
    rest = (values - mean) / noise_scale(_node(one), [gold], size)
    spread = float(np.mean(rest**2))
    error = max(float(np.std(rest**2)), _spread_of_squares(one["noise"])) / math.sqrt(size)
    if abs(float(rest.mean())) > _SIGMAS / math.sqrt(size) + _DATA_ROUNDING:
        yield f"is off by {rest.mean():.3f} noise sds"
    if abs(spread - 1.0) > _SIGMAS * error:
        yield f"has {spread:.3f} times the noise variance it should have"


def _node(one: Record) -> Record:
    return {**one, "name": one["column"]}


def _information(bundle: Record) -> dict[str, float]:
    """Information over a fine grid, slopes by central differences."""
    grid = np.linspace(bundle["support"][0], bundle["support"][1], _FINE_GRID)
    total = np.zeros(_FINE_GRID)
    for one in bundle["measurements"]:
        sd = one["parameters"]["scales"][0]
        step = 1e-5 * sd
        node = _node(one)
        above, below = (conditional_mean(node, [grid + s], _FINE_GRID) for s in (step, -step))
        slope = (above - below) / 2e-5  # per sd of the concept
        if one["noise"] is None:
            p = conditional_mean(node, [grid], _FINE_GRID)
            total += slope**2 / (p * (1.0 - p))
        else:
            total += (slope / noise_scale(node, [grid], _FINE_GRID)) ** 2
    q10, q25 = np.quantile(total, (0.1, 0.25))
    return {"least": total.min(), "mean": total.mean(), "q10": q10, "q25": q25}


def _separation(bundle: Record) -> dict[str, float]:
    """Squared mean differences plus mutual informations about a binary concept."""
    ends, total = np.array([0.0, 1.0]), 0.0
    for one in bundle["measurements"]:
        share = one["parameters"]["centres"][0]
        weights = np.array([1.0 - share, share])
        node = _node(one)
        mean = conditional_mean(node, [ends], 2)
        if one["noise"] is None:
            joint = np.array([weights * (1.0 - mean), weights * mean])
            apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            total += float((joint * np.log(joint / apart)).sum())
        else:
            variance = float((weights * noise_scale(node, [ends], 2) ** 2).sum())
            total += float((mean[1] - mean[0]) ** 2) / variance
    return dict.fromkeys(("least", "mean", "q10", "q25"), total)
