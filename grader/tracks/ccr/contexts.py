"""All answers to one context together: validity, consistency, classes, completeness."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from grader.scoring.model import Checked, Score, Truth
from grader.tracks.ccr.algorithm import (
    NEAR_SHARE,
    VALID_SHARE,
    Class,
    Composition,
    PairName,
    algorithm_1,
    class_of,
    complete,
    compose_pn_ps,
    paths,
    product,
    within,
)
from grader.tracks.ccr.checks import RUNGS
from grader.tracks.ccr.estimates import MAX_INVALID, MEASURES, exact_of, resample

CONTEXT: Final = "simulation.context"
"""The name of the floor of a context that is asked about in full, beside those of variants."""


@dataclass(frozen=True, slots=True)
class PairLine:
    """One cause-effect pair of a context. ``share`` is that of estimates within the threshold;
    ``resampled`` are these estimates, none where there is one answer set."""

    pair: PairName
    mediators: int
    shortest_path: int
    eta: float | None
    share: float
    extra: Mapping[str, float]
    truth: float
    estimate: float | None
    resampled: Sequence[float] = ()

    @property
    def valid(self) -> bool:
        """Externally valid."""
        return self.share >= VALID_SHARE


@dataclass(frozen=True, slots=True)
class PathLine:
    """One composition. Shares are of estimates within the threshold of truth and of reference;
    ``resampled`` as in :class:`PairLine`."""

    composition: Composition
    valid_share: float
    consistent_share: float
    measures: Mapping[str, tuple[bool, bool]]
    truth: float
    resampled: Sequence[float] = ()

    @property
    def valid(self) -> bool:
        """Externally valid."""
        return self.valid_share >= VALID_SHARE

    @property
    def consistent(self) -> bool:
        """Internally consistent."""
        return self.consistent_share >= VALID_SHARE

    @property
    def quadrant(self) -> Class:
        """VC, VI, IC or II."""
        return class_of(self.valid, self.consistent)


@dataclass(frozen=True, slots=True)
class ContextResult:
    """Everything Algorithm 1 says of one context."""

    instance_id: str
    nodes: tuple[str, ...]
    pairs: tuple[PairLine, ...]
    compositions: tuple[PathLine, ...]
    complete: bool

    @property
    def valid(self) -> bool:
        """Every quantity is: global, local and composed."""
        pairs, paths = self.pairs, self.compositions
        return all(line.valid for line in pairs) and all(line.valid for line in paths)

    @property
    def consistent(self) -> bool:
        """Every composition is."""
        return all(line.consistent for line in self.compositions)

    @property
    def quadrant(self) -> Class:
        """VC, VI, IC or II."""
        return class_of(self.valid, self.consistent)

    @property
    def share(self) -> float:
        """The share of compositions that are valid and consistent: the context's points."""
        return sum(line.quadrant == "VC" for line in self.compositions) / len(self.compositions)


