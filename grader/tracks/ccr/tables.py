"""The functions that ``page.toml`` names: rows and charts of CCR, and the drawings of cut trees."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from operator import itemgetter, sub
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from grader.pages.charts import Axis, clouds, dots, lines
from grader.pages.graph import Explanation, Graph, Kind, proofs
from grader.pages.page import Block, Fold, Paragraph
from grader.pages.specification import Format, Specification, TrackPages
from grader.pages.svg import Svg, element, words
from grader.pages.systems import SYSTEM, Part, parts_with, rows_of
from grader.pages.table import Cell
from grader.pages.words import number
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.statistics.paired_tests import signed_rank
from grader.tracks.ccr.algorithm import DELTA, VALID_SHARE

SYSTEMS_DRAWN: Final = 12
SYSTEMS_BESIDE: Final = 5
"""Systems whose estimates stand beside each other on a row."""
CONTEXTS_IN_LEADERBOARD: Final = 4
ALPHA: Final = 0.05
"""The p-value below which a difference of errors counts as one (CCR §6.2)."""
MOST_SHOWN: Final = 2
"""The multiple of the truth at which estimates are cut off in drawings."""
QUANTITY_KINDS: Final = ("global", "local", "composition")
"""Kinds of quantities, in the order of Figure G.17."""
QUADRANTS: Final = ("vc", "vi", "ic", "ii")
FARTHEST: Final = 0.5
"""Errors that are larger are drawn here, and so are those of what was not estimated."""

Rows = list[dict[str, Any]]


def _signed_rank(differences: Sequence[float]) -> Cell:
    """Return the p-value of paired differences and their number; a dash without any."""
    if not differences:
        return Cell("–")
    p = signed_rank(differences)
    shown = "<0.001" if p < 0.001 else number(p)
    return Cell(shown, "good" if p < ALPHA else "", f"n = {len(differences)}")


_FORMATS: Final[Mapping[str, Format]] = {
    "signed_rank": _signed_rank,
    "error": lambda mean: Cell(number(mean), "good" if mean <= DELTA else ""),
    "size": "{:g}".format,
}


def class_shares(parts: Sequence[Part]) -> Rows:
    """Return two rows for each system: the shares of the four classes in compositions and in
    contexts."""
    rows = []
    for part in parts_with(parts, "metrics.contexts"):
        for level in ("compositions", "contexts"):
            shares = {name: part["metrics"].get(f"{level}_{name}") for name in QUADRANTS}
            more = part["metrics"] if level == "contexts" else {}
            rows.append({**more, **shares, SYSTEM: part[SYSTEM], "level": level,
                         "n": part["metrics"].get(level)})  # fmt: skip
    return rows


def _shown_in_pictures(parts: Sequence[Part]) -> list[Part]:
    """Return the systems that answer and whose contexts a report tells of, at most twelve."""
    found = [part for part in parts if part.get("attempted")]
    return [part for part in found if part.get("details", {}).get("contexts")][:SYSTEMS_DRAWN]


def quadrants(parts: Sequence[Part], member: str = "contexts") -> Iterator[Svg]:
    """Draw external against internal error of every composition over the four quadrants, a chart
    for each system; what is beyond ``FARTHEST``, or was not estimated, stands there."""
    ticks = ((0, "0"), (DELTA, f"{DELTA:g}"), (FARTHEST, f"{FARTHEST:g}+"))
    near, far = (0, DELTA), (DELTA, FARTHEST)
    regions = (
        ("VC", "good", near, near),
        ("VI", "fair", far, near),
        ("IC", "fair", near, far),
    )
    across, upwards = (Axis(x, 0, FARTHEST, ticks) for x in ("internal error γ", "external ε"))
    for part in parts[:SYSTEMS_DRAWN]:
        found = rows_of([part], f"details.{member}")
        errors = [(line["gamma"], line["epsilon"]) for row in found for line in row["compositions"]]
        rows = [
            {"series": part[SYSTEM],
             "value": [FARTHEST if e is None else min(e, FARTHEST) for e in pair]}
            for pair in errors
        ]  # fmt: skip
        title = f"Reasoning quadrants of {part[SYSTEM]}"
        if rows:
            yield clouds(title, rows, across, upwards, side=150, regions=regions)


stated_quadrants = partial(quadrants, member="stated")
"""The same chart of the values that systems state, for each that has some."""


def name_of(row: Mapping[str, Any]) -> str:
    """Return the name of a quantity, such as X1X3, with ", whole" if it spans its cut tree."""
    return f"{row['quantity']}, whole" if row["kind"] == "global" else str(row["quantity"])


def by_quantity(parts: Sequence[Part]) -> Rows:
    """Return the ``share`` of valid estimates by system and quantity (Figure 7)."""
    rows = rows_of(_shown_in_pictures(parts), "quantities")
    return [{**row, "name": name_of(row)} for row in rows]


def validity(parts: Sequence[Part]) -> list[Block]:
    """Draw the share of valid estimates of each quantity, and from where it is valid."""
    tick = (VALID_SHARE, f"valid from {VALID_SHARE:.0%} on, where answers are repeated")
    rows = [
        {"name": row["name"], "series": row[SYSTEM], "value": row["share"], "tick": tick}
        for row in by_quantity(_shown_in_pictures(parts)[:SYSTEMS_BESIDE])
    ]
    return _in_a_fold(parts, dots("share of valid estimates", rows)) if rows else []


def distributions(parts: Sequence[Part]) -> list[Block]:
    """Draw median and middle 90% of the estimates of each quantity; the truth is 100%."""
    shown = _shown_in_pictures(parts)[:SYSTEMS_BESIDE]
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in rows_of(shown, "details.estimates"):
        ratios.setdefault((name_of(row), row[SYSTEM]), []).extend(row["ratios"])
    rows: Rows = []
    for row in by_quantity(shown):
        about = {"name": row["name"], "series": row[SYSTEM], "tick": (1.0, "the truth")}
        rows.append({**about, "value": None})
        if values := ratios.get((row["name"], row[SYSTEM])):
            ordered, last = sorted(values), len(values) - 1
            low, middle, high = (ordered[round(share * last)] for share in (0.05, 0.5, 0.95))
            rows[-1] |= {
                "value": min(middle, MOST_SHOWN),
                "interval": (min(low, MOST_SHOWN), min(high, MOST_SHOWN)),
                "interval_name": "middle 90%",
                "hover": f"{len(ordered)} estimates, median {middle:.0%} of the truth",
            }
    title = "estimates as shares of the truth, cut at 200%"
    return _in_a_fold(parts, dots(title, rows, MOST_SHOWN)) if rows else []


def _in_a_fold(parts: Sequence[Part], picture: Svg) -> list[Block]:
    return [Fold("every quantity, drawn", [picture], len(parts) == 1)]


def error_tests(parts: Sequence[Part]) -> Rows:
    """Return the ``differences`` of errors, first system minus each other, by quantity (6.2).

    Errors are paired one by one, a single one with all; what has no partner is left out.
    """
    first, *others = _shown_in_pictures(parts) or [{}]
    own, rows = _errors(first), []
    for name in dict.fromkeys(row["name"] for row in by_quantity([first, *others])):
        for part in others:
            differences: list[float] = []
            for place, theirs in _errors(part).items():
                if place[0] == name and theirs and (ours := own.get(place)):
                    most = max(len(ours), len(theirs))
                    columns = ([*row] * most if len(row) == 1 else row for row in (ours, theirs))
                    differences += map(sub, *columns)
            rows.append({"quantity": name, "other": part[SYSTEM], "differences": differences})
    return rows


def _errors(part: Part) -> Mapping[tuple[str, str], list[float]]:
    """Return |ratio − 1| of each estimate, by (quantity, instance)."""
    return {
        (name_of(row), row["instance_id"]): [abs(ratio - 1) for ratio in row["ratios"]]
        for row in part.get("details", {}).get("estimates", [])
    }


def _curve_rows(parts: Sequence[Part], axis: str) -> Rows:
    """Return the mean error of the pairs by system and level of an ``axis`` of
    ``sql/curves.sql``."""
    rows = rows_of(_shown_in_pictures(parts), "details.curves")
    found = [row for row in rows if row["axis"] == axis and row["mean_rae"] is not None]
    return sorted(found, key=itemgetter("level"))


def _error_curve(parts: Sequence[Part], axis: str, across: str) -> list[Svg]:
    found = [
        {**row, "series": row[SYSTEM], "value": row["mean_rae"]} for row in _curve_rows(parts, axis)
    ]
    return [lines(f"mean error by {axis}", found, across=across)] if found else []


mediator_errors = partial(_curve_rows, axis="mediators")
mediator_chart = partial(
    _error_curve, axis="mediators", across="mediating variables between cause and effect"
)
path_errors = partial(_curve_rows, axis="shortest_path")
path_chart = partial(
    _error_curve, axis="shortest_path", across="edges of the shortest path from cause to effect"
)


def size_errors(parts: Sequence[Part]) -> Rows:
    """Return the ``mean`` error by system, its ``size`` and the ``kind`` of quantities, smallest
    first; [] unless two systems state a size, a number from 1e-6 to 1e6 (Figure G.17)."""
    sized = [p for p in parts if type(p.get("size")) in (int, float) and 1e-6 <= p["size"] <= 1e6]
    rows = []
    for part in sorted(sized, key=itemgetter("size")):
        for kind in QUANTITY_KINDS:
            errors = [row["mean"] for row in rows_of([part], "quantities") if row["kind"] == kind]
            if known := [error for error in errors if error is not None]:
                about = {"size": part["size"], "kind": kind, "mean": fmean(known)}
                rows.append({SYSTEM: part[SYSTEM], **about})
    return rows if len({row[SYSTEM] for row in rows}) > 1 else []


def size_chart(parts: Sequence[Part]) -> list[Svg]:
    """Draw the mean errors of global, local and composed quantities over the sizes of models."""
    found = size_errors(parts)
    if not found:
        return []
    rows = [
        {"series": row["kind"], "value": (row["size"], row["mean"]), "hover": row[SYSTEM]}
        for row in found
    ]
    across = Axis.logarithmic("billions of parameters", [row["size"] for row in found])
    upwards = Axis.linear("mean RAE", [row["mean"] for row in found])
    return [clouds("mean error by model size", rows, across, upwards)]


def trees(parts: Sequence[Part]) -> list[Block]:
    """Draw the cut trees of each system, and say how to read them."""
    note = (
        "Dark edges are valid pairs, light ones invalid; blue paths are valid compositions; a "
        "node is dark when every path through it is valid (after Fig. 8)."
    )
    alone = len(parts) == 1
    limit = None if alone else CONTEXTS_IN_LEADERBOARD
    found = [
        Fold(part["system"], [cut_tree(c) for c in part["details"]["contexts"][:limit]], alone)
        for part in _shown_in_pictures(parts)
    ]
    return [Paragraph(note, note=True), *found] if found else []


def commuting(context: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many direct and composed paths are valid, and how many there are (Fig. 8)."""
    ends = {(line["path"][0], line["path"][-1]) for line in context["compositions"]}
    direct = [line["valid"] for line in context["pairs"] if tuple(line["pair"]) in ends]
    composed = [line["valid"] for line in context["compositions"]]
    return sum(direct) + sum(composed), len(direct) + len(composed)


