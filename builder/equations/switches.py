"""Binary mechanisms: log-odds that are linear, bent or steep, and noisy logic gates (paper A.2).

Nothing is ever certain: the steep families keep probabilities inside ``CERTAINTY``, and a gate's
output flips with a probability of its own, so that every treatment level occurs at every value of
the other causes.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np
from scipy import special

from builder.equations.curves import linear_mean
from builder.equations.elementary import expit
from builder.equations.equation import (
    Array,
    Parameters,
    Parent,
    draw_signed,
    floats,
    input_scales,
    per_parent_sd,
    scalar,
    standardise,
    summary,
    vector,
)
from builder.splits.seeds import pick

CERTAINTY: Final = (0.02, 0.98)
"""Smallest and largest conditional probability of the steep families."""


def draw_logistic(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw weights N(±1, 0.6) (per parent sd above one) and bias N(0, 0.7) at the parents' means,
    or a root's probability U(1/4, 3/4)."""
    if not parents:
        return {"weights": (), "bias": summary(float(special.logit(rng.uniform(0.25, 0.75))))}
    weights = per_parent_sd(draw_signed(rng, len(parents), 1.0, 0.6), parents)
    centre = math.fsum(w * p.mean for w, p in zip(weights, parents, strict=True))
    return {"weights": weights, "bias": float(rng.normal(0.0, 0.7)) - centre}


def logistic_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return the probability of 1: ``expit(b + sum(w x))`` over the raw parents."""
    return expit(linear_mean(parameters, columns))


def draw_shifted_logistic(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw N(±1, 0.6), softsign N(±0.6, 0.3) at shifts U(-1.5, 1.5), bias N(0, 0.7)."""
    count = len(parents)
    return {
        **input_scales(parents),
        "weights": floats(draw_signed(rng, count, 1.0, 0.6)),
        "bends": floats(draw_signed(rng, count, 0.6, 0.3)),
        "shifts": floats(rng.uniform(-1.5, 1.5, count)),
        "bias": float(rng.normal(0.0, 0.7)),
    }


def shifted_logistic_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return P(1) = ``expit(b + sum(w z + t softsign(z - c)))``, z standardised parents."""
    total = np.asarray(scalar(parameters, "bias"))
    terms = (vector(parameters, key) for key in ("weights", "bends", "shifts"))
    for z, w, t, c in zip(standardise(parameters, columns), *terms, strict=True):
        total = total + w * z + t * (z - c) / (1.0 + np.abs(z - c))
    return expit(total)


def shifted_logistic_slope(parameters: Parameters, column: Array) -> Array:
    """Return the derivative of ``shifted_logistic_mean`` in the raw value of the only parent."""
    (z,) = standardise(parameters, [column])
    ((w,), (t,), (c,)) = (vector(parameters, key) for key in ("weights", "bends", "shifts"))
    p = shifted_logistic_mean(parameters, [column])
    slope = w + t / (1.0 + np.abs(z - c)) ** 2
    return np.asarray(p * (1.0 - p) * slope / vector(parameters, "scales")[0])


def draw_sharp_threshold(rng: np.random.Generator, parents: Sequence[Parent]) -> Parameters:
    """Draw a sharpness U(4, 8), weights N(±1, 0.5) and a threshold N(0, 0.5)."""
    return {
        **input_scales(parents),
        "weights": floats(draw_signed(rng, len(parents), 1.0, 0.5)),
        "sharpness": float(rng.uniform(4.0, 8.0)),
        "threshold": float(rng.normal(0.0, 0.5)),
    }


def sharp_threshold_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return P(1) = ``expit(s (sum(w z) - t))``, z standardised, within ``CERTAINTY``."""
    total = np.asarray(-scalar(parameters, "threshold"))
    weights = vector(parameters, "weights")
    for z, w in zip(standardise(parameters, columns), weights, strict=True):
        total = total + w * z
    return np.clip(expit(scalar(parameters, "sharpness") * total), *CERTAINTY)


def draw_gate(
    conjunctions: tuple[float, ...],
    negation: float,
    rng: np.random.Generator,
    parents: Sequence[Parent],
) -> Parameters:
    """Draw a gate: its kind from ``conjunctions``, where 1 is "and" and 0 is "or". Each input is
    negated with probability ``negation``. A continuous parent is cut where a Gaussian of its mean
    and sd would leave the gate open half of the time, give or take U(-0.3, 0.3) sd; a binary one at
    0.5. The output flips with probability U(0.02, 0.12)."""
    count = len(parents)
    conjunction = pick(rng, conjunctions)
    negated = rng.random(count) < negation
    jitter = rng.uniform(-0.3, 0.3, count)
    # Each input holds in this share of cases, so that all of them hold in half.
    share = 0.5 ** (1.0 / max(count, 1))
    holds = share if conjunction else 1.0 - share
    cuts = []
    for parent, no, move in zip(parents, negated, jitter, strict=True):
        above = 1.0 - holds if no else holds
        place = summary(float(special.ndtri(1.0 - above))) + float(move)
        cuts.append(0.5 if parent.binary else parent.mean + parent.sd * place)
    return {
        "cuts": floats(cuts),
        "negated": floats(negated),
        "conjunction": conjunction,
        "flip": float(rng.uniform(0.02, 0.12)),
    }


def gate_mean(parameters: Parameters, columns: Sequence[Array]) -> Array:
    """Return ``flip + (1 - 2 flip) * gate`` by row, the probability of 1. Inputs hold above their
    cut, or ``negated``. The gate is 1 if all hold (``conjunction``), or else if any does."""
    inputs_ = zip(columns, vector(parameters, "cuts"), vector(parameters, "negated"), strict=True)
    holds = [(column > cut) != bool(no) for column, cut, no in inputs_]
    every = np.logical_and if scalar(parameters, "conjunction") else np.logical_or
    flip = scalar(parameters, "flip")
    return np.asarray(flip + (1.0 - 2.0 * flip) * reduce(every, holds))
