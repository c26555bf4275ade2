"""The ccr sections of the page: tables, quadrant plots, and cut trees."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from grader.draw.charts import Dot, DotRow, Level, dot_rows, lines
from grader.draw.page import Block, Fold, Paragraph, Section
from grader.draw.svg import Scale, Svg, element, words
from grader.show.systems import Part, Report, part_of
from grader.tracks.ccr.algorithm import VALID_SHARE
from grader.tracks.ccr.tables import (
    CURVES,
    THRESHOLD,
    by_quantity,
    classes,
    compared,
    curves,
    levels,
    name_of,
    names_of,
    quantities,
    simulates,
    single_cases,
    stated,
    taxonomy,
)

SYSTEMS_DRAWN: Final = 12
SYSTEMS_BESIDE: Final = 5
"""Systems whose estimates stand beside each other on a row."""
CONTEXTS_DRAWN: Final = 60
CONTEXTS_IN_LEADERBOARD: Final = 4

Context = Mapping[str, Any]


def sections(reports: Sequence[Report]) -> list[Section]:
    """Pictures only where a submission simulates something and its report is not redacted."""
    parts = [part_of(report, "ccr") for report in reports]
    alone = len(parts) == 1
    figures = [classes(parts), *([taxonomy(parts[0])] if alone and simulates(parts[0]) else [])]
    drawn = parts[:SYSTEMS_DRAWN]
    answered = [part for part in drawn if part.get("attempted")]
    own = Section("ccr: Algorithm 1 on stated values (4.1, case 1)", _stated(answered))
    if not any(map(contexts, parts)):
        return [Section("ccr: figures", figures), own]
    several = [part for part in answered if contexts(part)]
    return [
        Section("ccr: figures, and shares of compositions in each class", figures),
        Section("ccr: answers to single cases, by rung", [single_cases(parts)]),
        Section(
            "ccr: reasoning quadrants, one dot a composition (Figures 5, G.11)",
            [quadrant(part["system"], contexts(part)) for part in drawn],
        ),
        Section(
            "ccr: valid estimates of each quantity (Figures 7, G.13, G.14)",
            [*_validity(several, alone), by_quantity(drawn)],
        ),
        Section(
            "ccr: estimates of each quantity beside the truth (Figure G.12)",
            _distributions(several, alone),
        ),
        Section(
            "ccr: errors of each quantity (Figures G.15, G.16)",
            [Fold("every quantity", [quantities(drawn)], alone)],
        ),
        Section(
            "ccr: errors of systems compared (Wilcoxon test, 6.2)",
            [compared(several)] if len(several) > 1 else [],
        ),
        Section(
            "ccr: mean error against mediating variables (Figure 9)",
            [_curve(drawn, "mediators"), curves(drawn)],
        ),
        Section(
            "ccr: mean error against the shortest path (Figure G.18)",
            [_curve(drawn, "shortest_path"), curves(drawn, "shortest_path")],
        ),
        Section("ccr: which paths of each cut tree commute (Figure 8)", _trees(drawn, alone)),
        own,
    ]


def _stated(parts: Sequence[Part]) -> list[Block]:
    """The table of what is stated, and a quadrant plot of each system; nothing without any."""
    table = stated(parts)
    drawn = [(part["system"], part.get("details", {}).get("stated", [])) for part in parts]
    return [table, *(quadrant(name, found) for name, found in drawn if found)] if table.rows else []


def _validity(parts: Sequence[Part], alone: bool) -> list[Block]:
    """Figure 7: the share of valid estimates of each quantity, and from where it is valid."""
    shown = parts[:SYSTEMS_BESIDE]
    shares = [{name_of(row): row["share"] for row in part["quantities"]} for part in shown]
    rows = [
        DotRow(
            name,
            [Dot(k, found[name]) for k, found in enumerate(shares) if name in found],
            [(VALID_SHARE, f"valid from {VALID_SHARE:.0%} on, where answers are repeated")],
        )
        for name in names_of(shown)
    ]
    title = "share of valid estimates"
    picture = dot_rows(title, rows, [part["system"] for part in shown])
    return [Fold("every quantity, drawn", [picture], alone)]


def _distributions(parts: Sequence[Part], alone: bool) -> list[Block]:
    """Figure G.12: median and middle 90% of the estimates of each quantity; the truth is 100%."""
    shown = parts[:SYSTEMS_BESIDE]
    found: list[dict[str, list[float]]] = []
    for part in shown:
        ratios: dict[str, list[float]] = {}
        for row in part["details"].get("estimates", []):
            ratios.setdefault(name_of(row), []).extend(row["ratios"])
        found.append(ratios)
    rows = [
        DotRow(
            name,
            [_spread(k, ratios[name]) for k, ratios in enumerate(found) if ratios.get(name)],
            [(1.0, "the truth")],
        )
        for name in names_of(shown)
    ]
    title = "estimates as shares of the truth, cut at 200%"
    picture = dot_rows(title, rows, [part["system"] for part in shown], MOST_SHOWN)
    return [Fold("every quantity", [picture], alone)]


MOST_SHOWN: Final = 2
"""How many times the truth an estimate is drawn up to."""


def _spread(series: int, ratios: Sequence[float]) -> Dot:
    ordered = sorted(ratios)
    last = len(ordered) - 1
    low, middle, high = (ordered[round(share * last)] for share in (0.05, 0.5, 0.95))
    hover = f"{len(ordered)} estimates, median {middle:.0%} of the truth"
    cut = [min(value, MOST_SHOWN) for value in (low, middle, high)]
    return Dot(series, cut[1], (cut[0], cut[2]), hover, "middle 90%")


def _curve(parts: Sequence[Part], axis: str) -> Svg:
    found = [(part["system"], levels(part, axis)) for part in parts]
    steps = sorted({step for _, row in found for step in row})
    series = [
        (name, [None if (at := row.get(step)) is None else Level(at) for step in steps])
        for name, row in found
    ]
    return lines(f"mean error by {axis}", list(map(str, steps)), series, across=CURVES[axis])


def contexts(part: Part) -> Sequence[Context]:
    """The contexts that were simulated, with their cut trees."""
    found: Sequence[Context] = part.get("details", {}).get("contexts", [])
    return found


def quadrant(system: str, found: Sequence[Context]) -> Svg:
    """External against internal error of every composition (CCR Fig. 5), axes cut at 0.5."""
    size, left, top, limit = 150, 34, 22, 0.5
    bottom = top + size
    x, y = Scale(0, limit, left, left + size), Scale(0, limit, bottom, top)
    parts = [words(left, 14, system, room=size + 20)]
    parts.append(_box(x, y, (0, limit), (0, limit), style="fill:none;stroke:var(--line)"))
    low, high = (0, THRESHOLD), (THRESHOLD, limit)
    for name, across, upwards, ink in (
        ("VC", low, low, "good"), ("VI", high, low, "fair"), ("IC", low, high, "fair"),
    ):  # fmt: skip
        style = f"fill:var(--{ink});fill-opacity:.3"
        parts.append(_box(x, y, across, upwards, name, style=style))
    for context in found:
        for line in context["compositions"]:
            # Without an estimate there is no error to draw: the corner stands for "beyond".
            gamma, epsilon = (
                limit if line[name] is None else min(line[name], limit)
                for name in ("gamma", "epsilon")
            )
            style = "fill:var(--mark);fill-opacity:.5"
            parts.append(element("circle", cx=x(gamma), cy=y(epsilon), r=3, style=style))
    for tick, name in ((0, "0"), (THRESHOLD, f"{THRESHOLD:g}"), (limit, f"{limit:g}+")):
        parts.append(words(x(tick), bottom + 14, name, "axis", "middle"))
        parts.append(words(left - 5, y(tick) + 4, name, "axis", "end"))
    axes = "internal error γ, up: external ε"
    parts.append(words(x(limit / 2), bottom + 29, axes, "axis", "middle"))
    title = f"Reasoning quadrants of {system}"
    return Svg(title, left + size + 44, bottom + 34, parts, inline=True)


def _box(
    x: Scale, y: Scale, across: tuple[float, float], upwards: tuple[float, float],
    hover: str = "", **style: str,
) -> str:  # fmt: skip
    (left, right), (low, high) = map(x, across), map(y, upwards)
    return element(
        "rect", "", hover, x=left, y=high, width=right - left, height=low - high, **style
    )


def _trees(parts: Sequence[Part], alone: bool) -> list[Block]:
    note = (
        "Dark edges are valid pairs, light ones invalid; blue paths are valid compositions; a "
        "node is dark when every path through it is valid (after Fig. 8)."
    )
    limit = CONTEXTS_DRAWN if alone else CONTEXTS_IN_LEADERBOARD
    trees = [Fold(part["system"], [cut_tree(c) for c in contexts(part)[:limit]], alone)
             for part in parts]  # fmt: skip
    return [Paragraph(note, note=True), *trees]


def commuting(context: Context) -> tuple[int, int]:
    """How many of the paths that are asked about commute: the direct ones and the compositions.

    A path commutes when it is externally valid, as in the paper's count for Fig. 8.
    """
    ends = {(line["path"][0], line["path"][-1]) for line in context["compositions"]}
    direct = [line["valid"] for line in context["pairs"] if tuple(line["pair"]) in ends]
    composed = [line["valid"] for line in context["compositions"]]
    return sum(direct) + sum(composed), len(direct) + len(composed)


def cut_tree(context: Context) -> Svg:
    """One cut tree: its pairs as edges, valid compositions as broad bands under them."""
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
    """A straight edge between neighbours, an arc above them otherwise."""
    span = (end - start) / step
    shape = f"M{start} {base}L{end} {base}"
    if span > 1:
        middle, top = (start + end) / 2, base - 13 * span * 2
        shape = f"M{start} {base}Q{middle} {top:.1f} {end} {base}"
    return element("path", "", hover, d=shape, style=style)
