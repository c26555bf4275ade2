"""Four kinds of chart, as wide as a telephone: dots, lines with bands, clouds, bars.

Each is drawn from rows, as a table is: a row is a mark, with its ``value`` (None where there is
none to draw) and the ``series`` by which it is coloured. Series, names and levels stand in the
order in which rows have them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grader.pages.svg import Point, Scale, Svg, arrow, element, ink, line, mark, width_of, words
from grader.pages.table import Cell

Row = Mapping[str, Any]
Ticks = Iterable[tuple[float, str]]
"""Values on an axis with what is written at them."""

WIDTH: Final = 380.0
"""Pixels of a chart. Its words can be read where it is drawn a fifth smaller, too."""
SIDE: Final = 316.0
"""Pixels of the square of a cloud."""
_LEFT, _TOP, _EDGE = 46.0, 12.0, 19.0
_ROW: Final = 40
_STEP: Final = 7.0
"""Pixels between the dots of a row, and between the series at a level."""


def _distinct(rows: Iterable[Row], key: str) -> list[str]:
    return list(dict.fromkeys(str(row.get(key, "")) for row in rows))


def _legend(names: Sequence[str], top: float) -> tuple[list[str], float]:
    """Return the marks of all series below each other with their names, and where they end."""
    parts = [
        mark(k, _EDGE, top + 20 * k) + words(_EDGE + 14, top + 4 + 20 * k, name, room=WIDTH - 40)
        for k, name in enumerate(names)
    ]
    return parts, top + 20 * len(names)


def dots(title: str, rows: Sequence[Row], whole: float = 1, start: float = 0) -> Svg:
    """Draw dots on an axis from ``start`` to ``whole`` in lines, the ``name`` of each above it.

    A row may have ``interval`` (with ``interval_name``), ``hover``, a ``tick`` of its line, as a
    value and its meaning, and ``end``, a word at the right end of its line. Shares are shown as
    percentages (2: up to 200%), with a ``whole`` of 100 points as they are. ``start`` is 0 or a
    negative multiple of a fifth of the axis.
    """
    names, series = _distinct(rows, "name"), _distinct(rows, "series")
    parts, below = _legend(series if any(series) else [], 8)
    top = below + 18
    # Dots of many series stand below each other, and none on the name of its row.
    more = _STEP * max(0, len(series) - 3)
    height = top + (_ROW + more) * len(names) + 6
    x = Scale(start, whole, _EDGE, WIDTH - _EDGE)
    for tick in range(round(100 * start / whole), 101, 20):
        at = x(tick * whole / 100)
        parts.append(line((at, top), (at, height - 4), kind="grid"))
        shown = str(tick) if whole == 100 else f"{tick * whole:g}%"
        parts.append(words(at, top - 8, shown, "axis", "middle"))
    for place, name in enumerate(names):
        y = top + (_ROW + more) * place
        own = [row for row in rows if str(row["name"]) == name]
        end = own[0].get("end", "")
        parts.append(words(4, y + 15, name, "label", room=WIDTH - 30 - width_of(end)))
        parts.append(words(WIDTH - 4, y + 15, end, "value", "end"))
        for value, meaning in dict.fromkeys(row["tick"] for row in own if row.get("tick")):
            ends = (x(value), y + 20), (x(value), y + 38 + more)
            parts.append(line(*ends, meaning, style="stroke:var(--ink);stroke-width:2"))
        for row in own:
            if row["value"] is not None:
                k = series.index(str(row.get("series", "")))
                middle = y + 29 + more / 2 + _STEP * (k - (len(series) - 1) / 2)
                parts.append(_dot(row, k, x, middle))
    return Svg(title, WIDTH, height, parts, caption=title)


def _dot(row: Row, series: int, x: Scale, y: float) -> str:
    """Return a row's interval, if any, as a pale thick line, then its mark, at height ``y``."""
    band = ""
    if row.get("interval"):
        low, high = row["interval"]
        style = f"stroke:{ink(series)};stroke-width:4;stroke-opacity:.4;stroke-linecap:round"
        hover = f"{row.get('interval_name', '95% interval')} {low:.3g} to {high:.3g}"
        band = line((x(low), y), (x(high), y), hover, style=style)
    return band + mark(series, x(row["value"]), y, row.get("hover", ""))


