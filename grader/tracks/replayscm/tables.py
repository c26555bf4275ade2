"""Formats, rows and charts of ReplaySCM's ``page.toml``."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from grader.pages.charts import Axis, clouds, lines
from grader.pages.graph import Explanation, Graph, proofs
from grader.pages.specification import Format, Specification, TrackPages
from grader.pages.svg import Svg
from grader.pages.systems import Part, rows_of
from grader.pages.table import Cell
from grader.pages.words import edge_changes, interval_text, signed_interval, signed_number
from grader.scoring.model import CheckedAnswer, Truth
from grader.scoring.shape import Task
from grader.tracks.replayscm import cohorts
from grader.tracks.replayscm.boolean import variables
from grader.tracks.replayscm.problem import pack, parse_map
from grader.tracks.replayscm.replay import replay
from grader.tracks.replayscm.report import LADDER, LEVELS
from grader.tracks.replayscm.shapes import edges_of, separating_row, total_size
from grader.tracks.replayscm.submission import ProgramAnswer

_METRIC_NAMES: Final = {
    "train_exact": "TrainExact",
    "heldout_world_exact": "HeldoutWorld",
    "heldout_exact": "HeldoutExact",
    "parent_shd": "parent SHD ↓",
    "parent_f1": "parent F1",
    "parent_map_exact": "exact parent map",
    "local_match": "local match",
}
_MATCHED: Final = tuple(dict.fromkeys(pool for rung in LEVELS for pool in rung))
Rows = list[dict[str, Any]]


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
    return Cell(shown, aside=signed_interval(ends, 3) if ends else "")


_FORMATS: Final[Mapping[str, Format]] = {
    "rate": rate,
    "quotient": lambda part, whole: rate(part / whole if whole else None, whole),
    "rate_within": lambda value, ends: Cell(rate(value), aside=interval_text(ends) if ends else ""),
    "evidence": lambda determined: "determines" if determined else "leaves open",
    "metric": _METRIC_NAMES.__getitem__,
    "difference": _difference,
}


def induction(parts: Sequence[Part]) -> Rows:
    """Return the pools that ask for the program that was hidden."""
    return [row for row in rows_of(parts, "pools") if not row["level"].startswith("Alt-")]


def alternative(parts: Sequence[Part]) -> Rows:
    """Return the pools that ask for another program."""
    return [row for row in rows_of(parts, "pools") if row["level"].startswith("Alt-")]


def matched_induction(parts: Sequence[Part]) -> Rows:
    """Return the pools about the same programs with more and more evidence."""
    return [row for row in rows_of(parts, "pools") if row["level"] in _MATCHED]


def hidden_roots(parts: Sequence[Part]) -> Rows:
    """Return the pools that ask for the set of roots."""
    return [row for row in rows_of(parts, "pools") if row["root_exact"] is not None]


def paired_differences(parts: Sequence[Part]) -> Rows:
    """Return the differences of two pools over all programs, without those of subsets."""
    return [row for row in rows_of(parts, "deltas") if row["subset"] == "all"]


def found_by_any(parts: Sequence[Part]) -> Rows:
    """Return a row for each matched pool: how many programs it has, and of how many some system of
    the page found an alternative (``hit``, and as a share ``rate``)."""
    programs: dict[str, dict[str, bool]] = {pool: {} for pool in _MATCHED}
    for row in rows_of(parts, "found"):
        if (known := programs.get(row["pool"])) is not None:
            known[row["program"]] = known.get(row["program"], False) or row["alternative"]
    counts = {pool: (len(found), sum(found.values())) for pool, found in programs.items() if found}
    return [
        {"pool": pool, "programs": programs, "hit": hit, "rate": hit / programs}
        for pool, (programs, hit) in counts.items()
    ]


def matched_pools(parts: Sequence[Part]) -> Rows:
    """Return the pools of the matched programs, from less evidence to more (Table D.2)."""
    return sorted(matched_induction(parts), key=lambda row: _MATCHED.index(row["level"]))


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
    Path(__file__).with_name("page.toml"), {**vars(cohorts), **globals()}, _FORMATS
)


PAGES: Final = TrackPages(
    explain_task=explain_task,
    diagnose=diagnose,
    tables=SPECIFICATION.in_terminal,
    sections=SPECIFICATION.of_reports,
)
