"""The second derivation of an episode whose readings have errors.

States are computed in exact fractions and errors from the key by the published rule. What is
decided is looked at by other means: sessions with the engine itself under other keys; marginal
likelihoods from the readings' covariance instead of sums over features; errors of frequency by the
slopes that its supposed causes themselves have on the readings, not by what was believed of it on
the way; and two sums over graphs, those with an edge and those without it. What decided means fixes
what is taken over: what the planner sets next, and its prior, in which a graph counts as often as
it has causal orders. An edge that leaves few of many orders is less likely by a factor of ten and
more: a judge without that prior refuses what the planner rightly holds.
"""

import hashlib
import hmac
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from builder.causalab.noisy.episode import ACCURATE, DECIDED
from builder.causalab.noisy.notebook import Told
from builder.causalab.noisy.planner import Planner
from builder.causalab.plan.suites import NOISY
from grader.io.jsonio import canonical
from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory

Json = Mapping[str, Any]
Floats = NDArray[np.float64]

SESSIONS: Final = 20
FAIR: Final = math.log(10)
"""Log odds at which the judge, who weighs frequency's errors otherwise than the planner, calls a
decided pair clear."""
SURE: Final = math.log(19)
"""Those at which a verdict is held."""
MOSTLY: Final = 0.75
"""The share of the sessions in which a decided pair is judged so at least. Of 2,995 decided pairs
into frequency the least was clear in 89% of 100 sessions."""
MANY: Final = 200
"""Sessions of a second look, whose verdict counts. What is clear in 89% of sessions is so in fewer
than 15 of 20 once in 60 times, and in fewer than 150 of 200 once in 100 million times; what is held
in 19 of 20 sessions is held in all of 20 once in three times, and in 198 of 200 once in 500 times.
"""
ALWAYS: Final = 0.99
"""The share of these sessions in which an undecided pair may be held at most."""
_ROUNDS: Final = 4
"""So often frequency's coefficients and the errors that follow from its slopes are worked out."""
_STEP: Final = Fraction(1, 20)
"""What rounding on the way may change a property by; frequency by as much for each unit of
slope."""


def noisy_problems(world: Json, label: str, public: Json, private: Json) -> Iterator[str]:
    """What is wrong with an episode; nothing when every truth is derived again."""
    problems = [*_design(world, label, public, private), *_shown(public, private)]
    yield from problems
    if not problems:  # no session is possible where the sides contradict each other
        yield from _decided(public, private)


def _design(world: Json, label: str, public: Json, private: Json) -> Iterator[str]:
    suite = NOISY[label.partition("/")[2]]
    assert suite.errors is not None
    stated = (private["suite"], private["setting"], public["family"], public["mode"])
    if stated != (suite.name, "noisy", "interacting", "shift"):
        yield "the truth is of another suite"
    edges = sorted([t["parent"], node] for node, ts in private["equations"].items() for t in ts)
    if edges != sorted(map(list, world["edges"])):
        yield "the equations have other edges than the graph"
    told = (len(public["records"]), public["budget"], public["noise"], public["tolerance"])
    wanted = (suite.observations, suite.budget, suite.errors.noise, suite.errors.tolerance)
    if told != wanted or public["common_cause"] != suite.errors.common_cause:
        yield "what is told is not the suite's"
    if public["budget"] >= len(public["variables"]):
        yield "the budget is not below the number of properties"
    target = public["target"]["name"]
    for node, terms in private["equations"].items():
        low, high = (0.6, 1.6) if node == target else (0.5, 1.2)
        curves = [t["quadratic"] for t in terms if t["quadratic"]]
        sizes = all(low <= abs(t["linear"]) <= high for t in terms)
        if len(terms) > 3 or not sizes or (curves and node != target):
            yield f"{node}: not an equation of its setting"
        if not all(0.01 <= abs(value) <= 0.02 for value in curves):
            yield f"{node}: a square that is none of its setting"
    if [0.01 <= abs(one["coefficient"]) <= 0.02 for one in private["products"]] != [True]:
        yield "not one product of its setting"
    seen = [record[target] for record in public["records"]]
    beyond = max(min(seen) - private["frequency"], private["frequency"] - max(seen))
    if beyond < 0.25 * (max(seen) - min(seen)):
        yield "the target is within the range of the records"


