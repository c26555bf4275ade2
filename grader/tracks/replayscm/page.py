"""replayscm in tables and pictures: pools, the disclosure ladder, training against held-out."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table

from grader.draw.svg import text
from grader.tracks.replayscm import page_tables as replayscm_tables
from grader.tracks.replayscm.page_tables import rate, table
from grader.tracks.replayscm.report import LADDER

PUBLISHED: Final[Mapping[str, Mapping[str, tuple[float, float, float]]]] = {
    "paper: symbolic exact-search": {
        "Ord-Full": (0.980, 0.884, 0.596),
        "Hid-Full": (0.900, 0.892, 0.536),
        "Block": (0.960, 0.927, 0.650),
        "Hid-Roots": (0.950, 0.880, 0.560),
    },
    "paper: bnlearn+DSL": {
        "Ord-Full": (0.996, 0.880, 0.596),
        "Hid-Full": (0.996, 0.896, 0.620),
        "Block": (1.000, 0.899, 0.620),
        "Hid-Roots": (0.900, 0.867, 0.530),
    },
}
"""TrainExact, HeldoutWorldExact, HeldoutExact of the paper's non-LLM rows (Table H.2).

On other items than ours: for orientation only.
"""

_COLUMNS: Final = (
    ("valid", "valid"),
    ("train_exact", "TrainExact"),
    ("heldout_world_exact", "HeldoutWorld"),
    ("heldout_exact", "HeldoutExact"),
    ("parent_f1", "parent F1"),
    ("joint", "Alt joint"),
)

Rates = Mapping[str, Any]


def pools_table(track: Mapping[str, Any]) -> Table:
    """The pools of one submission, for the terminal."""
    shown = Table(title="replayscm pools", title_justify="left", title_style="bold")
    shown.add_column("pool")
    headings = ["tasks", *(name for _, name in _COLUMNS), "HoExact | train", "reasoning", "missing"]
    for heading in headings:
        shown.add_column(heading, justify="right")
    for pool, rates in track["pools"].items():
        shown.add_row(pool, *_cells(rates))
    shown.caption = (
        "reasoning, missing: wrong held-out cells that the evidence determines, and those it "
        "leaves open; * a rate over 1 to 5 answers"
    )
    return shown


def _cells(rates: Rates) -> list[str]:
    return [
        str(rates["tasks"]),
        *(rate(rates[key]) for key, _ in _COLUMNS),
        rate(rates["heldout_given_train"], rates["n_train_exact"]),
        str(rates["reasoning_error_cells"]),
        str(rates["missing_evidence_cells"]),
    ]


def sections(reports: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Headings and HTML of the page's sections about replayscm."""
    tracks = [
        (str(report["submission"]["system"]), report["tracks"]["replayscm"])
        for report in reports
        if report["tracks"].get("replayscm", {}).get("attempted")
    ]
    shown = [(name, track["pools"]) for name, track in tracks]
    if not shown:
        return []
    return [
        ("replayscm: TrainExact as less is disclosed", ladder(shown, "train_exact")),
        (
            "replayscm: HeldoutWorldExact as less is disclosed",
            ladder(shown, "heldout_world_exact"),
        ),
        ("replayscm: training against held-out replay", train_against_heldout(shown)),
        ("replayscm: replay by pool", _pool_rows(shown)),
        *replayscm_tables.sections(tracks),
    ]


def ladder(systems: Sequence[tuple[str, Rates]], metric: str) -> str:
    """Figure 1: one line a system over the same programs, with 95% bootstrap intervals."""
    rungs = [rung for rung in LADDER if any(rung in pools for _, pools in systems)]
    if len(rungs) < 2:
        return ""
    left, top, width, height = 52, 14, 520, 250
    parts = [_open(width + 320, height + 54, f"{metric} by disclosure")]
    parts += _grid(left, top, width, height)
    step = width / len(rungs)
    for place, rung in enumerate(rungs):
        parts.append(
            f'<text class="axis" x="{left + step * (place + 0.5):.1f}" y="{top + height + 22}" '
            f'text-anchor="middle">{text(rung)}</text>'
        )
    for k, (name, pools) in enumerate(systems):
        points = []
        for place, rung in enumerate(rungs):
            if rung not in pools:
                continue
            x = left + step * (place + 0.5) + (k - (len(systems) - 1) / 2) * 7
            y = top + height * (1 - pools[rung][metric])
            points.append(f"{x:.1f},{y:.1f}")
            interval = pools[rung]["intervals"].get(metric)
            if interval:
                a, b = (top + height * (1 - bound) for bound in interval)
                parts.append(
                    f'<line stroke="{_colour(k)}" stroke-opacity=".45" stroke-width="2.5" '
                    f'x1="{x:.1f}" y1="{a:.1f}" x2="{x:.1f}" y2="{b:.1f}"/>'
                )
            parts.append(_mark(k, x, y, f"{name}, {rung}: {pools[rung][metric]:.3f}"))
        parts.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{_colour(k)}" '
            'stroke-opacity=".6"/>'
        )
    parts += _legend([name for name, _ in systems], left + width + 26, top)
    return "".join([*parts, "</svg>"])