def evaluate_context(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, Checked]
) -> ContextResult | None:
    """The result of the simulation tasks of one context.

    Only compositions all of whose pairs are among the tasks count; without any there is no result.
    """
    by_pair: dict[PairName, Score] = {}
    targets: dict[PairName, Mapping[str, Any]] = {}
    for score in scores:
        target = truths[score.task_id].target
        pair = target["cause"], target["effect"]
        by_pair[pair], targets[pair] = score, target
    nodes = tuple(truths[scores[0].task_id].target["tree"])
    ordered = sorted(by_pair, key=lambda pair: (nodes.index(pair[0]), nodes.index(pair[1])))
    closed = [
        pair
        for pair in ordered
        if all(edge in by_pair for path in paths(nodes, pair) for edge in pairwise(path))
    ]
    references = [pair for pair in closed if targets[pair]["reference"]]
    if not references:
        return None
    extras = {pair: json.loads(by_pair[pair].extra_json) for pair in ordered}
    exact = {pair: exact_of(targets[pair]) for pair in ordered}
    estimates = {pair: _estimates(extras[pair]) for pair in ordered}
    pns = {pair: None if e is None else e["pns"] for pair, e in estimates.items()}
    truth = {pair: values["pns"] for pair, values in exact.items()}
    errors = algorithm_1(nodes, references, truth, pns)
    # A pair with a single answer set has nothing to resample.
    resamples = {
        pair: resample(targets[pair], checked[score.task_id].answer, score.instance_id)
        for pair, score in by_pair.items()
        if extras[pair].get("replicates", 1) > 1 and estimates[pair] is not None
    }
    pairs = tuple(
        PairLine(
            pair,
            targets[pair]["mediators"],
            targets[pair]["shortest_path"],
            errors.eta[pair],
            extras[pair].get("valid_share", 0.0),
            extras[pair],
            truth[pair],
            pns[pair],
            resamples.get(pair, ()),
        )
        for pair in ordered
    )
    compositions = tuple(
        _path_line(found, exact, estimates, resamples) for found in errors.compositions
    )
    whole = complete(nodes, {pair: truth[pair] for pair in closed}, pns)
    whole &= all(line.valid for line in pairs) and all(line.valid for line in compositions)
    whole &= _factual_is_readable(list(extras.values()))
    return ContextResult(scores[0].instance_id, nodes, pairs, compositions, whole)


def _factual_is_readable(extras: Sequence[Mapping[str, float]]) -> bool:
    """Whether at most ``MAX_INVALID`` of the context's factual answers are neither yes nor no.

    No estimate depends on them: a system that leaves them out has not answered the context.
    """
    factual = sum(extra.get("answers", 0) for extra in extras) / len(RUNGS)
    unreadable = sum(extra.get("unreadable_factual", 0) for extra in extras)
    return unreadable <= MAX_INVALID * factual


def _estimates(extra: Mapping[str, float]) -> dict[str, float] | None:
    if "estimate_pns" not in extra:
        return None
    return {name: extra[f"estimate_{name}"] for name in MEASURES}


def _path_line(
    found: Composition,
    exact: Mapping[PairName, Mapping[str, float]],
    estimates: Mapping[PairName, Mapping[str, float] | None],
    resamples: Mapping[PairName, list[float]],
) -> PathLine:
    reference = (found.path[0], found.path[-1])
    truth = exact[reference]["pns"]
    whole = estimates[reference]
    measures = {
        name: _agreements(
            _composed(estimates, found.path, name), exact[reference][name], whole, name
        )
        for name in MEASURES
    }
    edges = list(pairwise(found.path))
    drawn = {pair: resamples.get(pair) for pair in (reference, *edges)}
    if found.value is None or not any(drawn.values()):
        valid, consistent = measures["pns"]
        return PathLine(found, float(valid), float(consistent), measures, truth)
    # A pair with a single answer set is constant beside the resampled ones.
    count = max(len(values) for values in drawn.values() if values)
    columns = {
        pair: values or [estimate["pns"] if (estimate := estimates[pair]) else 0.0] * count
        for pair, values in drawn.items()
    }
    values = [
        product({pair: columns[pair][k] for pair in edges}, found.path) or 0.0 for k in range(count)
    ]
    within_truth = sum(within(truth, value) for value in values)
    within_whole = 0
    if whole is not None:
        within_whole = sum(map(within, columns[reference], values))
    return PathLine(found, within_truth / count, within_whole / count, measures, truth, values)


def _composed(
    estimates: Mapping[PairName, Mapping[str, float] | None], path: Sequence[str], measure: str
) -> float | None:
    if measure in ("pn", "ps"):
        both = compose_pn_ps(estimates, path)
        return None if both is None else both[measure == "ps"]
    values = {pair: None if e is None else e[measure] for pair, e in estimates.items()}
    return product(values, path)


def _agreements(
    value: float | None, truth: float, whole: Mapping[str, float] | None, measure: str
) -> tuple[bool, bool]:
    if value is None:
        return False, False
    return within(truth, value), whole is not None and within(whole[measure], value)


def nearly(share: float) -> bool:
    """At least 75%, but not 90%: near-valid, or nearly consistent."""
    return NEAR_SHARE <= share < VALID_SHARE