def _shown(public: Json, private: Json) -> Iterator[str]:
    """Every reading is the exact state and the error that the key gives."""
    common = private["common_cause"]
    key = bytes.fromhex(private["noise_key"])
    amounts = (
        [Fraction(0)] * (len(private["records"]) + 2)
        if common is None
        else [_exact(u) for u in (*common["records"], common["manipulator"], common["reactor"])]
    )
    target = public["target"]["name"]
    shown: list[tuple[str, Json, Json, Fraction, object]] = [
        (f"record {k + 1}", bases, public["records"][k], amounts[k], {"record": k})
        for k, bases in enumerate(private["records"])
    ]
    opening = {"settings": [], "step": 0}
    shown.append(("the opening", private["manipulator"], public["opening"], amounts[-2], opening))
    reactor = {**public["reactor"], target: private["frequency"]}
    shown.append(("the reactor", private["reactor"], reactor, amounts[-1], None))
    for where, bases, reading, amount, moment in shown:
        states, slope = _states(private, bases, amount, target)
        for node, value in reading.items():
            error = _error(key, moment, node, public["noise"]) if moment else Fraction(0)
            slack = _STEP * (1 + slope) if node == target else _STEP
            if abs(_exact(value) - states[node] - error) > slack:
                yield f"{where}: {node} is not its equation's value and its error"


def _states(
    private: Json, bases: Json, amount: Fraction, target: str
) -> tuple[dict[str, Fraction], Fraction]:
    """All values without rounding, and how steep frequency is there."""
    weights = (private["common_cause"] or {"weights": {}})["weights"]
    found: dict[str, Fraction] = {}
    equations = private["equations"]
    while len(found) < len(bases):
        for node in bases:
            if node not in found and all(t["parent"] in found for t in equations[node]):
                total = _exact(bases[node]) + _exact(weights.get(node, 0)) * amount
                found[node] = total + sum(
                    _exact(t["linear"]) * found[t["parent"]] for t in equations[node]
                )
    slopes = dict.fromkeys(found, Fraction(0))
    total = _exact(private["base"])
    for term in equations[target]:
        value, linear, square = found[term["parent"]], term["linear"], term["quadratic"]
        total += (_exact(linear) + _exact(square) * value) * value
        slopes[term["parent"]] += _exact(linear) + 2 * _exact(square) * value
    for one in private["products"]:
        first, second, size = one["first"], one["second"], _exact(one["coefficient"])
        total += size * found[first] * found[second]
        slopes[first] += size * found[second]
        slopes[second] += size * found[first]
    return {**found, target: total}, sum(map(abs, slopes.values()), Fraction(0))


def _error(key: bytes, moment: object, node: str, spread: float) -> Fraction:
    """Twelve numbers of 16 bits, added up, less their middle."""
    told = canonical([canonical(moment), node]).encode("utf-8")
    digest = hmac.new(key, told, hashlib.sha256).hexdigest()
    numbers = [int(digest[4 * k : 4 * k + 4], 16) for k in range(12)]
    return (Fraction(sum(numbers), 1 << 16) - 6) * _exact(spread)


def _exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


def _decided(public: Json, private: Json) -> Iterator[str]:
    """The decided pairs, seen in other sessions by another judge."""
    names = [entry["name"] for entry in public["variables"]]
    nodes = [*names, public["target"]["name"]]
    truth = {(t["parent"], node) for node, ts in private["equations"].items() for t in ts}
    undecided = {tuple(pair) for pair in private["undecided"]}
    if len(truth - undecided) < DECIDED * len(truth) or private["accurate"] < ACCURATE:
        yield "too little of the episode is decided"
    decided = np.array([[parent != node and (parent, node) not in undecided for parent in names]
                        for node in nodes])  # fmt: skip
    open_ = np.array([[(parent, node) in undecided for parent in names] for node in nodes])
    most = max(2, len(undecided) / 2)
    fair, sure = _clear(public, private, SESSIONS)
    if (fair[decided] >= MOSTLY).all() and (sure[open_] == 1).sum() <= most:
        return
    fair, sure = _clear(public, private, MANY)
    for i, j in np.argwhere(decided & (fair < MOSTLY)):
        share = f"{fair[i, j]:.0%}"
        yield f"{names[j]} to {nodes[i]} is decided, but clear in {share} of other sessions"
    if (clear := (sure[open_] >= ALWAYS).sum()) > most:
        yield f"{clear} of {len(undecided)} undecided pairs are clear in all other sessions"


