"""Four kinds of chart, as wide as a telephone: dots, lines with bands, clouds, bars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.pages.svg import (
    Axis,
    Point,
    Scale,
    Svg,
    Ticks,
    arrow,
    axes,
    element,
    ink,
    legend,
    line,
    mark,
    path,
    quarter_ticks,
    rounded_up,
    width_of,
    words,
)
from grader.pages.table import Cell

Interval = Sequence[float]

WIDTH: Final = 380.0
"""Pixels of a chart. Its words can be read where it is drawn a fifth smaller, too."""
SIDE: Final = 316.0
"""Pixels of the square of a cloud."""
_LEFT, _TOP, _EDGE = 46.0, 12.0, 19.0
_ROW: Final = 40
_STEP: Final = 7.0
"""Pixels between the dots of a row, and between the series at a level."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A value on a row: its series, its interval with a name, and what shows on hovering."""

    series: int
    value: float
    interval: Interval | None = None
    hover: str = ""
    interval_name: str = "95% interval"


@dataclass(frozen=True, slots=True)
class DotRow:
    """A named row of dots, with ticks and what they mean, and a word at its right end."""

    name: str
    dots: Sequence[Dot]
    ticks: Ticks = ()
    end: str = ""


def dot_rows(
    title: str,
    rows: Sequence[DotRow],
    series: Sequence[str] = (),
    whole: float = 1,
    start: float = 0,
) -> Svg:
    """Draw rows of dots on an axis from ``start`` to ``whole``, the name of a row above its dots.

    Shares are shown as percentages (2: up to 200%), with a ``whole`` of 100 points as they are.
    ``start`` is 0 or a negative multiple of a fifth of the axis.
    """
    parts, below = legend(series, _EDGE, 8, WIDTH - 40)
    top = below + 18
    # Dots of many series stand below each other, and none on the name of its row.
    more = _STEP * max(0, len(series) - 3)
    height = top + (_ROW + more) * len(rows) + 6
    x = Scale(start, whole, _EDGE, WIDTH - _EDGE)
    for tick in range(round(100 * start / whole), 101, 20):
        at = x(tick * whole / 100)
        parts.append(line((at, top), (at, height - 4), kind="grid"))
        shown = str(tick) if whole == 100 else f"{tick * whole:g}%"
        parts.append(words(at, top - 8, shown, "axis", "middle"))
    for place, row in enumerate(rows):
        y = top + (_ROW + more) * place
        parts.append(words(4, y + 15, row.name, "label", room=WIDTH - 30 - width_of(row.end)))
        parts.append(words(WIDTH - 4, y + 15, row.end, "value", "end"))
        for value, meaning in row.ticks:
            ends = (x(value), y + 20), (x(value), y + 38 + more)
            parts.append(line(*ends, meaning, style="stroke:var(--ink);stroke-width:2"))
        for dot in row.dots:
            parts += _dot(dot, x, y + 29 + more / 2 + _STEP * _offset(dot.series, len(series)))
    return Svg(title, WIDTH, height, parts)


def _offset(series: int, count: int) -> float:
    """Return how many steps a series stands from the middle of all of them."""
    return series - (count - 1) / 2 if count > 1 else 0.0


def _dot(dot: Dot, x: Scale, y: float) -> Iterator[str]:
    """Yield a dot's interval, if any, as a pale thick line, then its mark, at height ``y``."""
    if dot.interval is not None:
        low, high = dot.interval
        style = f"stroke:{ink(dot.series)};stroke-width:4;stroke-opacity:.4;stroke-linecap:round"
        hover = f"{dot.interval_name} {low:.3g} to {high:.3g}"
        yield line((x(low), y), (x(high), y), hover, style=style)
    yield mark(dot.series, x(dot.value), y, dot.hover)


@dataclass(frozen=True, slots=True)
class Level:
    """The value of a series at one level, and its interval."""

    value: float
    interval: Interval | None = None


Series = tuple[str, Sequence[Level | None]]
"""The name of a series, and its value at each level, None where it has none."""


def lines(
    title: str,
    levels: Sequence[str],
    series: Sequence[Series],
    ceiling: float | None = None,
    across: str = "",
) -> Svg:
    """Draw a line a series over levels, from 0 to ``ceiling`` or a round number above all."""
    shown = [(name, values) for name, values in series if any(values)]
    present = [level.value for _, values in shown for level in values if level]
    highest = ceiling or rounded_up(max(present, default=1.0))
    x = Scale(0, len(levels), _LEFT, WIDTH - 8)
    y = Scale(0, highest, _TOP + 210, _TOP)
    room = (x.end - x.start) / max(1, len(levels))
    ticks = [(place + 0.5, level) for place, level in enumerate(levels)]
    parts = axes(x, y, ticks, quarter_ticks(0, highest), across, room)
    # Series stand side by side at a level, inside its own share of the axis.
    step = min(_STEP, 0.8 * room / max(1, len(shown)))
    for k, (name, values) in enumerate(shown):
        aside = step * _offset(k, len(shown))
        spots = [(x(at + 0.5) + aside, levels[at], one) for at, one in enumerate(values) if one]
        style = f"fill:none;stroke:{ink(k)};stroke-width:2;stroke-opacity:.6"
        parts.append(path([(at, y(level.value)) for at, _, level in spots], style))
        for at, where, level in spots:
            if level.interval is not None:
                bar = f"stroke:{ink(k)};stroke-width:2.5;stroke-opacity:.45"
                low, high = level.interval
                parts.append(line((at, y(low)), (at, y(min(high, highest))), style=bar))
            parts.append(mark(k, at, y(level.value), f"{name}, {where}: {level.value:.3f}"))
    return _with_legend(title, [name for name, _ in shown], y.start + (52 if across else 38), parts)


