"""ReplaySCM's tables that compare programs made in different ways, over the systems of a page.

Cohorts (Tables F.1, F.3 to F.5), and alternatives by who is known to have found one (G.2).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from grader.pages.systems import SYSTEM, Part, rows_of
from grader.statistics.bootstrap import draw_instances, percentile_interval, seed_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

COHORTS: Final = {"Base": "base", "Match": "disambiguated", "Ext": "extension"}
"""By the end of a pool's label: the cohort that it is."""
_METRICS: Final = ("train_world_exact", "heldout_world_exact", "train_exact")

Rows = list[dict[str, Any]]
Pools = Mapping[str, "NDArray[Any]"]
"""The metrics of each cohort pool, of shape (systems, programs, metrics)."""


def _pools(parts: Sequence[Part]) -> Pools:
    """Return the pools that are cohorts, by order."""
    import numpy as np

    found = defaultdict[str, dict[str, list[list[float]]]](dict)
    for row in rows_of(parts, "cohorts"):  # every system has the same programs, sorted
        metrics = [row[name] for name in _METRICS]
        found[row["pool"]].setdefault(row[SYSTEM], []).append(metrics)
    pools = [f"{order}-{cohort}" for order in ("Ord", "Hid") for cohort in COHORTS]
    return {pool: np.array([*found[pool].values()]) for pool in pools if pool in found}


def _figures(metrics: "NDArray[Any]") -> "dict[str, NDArray[Any]]":
    """Return the figures of mean metrics, whose last axis is that of the metrics.

    ``heldout`` is the share of held-out worlds replayed, ``gap`` that of training worlds minus it,
    and ``retention`` ``heldout`` over that of training worlds, NaN where that is 0. ``train_exact``
    is how often all training worlds are exact.
    """
    import numpy as np

    train, heldout, exact = np.moveaxis(metrics, -1, 0)
    retention = np.divide(heldout, train, out=np.full_like(train, np.nan), where=train > 0)
    return {
        "heldout": heldout, "gap": train - heldout, "retention": retention, "train_exact": exact
    }  # fmt: skip


def _minus(first: "NDArray[Any]", base: "NDArray[Any]") -> "dict[str, NDArray[Any]]":
    """Return the figures of ``first`` minus those of ``base``."""
    ours, theirs = _figures(first), _figures(base)
    return {name: ours[name] - theirs[name] for name in ours}


def _known(figures: "Mapping[str, NDArray[Any]]") -> dict[str, float | None]:
    """Return single figures as numbers, None for NaN."""
    return {name: None if value != value else float(value) for name, value in figures.items()}


def cohort_means(parts: Sequence[Part]) -> Rows:
    """Return Table F.3: a row a pool that is a cohort, pooled over the page's systems."""
    rows = []
    for pool, values in _pools(parts).items():
        mean, cohort = values.mean((0, 1)), COHORTS[pool.partition("-")[2]]
        about = {"pool": pool, "cohort": cohort, "programs": values.shape[1]}
        rows.append({**about, "train": float(mean[0]), **_known(_figures(mean))})
    return rows


def pooled_differences(parts: Sequence[Part]) -> Rows:
    """Return F.1, F.4: cohorts minus base, with two rows of intervals each.

    The first resamples systems, the second programs, where the difference is left out. Systems are
    drawn alike on both sides, programs, which are others in each cohort, independently.
    """
    rows = []
    for comparison, pool, ours, base, theirs in _comparisons(_pools(parts)):
        for what, axis, own, other in (("systems", 1, "", ""), ("programs", 0, pool, base)):
            drawn = _replicates(ours.mean(axis), own), _replicates(theirs.mean(axis), other)
            row: dict[str, Any] = {"comparison": "", "resampled": what}
            if what == "systems":  # the difference is the same whatever is resampled
                row |= {"comparison": comparison}
                row |= _known(_minus(ours.mean((0, 1)), theirs.mean((0, 1))))
            if len(drawn[0]) and len(drawn[1]):
                for name, column in _minus(*drawn).items():
                    known = column[column == column]  # without the NaN of a retention
                    row[f"{name}_interval"] = percentile_interval(known) if len(known) else None
            rows.append(row)
    return rows


def differences_by_system(parts: Sequence[Part]) -> Rows:
    """Return Table F.5: cohorts minus the base, a row for each system and comparison."""
    names = list(dict.fromkeys(row[SYSTEM] for row in rows_of(parts, "cohorts")))
    return [
        {SYSTEM: name, "comparison": comparison}
        | _known(_minus(ours[k].mean(0), theirs[k].mean(0)))
        for comparison, _, ours, _, theirs in _comparisons(_pools(parts))
        for k, name in enumerate(names)
    ]


def _comparisons(
    pools: Pools,
) -> "Iterator[tuple[str, str, NDArray[Any], str, NDArray[Any]]]":
    """Yield, for each later cohort whose base is present too, words for the comparison, the pool
    and its metrics, the base and its metrics."""
    for pool in pools:
        order, _, cohort = pool.partition("-")
        if cohort != "Base" and (base := f"{order}-Base") in pools:
            yield f"{pool}: {COHORTS[cohort]} − base", pool, pools[pool], base, pools[base]


def _replicates(values: "NDArray[Any]", seed: str) -> "NDArray[Any]":
    """Return mean metrics under draws of the rows of ``values``; none where there is but one."""
    import numpy as np

    names = [f"{seed} {k}" for k in range(len(values))]
    if len(names) < 2:
        return np.empty((0, len(_METRICS)))
    draws = draw_instances(names, seed_of(names))
    columns = [
        draws.means({name: (value, 1) for name, value in zip(names, column, strict=True)})
        for column in values.T
    ]
    return np.array(columns).T


_RELATIONS: Final[Mapping[str, Callable[[bool, bool], bool]]] = {
    "KP-all": lambda own, others: own or others,
    "OM-src": lambda own, others: others and not own,
    "SM-src": lambda own, others: own,
    "OE": lambda own, others: not own and not others,
}
"""The paper's relations, by whether this system, or another of the page, found an alternative."""
_OUTCOMES: Final = ("joint", "alternative", "experiment_valid", "separates", "witness")


def by_source(parts: Sequence[Part]) -> Rows:
    """Return Table G.2: means of ``n`` tasks by pool, system and who found an alternative.

    ``source`` is the relation. Means are None where ``n`` is 0.
    """
    known: dict[tuple[str, str], set[str]] = defaultdict(set)
    listed = rows_of(parts, "sources")
    for row in listed:
        if row["found"]:
            known[row["pool"], row["program"]].add(row["system"])
    rows = []
    for pool in dict.fromkeys(row["pool"] for row in listed):
        for system in (part["system"] for part in parts):
            own = [row for row in listed if (row["pool"], row["system"]) == (pool, system)]
            for name, holds in _RELATIONS.items():
                finders = ((row, known[pool, row["program"]]) for row in own)
                kept = [row for row, who in finders if holds(system in who, bool(who - {system}))]
                means = {k: fmean(row[k] for row in kept) if kept else None for k in _OUTCOMES}
                rows.append(
                    {"system": system, "pool": pool, "source": name, "n": len(kept), **means}
                )
    return rows