def _clear(public: Json, private: Json, sessions: int) -> tuple[Floats, Floats]:
    """The shares (node, parent) of other sessions in which the truth of a pair is fairly clear, and
    in which it is sure."""
    odds = odds_again(public, private, sessions)
    return (odds >= FAIR).mean(axis=0), (odds >= SURE).mean(axis=0)


def odds_again(public: Json, private: Json, sessions: int) -> Floats:
    """Log odds for the truth of each pair (session, node, parent) in other sessions."""
    told = Told.of(public)
    count = len(told.names)
    labs = [Laboratory(_with_key(public, private, k)) for k in range(sessions)]
    planner = Planner(told, sessions)
    for _ in range(told.budget):
        places, values = planner.choose()
        readings = [
            list(lab.intervene(told.names[int(p)], float(v)).values())
            for lab, p, v in zip(labs, places, values, strict=True)
        ]
        planner.see(places, values, np.array(readings).T)
    true = np.zeros((count + 1, count), dtype=bool)
    nodes = [*told.names, public["target"]["name"]]
    for i, node in enumerate(nodes):
        for term in private["equations"][node]:
            true[i, told.names.index(term["parent"])] = True
    seen = np.stack([reading.T for reading in planner.notebook.readings], axis=1)
    own = np.stack([bases.T for bases in planner.notebook.own], axis=1)
    odds = _judged(told, seen, own)
    return np.where(true, odds, -odds)


def _with_key(public: Json, private: Json, number: int) -> Episode:
    """The episode with other errors after the opening: records and opening stay as they are."""
    episode = Episode.of("again", public, private)
    assert episode.noise is not None
    told = f"other errors {number}".encode()
    key = hmac.new(episode.noise.key, told, hashlib.sha256).digest()
    return replace(episode, noise=replace(episode.noise, key=key))


def _judged(told: Told, seen: Floats, own: Floats) -> Floats:
    """Log odds of every pair (session, node, parent): graphs with the edge against those without.

    ``seen`` has shape (session, reading, node), ``own`` (session, reading, property).
    """
    sessions, count = len(seen), len(told.names)
    scores = np.full((count, 1 << count, sessions), -np.inf)
    for node in range(count):
        others = [i for i in range(count) if i != node]
        for size in range(4):
            for chosen in combinations(others, size):
                mask = sum(1 << i for i in chosen)
                scores[node, mask] = _property_evidence(told, seen, own, node, chosen)
    found = np.zeros((sessions, count + 1, count))
    for node in range(count):
        for parent in range(count):
            if node != parent:
                with_edge, without = (
                    _total(scores, node, parent, wanted) for wanted in (True, False)
                )
                found[:, node, parent] = with_edge - without
    values = {
        chosen: _frequency_evidence(told, seen, chosen)
        for size in range(1, 4)
        for chosen in combinations(range(count), size)
    }
    for parent in range(count):
        with_edge, without = (
            np.logaddexp.reduce([v for chosen, v in values.items() if (parent in chosen) == wanted])
            for wanted in (True, False)
        )
        found[:, count, parent] = with_edge - without
    return found


def _property_evidence(
    told: Told, seen: Floats, own: Floats, node: int, chosen: Sequence[int]
) -> Floats:
    """Log density (session,) of a property's readings given its causes, coefficients integrated
    out.

    Rows are correlated by what they share: each cause's coefficient, the unknown own base, what an
    unmeasured cause adds.
    """
    sessions, readings, _ = seen.shape
    unset = np.isnan(own[:, :, node])
    left = seen[:, :, node] - np.where(unset, 50.0, own[:, :, node])
    error = told.noise**2 * (1 + len(chosen))
    given = 0 if told.confounded else len(told.records)
    size = readings + given
    covariance = np.zeros((sessions, size, size))
    covariance[:, range(readings), range(readings)] = error
    covariance[:, :readings, :readings] += 29.0**2 * (unset[:, :, None] & unset[:, None, :])
    causes = seen[:, :, list(chosen)]
    if told.confounded:
        covariance += 40.0**2
    else:
        records = np.repeat(told.records[None], sessions, axis=0)
        causes = np.concatenate([causes, records[:, :, list(chosen)]], axis=1)
        left = np.concatenate([left, records[:, :, node] - 50.0], axis=1)
        rest = range(readings, size)
        covariance[:, rest, rest] = told.record_spread**2 + error
    covariance += causes @ causes.transpose(0, 2, 1)
    return np.asarray(_density(left, covariance) + len(chosen) * np.log(0.35 / 0.65))