def cut_tree(context: Mapping[str, Any]) -> Svg:
    """Draw one cut tree: its pairs as edges, valid compositions as broad bands under them."""
    nodes, step, left = list(context["nodes"]), 74, 34
    base = left + 16 * len(nodes)
    place = {name: left + step * k for k, name in enumerate(nodes)}
    right, total = commuting(context)
    title = f"{context['class']}{', complete' if context['complete'] else ''}: "
    title += f"{right} of {total} paths commute"
    parts = [words(6, 14, title, "axis")]
    band = "stroke:var(--mark);stroke-width:7;stroke-opacity:.16;fill:none"
    for line in context["compositions"]:
        if line["valid"]:
            ends = pairwise(line["path"])
            parts += [_arc(place[a], place[b], base, step, band) for a, b in ends]
    for line in context["pairs"]:
        a, b = line["pair"]
        style = f"stroke:{_ink(line['valid'])};stroke-width:1.6;fill:none"
        hover = f"{a} to {b}: {'valid' if line['valid'] else 'invalid'}"
        parts.append(_arc(place[a], place[b], base, step, style, hover))
    for name in nodes:
        through = [line["valid"] for line in context["compositions"] if name in line["path"]]
        through += [line["valid"] for line in context["pairs"] if name in line["pair"]]
        style = f"fill:{_ink(bool(through) and all(through))}"
        parts.append(element("circle", cx=place[name], cy=base, r=6, style=style))
        parts.append(words(place[name], base + 24, name, anchor="middle", room=step - 8))
    width = max(left * 2 + step * (len(nodes) - 1), 230)
    return Svg(title, width, base + 46, parts, inline=True)


