"""ReplaySCM's tables that compare programs made in different ways, over the systems of a page.

Cohorts (Tables F.1, F.3 to F.5), shortcut pressure (F.6), and alternatives by who is known to have
found one (G.2).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from grader.draw.table import Cell, Row, Table, word
from grader.draw.words import signed, signed_interval
from grader.show.systems import SYSTEM, Part, rows_of
from grader.statistics import bootstrap
from grader.statistics.bootstrap import Draws
from grader.tracks.replayscm.tables import rate, rate_column

COHORTS: Final = {"Base": "base", "Match": "disambiguated", "Ext": "extension"}
"""By the end of a pool's label: the cohort that it is."""
_ORDERS: Final = ("Ord", "Hid")
_METRICS: Final = ("train_world_exact", "heldout_world_exact", "train_exact")
_HEADS: Final = ("Δ HeldoutWorld", "Δ gap", "Δ retention", "Δ TrainExact")

Values = Mapping[str, Mapping[str, float]]
"""Of each metric, the value of each program, or of each system."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What is compared: held-out replay, what it lacks of that on training worlds, their ratio, and
    how often all training worlds are exact."""

    heldout: float
    gap: float
    retention: float | None
    train_exact: float

    @staticmethod
    def of(train: float, heldout: float, exact: float) -> "Figures":
        """From the means of TrainWorldExact, HeldoutWorldExact and TrainExact."""
        return Figures(heldout, train - heldout, heldout / train if train else None, exact)

    def minus(self, other: "Figures") -> list[float | None]:
        """The differences, in the order of the tables."""
        both = self.retention is not None and other.retention is not None
        kept = self.retention - other.retention if both else None  # type: ignore[operator]
        return [
            self.heldout - other.heldout, self.gap - other.gap, kept,
            self.train_exact - other.train_exact,
        ]  # fmt: skip


def summary(parts: Sequence[Part]) -> Table:
    """Table F.3: the cohorts, pooled over the systems of the page."""
    rows = []
    for pool, programs in _pooled(parts).items():
        cohort = pool.partition("-")[2]
        found = _mean(programs)
        train = fmean(programs["train_world_exact"].values())
        count = str(len(programs["train_exact"]))
        rows.append([
            pool, COHORTS[cohort], count, rate(train), rate(found.heldout), rate(found.gap),
            rate(found.retention),
        ])  # fmt: skip
    head = ["pool", "cohort", "programs", "TrainWorldExact", "HeldoutWorld", "gap", "retention"]
    note = "gap: TrainWorldExact minus HeldoutWorld; retention: their ratio. Means over systems."
    return Table("Table F.3: cohorts", head, rows, left=2, note=note)


def pooled(parts: Sequence[Part]) -> Table:
    """Tables F.1 and F.4: cohorts against the base, pooled over systems, with intervals."""
    programs, systems = _pooled(parts), _of_systems(parts)
    rows: list[list[str | Cell]] = []
    for first, base in _pairs(programs):
        deltas = _mean(programs[first]).minus(_mean(programs[base]))
        over = (
            ("systems", _intervals(systems[first], systems[base])),
            ("programs", _intervals(programs[first], programs[base])),
        )
        for place, (what, intervals) in enumerate(over):
            cells = [
                Cell("" if place or delta is None else signed(delta, 3),
                     aside="" if ends is None else signed_interval(ends, 3))
                for delta, ends in zip(deltas, intervals, strict=True)
            ]  # fmt: skip
            rows.append(["" if place else _told(first), what, *cells])
    note = (
        "Intervals resample systems, as the paper's do, with the programs fixed; and programs, "
        "each cohort by itself, with the systems fixed."
    )
    head = ["comparison", "resampled", *_HEADS]
    return Table("Tables F.1 and F.4: cohorts against the base", head, rows, left=2, note=note)


def by_system(parts: Sequence[Part]) -> Table:
    """Table F.5: the same differences of each system."""
    systems = _of_systems(parts)
    rows: list[list[str | Cell]] = []
    for first, base in _pairs(systems):
        for name in systems[first]["train_exact"]:
            ours, theirs = (
                Figures.of(*(systems[pool][metric][name] for metric in _METRICS))
                for pool in (first, base)
            )
            deltas = ["–" if d is None else signed(d, 3) for d in ours.minus(theirs)]
            rows.append([Cell(name, "name"), _told(first), *deltas])
    return Table("Table F.5: the same by system", ["system", "comparison", *_HEADS], rows, left=2)


