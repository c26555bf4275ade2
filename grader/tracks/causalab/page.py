"""causalab in tables and pictures: suites, and prediction against recovered graph."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.table import Table

from grader.draw.svg import text

Rates = Mapping[str, Any]

_COLUMNS: Final = (
    ("accuracy", "accuracy"),
    ("exact", "exact"),
    ("edge_f1", "edge F1"),
    ("edge_f1_full", "all pairs"),
    ("skeleton_f1", "skeleton F1"),
    ("shd", "SHD ↓"),
    ("freq_edge_f1", "freq. edge F1"),
    ("coefficient_f1", "coefficient F1"),
    ("coefficient_f1_reference", "(reference)"),
    ("root_f1", "root F1"),
    ("class_size", "class size"),
    ("budget_share", "budget used"),
    ("premature", "premature"),
    ("consistent", "consistent"),
)
_BRIEF: Final = (
    "accuracy", "edge_f1", "shd", "coefficient_f1", "root_f1", "budget_share", "premature",
    "consistent",
)  # fmt: skip
"""What fits a terminal; the page has all."""

_REGIME: Final = re.compile(r"(\d+)o(\d+)i")
_SIZE: Final = re.compile(r"-(\d+)(?:-|$)")
_UNSIGNED: Final = (
    "Transcripts were replayed, which proves that each is a possible session with its episode. "
    "Only --transcript-key with the host's key proves that the session took place."
)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def suites_table(track: Mapping[str, Any]) -> Table:
    """The suites of one submission, for the terminal."""
    table = Table(title="causalab suites", title_justify="left", title_style="bold")
    table.add_column("suite, regime", no_wrap=True)
    shown = [(key, name) for key, name in _COLUMNS if key in _BRIEF]
    for heading in ("tasks", *(name for _, name in shown)):
        table.add_column(heading, justify="right")
    for label, rates in track["suites"].items():
        cells = [_shown(rates[key]) for key, _ in shown]
        table.add_row(label, str(rates["tasks"]), *cells)
    if track["metrics"]["n_transcripts"] != track["metrics"]["n_signed"]:
        table.caption = _UNSIGNED
    return table


def sections(reports: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Headings and HTML of the page's sections about causalab."""
    shown = [
        (str(report["submission"]["system"]), report["tracks"]["causalab"])
        for report in reports
        if report["tracks"].get("causalab", {}).get("attempted")
    ]
    if not shown:
        return []
    systems = [(name, track["suites"]) for name, track in shown]
    unsigned = any(t["metrics"]["n_transcripts"] != t["metrics"]["n_signed"] for _, t in shown)
    note = f'<p class="note">{text(_UNSIGNED, 400)}</p>' if unsigned else ""
    return [
        ("causalab: prediction against recovered graph", accuracy_against_edges(systems)),
        ("causalab: by suite and regime", note + _suite_rows(systems)),
        ("causalab: edge F1 as a session goes on", _progress_rows(systems)),
    ]


def accuracy_against_edges(systems: Sequence[tuple[str, Mapping[str, Rates]]]) -> str:
    """Figure 3: task accuracy (across) against all-edge F1 (up), a mark per suite and regime.

    As in the paper, over all pairs: what observation leaves undecided is part of the picture.
    Where a system has both regimes of a graph size, an arrow leads from the mean of observation
    only to the mean of observation with intervention.
    """
    left, top, side = 52, 14, 340
    parts = [
        f'<svg viewBox="0 0 {left + side + 340} {top + side + 56}" role="img" '
        'aria-label="task accuracy against edge F1" xmlns="http://www.w3.org/2000/svg">'
        "<title>task accuracy against edge F1</title>"
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="4" '
        'markerHeight="4" orient="auto"><path d="M0 0L8 4L0 8z" class="dot"/></marker></defs>'
    ]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + side * tick, top + side * (1 - tick)
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + side}" y2="{y:.1f}"/>'
            f'<text class="axis" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
            f'<text class="axis" x="{x:.1f}" y="{top + side + 20}" text-anchor="middle">{tick:g}'
            "</text>"
        )
    parts.append(
        f'<text class="axis" x="{left + side / 2}" y="{top + side + 42}" text-anchor="middle">'
        "task accuracy (up: all-edge F1, undecided pairs included)</text>"
    )
    for k, (name, suites) in enumerate(systems):
        for label, rates in suites.items():
            x = left + side * rates["accuracy"]
            y = top + side * (1 - rates["edge_f1_full"])
            title = f"{name}, {label}: {rates['accuracy']:.3f}, {rates['edge_f1_full']:.3f}"
            parts.append(_mark(k, x, y, title))
        for size, start, end in _arrows(suites):
            points = [
                (left + side * accuracy, top + side * (1 - f1)) for accuracy, f1 in (start, end)
            ]
            (x1, y1), (x2, y2) = points
            parts.append(
                f'<line class="bar" style="stroke-width:2;stroke:{_colour(k)}" x1="{x1:.1f}" '
                f'y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" marker-end="url(#arrow)">'
                f"<title>{text(name)}, {text(size)} nodes: observation only to mixed</title></line>"
            )
        y = top + 8 + 22 * k
        parts.append(_mark(k, left + side + 40, y, name))
        parts.append(f'<text x="{left + side + 54}" y="{y + 4}">{text(name, 30)}</text>')
    return "".join([*parts, "</svg>"])


