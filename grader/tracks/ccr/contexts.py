"""Algorithm 1 on all answers to one context together: validity, consistency, completeness; and on
values that the system states itself (CCR §4.1, case 1).

A task that lists quantities of several pairs of a cut tree says what the system takes each of them
for. Compositions all of whose pairs are listed are compared with the truth and with the system's
own value of the whole, as those of simulated contexts are. So are the sums TE = NDE + NIE.
"""

import json
import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, Final

from grader.scoring.model import CheckedAnswer, Score, Truth
from grader.tracks.ccr.algorithm import (
    MAX_INVALID,
    MEASURES,
    RUNGS,
    VALID_SHARE,
    Class,
    Composition,
    Errors,
    Name,
    PairName,
    additive_errors,
    agrees,
    algorithm_1,
    class_of,
    compose_pn_ps,
    error_or_none,
    exact_of,
    is_complete,
    is_near_valid,
    is_within_delta,
    paths,
    product,
    resample,
)

CONTEXT: Final = "simulation.context"
"""The name of the floor of a context that is asked about in full, beside those of variants."""

Row = dict[str, Any]
Estimates = Mapping[PairName, Mapping[str, float]]
"""Pair to estimate by measure; {} where too many answers are invalid."""


@dataclass(frozen=True, slots=True)
class ContextResult:
    """The result of Algorithm 1 on one context, whose cut tree ``nodes`` is, from root to leaf.

    ``pairs`` and ``compositions`` have the columns of ``ccr_pairs`` and ``ccr_compositions``
    (``sql/schema.sql``), and besides these ``path``, ``truth``, ``estimate`` and ``resampled``, the
    resampled estimates if any. ``complete``: every quantity is valid, equivalent ones agree, and
    factual answers are readable.
    """

    instance_id: str
    nodes: tuple[str, ...]
    pairs: Sequence[Row]
    compositions: Sequence[Row]
    complete: bool

    @property
    def quadrant(self) -> Class:
        """VC, VI, IC or II, of all quantities together."""
        valid = all(row["valid"] for row in (*self.pairs, *self.compositions))
        return class_of(valid, all(row["consistent"] for row in self.compositions))

    @property
    def share(self) -> float:
        """The share of compositions that are valid and consistent: the context's points."""
        hits: list[bool] = [row["class"] == "VC" for row in self.compositions]
        return sum(hits) / len(hits)


def evaluate_context(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, CheckedAnswer]
) -> ContextResult | None:
    """Return the result of one context from the ``scores`` of its tasks.

    It has every task's pair, and the compositions of each reference pair of which all paths have
    their pairs among the tasks. None without such a reference pair.
    """
    graded = ((truths[score.task_id].target, score) for score in scores)
    by_pair = {(target["cause"], target["effect"]): score for target, score in graded}
    targets = {pair: truths[score.task_id].target for pair, score in by_pair.items()}
    nodes = tuple(truths[scores[0].task_id].target["tree"])
    ordered = sorted(by_pair, key=lambda pair: (nodes.index(pair[0]), nodes.index(pair[1])))
    closed = [
        pair for pair in ordered if all(_has_pairs(by_pair, path) for path in paths(nodes, pair))
    ]
    references = [pair for pair in closed if targets[pair]["reference"]]
    if not references:
        return None
    extras = {pair: json.loads(by_pair[pair].extra_json) for pair in ordered}
    exact = {pair: exact_of(targets[pair]) for pair in ordered}
    estimates: Estimates = {
        pair: {name: extra[f"estimate_{name}"] for name in MEASURES if "estimate_pns" in extra}
        for pair, extra in extras.items()
    }
    pns = _select_measure(estimates, "pns")
    truth = {pair: values["pns"] for pair, values in exact.items()}
    errors = algorithm_1(nodes, references, truth, pns)
    # A pair with a single answer set has nothing to resample.
    resamples = {
        pair: resample(targets[pair], checked[score.task_id].answer, score.instance_id)
        for pair, score in by_pair.items()
        if extras[pair].get("replicates", 1) > 1 and estimates[pair]
    }
    pairs = [
        _pair(nodes, targets[pair], extras[pair], errors.eta[pair])
        | {"resampled": resamples.get(pair, [])}
        for pair in ordered
    ]
    compositions = [
        _composition(nodes, one, exact, estimates, resamples) for one in errors.compositions
    ]
    complete = (
        is_complete(nodes, {pair: truth[pair] for pair in closed}, pns)
        and all(row["valid"] for row in (*pairs, *compositions))
        # At most that share of the factual answers is neither yes nor no.
        and sum(row["unreadable_factual"] for row in pairs)
        <= MAX_INVALID * (sum(row["answers"] for row in pairs) / len(RUNGS))
    )
    return ContextResult(scores[0].instance_id, nodes, pairs, compositions, complete)