def lines(title: str, rows: Sequence[Row], ceiling: float | None = None, across: str = "") -> Svg:
    """Draw a line a series over levels, from 0 to ``ceiling`` or a round number above all.

    A row has its ``level``, and may have an ``interval``. A series without a value is left out.
    """
    levels, present = _distinct(rows, "level"), [row for row in rows if row["value"] is not None]
    series = _distinct(present, "series")
    highest = ceiling or _rounded_up(max((row["value"] for row in present), default=1.0))
    x = Scale(0, len(levels), _LEFT, WIDTH - 8)
    y = Scale(0, highest, _TOP + 210, _TOP)
    room = (x.end - x.start) / max(1, len(levels))
    ticks = [(place + 0.5, level) for place, level in enumerate(levels)]
    parts = _axes(x, y, ticks, _quarter_ticks(0, highest), across, room)
    # Series stand side by side at a level, inside its own share of the axis.
    step = min(_STEP, 0.8 * room / max(1, len(series)))
    for k, name in enumerate(series):
        found = {str(row["level"]): row for row in present if str(row["series"]) == name}
        aside = step * (k - (len(series) - 1) / 2)
        spots = [
            (x(at + 0.5) + aside, found[level]) for at, level in enumerate(levels) if level in found
        ]
        parts.append(_path([(at, y(row["value"])) for at, row in spots], ink(k), 0.6))
        for at, row in spots:
            if row.get("interval"):
                bar = f"stroke:{ink(k)};stroke-width:2.5;stroke-opacity:.45"
                low, high = row["interval"]
                parts.append(line((at, y(low)), (at, y(min(high, highest))), style=bar))
            hover = f"{name}, {row['level']}: {row['value']:.3f}"
            parts.append(mark(k, at, y(row["value"]), hover))
    return _with_legend(title, series, y.start + (52 if across else 38), parts)


def _path(points: Sequence[Point], colour: str, opacity: float) -> str:
    shape = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    style = f"fill:none;stroke:{colour};stroke-width:2;stroke-opacity:{opacity}"
    return element("path", d=f"M{shape}", style=style)


def _with_legend(title: str, names: Sequence[str], top: float, parts: Sequence[str]) -> Svg:
    marks, bottom = _legend(names, top)
    return Svg(title, WIDTH, bottom, [*parts, *marks], caption=title)


def _rounded_up(value: float) -> float:
    """Return the least of 1, 2, 4, 8 times a power of ten, from 0.01 up, to cover; 1 for 0."""
    if value <= 1e-9:  # what rounding leaves of 0
        return 1.0
    base = 10.0 ** max(-2, math.floor(math.log10(value)))
    return next(factor * base for factor in (1, 2, 4, 8, 10) if factor * base >= value)