def _with_legend(title: str, names: Sequence[str], top: float, parts: Sequence[str]) -> Svg:
    """Return the picture of ``parts`` with the legend of ``names`` below ``top``."""
    marks, bottom = legend(names, _EDGE, top, WIDTH - 40)
    return Svg(title, WIDTH, bottom, [*parts, *marks])


@dataclass(frozen=True, slots=True)
class Cloud:
    """The points of one series, and arrows between places, each with what shows on hovering."""

    name: str
    points: Sequence[tuple[Point, str]]
    arrows: Sequence[tuple[Point, Point, str]] = ()


Region = tuple[str, str, tuple[float, float], tuple[float, float]]
"""A part of the square: its name, its colour, and its ends across and upwards."""


def clouds(
    title: str,
    series: Sequence[Cloud],
    across: Axis,
    upwards: Axis,
    *,
    side: float = SIDE,
    diagonal: bool = False,
    joined: Sequence[Point] = (),
    regions: Sequence[Region] = (),
) -> Svg:
    """Draw clouds of points in a square over shaded ``regions``, and a line through ``joined``."""
    x = Scale(across.low, across.high, _LEFT, _LEFT + side, across.log)
    y = Scale(upwards.low, upwards.high, _TOP + side, _TOP)
    parts = []
    for name, shade, (left, right), (low, high) in regions:
        box = {"x": x(left), "y": y(high), "width": x(right) - x(left), "height": y(low) - y(high)}
        style = f"fill:var(--{shade});fill-opacity:.3"
        parts.append(element("rect", "", name, style=style, **box))
    names = f"{across.name} (up: {upwards.name})"
    parts += axes(x, y, across.ticks, upwards.ticks, names)
    if diagonal:
        parts.append(line((x.start, y.start), (x.end, y.end), kind="grid"))
    if joined:
        style = "fill:none;stroke:var(--mark);stroke-width:2;stroke-opacity:.35"
        parts.append(path([(x(a), y(b)) for a, b in joined], style))
    for k, cloud in enumerate(series):
        parts += [mark(k, x(a), y(b), hover) for (a, b), hover in cloud.points]
    for k, cloud in enumerate(series):
        style = f"stroke:{ink(k)};fill:{ink(k)};stroke-width:2"
        parts += [
            arrow((x(a), y(b)), (x(c), y(d)), hover, 14, style=style)
            for (a, b), (c, d), hover in cloud.arrows
        ]
    return _with_legend(title, [cloud.name for cloud in series], y.start + 64, parts)


def cost_cloud(
    title: str,
    unit: str,
    earned: str,
    spots: Sequence[tuple[str, float, float]],
    joined: Sequence[Point] = (),
) -> Svg:
    """Draw systems (name, cost, what it earned) on a logarithmic axis of costs in ``unit``."""
    series = [
        Cloud(name, [((cost, value), f"{name}: {cost:,.3g} {unit}, {earned} {value:.3f}")])
        for name, cost, value in spots
    ]
    across = Axis.logarithmic(unit, [cost for _, cost, _ in spots])
    upwards = Axis.linear(earned, [value for *_, value in spots])
    return clouds(title, series, across, upwards, joined=joined)


def heat_cell(share: float, text: str, few: bool = False) -> Cell:
    """Return a numbered cell, the darker the larger its share, dashed where tasks are few."""
    return Cell(text, "few" if few else "heat", share=round(min(1.0, max(0.0, share)), 2))


Bar = tuple[str, str, Sequence[tuple[float, str]]]
"""A bar's name, a word at its end, and its parts, each with what shows on hovering."""


def bars(title: str, rows: Sequence[Bar], kinds: Sequence[str]) -> Svg:
    """Draw stacked bars in the order of ``kinds``: negative parts to the left of the line at 0."""
    sizes = [[size for size, _ in parts] for _, _, parts in rows]
    low = min(0.0, *(sum(min(0.0, size) for size in row) for row in sizes))
    high = max(0.1, *(sum(max(0.0, size) for size in row) for row in sizes))
    x = Scale(low, high, 10, WIDTH - 10)
    height = 10 + _ROW * len(rows)
    drawn = [line((x(0), 6), (x(0), height), kind="grid")]
    for place, (name, end, parts) in enumerate(rows):
        y = 10 + _ROW * place
        drawn.append(words(4, y + 12, name, "label", room=WIDTH - 70, size=12))
        drawn.append(words(WIDTH - 4, y + 12, end, "value", "end"))
        right = left = 0.0
        for k, (size, hover) in enumerate(parts):
            start = right if size >= 0 else left + size
            right, left = right + max(0.0, size), left + min(0.0, size)
            box = {"x": x(start), "y": y + 18, "width": x(start + abs(size)) - x(start)}
            style = f"fill:{ink(k)};fill-opacity:.8"
            drawn.append(element("rect", "", hover, height=16, style=style, **box))
    return _with_legend(title, kinds, height + 14, drawn)
