"""Plots of shares, of cost against quality, and of a figure by level, as inline SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grader.draw.svg import LABEL_WIDTH, ROW, label, open_svg, text

Interval = Sequence[float]

INKS: Final = ("var(--mark)", "var(--other)", "var(--third)")
"""One per series; each series has a shape of its own as well."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One share on a row: which series it belongs to, 0 to 1, its interval and its title."""

    series: int
    value: float
    interval: Interval | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A named row of dots, with a tick where they should be."""

    name: str
    dots: Sequence[Dot]
    tick: float | None = None


def shares(title: str, rows: Sequence[Row], series: Sequence[str] = ()) -> str:
    """Rows of shares on an axis from 0 to 100%, with a legend where there are several series."""
    width, plot, top = 860, 560, 26 + (24 if series else 0)
    left, height = LABEL_WIDTH, top + ROW * len(rows) + 8
    parts = [open_svg(width, height, text(title))]
    x = float(left)
    for place, name in enumerate(series):
        parts.append(marker(place, x + 6, 10))
        parts.append(f'<text class="axis" x="{x + 18:.0f}" y="14">{text(name, 40)}</text>')
        x += 34 + 7 * min(len(name), 40)
    for tick in range(0, 101, 20):
        x = left + plot * tick / 100
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 4}"/>')
        parts.append(
            f'<text class="axis" x="{x:.1f}" y="{top - 10}" text-anchor="middle">{tick}%</text>'
        )
    for place, row in enumerate(rows):
        y = top + ROW * (place + 0.5)
        parts.append(label(row.name, left - 10, y))
        if row.tick is not None:
            x = left + plot * row.tick
            parts.append(
                f'<line x1="{x:.1f}" y1="{y - 11:.1f}" x2="{x:.1f}" y2="{y + 11:.1f}" '
                f'style="stroke:var(--ink);stroke-width:2"><title>promised {row.tick:.0%}</title>'
                "</line>"
            )
        for dot in row.dots:
            parts.append(_share(dot, left, plot, y + _offset(dot.series, len(series))))
    return "".join([*parts, "</svg>"])


def _offset(series: int, count: int) -> float:
    return (series - (count - 1) / 2) * 8 if count > 1 else 0.0


def _share(dot: Dot, left: float, plot: float, y: float) -> str:
    ink = INKS[dot.series % len(INKS)]
    bar = ""
    if dot.interval is not None:
        a, b = (left + plot * bound for bound in dot.interval)
        bar = (
            f'<line x1="{a:.1f}" y1="{y:.1f}" x2="{b:.1f}" y2="{y:.1f}" '
            f'style="stroke:{ink};stroke-width:4;stroke-opacity:.35;stroke-linecap:round"/>'
        )
    return bar + marker(dot.series, left + plot * dot.value, y, dot.title)


def marker(series: int, x: float, y: float, title: str = "") -> str:
    """The shape of a series: circle, diamond, square."""
    ink = INKS[series % len(INKS)]
    note = f"<title>{text(title)}</title>" if title else ""
    if series % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" style="fill:{ink}">{note}</circle>'
    if series % 3 == 1:
        path = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"
        return f'<path d="{path}" style="fill:{ink}">{note}</path>'
    return (
        f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" style="fill:{ink}">'
        f"{note}</rect>"
    )


def scatter(
    title: str, points: Sequence[tuple[str, float, float]], across: str, upwards: str
) -> str:
    """Named points, x on a logarithmic axis (all positive), y from 0."""
    width, height, left, top = 720, 340, 64, 20
    plot_width, plot_height = width - left - 130, height - top - 56
    low = math.floor(math.log10(min(x for _, x, _ in points)))
    high = math.ceil(math.log10(max(x for _, x, _ in points)))
    high = max(high, low + 1)
    ceiling = _nice(max(y for _, _, y in points))
    parts = [open_svg(width, height, text(title))]
    for power in range(low, high + 1):
        x = left + plot_width * (power - low) / (high - low)
        parts.append(
            f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + plot_height}"/>'
            f'<text class="axis" x="{x:.1f}" y="{top + plot_height + 20}" text-anchor="middle">'
            f"{_power(power)}</text>"
        )
    for step in range(5):
        y = top + plot_height * (1 - step / 4)
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + plot_width}" y2="{y:.1f}"/>'
            f'<text class="axis" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{ceiling * step / 4:g}</text>"
        )
    taken: list[tuple[float, float]] = []
    for name, cost, loss in sorted(points, key=lambda point: (point[2], point[0])):
        x = left + plot_width * (math.log10(cost) - low) / (high - low)
        y = top + plot_height * (1 - loss / ceiling)
        written = y + 4
        while any(abs(x - a) < 130 and abs(written - b) < 14 for a, b in taken):
            written -= 14
        taken.append((x, written))
        note = f"{name}: {cost:,.0f} {across}, {upwards} {loss:.3f}"
        parts.append(marker(0, x, y, note))
        parts.append(f'<text x="{x + 10:.1f}" y="{written:.1f}">{text(name, 18)}</text>')
    parts.append(
        f'<text class="axis" x="{left + plot_width / 2:.0f}" y="{height - 8}" '
        f'text-anchor="middle">{text(across)}</text>'
        f'<text class="axis" x="{left}" y="{top - 6}">{text(upwards)}</text></svg>'
    )
    return "".join(parts)


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


def by_level(
    title: str, levels: Sequence[str], series: Sequence[tuple[str, Sequence[float | None]]]
) -> str:
    """One line a series over ordered levels, y from 0; gaps where there is no value."""
    width, height, left, top = 720, 260, 64, 14
    plot_width, plot_height = width - left - 150, height - top - 40
    present = [value for _, values in series for value in values if value is not None]
    ceiling = _nice(max(present, default=1.0))
    parts = [open_svg(width, height, text(title))]
    for step in range(5):
        y = top + plot_height * (1 - step / 4)
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + plot_width}" y2="{y:.1f}"/>'
            f'<text class="axis" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{ceiling * step / 4:g}</text>"
        )
    gap = plot_width / max(1, len(levels))
    for place, level in enumerate(levels):
        x = left + gap * (place + 0.5)
        parts.append(
            f'<text class="axis" x="{x:.1f}" y="{top + plot_height + 20}" text-anchor="middle">'
            f"{text(level, 30)}</text>"
        )
    taken: list[float] = []
    for k, (name, values) in enumerate(series):
        ink = INKS[k % len(INKS)]
        spots = [
            (left + gap * (place + 0.5), top + plot_height * (1 - value / ceiling), value)
            for place, value in enumerate(values)
            if value is not None
        ]
        if not spots:
            continue
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in spots)
        dash = ";stroke-dasharray:5 4" if k >= len(INKS) else ""
        parts.append(f'<path d="M{path}" style="fill:none;stroke:{ink};stroke-width:2{dash}"/>')
        parts += [marker(k, x, y, f"{name}: {value:.3f}") for x, y, value in spots]
        written = spots[-1][1] + 4
        while any(abs(written - other) < 14 for other in taken):
            written -= 14
        taken.append(written)
        parts.append(f'<text x="{spots[-1][0] + 12:.1f}" y="{written:.1f}">{text(name, 22)}</text>')
    return "".join([*parts, "</svg>"])