def _arrows(
    suites: Mapping[str, Rates],
) -> Iterator[tuple[str, tuple[float, float], tuple[float, float]]]:
    """(size, start, end) for every graph size with both regimes; points are (accuracy, F1)."""
    kinds: dict[str, dict[str, list[Rates]]] = {}
    for label, rates in suites.items():
        suite, _, regime = label.rpartition(" ")
        match, size = _REGIME.fullmatch(regime), _SIZE.search(suite)
        if match is None or size is None or not _REGIME.match(suite):
            continue  # the scaling suites are those named after their regime
        observations, interventions = (int(group) for group in match.groups())
        if observations:
            kind = "mixed" if interventions else "observed"
            kinds.setdefault(size.group(1), {}).setdefault(kind, []).append(rates)
    for nodes, found in sorted(kinds.items()):
        if len(found) == 2:
            yield nodes, _mean(found["observed"]), _mean(found["mixed"])


def _mean(rows: Sequence[Rates]) -> tuple[float, float]:
    tasks = sum(row["tasks"] for row in rows)
    accuracy, f1 = (
        sum(row[key] * row["tasks"] for row in rows) / tasks for key in ("accuracy", "edge_f1_full")
    )
    return accuracy, f1


def _suite_rows(systems: Sequence[tuple[str, Mapping[str, Rates]]]) -> str:
    rows = []
    for name, suites in systems:
        for label, rates in suites.items():
            cells = [_shown(rates[key]) for key, _ in _COLUMNS]
            low, high = rates["intervals"]["accuracy"]
            cells[0] += f' <span class="ci">[{low:.2f}, {high:.2f}]</span>'
            rows.append([text(name), text(label), str(rates["tasks"]), *cells])
    note = (
        '<p class="note">Accuracy is within the stated tolerance, with Wilson’s 95% interval; edge '
        "F1 is over the pairs that experiments can decide. Class size: graphs that the "
        "interventions made leave equivalent (up to 5 nodes). Premature: predicted although "
        "experiments left could still tell candidates apart.</p>"
    )
    return note + _table(["system", "suite, regime", "tasks", *(n for _, n in _COLUMNS)], rows)


def _progress_rows(systems: Sequence[tuple[str, Mapping[str, Rates]]]) -> str:
    rows = []
    for name, suites in systems:
        for label, rates in suites.items():
            if rates["used"]:
                shown = [rates[f"edge_f1_at_{share}"] for share in (0, 25, 50, 75)]
                cells = [_shown(value) for value in [*shown, rates["edge_f1"]]]
                rows.append([text(name), text(label), *cells])
    if not rows:
        return ""
    heads = ("before the first", "25%", "50%", "75%", "final")
    note = '<p class="note">All-edge F1 of the hypothesis held after that share of the session’s '
    note += "own interventions.</p>"
    return note + _table(["system", "suite, regime", *heads], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} class="l">{cell}</{tag}>' if place < 2 else f"<{tag}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f"<table><thead><tr>{row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


_HUES: Final = (214, 18, 145, 280, 45, 330, 190, 95, 0, 255)


def _colour(k: int) -> str:
    return f"hsl({_HUES[k % len(_HUES)]} 62% 52%)"


def _mark(k: int, x: float, y: float, title: str) -> str:
    """Round or square: colour is never the only carrier."""
    inside, paint = f"<title>{text(title)}</title>", f'fill="{_colour(k)}"'
    if k % 2 == 0:
        return f'<circle {paint} cx="{x:.1f}" cy="{y:.1f}" r="4.5">{inside}</circle>'
    return f'<rect {paint} x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8">{inside}</rect>'
