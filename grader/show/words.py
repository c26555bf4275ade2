"""Numbers and untrusted text as words, for terminal and page alike."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text


def plain(text: str) -> Text:
    """``text`` from a submission: no markup, control characters made visible."""
    return Text(
        "".join(character if character.isprintable() else "\ufffd" for character in text),
        overflow="fold",
    )


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.2e}"


def points_text(points: float | None, interval: Sequence[float] | None) -> str:
    """Points with their 95% interval."""
    if points is None:
        return "–"
    if interval is None:
        return f"{points:.1f}"
    return f"{points:.1f}  [{interval[0]:.1f}, {interval[1]:.1f}]"


def pools(reading: Mapping[str, Any]) -> str:
    """Sizes of the pools, pass/numeric/F1; a dash where a redacted report leaves them out."""
    if reading["n_pass"] is None:
        return "–"
    return f"{reading['n_pass']}/{reading['n_nrel']}/{reading['n_f1']}"


def tokens(usage: Mapping[str, Any]) -> str:
    """Mean tokens per task, in and out, as ``12.9k``; a dash where nothing was reported."""
    if usage["input_tokens"] is None and usage["output_tokens"] is None:
        return "–"
    total = (usage["input_tokens"] or 0) + (usage["output_tokens"] or 0)
    return f"{total / 1000:.1f}k"


def interval_text(interval: Sequence[float] | None, digits: int = 3) -> str:
    """An interval; a dash where there is none."""
    return "–" if interval is None else f"[{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


def percent(share: float | None) -> str:
    """A share as a percentage with one digit; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}%"


def count_text(value: float | None) -> str:
    """A large count with its unit, such as 12.9k or 2.45M; a dash where there is none."""
    if value is None:
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f}{unit}" if value < 10 * size else f"{value / size:.1f}{unit}"
    return f"{value:.0f}"