def _quarter_ticks(low: float, high: float) -> list[tuple[float, str]]:
    values = [low + (high - low) * share for share in (0, 0.25, 0.5, 0.75, 1)]
    return [(value, f"{value:g}") for value in values]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a cloud: its name, its ends and its ticks."""

    name: str
    low: float = 0.0
    high: float = 1.0
    ticks: Sequence[tuple[float, str]] = tuple(_quarter_ticks(0, 1))
    log: bool = False

    @staticmethod
    def linear(name: str, values: Sequence[float]) -> "Axis":
        """Return the axis from 0, or a round number below all values, to one above them."""
        low = -_rounded_up(-min(values)) if min(values) < 0 else 0.0
        high = _rounded_up(max(values))
        return Axis(name, low, high, _quarter_ticks(low, high))

    @staticmethod
    def logarithmic(name: str, values: Sequence[float]) -> "Axis":
        """Return the logarithmic axis between powers of ten around values, which are positive."""
        low = math.floor(math.log10(min(values)))
        high = max(math.ceil(math.log10(max(values))), low + 1)
        step = max(1, math.ceil((high - low) / 5))
        ticks = [(10.0**power, f"{10.0**power:g}") for power in range(low, high + 1, step)]
        return Axis(name, 10.0**low, 10.0**high, ticks, log=True)


def _axes(
    x: Scale, y: Scale, across: Ticks, upwards: Ticks, title: str = "", room: float = 0
) -> list[str]:
    """Return level lines at the ticks ``upwards``, names at those ``across``, and a title below.

    A logarithmic x has upright lines too. Where names need more ``room`` than a tick has, they are
    written smaller, and on two lines by turns.
    """
    parts = []
    for value, name in upwards:
        at = y(value)
        parts.append(line((x.start, at), (x.end, at), kind="grid"))
        parts.append(words(x.start - 8, at + 4, name, "axis", "end"))
    ticks, size, space, turns = list(across), 12.0, 0.0, 1
    if room:
        widest = max((width_of(name, size) for _, name in ticks), default=0) or 1
        size = max(9.0, min(size, size * room / widest))
        if any(width_of(name, size) > room for _, name in ticks):
            space, turns = 2 * room, 2
    for place, (value, name) in enumerate(ticks):
        at = x(value)
        if x.log:
            parts.append(line((at, y.start), (at, y.end), kind="grid"))
        down = y.start + 16 + 12 * (place % turns)
        parts.append(words(at, down, name, "axis", "middle", space, size))
    if title:
        parts.append(words((x.start + x.end) / 2, y.start + 40, title, "axis", "middle"))
    return parts


Region = tuple[str, str, tuple[float, float], tuple[float, float]]
"""A part of the square: its name, its colour, and its ends across and upwards."""


def clouds(
    title: str,
    rows: Sequence[Row],
    across: Axis,
    upwards: Axis,
    *,
    arrows: Sequence[Row] = (),
    side: float = SIDE,
    diagonal: bool = False,
    joined: Sequence[Point] = (),
    regions: Sequence[Region] = (),
) -> Svg:
    """Draw points in a square over shaded ``regions``, and a line through ``joined``.

    The ``value`` of a row is its place across and upwards; it may have ``hover``. ``arrows`` lead
    ``from`` a place to their ``value``.
    """
    x = Scale(across.low, across.high, _LEFT, _LEFT + side, across.log)
    y = Scale(upwards.low, upwards.high, _TOP + side, _TOP)
    parts = []
    for name, shade, (left, right), (low, high) in regions:
        box = {"x": x(left), "y": y(high), "width": x(right) - x(left), "height": y(low) - y(high)}
        style = f"fill:var(--{shade});fill-opacity:.3"
        parts.append(element("rect", "", name, style=style, **box))
    parts += _axes(x, y, across.ticks, upwards.ticks, f"{across.name} (up: {upwards.name})")
    if diagonal:
        parts.append(line((x.start, y.start), (x.end, y.end), kind="grid"))
    if joined:
        parts.append(_path([(x(a), y(b)) for a, b in joined], "var(--mark)", 0.35))
    series = _distinct(rows, "series")
    for row in rows:
        a, b = row["value"]
        parts.append(mark(series.index(str(row["series"])), x(a), y(b), row.get("hover", "")))
    for row in arrows:
        (a, b), (c, d), colour = row["from"], row["value"], ink(series.index(str(row["series"])))
        style = f"stroke:{colour};fill:{colour};stroke-width:2"
        parts.append(arrow((x(a), y(b)), (x(c), y(d)), row["hover"], 14, style=style))
    return _with_legend(title, series, y.start + 64, parts)


def cost_cloud(
    title: str,
    unit: str,
    earned: str,
    spots: Sequence[tuple[str, float, float]],
    joined: Sequence[Point] = (),
) -> Svg:
    """Draw systems (name, cost, what it earned) on a logarithmic axis of costs in ``unit``."""
    rows = [
        {"series": name, "value": (cost, value),
         "hover": f"{name}: {cost:,.3g} {unit}, {earned} {value:.3f}"}
        for name, cost, value in spots
    ]  # fmt: skip
    across = Axis.logarithmic(unit, [cost for _, cost, _ in spots])
    upwards = Axis.linear(earned, [value for *_, value in spots])
    return clouds(title, rows, across, upwards, joined=joined)


def heat_cell(share: float, text: str, few: bool = False) -> Cell:
    """Return a numbered cell, the darker the larger its share, dashed where tasks are few."""
    return Cell(text, "few" if few else "heat", share=round(min(1.0, max(0.0, share)), 2))


def bars(title: str, rows: Sequence[Row]) -> Svg:
    """Draw a stacked bar a ``name``: negative values stand to the left of the line at 0.

    A row is a part of a bar, with ``hover``. ``end`` is a word at the end of the bar.
    """
    names, kinds = _distinct(rows, "name"), _distinct(rows, "series")
    own = {name: [row for row in rows if row["name"] == name] for name in names}
    sums = [sum(min(0.0, row["value"]) for row in parts) for parts in own.values()]
    tops = [sum(max(0.0, row["value"]) for row in parts) for parts in own.values()]
    x = Scale(min(0.0, *sums), max(0.1, *tops), 10, WIDTH - 10)
    height = 10 + _ROW * len(names)
    drawn = [line((x(0), 6), (x(0), height), kind="grid")]
    for place, name in enumerate(names):
        y = 10 + _ROW * place
        drawn.append(words(4, y + 12, name, "label", room=WIDTH - 70, size=12))
        drawn.append(words(WIDTH - 4, y + 12, own[name][0]["end"], "value", "end"))
        right = left = 0.0
        for row in own[name]:
            size = row["value"]
            start = right if size >= 0 else left + size
            right, left = right + max(0.0, size), left + min(0.0, size)
            box = {"x": x(start), "y": y + 18, "width": x(start + abs(size)) - x(start)}
            style = f"fill:{ink(kinds.index(row['series']))};fill-opacity:.8"
            drawn.append(element("rect", "", row["hover"], height=16, style=style, **box))
    return _with_legend(title, kinds, height + 14, drawn)