def _ink(valid: bool) -> str:
    return "var(--ink)" if valid else "var(--line)"


def _arc(start: float, end: float, base: float, step: float, style: str, hover: str = "") -> str:
    """Draw a straight edge between neighbours, else an arc above them."""
    span = (end - start) / step
    shape = f"M{start} {base}L{end} {base}"
    if span > 1:
        middle, top = (start + end) / 2, base - 13 * span * 2
        shape = f"M{start} {base}Q{middle} {top:.1f} {end} {base}"
    return element("path", "", hover, d=shape, style=style)


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return causal graph, theme, cut tree and proof; without a context the proof alone."""
    texts = proofs(__file__)
    proof = texts.get(task.shape.kind, texts["quantities"])
    context = world.get("context", {})
    if "parents" not in context:
        return Explanation(proof=proof)
    names = context["names"]
    edges = [(names[p], names[k]) for k, parents in enumerate(context["parents"]) for p in parents]
    tree = world.get("tree") or []
    kinds: dict[str, Kind] = {tree[0]: "treatment", tree[-1]: "outcome"} if tree else {}
    if {"cause", "effect"} <= truth.target.keys():
        kinds = {truth.target["cause"]: "treatment", truth.target["effect"]: "outcome"}
    facts = [("theme", str(world.get("theme", ""))), ("cut tree", " → ".join(tree))]
    return Explanation(Graph(names, edges, kinds), {}, [fact for fact in facts if fact[1]], proof)


SPECIFICATION: Final = Specification.read(
    Path(__file__).with_name("page.toml"), globals(), _FORMATS
)


PAGES: Final = TrackPages(
    explain_task=explain_task,
    tables=SPECIFICATION.in_terminal,
    sections=SPECIFICATION.of_reports,
)
