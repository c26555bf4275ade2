"""Inline SVG: its frame, untrusted text, points with intervals, and a heat map."""

from collections.abc import Sequence
from html import escape

ROW = 30
LABEL_WIDTH = 230


def text(value: str, limit: int = 200) -> str:
    """Untrusted text for HTML and SVG: escaped, without control characters, bounded."""
    printable = "".join(c if c.isprintable() else "\ufffd" for c in value)
    shown = printable if len(printable) <= limit else printable[: limit - 1] + "…"
    return escape(shown, quote=True)


def interval_plot(rows: Sequence[tuple[str, float | None, Sequence[float] | None]]) -> str:
    """One line per system: a dot at its points, a bar over its 95% interval, axis 0 to 100."""
    width, plot, top = 860, 560, 26
    left = LABEL_WIDTH
    height = top + ROW * len(rows) + 8
    parts = [open_svg(width, height, "Points of each system with 95% intervals")]
    for tick in range(0, 101, 20):
        x = left + plot * tick / 100
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 4}"/>')
        parts.append(f'<text class="axis" x="{x:.1f}" y="16" text-anchor="middle">{tick}</text>')
    for position, (name, points, interval) in enumerate(rows):
        y = top + ROW * position + ROW / 2
        parts.append(label(name, left - 10, y))
        if points is None:
            parts.append(
                f'<text class="axis" x="{left + 6}" y="{y + 4:.1f}">no overall points</text>'
            )
            continue
        if interval is not None:
            a, b = (left + plot * bound / 100 for bound in interval)
            parts.append(
                f'<line class="bar" x1="{a:.1f}" y1="{y:.1f}" x2="{b:.1f}" y2="{y:.1f}">'
                f"<title>95% interval {interval[0]:.1f} to {interval[1]:.1f}</title></line>"
            )
        x = left + plot * points / 100
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>')
        parts.append(
            f'<text class="value" x="{left + plot + 14}" y="{y + 4:.1f}">{points:.1f}</text>'
        )
    return "".join([*parts, "</svg>"])


def heat_map(
    systems: Sequence[str], families: Sequence[str], cells: Sequence[Sequence[float | None]]
) -> str:
    """Points per family (columns) and system (rows), shaded from 0 to 100.

    ``cells[row][column]`` is points or ``None`` where the exam has no such task.
    """
    column = max(66, min(104, 620 // max(1, len(families))))
    longest = max((len(family) for family in families), default=0)
    top = 24 + 4 * min(longest, 40)
    width = LABEL_WIDTH + column * len(families) + 60
    height = top + ROW * len(systems) + 6
    parts = [open_svg(width, height, "Points per family and system")]
    for position, family in enumerate(families):
        x = LABEL_WIDTH + column * (position + 0.5)
        parts.append(
            f'<text class="axis" transform="translate({x:.1f},{top - 8}) rotate(-32)">'
            f"{text(family.replace('_', ' '), 40)}</text>"
        )
    for row, (name, values) in enumerate(zip(systems, cells, strict=True)):
        y = top + ROW * row
        parts.append(label(name, LABEL_WIDTH - 10, y + ROW / 2))
        for position, value in enumerate(values):
            parts.append(_cell(LABEL_WIDTH + column * position, y, column, value))
    return "".join([*parts, "</svg>"])


def _cell(x: float, y: float, width: float, value: float | None) -> str:
    box = f'x="{x + 1:.1f}" y="{y + 1:.1f}" width="{width - 2:.1f}" height="{ROW - 2}" rx="3"'
    middle = f'x="{x + width / 2:.1f}" y="{y + ROW / 2 + 4:.1f}" text-anchor="middle"'
    if value is None:
        return f'<rect class="none" {box}/><text class="axis" {middle}>–</text>'
    # The number is printed in every cell, so the shade is a help and never the only carrier.
    shade = 0.06 + 0.94 * value / 100
    ink = "on" if value > 55 else "off"
    return (
        f'<rect class="heat" {box} fill-opacity="{shade:.2f}"/>'
        f'<text class="cell {ink}" {middle}>{value:.0f}</text>'
    )


def label(name: str, x: float, y: float) -> str:
    """A row's name, right-aligned at ``x``; the whole of it on hovering."""
    return (
        f'<text class="label" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="end">{text(name, 30)}'
        f"<title>{text(name)}</title></text>"
    )


def open_svg(width: float, height: float, title: str) -> str:
    """The opening tag. On a narrow screen the picture scrolls rather than becoming unreadable."""
    return (
        f'<svg class="wide" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="max-width:{width:.0f}px;min-width:{min(width, 600):.0f}px" role="img" '
        f'aria-label="{title}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{title}</title>'
    )
