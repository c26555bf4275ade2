"""Formats, rows and charts of ReplaySCM's ``page.toml``."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from grader.pages.charts import Axis, clouds, lines
from grader.pages.graph import Explanation, Graph, proofs
from grader.pages.specification import Format, Specification, TrackPages
from grader.pages.svg import Svg
from grader.pages.systems import SYSTEM, Part, cell_within, rows_of
from grader.pages.table import Cell
from grader.pages.words import edge_changes, signed_number
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.shape import Task
from grader.statistics.bootstrap import draw_instances, percentile_interval, seed_of
from grader.tracks.replayscm.boolean import variables
from grader.tracks.replayscm.problem import pack, parse_map
from grader.tracks.replayscm.replay import replay
from grader.tracks.replayscm.report import LADDER, LEVELS
from grader.tracks.replayscm.shapes import edges_of, separating_row, total_size
from grader.tracks.replayscm.submission import ProgramAnswer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_METRIC_NAMES: Final = {
    "train_exact": "TrainExact",
    "heldout_world_exact": "HeldoutWorld",
    "heldout_exact": "HeldoutExact",
    "parent_shd": "parent SHD ↓",
    "parent_f1": "parent F1",
    "parent_map_exact": "exact parent map",
    "local_match": "local match",
}
COHORTS: Final = {"Base": "base", "Match": "disambiguated", "Ext": "extension"}
"""By the end of a pool's label: the cohort that it is."""
_METRICS: Final = ("train_world_exact", "heldout_world_exact", "train_exact")
_MATCHED: Final = tuple(dict.fromkeys(pool for rung in LEVELS for pool in rung))
Rows = list[dict[str, Any]]
Pools = Mapping[str, "NDArray[Any]"]
"""The metrics of each cohort pool, of shape (systems, programs, metrics)."""


def rate(value: float | None, denominator: int | None = None) -> str:
    """Return a rate (0 to 1) as text with three decimals; ``*`` over 1 to 5 cases, a dash over none
    or without a value (§5.1)."""
    if value is None or denominator == 0:
        return "–"
    if denominator is not None and 1 <= denominator <= 5:
        return "*"
    return f"{value:.3f}"


def _difference(value: float | None, ends: Sequence[float] | None) -> Cell:
    """Return the cell of a difference with its interval; blank where the line above has it."""
    shown = "" if value is None else signed_number(value, 3)
    return cell_within(shown, ends, 3, signed_number)


_FORMATS: Final[Mapping[str, Format]] = {
    "rate": rate,
    "quotient": lambda part, whole: rate(part / whole if whole else None, whole),
    "rate_within": lambda value, ends: cell_within(rate(value), ends),
    "evidence": lambda determined: "determines" if determined else "leaves open",
    "metric": _METRIC_NAMES.__getitem__,
    "difference": _difference,
}


def found_by_any(parts: Sequence[Part]) -> Rows:
    """Return a row for each matched pool: how many programs it has, and of how many some system of
    the page found an alternative (``hit``, and as a share ``rate``)."""
    rows, found = rows_of(parts, "found"), []
    for pool in _MATCHED:
        programs = {row["program"] for row in rows if row["pool"] == pool}
        hit = {row["program"] for row in rows if row["pool"] == pool and row["alternative"]}
        if programs:
            counts = {"programs": len(programs), "hit": len(hit)}
            found.append({"pool": pool, **counts, "rate": len(hit) / len(programs)})
    return found


def matched_pools(parts: Sequence[Part]) -> Rows:
    """Return the pools of the matched programs, from less evidence to more (Table D.2)."""
    found = [row for row in rows_of(parts, "pools") if row["level"] in _MATCHED]
    return sorted(found, key=lambda row: _MATCHED.index(row["level"]))


def _ladder(parts: Sequence[Part], metric: str, subset: str = "", suffix: str = "") -> list[Svg]:
    """Return a chart of a metric with a line a system over the pools of ``LADDER``, which hold the
    same programs, with 95% bootstrap intervals. [] unless there are two pools.

    ``suffix`` is what rates over a ``subset`` of records are called by in ``sql/pools.sql``.
    """
    found = [row for row in rows_of(parts, "pools") if row["level"] in LADDER]
    rows = [
        {"series": row["system"], "level": row["level"], "value": row.get(f"{metric}{suffix}"),
         "interval": row[f"intervals{subset}"].get(metric)}
        for row in sorted(found, key=lambda row: LADDER.index(row["level"]))
    ]  # fmt: skip
    about = f", {subset[1:]} records" if subset else ""
    drawing = lines(f"{metric} by disclosure{about}", rows, ceiling=1)
    return [drawing] if len({row["level"] for row in rows}) > 1 else []