def train_against_heldout(systems: Sequence[tuple[str, Rates]]) -> str:
    """Figure D.1: TrainWorldExact (across) against HeldoutWorldExact (up), a mark per pool."""
    left, top, side = 52, 14, 300
    parts = [_open(left + side + 340, top + side + 56, "training against held-out replay")]
    parts += _grid(left, top, side, side)
    parts.append(
        f'<line class="grid" x1="{left}" y1="{top + side}" x2="{left + side}" y2="{top}"/>'
        f'<text class="axis" x="{left + side / 2}" y="{top + side + 40}" text-anchor="middle">'
        "TrainWorldExact (up: HeldoutWorldExact)</text>"
    )
    for tick in (0.0, 0.5, 1.0):
        parts.append(
            f'<text class="axis" x="{left + side * tick:.1f}" y="{top + side + 20}" '
            f'text-anchor="middle">{tick:g}</text>'
        )
    for k, (name, pools) in enumerate(systems):
        for pool, rates in pools.items():
            if rates["heldout_world_exact"] is None:
                continue
            x = left + side * rates["train_world_exact"]
            y = top + side * (1 - rates["heldout_world_exact"])
            parts.append(_mark(k, x, y, f"{name}, {pool}"))
    parts += _legend([name for name, _ in systems], left + side + 40, top)
    return "".join([*parts, "</svg>"])


def _pool_rows(systems: Sequence[tuple[str, Rates]]) -> str:
    head = ["system", "pool", "tasks", *(name for _, name in _COLUMNS), "HeldoutExact | TrainExact",
            "reasoning errors", "missing evidence"]  # fmt: skip
    rows = [[text(name), text(pool), *_cells(rates)] for name, pools in systems
            for pool, rates in pools.items()]  # fmt: skip
    for name, pools in PUBLISHED.items():
        for pool, (train, world, exact) in pools.items():
            row = [text(name), pool, "", "", rate(train), rate(world), rate(exact)]
            rows.append([*row, "", "", "", "", ""])
    note = (
        '<p class="note">Reasoning errors are wrong held-out cells on which every legal program '
        "that fits the training worlds agrees; the others are missing evidence. A rate over 1 to 5 "
        "answers is shown as *. The rows of the paper are on other items: for orientation only."
        "</p>"
    )
    return note + table(head, rows)


_HUES: Final = (214, 18, 145, 280, 45, 330, 190, 95, 0, 255)


def _colour(k: int) -> str:
    return f"hsl({_HUES[k % len(_HUES)]} 62% 52%)"


def _mark(k: int, x: float, y: float, title: str) -> str:
    """Round, square or diamond: colour is never the only carrier."""
    shape = (k // 3 + k) % 3
    inside = f"<title>{text(title)}</title>"
    paint = f'fill="{_colour(k)}"'
    if shape == 0:
        return f'<circle {paint} cx="{x:.1f}" cy="{y:.1f}" r="4.5">{inside}</circle>'
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if shape == 2 else ""
    return (
        f'<rect {paint} x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"{turn}>{inside}</rect>'
    )


def _grid(left: float, top: float, width: float, height: float) -> list[str]:
    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y = top + height * (1 - tick)
        parts.append(
            f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}"/>'
            f'<text class="axis" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    return parts


def _legend(names: Sequence[str], x: float, top: float) -> list[str]:
    return [
        _mark(k, x, top + 8 + 22 * k, name)
        + f'<text x="{x + 14:.1f}" y="{top + 12 + 22 * k:.1f}">{text(name, 30)}</text>'
        for k, name in enumerate(names)
    ]


def _open(width: float, height: float, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{text(title)}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{text(title)}</title>'
    )
