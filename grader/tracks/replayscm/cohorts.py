"""ReplaySCM's tables that compare programs made in different ways, over the systems of a page.

Cohorts (Tables F.1, F.3 to F.5), shortcut pressure (F.6), and alternatives by who is known to have
found one (G.2).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from grader.pages.systems import Part, rows_of
from grader.statistics.bootstrap import draw_instances, percentile_interval, seed_of

COHORTS: Final = {"Base": "base", "Match": "disambiguated", "Ext": "extension"}
"""By the end of a pool's label: the cohort that it is."""
_ORDERS: Final = ("Ord", "Hid")
_METRICS: Final = ("train_world_exact", "heldout_world_exact", "train_exact")
_FIGURES: Final = ("heldout", "gap", "retention", "train_exact")

Rows = list[dict[str, Any]]
Values = Mapping[str, Mapping[str, float]]
"""Of each metric, the value of each program, or of each system."""


Figures = dict[str, float | None]
"""Means of a pool, or differences of them, by the names in ``_FIGURES``.

``heldout`` is the share of held-out worlds replayed, ``gap`` that of training worlds minus it, and
``retention`` ``heldout`` over that of training worlds (a ratio of means), None where that is 0.
``train_exact`` is how often all training worlds are exact."""


def _figures(train: float, heldout: float, exact: float) -> Figures:
    """Return the figures from mean TrainWorldExact, HeldoutWorldExact, TrainExact."""
    values = heldout, train - heldout, heldout / train if train else None, exact
    return dict(zip(_FIGURES, values, strict=True))


def _minus(first: Figures, second: Figures) -> Figures:
    """Return ``first`` minus ``second`` by name; None where either side has none."""
    pairs = ((name, value, second[name]) for name, value in first.items())
    return {n: None if a is None or b is None else a - b for n, a, b in pairs}


def cohort_means(parts: Sequence[Part]) -> Rows:
    """Return Table F.3: a row a pool that is a cohort, pooled over the page's systems."""
    return [
        {
            "pool": pool,
            "cohort": COHORTS[pool.partition("-")[2]],
            "programs": len(programs["train_exact"]),
            "train": fmean(programs["train_world_exact"].values()),
            **_mean(programs),
        }
        for pool, programs in _values_by_pool(parts).items()
    ]


def pooled_differences(parts: Sequence[Part]) -> Rows:
    """Return F.1, F.4: cohorts minus base, with two rows of intervals each.

    The first resamples systems, the second programs, where the difference is left out.
    """
    programs, systems = _values_by_pool(parts), _means_by_system(parts)
    rows = []
    for first, base in _pairs(programs):
        deltas = _minus(_mean(programs[first]), _mean(programs[base]))
        for what, found in (("systems", systems), ("programs", programs)):
            row = {"comparison": _comparison_text(first), "resampled": what, **deltas}
            # The difference is the same whatever is resampled.
            row = row if what == "systems" else {"comparison": "", "resampled": what}
            rows.append(row | _intervals(found[first], found[base]))
    return rows


def differences_by_system(parts: Sequence[Part]) -> Rows:
    """Return Table F.5: cohorts minus the base, a row for each system and comparison."""
    systems = _means_by_system(parts)
    rows = []
    for first, base in _pairs(systems):
        for name in systems[first]["train_exact"]:
            ours, theirs = (
                _figures(*(systems[pool][metric][name] for metric in _METRICS))
                for pool in (first, base)
            )
            row = {"system": name, "comparison": _comparison_text(first)}
            rows.append(row | _minus(ours, theirs))
    return rows


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


def _values_by_pool(parts: Sequence[Part]) -> dict[str, Values]:
    """Return each program's mean over systems by metric and cohort pool, by order."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for row in rows_of(parts, "cohorts"):
        of_pool = found.setdefault(row["pool"], {metric: {} for metric in _METRICS})
        for metric in _METRICS:
            of_pool[metric].setdefault(row["program"], []).append(row[metric])
    pools = [f"{order}-{cohort}" for order in _ORDERS for cohort in COHORTS]
    return {
        pool: {
            metric: {program: fmean(values) for program, values in found[pool][metric].items()}
            for metric in _METRICS
        }
        for pool in pools
        if pool in found
    }


def _means_by_system(parts: Sequence[Part]) -> Mapping[str, Values]:
    """Return by pool and metric the mean of each system over programs."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part in parts:
        for pool, programs in _values_by_pool([part]).items():
            of_pool = found.setdefault(pool, {metric: {} for metric in _METRICS})
            for metric in _METRICS:
                of_pool[metric][part["system"]] = fmean(programs[metric].values())
    return found


def _pairs(pools: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (pool, base pool) for each later cohort whose base is present, too."""
    for order in _ORDERS:
        for cohort in list(COHORTS)[1:]:
            first, base = f"{order}-{cohort}", f"{order}-Base"
            if first in pools and base in pools:
                yield first, base


def _comparison_text(pool: str) -> str:
    """Return a pool's label as compared to its base, such as "Ord-Match: disambiguated − base"."""
    return f"{pool}: {COHORTS[pool.partition('-')[2]]} − base"


def _mean(values: Values) -> Figures:
    """Return the figures' means over programs."""
    return _figures(*(fmean(values[metric].values()) for metric in _METRICS))


def _intervals(first: Values, base: Values) -> dict[str, list[float] | None]:
    """Return the central 95% of first minus base as ``<figure>_interval``, None without draws.

    Both sides are drawn alike where they have the same names, as systems do, and independently
    where they have not, as cohorts of programs.
    """
    pairs = zip(_replicates(first), _replicates(base), strict=False)
    drawn = [_minus(one, other) for one, other in pairs]
    columns = {
        name: [value for row in drawn if (value := row[name]) is not None] for name in _FIGURES
    }
    return {
        f"{name}_interval": percentile_interval(column) if column else None
        for name, column in columns.items()
    }


def _replicates(values: Values) -> list[Figures]:
    """Return the figures under draws of programs or systems; [] where there is but one."""
    names = sorted(values["train_exact"])
    if len(names) < 2:
        return []
    draws = draw_instances(names, seed_of(names))
    columns = [
        draws.means({name: (value, 1) for name, value in values[metric].items()})
        for metric in _METRICS
    ]
    return [_figures(*row) for row in zip(*columns, strict=True)]
