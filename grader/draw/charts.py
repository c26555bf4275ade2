"""The pictures that more than one page draws: rows of dots, a heat map, lines, clouds of points."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.draw.svg import (
    QUARTERS,
    Scale,
    Svg,
    arrow,
    axes,
    element,
    ink,
    legend,
    line,
    mark,
    width_of,
    words,
)

Interval = Sequence[float]
Point = tuple[float, float]

ROW: Final = 30
_LONGEST_LABEL: Final = 230


@dataclass(frozen=True, slots=True)
class Dot:
    """One value on a row: which series it belongs to, its interval, what hovering tells."""

    series: int
    value: float
    interval: Interval | None = None
    hover: str = ""


@dataclass(frozen=True, slots=True)
class DotRow:
    """A named row of dots, ticks and what they mean, and a word after the end of the axis."""

    name: str
    dots: Sequence[Dot]
    ticks: Sequence[tuple[float, str]] = ()
    end: str = ""


def dot_rows(
    title: str,
    rows: Sequence[DotRow],
    series: Sequence[str] = (),
    whole: float = 1,
    start: float = 0,
) -> Svg:
    """Rows of dots on an axis from 0, or what is below it, to ``whole``: shares as percentages, or
    points up to 100. ``start`` is a negative multiple of a fifth of the axis.
    """
    top = 26 + (24 if series else 0)
    left = _label_room([row.name for row in rows])
    height = top + ROW * len(rows) + 8
    x = Scale(start, whole, left, left + 560)
    parts, at = [], float(left)
    for place, name in enumerate(series):
        parts += [mark(place, at + 6, 10), words(at + 18, 14, name, "axis")]
        at += 40 + width_of(name, 12)
    for tick in range(round(100 * start / whole), 101, 20):
        place_of = x(tick * whole / 100)
        parts.append(line((place_of, top), (place_of, height - 4), kind="grid"))
        shown = f"{tick}%" if whole == 1 else str(tick)
        parts.append(words(place_of, top - 10, shown, "axis", "middle"))
    for place, row in enumerate(rows):
        y = top + ROW * (place + 0.5)
        parts.append(words(left - 10, y + 4, row.name, "label", "end", room=left - 20))
        for tick_at, meaning in row.ticks:
            ends = (x(tick_at), y - 11), (x(tick_at), y + 11)
            parts.append(line(*ends, meaning, style="stroke:var(--ink);stroke-width:2"))
        for dot in row.dots:
            parts += _dot(dot, x, y + 8 * _offset(dot.series, len(series)))
        if row.end:
            # A row without a dot says so where its dots would be.
            at = x.end + 14 if row.dots else x.start + 6
            parts.append(words(at, y + 4, row.end, "value" if row.dots else "axis"))
    return Svg(title, x.end + 70, height, parts)


def _label_room(names: Sequence[str]) -> float:
    return 24 + min(_LONGEST_LABEL, max((width_of(name) for name in names), default=0))


def _offset(series: int, count: int) -> float:
    return series - (count - 1) / 2 if count > 1 else 0.0


def _dot(dot: Dot, x: Scale, y: float) -> Iterator[str]:
    if dot.interval is not None:
        low, high = dot.interval
        style = f"stroke:{ink(dot.series)};stroke-width:4;stroke-opacity:.4;stroke-linecap:round"
        yield line((x(low), y), (x(high), y), f"95% interval {low:.3g} to {high:.3g}", style=style)
    yield mark(dot.series, x(dot.value), y, dot.hover)


def heat_map(
    title: str,
    systems: Sequence[str],
    families: Sequence[str],
    cells: Sequence[Sequence[float | None]],
) -> Svg:
    """Points per family (columns) and system (rows), shaded from 0 to 100.

    ``cells[row][column]`` is points or ``None`` where the exam has no such task, or
    the system answered nothing of the track.
    """
    shown = [family.replace("_", " ") for family in families]
    column = max(66, min(104, 620 // max(1, len(families))))
    left = _label_room(systems)
    longest = max((width_of(family, 12) for family in shown), default=0)
    # The headings are turned by 32 degrees.
    top = 24 + 0.53 * longest
    overhang = 0.85 * longest - column / 2
    parts = [
        words(0, 0, family, "axis",
              transform=f"translate({left + column * (k + 0.5):.1f},{top - 8:.1f}) rotate(-32)")
        for k, family in enumerate(shown)
    ]  # fmt: skip
    for row, (name, values) in enumerate(zip(systems, cells, strict=True)):
        y = top + ROW * row
        parts.append(words(left - 10, y + ROW / 2 + 4, name, "label", "end", room=left - 20))
        parts += [_heat(left + column * k, y, column, value) for k, value in enumerate(values)]
    width = left + column * len(families) + max(10, overhang)
    return Svg(title, width, top + ROW * len(systems) + 6, parts)


def _heat(x: float, y: float, width: float, value: float | None) -> str:
    box = {"x": x + 1, "y": y + 1, "width": width - 2, "height": ROW - 2, "rx": 3}
    middle, base = x + width / 2, y + ROW / 2 + 4
    if value is None:
        return element("rect", kind="none", **box) + words(middle, base, "–", "axis", "middle")
    # The number is printed in every cell, so the shade is a help and never the only carrier.
    shade = f"{0.06 + 0.94 * value / 100:.2f}"
    kind = "cell on" if value > 55 else "cell off"
    return element("rect", kind="heat", fill_opacity=shade, **box) + words(
        middle, base, f"{value:.0f}", kind, "middle"
    )


def cost_plot(
    title: str, points: Sequence[tuple[str, float, float]], across: str, upwards: str
) -> Svg:
    """Named points, x on a logarithmic axis (all positive), y from 0."""
    left, top, width, height = 64, 20, 526, 264
    low = math.floor(math.log10(min(x for _, x, _ in points)))
    high = max(math.ceil(math.log10(max(x for _, x, _ in points))), low + 1)
    ceiling = _nice(max(y for _, _, y in points))
    x = Scale(10.0**low, 10.0**high, left, left + width, log=True)
    y = Scale(0, ceiling, top + height, top)
    powers = [(10.0**power, _power(power)) for power in range(low, high + 1)]
    parts = axes(x, y, powers, _quarters_of(ceiling), across, upright=True)
    parts.append(words(left, top - 6, upwards, "axis"))
    taken: list[Point] = []
    for name, cost, loss in sorted(points, key=lambda point: point[2]):
        at = x(cost), y(loss)
        written = at[1] + 4
        # Names of neighbours are moved up until they can be read.
        while any(abs(at[0] - a) < 130 and abs(written - b) < 14 for a, b in taken):
            written -= 14
        taken.append((at[0], written))
        parts.append(mark(0, *at, f"{name}: {cost:,.0f} {across}, {upwards} {loss:.3f}"))
        parts.append(words(at[0] + 10, written, name, room=120))
    return Svg(title, left + width + 130, top + height + 56, parts)


def _power(power: int) -> str:
    """10 to a power as a short number."""
    for size, unit in ((9, "G"), (6, "M"), (3, "k")):
        if power >= size:
            return f"{10 ** (power - size):,}{unit}"
    return f"{10**power:g}"


def _nice(value: float) -> float:
    """The least of 1, 2, 4 or 8 times a power of ten that is no less than ``value``."""
    if value <= 0:
        return 1.0
    base = 10.0 ** math.floor(math.log10(value))
    return next(factor * base for factor in (1, 2, 4, 8, 10) if factor * base >= value)


def _quarters_of(ceiling: float) -> list[tuple[float, str]]:
    return [(ceiling * quarter, f"{ceiling * quarter:g}") for quarter, _ in QUARTERS]


@dataclass(frozen=True, slots=True)
class Level:
    """The value of a series at one level, and its interval."""

    value: float
    interval: Interval | None = None


Series = tuple[str, Sequence[Level | None]]


def lines(
    title: str, levels: Sequence[str], series: Sequence[Series], ceiling: float | None = None
) -> Svg:
    """One line a series over ordered levels, y from 0; gaps where there is no value."""
    shown = [(name, values) for name, values in series if any(values)]
    names = [name for name, _ in shown]
    left, top, width, height = 64, 14, 520, 240
    present = [level.value for _, values in shown for level in values if level]
    highest = ceiling or _nice(max(present, default=1.0))
    x = Scale(0, len(levels), left, left + width)
    y = Scale(0, highest, top + height, top)
    ticks = [(place + 0.5, level) for place, level in enumerate(levels)]
    parts = axes(x, y, ticks, _quarters_of(highest))
    # Series stand side by side at a level, inside its own share of the axis.
    step = min(7.0, 0.8 * width / max(1, len(levels)) / max(1, len(shown)))
    for k, (name, values) in enumerate(shown):
        spots = [
            (x(place + 0.5) + step * _offset(k, len(shown)), y(level.value), levels[place], level)
            for place, level in enumerate(values)
            if level
        ]
        path = "L".join(f"{at:.1f} {up:.1f}" for at, up, _, _ in spots)
        style = f"fill:none;stroke:{ink(k)};stroke-width:2;stroke-opacity:.6"
        parts.append(element("path", d=f"M{path}", style=style))
        for at, up, where, level in spots:
            if level.interval is not None:
                bar = f"stroke:{ink(k)};stroke-width:2.5;stroke-opacity:.45"
                low, high = level.interval
                parts.append(line((at, y(low)), (at, y(high)), style=bar))
            parts.append(mark(k, at, up, f"{name}, {where}: {level.value:.3f}"))
    return _with_legend(title, names, left + width + 26, top, top + height + 40, parts)


@dataclass(frozen=True, slots=True)
class Cloud:
    """The points of one series, each with what hovering tells, and arrows between places."""

    name: str
    points: Sequence[tuple[Point, str]]
    arrows: Sequence[tuple[Point, Point, str]] = ()


def square(title: str, clouds: Sequence[Cloud], axis: str, diagonal: bool = False) -> Svg:
    """Clouds of points in the unit square."""
    left, top, side = 52, 14, 340
    x, y = Scale(0, 1, left, left + side), Scale(0, 1, top + side, top)
    parts = axes(x, y, QUARTERS, QUARTERS, axis)
    if diagonal:
        parts.append(line((x(0), y(0)), (x(1), y(1)), kind="grid"))
    for k, cloud in enumerate(clouds):
        parts += [mark(k, x(a), y(b), hover) for (a, b), hover in cloud.points]
    for k, cloud in enumerate(clouds):
        style = f"stroke:{ink(k)};fill:{ink(k)};stroke-width:2"
        parts += [
            arrow((x(a), y(b)), (x(c), y(d)), hover, 14, style=style)
            for (a, b), (c, d), hover in cloud.arrows
        ]
    names = [cloud.name for cloud in clouds]
    return _with_legend(title, names, left + side + 40, top, top + side + 56, parts)


def _with_legend(
    title: str, names: Sequence[str], x: float, top: float, height: float, parts: Sequence[str]
) -> Svg:
    marks, right, bottom = legend(names, x, top + 8)
    return Svg(title, right, max(height, bottom + 8), [*parts, *marks])