def _frequency_evidence(told: Told, seen: Floats, chosen: Sequence[int]) -> Floats:
    """The same for frequency, a polynomial of its causes.

    The steeper it is in a cause, the more that cause's error counts. How steep follows from the
    coefficients, and these from how much each row counts: both are worked out in turns. They settle
    for sets that may be the right one; others are far less likely, wherever they stop.
    """
    records = np.repeat(told.records[None], len(seen), axis=0)
    shown = np.concatenate([records, seen], axis=1)
    left, causes = shown[:, :, -1], (shown[:, :, list(chosen)] - 50.0) / 50.0
    count, pairs = len(chosen), list(combinations(range(len(chosen)), 2))
    parts = [np.ones_like(left), *np.moveaxis(causes, 2, 0), *np.moveaxis(causes**2, 2, 0)]
    parts += [causes[:, :, i] * causes[:, :, j] for i, j in pairs]
    spreads = np.array([100.0, *[90.0] * count, *[35.0] * (count + len(pairs))])
    rows = np.stack(parts, axis=2) * spreads
    slopes = np.ones_like(causes)
    for _ in range(_ROUNDS):
        weights = np.linalg.solve(_covariance(told, rows, slopes), left[:, :, None])
        slopes = _slopes(spreads * (rows.transpose(0, 2, 1) @ weights)[:, :, 0] / 50.0, causes)
    density = _density(left, _covariance(told, rows, slopes))
    return np.asarray(density + len(chosen) * np.log(0.35 / 0.65))


def _covariance(told: Told, rows: Floats, slopes: Floats) -> Floats:
    """That of frequency's readings (session, reading, reading): what they share through its
    coefficients, and errors, those of its causes among them."""
    found = rows @ rows.transpose(0, 2, 1)
    size = range(found.shape[1])
    found[:, size, size] += told.noise**2 * (1 + (slopes**2).sum(axis=2))
    return np.asarray(found)


def _slopes(bends: Floats, causes: Floats) -> Floats:
    """How steep a polynomial (session, coefficient) is in each of its causes (session, reading,
    cause)."""
    count, of_rows = causes.shape[2], bends[:, None]
    slopes = of_rows[:, :, 1 : 1 + count] + 2 * of_rows[:, :, 1 + count : 1 + 2 * count] * causes
    for place, (i, j) in enumerate(combinations(range(count), 2), start=1 + 2 * count):
        slopes[:, :, i] += of_rows[:, :, place] * causes[:, :, j]
        slopes[:, :, j] += of_rows[:, :, place] * causes[:, :, i]
    return slopes


def _density(left: Floats, covariance: Floats) -> Floats:
    """Log densities (session,) of centred normal vectors, up to a constant."""
    _, determinant = np.linalg.slogdet(covariance)
    solved = np.linalg.solve(covariance, left[:, :, None])[:, :, 0]
    return np.asarray(-0.5 * ((left * solved).sum(axis=1) + determinant))


def _total(scores: Floats, node: int, parent: int, wanted: bool) -> Floats:
    """Log of what the graphs without a circle that have the edge, or have it not, are worth
    together (session,), each as often as it has orders."""
    count, masks, _ = scores.shape
    inside = scores.copy()
    has = np.array([bool(mask >> parent & 1) for mask in range(masks)])
    inside[node, has != wanted] = -np.inf
    for bit in range(count):
        with_bit = np.array([mask for mask in range(masks) if mask >> bit & 1])
        inside[:, with_bit] = np.logaddexp(inside[:, with_bit], inside[:, with_bit ^ 1 << bit])
    total = np.full(inside.shape[1:], -np.inf)
    total[0] = 0.0
    for mask in range(1, masks):
        total[mask] = np.logaddexp.reduce(
            [total[mask ^ 1 << last] + inside[last, mask ^ 1 << last]
             for last in range(count) if mask >> last & 1]
        )  # fmt: skip
    return np.asarray(total[-1])
