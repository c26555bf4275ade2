"""Numbers as words, and untrusted text made safe, for terminal, page and picture alike."""

from collections.abc import Sequence
from html import escape


def printable(value: str) -> str:
    """``value`` with its control characters made visible."""
    return "".join(c if c.isprintable() else "\ufffd" for c in value)


def clipped(value: str, limit: int) -> str:
    """``value``, or its beginning with dots where it is longer."""
    return value if len(value) <= limit else value[: limit - 1] + "…"


def safe(value: str, limit: int = 200) -> str:
    """Untrusted text for HTML and SVG: escaped, without control characters, bounded."""
    return escape(clipped(printable(value), limit), quote=True)


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.2e}"


def points(value: float | None) -> str:
    """Points, with one digit; a dash where there are none."""
    return number(value, 1)


def percent(share: float | None) -> str:
    """A share as a percentage with one digit; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}%"


def count(value: float | None) -> str:
    """A count or a rung as it is; a dash where a redacted report leaves it out."""
    return "–" if value is None else f"{value:.0f}"


def count_text(value: float | None) -> str:
    """A large count with its unit, such as 12.9k or 2.45M; a dash where there is none."""
    if value is None:
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f}{unit}" if value < 10 * size else f"{value / size:.1f}{unit}"
    return f"{value:.0f}"


def interval_text(interval: Sequence[float] | None, digits: int = 3) -> str:
    """An interval; a dash where there is none."""
    return "–" if interval is None else f"[{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


def signed(value: float | None, digits: int = 1) -> str:
    """A difference with its sign, zero with a plus; a dash where there is none."""
    return "–" if value is None else f"{value:+z.{digits}f}"


def signed_interval(interval: Sequence[float] | None, digits: int = 1) -> str:
    """An interval of differences; a dash where there is none."""
    return "–" if interval is None else f"[{', '.join(signed(end, digits) for end in interval)}]"


def counted(figure: str, tasks: int | None) -> str:
    """A figure with its number of tasks; a dash over none."""
    if tasks == 0:
        return "–"
    return figure if tasks is None or figure == "–" else f"{figure} ({tasks})"