train_ladder: Final = partial(_ladder, metric="train_exact")
world_ladder: Final = partial(_ladder, metric="heldout_world_exact")
determined_ladder: Final = partial(
    _ladder, metric="heldout_exact", subset="_determined", suffix="_determined"
)
open_ladder: Final = partial(
    _ladder, metric="heldout_exact", subset="_open", suffix="_undetermined"
)
"""Charts of a metric as less is disclosed (Figure 1), of all records or of a subset."""


def train_against_heldout(parts: Sequence[Part]) -> list[Svg]:
    """Return Figure D.1: TrainWorldExact against HeldoutWorldExact, a mark per pool."""
    rows = [
        {"series": row["system"], "hover": f"{row['system']}, {row['level']}",
         "value": (row["train_world_exact"], row["heldout_world_exact"])}
        for row in rows_of(parts, "pools")
        if row["heldout_world_exact"] is not None
    ]  # fmt: skip
    axes = Axis("TrainWorldExact"), Axis("HeldoutWorldExact")
    return [clouds("training against held-out replay", rows, *axes, diagonal=True)]


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
    ours, theirs = _figures(first), _figures(base)
    return {name: ours[name] - theirs[name] for name in ours}


def _as_numbers(figures: "Mapping[str, NDArray[Any]]") -> dict[str, float | None]:
    """Return single figures as numbers, None for NaN."""
    return {name: None if value != value else float(value) for name, value in figures.items()}


def cohort_means(parts: Sequence[Part]) -> Rows:
    """Return Table F.3: a row a pool that is a cohort, pooled over the page's systems."""
    rows = []
    for pool, values in _pools(parts).items():
        mean, cohort = values.mean((0, 1)), COHORTS[pool.partition("-")[2]]
        about = {"pool": pool, "cohort": cohort, "programs": values.shape[1]}
        rows.append({**about, "train": float(mean[0]), **_as_numbers(_figures(mean))})
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
                row |= _as_numbers(_minus(ours.mean((0, 1)), theirs.mean((0, 1))))
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
        | _as_numbers(_minus(ours[k].mean(0), theirs[k].mean(0)))
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


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return the hidden program as a graph of its formulas, and whether it is determined."""
    program: Mapping[str, str] = truth.target["gold"]
    nodes = list(task.inputs.get("variables") or [*truth.target["roots"], *program])
    formulas = parse_map(program).items()
    edges = [(name, child) for child, formula in formulas for name in sorted(variables(formula))]
    determined = (
        "determine every held-out cell" if truth.target["determined"] else "leave some open"
    )
    facts = [(child, formula) for child, formula in sorted(program.items())]
    facts.append(("the training worlds", determined))
    return Explanation(Graph(nodes, edges), {}, facts, proofs(__file__)["program"])


def diagnose(task: Task, truth: Truth, checked: CheckedAnswer) -> list[tuple[str, str]]:
    """Return lines on a valid program beside the gold one (Appendix I): AST size, edges, the
    first held-out row that tells them apart, and how many training rows show its parents so."""
    answer, gold = checked.answer, parse_map(truth.target["gold"])
    assert isinstance(answer, ProgramAnswer)
    program, problem = answer.program, answer.problem
    sizes = total_size(program.mechanisms), total_size(gold)
    lines = [("AST size", f"{sizes[0]} nodes; the gold program's {sizes[1]}")]
    if task.shape.kind == "program":
        edges = edge_changes(edges_of(program.mechanisms), edges_of(gold))
        lines.append(("edges", edges))
    worlds = truth.target["heldout"]
    heldout = pack(problem.names, worlds)
    apart = separating_row(program, gold, problem.training, heldout, replay(program, heldout))
    if apart is None:
        return [*lines, ("separates", "no held-out row: the answer replays them all")]
    place, unit = next(
        (k, apart.row - (mask & -mask).bit_length() + 1)
        for k, mask in enumerate(heldout.masks)
        if mask >> apart.row & 1
    )
    setting = f"{worlds[place]['mode']} {', '.join(worlds[place]['targets'])}".rstrip()
    pattern = ", ".join(f"{name}={value}" for name, value in apart.inputs.items())
    where = f"world {worlds[place]['id']} ({setting}), unit u{unit:02d}"
    values = f"gold has {apart.child}={apart.gold}, the answer {1 - apart.gold}"
    shown = f"{apart.support} training rows show {pattern} where {apart.child} is not set"
    return [*lines, ("separates", f"{where}: with {pattern}, {values}"), ("support", shown)]


SPECIFICATION: Final = Specification.read(
    Path(__file__).with_name("page.toml"), globals(), _FORMATS
)


PAGES: Final = TrackPages(
    explain_task=explain_task,
    diagnose=diagnose,
    tables=SPECIFICATION.in_terminal,
    sections=SPECIFICATION.of_reports,
)