def pressure(parts: Sequence[Part]) -> Table:
    """Table F.6: replay by how many mechanisms a shortcut had to be ruled out of."""
    columns = (
        SYSTEM,
        word("pool"),
        word("bin", "shortcut-kill coverage"),
        word("tasks"),
        rate_column("heldout_world_exact", "HeldoutWorld"),
        rate_column("retention", "retention"),
        rate_column("heldout_world_given_train", "HeldoutWorld | train", "n_train_exact"),
    )
    note = (
        "Coverage: of the mechanisms of a program, the share of which a shortcut that fits the "
        "first four training worlds was ruled out by a later one; above 0.75 shortcuts press most."
    )
    return Table.of("Table F.6: shortcut pressure", columns, rows_of(parts, "pressure"), 3, note)


_SOURCES: Final[Mapping[str, Callable[[bool, bool], bool]]] = {
    "KP-all": lambda own, others: own or others,
    "OM-src": lambda own, others: others and not own,
    "SM-src": lambda own, others: own,
    "OE": lambda own, others: not own and not others,
}
"""The paper's relations, by whether this system, or another of the page, found an alternative."""


def sources(parts: Sequence[Part]) -> Table:
    """Table G.2: alternatives by who is known to have found one in an induction."""
    known: dict[tuple[str, str], set[str]] = defaultdict(set)
    listed = rows_of(parts, "sources")
    for row in listed:
        if row["found"]:
            known[row["pool"], row["program"]].add(row["system"])
    rows: list[list[str | Cell]] = []
    for pool in dict.fromkeys(row["pool"] for row in listed):
        for part in parts:
            own = [row for row in part.get("sources", ()) if row["pool"] == pool]
            for name, holds in _SOURCES.items():
                kept = [
                    row for row in own
                    if holds(*_who(known[pool, row["program"]], part["system"]))
                ]  # fmt: skip
                rows.append([SYSTEM.cell(part), pool, name, str(len(kept)), *_outcomes(kept)])
    head = ["system", "pool", "source", "n", "joint", "alternative", "experiment valid",
            "separates", "witness"]  # fmt: skip
    note = (
        "KP-all: programs of which a system of this page found an alternative in an induction; "
        "OM-src: others alone did; SM-src: this one did; OE: none did (all have one: the builder "
        "makes sure)."
    )
    return Table("Table G.2: by the source of an alternative", head, rows, left=3, note=note)


def _who(found: set[str], system: str) -> tuple[bool, bool]:
    """Whether this system found an alternative, and whether another did."""
    return system in found, bool(found - {system})


def _outcomes(rows: Sequence[Row]) -> list[str]:
    names = ("joint", "alternative", "experiment_valid", "separates", "witness")
    return [rate(fmean(row[name] for row in rows) if rows else None, len(rows)) for name in names]


def _pooled(parts: Sequence[Part]) -> dict[str, Values]:
    """By pool, of each program the mean over systems; cohorts of one order after the other."""
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


def _of_systems(parts: Sequence[Part]) -> Mapping[str, Values]:
    """By pool, of each system the mean over programs."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part in parts:
        for pool, programs in _pooled([part]).items():
            of_pool = found.setdefault(pool, {metric: {} for metric in _METRICS})
            for metric in _METRICS:
                of_pool[metric][part["system"]] = fmean(programs[metric].values())
    return found


def _pairs(pools: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Later cohorts and the base that each is compared with."""
    for order in _ORDERS:
        for cohort in list(COHORTS)[1:]:
            first, base = f"{order}-{cohort}", f"{order}-Base"
            if first in pools and base in pools:
                yield first, base


def _told(pool: str) -> str:
    return f"{pool}: {COHORTS[pool.partition('-')[2]]} − base"


def _mean(values: Values) -> Figures:
    return Figures.of(*(fmean(values[metric].values()) for metric in _METRICS))


def _intervals(first: Values, base: Values) -> list[list[float] | None]:
    """Of each difference the central 95% over draws. Both sides draw alike where they have the same
    names, as systems do, and independently where they have not, as cohorts of programs."""
    ours, theirs = _replicates(first), _replicates(base)
    if not ours or not theirs:
        return [None] * len(_HEADS)
    drawn = [one.minus(other) for one, other in zip(ours, theirs, strict=True)]
    rows = zip(*drawn, strict=True)
    columns = [[value for value in column if value is not None] for column in rows]
    return [bootstrap.percentile_interval(column) if column else None for column in columns]


def _replicates(values: Values) -> list[Figures]:
    """The figures under draws of programs or systems; none where there is but one."""
    names = sorted(values["train_exact"])
    if len(names) < 2:
        return []
    draws = Draws.of(names, bootstrap.seed_of(names))
    columns = [
        draws.means({name: (value, 1) for name, value in values[metric].items()})
        for metric in _METRICS
    ]
    return [Figures.of(*row) for row in zip(*columns, strict=True)]
