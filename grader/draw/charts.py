"""The pictures that more than one page draws: rows of dots, a heat map, lines, clouds of points.

All are of about one width, which a telephone shows whole; on a wide page they stand side by side.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

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

WIDTH: Final = 380.0
"""Of a picture; its words can be read where it is drawn a fifth smaller, too."""
ROW: Final = 40
_LINE: Final = 18
"""From one line of a legend to the next."""
_EDGE: Final = 19


@dataclass(frozen=True, slots=True)
class Dot:
    """One value on a row: which series it belongs to, its interval, what hovering tells of it and
    what the interval is called."""

    series: int
    value: float
    interval: Interval | None = None
    hover: str = ""
    called: str = "95% interval"


@dataclass(frozen=True, slots=True)
class DotRow:
    """A named row of dots, ticks and what they mean, and a word at its right end."""

    name: str
    dots: Sequence[Dot]
    ticks: Sequence[tuple[float, str]] = ()
    end: str = ""


_STEP: Final = 7.0
"""Between the dots of a row."""


def dot_rows(
    title: str,
    rows: Sequence[DotRow],
    series: Sequence[str] = (),
    whole: float = 1,
    start: float = 0,
) -> Svg:
    """Rows of dots on an axis from 0, or what is below it, to ``whole``: shares as percentages (2:
    up to 200%), or points up to 100. ``start`` is a negative multiple of a fifth of the axis.

    The name of a row stands above its dots.
    """
    top = 26.0 + _LINE * len(series)
    # Dots of many series stand below each other, and none on the name of its row.
    more = _STEP * max(0, len(series) - 3)
    height = top + (ROW + more) * len(rows) + 6
    x = Scale(start, whole, _EDGE, WIDTH - _EDGE)
    parts = []
    for place, name in enumerate(series):
        at = 8 + _LINE * place
        parts += [mark(place, _EDGE, at), words(_EDGE + 14, at + 4, name, "axis", room=WIDTH - 40)]
    for tick in range(round(100 * start / whole), 101, 20):
        place_of = x(tick * whole / 100)
        parts.append(line((place_of, top), (place_of, height - 4), kind="grid"))
        shown = str(tick) if whole == 100 else f"{tick * whole:g}%"
        parts.append(words(place_of, top - 8, shown, "axis", "middle"))
    for place, row in enumerate(rows):
        y = top + (ROW + more) * place
        room = WIDTH - 30 - width_of(row.end)
        parts.append(words(4, y + 15, row.name, "label", room=room))
        if row.end:
            parts.append(words(WIDTH - 4, y + 15, row.end, "value", "end"))
        for tick_at, meaning in row.ticks:
            ends = (x(tick_at), y + 20), (x(tick_at), y + 38 + more)
            parts.append(line(*ends, meaning, style="stroke:var(--ink);stroke-width:2"))
        for dot in row.dots:
            parts += _dot(dot, x, y + 29 + more / 2 + _STEP * _offset(dot.series, len(series)))
    return Svg(title, WIDTH, height, parts)


def _offset(series: int, count: int) -> float:
    return series - (count - 1) / 2 if count > 1 else 0.0


def _dot(dot: Dot, x: Scale, y: float) -> Iterator[str]:
    if dot.interval is not None:
        low, high = dot.interval
        style = f"stroke:{ink(dot.series)};stroke-width:4;stroke-opacity:.4;stroke-linecap:round"
        yield line((x(low), y), (x(high), y), f"{dot.called} {low:.3g} to {high:.3g}", style=style)
    yield mark(dot.series, x(dot.value), y, dot.hover)


FEW: Final = 10
"""Tasks below which a cell of a heat map is hatched: its figure says little."""
_COLUMNS: Final = 6
_CELL: Final = 38
_HEAT_ROW: Final = 26
_TURNED: Final = 0.62
"""The sine of the angle of the headings."""


def heat_maps(
    title: str,
    systems: Sequence[str],
    families: Mapping[str, int],
    cells: Sequence[Sequence[float | None]],
) -> list[Svg]:
    """Points per family (rows, each with its number of tasks) and system (columns), shaded from 0
    to 100, hatched where tasks are few.

    ``cells[system][family]`` is points or ``None`` where there are none to show. A picture holds a
    few systems; with many there are several.
    """
    return [
        _heat_map(title, systems[at : at + _COLUMNS], families, cells[at : at + _COLUMNS])
        for at in range(0, len(systems), _COLUMNS)
    ]


def _heat_map(
    title: str,
    systems: Sequence[str],
    families: Mapping[str, int],
    cells: Sequence[Sequence[float | None]],
) -> Svg:
    shown = [family.replace("_", " ") for family in families]
    label = 12 + min(180, max((width_of(name, 12) for name in shown), default=0))
    left = label + 34
    # One system alone needs no heading: the page is about it.
    column = _CELL if len(systems) > 1 else 2 * _CELL
    names = systems if len(systems) > 1 else ["points"]
    longest = min(130, max(width_of(name, 12) for name in names))
    turned = len(systems) > 1
    top = 14 + (_TURNED * longest if turned else 8)
    parts = [words(left - 6, top - 6, "n", "axis", "end")]
    for k, name in enumerate(names):
        at = left + column * (k + 0.5)
        if turned:
            place = f"translate({at:.1f},{top - 6:.1f}) rotate(-38)"
            parts.append(words(0, 0, name, "axis", room=132, transform=place))
        else:
            parts.append(words(at, top - 6, name, "axis", "middle"))
    for row, (name, count) in enumerate(zip(shown, families.values(), strict=True)):
        y = top + _HEAT_ROW * row
        parts.append(words(4, y + 17, name, "label", room=label - 8, size=12))
        parts.append(words(left - 6, y + 17, str(count), "axis", "end"))
        for k, values in enumerate(cells):
            parts.append(_heat(left + column * k, y, column, values[row], count < FEW))
    overhang = 0.79 * longest - column / 2 if turned else 0
    width = max(WIDTH if turned else 0, left + column * len(names) + max(6, overhang))
    return Svg(title, width, top + _HEAT_ROW * len(families) + 4, parts)


def _heat(x: float, y: float, width: float, value: float | None, few: bool) -> str:
    box = {"x": x + 1, "y": y + 1, "width": width - 2, "height": _HEAT_ROW - 2, "rx": 3}
    middle, base = x + width / 2, y + 17
    if value is None:
        return element("rect", kind="none", **box) + words(middle, base, "–", "axis", "middle")
    # The number is printed in every cell, so the shade is a help and never the only carrier.
    shade = f"{0.06 + 0.94 * min(100, max(0, value)) / 100:.2f}"
    kind = "cell on" if value > 55 else "cell off"
    hatched = _hatch(x + 2, y + 2, width - 4, _HEAT_ROW - 4) if few else ""
    cell = element("rect", kind="heat", fill_opacity=shade, **box)
    return cell + hatched + words(middle, base, f"{value:.0f}", kind, "middle")


def _hatch(x: float, y: float, width: float, height: float) -> str:
    """Lines from lower left to upper right, inside a box."""
    path = []
    for k in range(6, int(width + height), 6):
        start = (x + min(k, width), y + max(0, k - width))
        end = (x + max(0, k - height), y + min(k, height))
        path.append(f"M{start[0]:.0f} {start[1]:.0f}L{end[0]:.0f} {end[1]:.0f}")
    return element("path", d="".join(path), kind="hatch")


def cost_plot(
    title: str,
    points: Sequence[tuple[str, float, float]],
    across: str,
    upwards: str,
    better: Literal["low", "high"] = "low",
) -> Svg:
    """Numbered points, named below; x on a logarithmic axis (all positive), y from 0 or what is
    below it. A line joins those that none surpasses in both.
    """
    left, top, height = 46.0, 20.0, 230.0
    right = WIDTH - 12
    low = math.floor(math.log10(min(x for _, x, _ in points)))
    high = max(math.ceil(math.log10(max(x for _, x, _ in points))), low + 1)
    heights = [y for _, _, y in points]
    ceiling = _nice(max(heights))
    ground = -_nice(-min(heights)) if min(heights) < 0 else 0.0
    x = Scale(10.0**low, 10.0**high, left, right, log=True)
    y = Scale(ground, ceiling, top + height, top)
    step = max(1, math.ceil((high - low) / 5))
    powers = [(10.0**power, _power(power)) for power in range(low, high + 1, step)]
    up = [(ground + (ceiling - ground) * quarter) for quarter, _ in QUARTERS]
    ticks = [(value, f"{value:g}") for value in up]
    parts = axes(x, y, powers, ticks, across, upright=True)
    parts.append(words(4, top - 8, upwards, "axis"))
    front = _front(points, better)
    spots = [f"{x(cost):.1f} {y(value):.1f}" for _, cost, value in front]
    style = "fill:none;stroke:var(--mark);stroke-width:2;stroke-opacity:.35"
    parts.append(element("path", d="M" + "L".join(spots), style=style))
    base = top + height + 62
    for place, (name, cost, value) in enumerate(points):
        hover = f"{name}: {cost:,.3g} {across}, {upwards} {value:.3f}"
        at = x(cost), y(value)
        parts.append(mark(0, *at, hover))
        # The number stands on the side where there is room.
        aside = (at[0] + 9, "start") if at[0] < right - 24 else (at[0] - 9, "end")
        parts.append(words(aside[0], at[1] + 4, str(place + 1), "axis", aside[1]))
        told = f"{place + 1}  {name}"
        parts.append(words(left, base + _LINE * place, told, room=right - left))
    return Svg(title, WIDTH, base + _LINE * len(points), parts)


def _front(
    points: Sequence[tuple[str, float, float]], better: Literal["low", "high"]
) -> list[tuple[str, float, float]]:
    """Those that no other surpasses in both cost and value, the cheapest first."""
    sign = 1 if better == "low" else -1
    found: list[tuple[str, float, float]] = []
    for point in sorted(points, key=lambda point: (point[1], sign * point[2])):
        if not found or sign * point[2] < sign * found[-1][2]:
            found.append(point)
    return found


def _power(power: int) -> str:
    """10 to a power as a short number."""
    for size, unit in ((9, "G"), (6, "M"), (3, "k")):
        if power >= size:
            return f"{10 ** (power - size):,}{unit}"
    return f"{10**power:g}"


_ROUNDING: Final = 1e-9


def _nice(value: float) -> float:
    """The least of 1, 2, 4 or 8 times a power of ten, from a hundredth, that is no less than
    ``value``; of what only rounding keeps from 0, 1."""
    if value <= _ROUNDING:
        return 1.0
    base = 10.0 ** max(-2, math.floor(math.log10(value)))
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
    title: str,
    levels: Sequence[str],
    series: Sequence[Series],
    ceiling: float | None = None,
    across: str = "",
) -> Svg:
    """One line a series over ordered levels, y from 0; gaps where there is no value."""
    shown = [(name, values) for name, values in series if any(values)]
    names = [name for name, _ in shown]
    left, top, height = 46.0, 12.0, 210.0
    present = [level.value for _, values in shown for level in values if level]
    highest = ceiling or _nice(max(present, default=1.0))
    x = Scale(0, len(levels), left, WIDTH - 8)
    y = Scale(0, highest, top + height, top)
    ticks = [(place + 0.5, level) for place, level in enumerate(levels)]
    room = (x.end - x.start) / max(1, len(levels))
    parts = axes(x, y, ticks, _quarters_of(highest), across, room=room)
    # Series stand side by side at a level, inside its own share of the axis.
    step = min(7.0, 0.8 * room / max(1, len(shown)))
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
                parts.append(line((at, y(low)), (at, y(min(high, highest))), style=bar))
            parts.append(mark(k, at, up, f"{name}, {where}: {level.value:.3f}"))
    below = 44 if across else 30
    return _with_legend(title, names, top + height + below, parts)


@dataclass(frozen=True, slots=True)
class Cloud:
    """The points of one series, each with what hovering tells, and arrows between places."""

    name: str
    points: Sequence[tuple[Point, str]]
    arrows: Sequence[tuple[Point, Point, str]] = ()


def square(title: str, clouds: Sequence[Cloud], axis: str, diagonal: bool = False) -> Svg:
    """Clouds of points in the unit square."""
    left, top, side = 46.0, 12.0, 316.0
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
    return _with_legend(title, names, top + side + 56, parts)


def _with_legend(title: str, names: Sequence[str], below: float, parts: Sequence[str]) -> Svg:
    marks, bottom = legend(names, _EDGE, below + 8, WIDTH - 40)
    return Svg(title, WIDTH, bottom, [*parts, *marks])


def radar(title: str, axes_of: Sequence[str], series: Sequence[tuple[str, Sequence[float]]]) -> Svg:
    """One closed line a series over axes in a circle, each from 0 in the middle to 1."""
    middle, radius, top = WIDTH / 2, 112.0, 148.0
    turns = [2 * math.pi * k / len(axes_of) for k in range(len(axes_of))]

    def at(turn: float, share: float) -> Point:
        far = radius * share
        return middle + far * math.sin(turn), top - far * math.cos(turn)

    def closed(shares: Sequence[float], **style: str) -> str:
        spots = (at(turn, share) for turn, share in zip(turns, shares, strict=True))
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
        return element("path", d=f"M{path}z", **style)

    rings = (0.25, 0.5, 0.75, 1)
    parts = [closed([ring] * len(turns), kind="grid", style="fill:none") for ring in rings]
    for name, turn in zip(axes_of, turns, strict=True):
        parts.append(line(at(turn, 0), at(turn, 1), kind="grid"))
        x, y = at(turn, 1.1)
        side = math.sin(turn)
        anchor = "middle" if abs(side) < 0.3 else "start" if side > 0 else "end"
        room = WIDTH / 2 if anchor == "middle" else WIDTH - x if anchor == "start" else x
        parts.append(words(x, y + 4, name, "axis", anchor, room=room, size=12))
    for k, (name, shares) in enumerate(series):
        style = f"stroke:{ink(k)};stroke-width:2;fill:{ink(k)};fill-opacity:.08"
        parts.append(closed(shares, style=style))
        for axis, turn, share in zip(axes_of, turns, shares, strict=True):
            parts.append(mark(k, *at(turn, share), f"{name}, {axis}: {share:.3f}"))
    return _with_legend(title, [name for name, _ in series], top + radius + 34, parts)