def _pair(
    nodes: Sequence[str], target: Mapping[str, Any], extra: Mapping[str, float], eta: float | None
) -> Row:
    """Return the row of one pair: its place, its error, and what its score row says of it."""
    share = extra.get("valid_share", 0.0)
    return {
        **_quantity(nodes, (target["cause"], target["effect"])),
        "mediators": target["mediators"],
        "shortest_path": target["shortest_path"],
        "eta": eta,
        "eta_absolute": error_or_none(
            exact_of(target)["pns"], extra.get("estimate_pns"), absolute=True
        ),
        "valid_share": share,
        "valid": share >= VALID_SHARE,
        "near_valid": is_near_valid(share),
        **{rung: extra.get(f"accuracy_{rung}") for rung in RUNGS},
        "violations": extra.get("monotonicity_violations"),
        "answers": int(extra.get("answers", 0)),
        "invalid": int(extra.get("invalid_answers", 0)),
        "unreadable_factual": int(extra.get("unreadable_factual", 0)),
        "truth": exact_of(target)["pns"],
        "estimate": extra.get("estimate_pns"),
    }


def _quantity(nodes: Sequence[str], path: Sequence[str]) -> Row:
    """Return the path and kind of a quantity, and its name by place in the cut tree (X1: root)."""
    places = (f"X{nodes.index(a) + 1}X{nodes.index(b) + 1}" for a, b in pairwise(path))
    whole = tuple(path) == (nodes[0], nodes[-1])
    kind = "composition" if len(path) > 2 else "global" if whole else "local"
    return {"path": list(path), "quantity": "·".join(places), "kind": kind}


def _composition(
    nodes: Sequence[str],
    found: Composition,
    exact: Mapping[PairName, Mapping[str, float]],
    estimates: Estimates,
    resamples: Mapping[PairName, list[float]],
) -> Row:
    """Return the row of one composition, with shares of resampled estimates if there are any."""
    reference, edges = (found.path[0], found.path[-1]), list(pairwise(found.path))
    truth, whole = exact[reference], estimates[reference]
    both = compose_pn_ps(estimates, found.path) or (None, None)
    ate = product(_select_measure(estimates, "ate"), found.path)
    composed = {"pn": both[0], "ps": both[1], "ate": ate}
    pns = _select_measure(estimates, "pns")
    columns: dict[PairName, Sequence[float | None]] = {
        pair: resamples.get(pair) or [pns[pair]] for pair in (reference, *edges)
    }
    count = max(map(len, columns.values()))
    # A pair with a single answer set is constant beside the resampled ones.
    columns = {pair: [*column] * (count // len(column)) for pair, column in columns.items()}
    values = [product({pair: columns[pair][k] for pair in edges}, found.path) for k in range(count)]
    valid_share = sum(agrees(truth["pns"], value) for value in values) / count
    consistent_share = sum(map(agrees, columns[reference], values)) / count
    valid, consistent = valid_share >= VALID_SHARE, consistent_share >= VALID_SHARE
    return {
        **_quantity(nodes, found.path),
        "epsilon": found.external,
        "gamma": found.internal,
        "epsilon_absolute": error_or_none(found.truth, found.value, absolute=True),
        "gamma_absolute": error_or_none(found.whole, found.value, absolute=True),
        "valid_share": valid_share,
        "valid": valid,
        "near_valid": is_near_valid(valid_share),
        "consistent": consistent,
        "class": class_of(valid, consistent),
        **{
            f"{name}_vc": agrees(truth[name], value) and agrees(whole.get(name), value)
            for name, value in composed.items()
        },
        "truth": truth["pns"],
        "estimate": found.value,
        "resampled": values if count > 1 and found.value is not None else [],
    }


def _select_measure(estimates: Estimates, measure: str) -> dict[PairName, float | None]:
    return {pair: values.get(measure) for pair, values in estimates.items()}


FAMILIES: Final = frozenset({"direct", "inductive"})
"""Families whose quantities compose over a cut tree."""

COMPOSED: Final = ("pns", "ate")
"""Measures that are products along the paths (Theorem 5.1; the ATE of these models, too)."""


@dataclass(frozen=True, slots=True)
class StatedContext:
    """Algorithm 1 on what one task of ``variant`` states of one measure (PNS, ATE), or of sums."""

    instance_id: str
    variant: str
    errors: Errors

    @property
    def quadrant(self) -> Class:
        """VC, VI, IC or II: of all pairs and compositions together."""
        externals = (composition.external for composition in self.errors.compositions)
        return class_of(
            all(map(is_within_delta, (*self.errors.eta.values(), *externals))),
            all(is_within_delta(composition.internal) for composition in self.errors.compositions),
        )

    def rows(self) -> list[Row]:
        """Return a row of ``ccr_composed`` for each composition, and its ``path`` besides; ``eta``
        is the mean error of all pairs, None if one is not stated."""
        etas = [*self.errors.eta.values()]
        known = [eta for eta in etas if eta is not None]
        return [
            {
                "instance_id": self.instance_id,
                "variant": self.variant,
                "context_class": self.quadrant,
                "eta": math.fsum(known) / len(etas) if len(known) == len(etas) else None,
                "path": list(one.path),
                "epsilon": one.external,
                "gamma": one.internal,
                "epsilon_absolute": error_or_none(one.truth, one.value, absolute=True),
                "gamma_absolute": error_or_none(one.whole, one.value, absolute=True),
                "class": class_of(is_within_delta(one.external), is_within_delta(one.internal)),
            }
            for one in self.errors.compositions
        ]


def stated_contexts(
    scores: Sequence[Score], truths: Mapping[str, Truth], checked: Mapping[str, CheckedAnswer]
) -> Iterator[StatedContext]:
    """Yield results for the tasks that list a composition with all its pairs, in the order of
    ``scores``: one for each measure of ``COMPOSED`` that a task lists so, and one of the sums. An
    invalid or missing answer counts as stating nothing."""
    for score in scores:
        listed = truths[score.task_id].target.get("quantities")
        if listed is None or score.family not in FAMILIES:
            continue
        found = checked[score.task_id]
        given = found.answer["quantities"] if found.status == "scored" else {}
        for errors in stated_errors(listed, given):
            if errors.compositions:
                yield StatedContext(score.instance_id, f"{score.family}.{score.variant}", errors)


def stated_errors(listed: Mapping[str, Any], given: Mapping[str, float]) -> list[Errors]:
    """Return the errors of each measure of ``COMPOSED``, in its order, or of the sums if a TE is
    listed.

    ``listed`` are the quantities in the truth by name, ``given`` the values that the answer states.
    Raises ``ValueError`` where the pairs of the truth form a circle.
    """
    if all(quantity["measure"] != "te" for quantity in listed.values()):
        return [_errors(measure, listed, given) for measure in COMPOSED]
    names: dict[str, Name] = {
        name: (quantity["measure"], *quantity["path"])
        for name, quantity in listed.items()
        if quantity["measure"] in ("te", "nde", "nie")
    }
    exact = {key: float(Fraction(listed[name]["exact"])) for name, key in names.items()}
    return [additive_errors(exact, {key: given.get(name) for name, key in names.items()})]


def _errors(measure: str, listed: Mapping[str, Any], given: Mapping[str, float]) -> Errors:
    """Return the errors of one measure, with compositions of the widest pairs alone: those that no
    other pair with compositions encloses."""
    exact: dict[PairName, float] = {}
    stated: dict[PairName, float | None] = {}
    for name, quantity in listed.items():
        if quantity["measure"] == measure and len(quantity["path"]) == 2:
            pair = (quantity["path"][0], quantity["path"][1])
            exact[pair], stated[pair] = float(Fraction(quantity["exact"])), given.get(name)
    causes: dict[str, set[str]] = {}
    for cause, effect in exact:
        causes.setdefault(effect, set()).add(cause)
    nodes = [*TopologicalSorter(causes).static_order()]
    place = {name: k for k, name in enumerate(nodes)}
    closed = [pair for pair in exact if any(_has_pairs(exact, p) for p in paths(nodes, pair)[1:])]
    wide = [
        (a, b)
        for a, b in closed
        if not any(
            place[c] <= place[a] and place[b] <= place[d] for c, d in closed if (c, d) != (a, b)
        )
    ]
    errors = algorithm_1(nodes, wide, exact, stated)
    kept = tuple(one for one in errors.compositions if _has_pairs(exact, one.path))
    return Errors(errors.eta, kept)


def _has_pairs(pairs: Container[PairName], path: Sequence[str]) -> bool:
    return all(edge in pairs for edge in pairwise(path))
