"""The ccr sections of the page: taxonomy table, quadrant plot, error curves and cut trees."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from grader.draw.svg import text
from grader.show.words import number

SYSTEMS_DRAWN: Final = 12
CONTEXTS_DRAWN: Final = 60
CONTEXTS_IN_LEADERBOARD: Final = 4
THRESHOLD: Final = 0.1

_COLUMNS: Final = {
    "points_simulation": "simulation",
    "points_direct": "direct",
    "points_deductive": "deductive",
    "compositions_vc": "VC",
    "compositions_vi": "VI",
    "compositions_ic": "IC",
    "compositions_ii": "II",
    "complete_share": "complete",
    "pairs_valid": "pairs valid",
}
_UNITS: Final = {
    "accuracy_factual": "acc. factual",
    "accuracy_do_true": "acc. do true",
    "accuracy_do_false": "acc. do false",
    "monotonicity_violations": "violations",
}


def sections(reports: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Title and content of each section; none for submissions that simulate nothing."""
    rows = [(str(r["submission"]["system"]), r["tracks"]["ccr"]) for r in reports]
    if not any(track.get("details", {}).get("contexts") for _, track in rows):
        return [("ccr: figures", _table(rows))]
    drawn = rows[:SYSTEMS_DRAWN]
    return [
        ("ccr: figures, and shares of compositions in each class", _table(rows)),
        ("ccr: answers to single cases, by rung", _table(rows, _UNITS)),
        ("ccr: reasoning quadrants, one dot a composition", "".join(_quadrant(*r) for r in drawn)),
        ("ccr: mean error against mediating variables", _curves(drawn)),
        ("ccr: which paths of each cut tree commute", _trees(drawn, len(rows) == 1)),
    ]


def _table(
    rows: Sequence[tuple[str, Mapping[str, Any]]], columns: Mapping[str, str] = _COLUMNS
) -> str:
    head = "".join(f"<th>{name}</th>" for name in columns.values())
    body = "".join(
        f"<tr>{_name(name)}<td>{number(track['points'], 1)}</td>"
        + "".join(
            f"<td>{number(track['metrics'].get(key), 1 if key.startswith('points') else 3)}</td>"
            for key in columns
        )
        + "</tr>"
        for name, track in rows
    )
    return (
        f'<table><thead><tr><th class="l">system</th><th>points</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _name(name: str) -> str:
    return f'<td class="l name" style="white-space:nowrap">{text(name, 40)}</td>'


def _quadrant(name: str, track: Mapping[str, Any]) -> str:
    """External against internal error of every composition (CCR Fig. 5), axes cut at 0.5."""
    size, left, top, limit = 150, 34, 22, 0.5
    scale = size / limit
    width, height = left + size + 26, top + size + 34
    edge = THRESHOLD * scale
    bottom = top + size
    parts = [
        f'<svg viewBox="0 0 {width} {height}" style="display:inline-block;width:{width}px" '
        f'role="img" aria-label="Reasoning quadrants of {text(name, 40)}" '
        'xmlns="http://www.w3.org/2000/svg">',
        f'<text x="{left}" y="14">{text(name, 24)}</text>',
        f'<rect x="{left}" y="{top}" width="{size}" height="{size}" '
        'style="fill:none;stroke:var(--line)"/>',
        f'<rect x="{left}" y="{bottom - edge:.1f}" width="{edge:.1f}" height="{edge:.1f}" '
        'style="fill:#3a9d5d;fill-opacity:.35"><title>VC</title></rect>',
        f'<rect x="{left + edge:.1f}" y="{bottom - edge:.1f}" width="{size - edge:.1f}" '
        f'height="{edge:.1f}" style="fill:#d9b13b;fill-opacity:.3"><title>VI</title></rect>',
        f'<rect x="{left}" y="{top}" width="{edge:.1f}" height="{size - edge:.1f}" '
        'style="fill:#d9b13b;fill-opacity:.3"><title>IC</title></rect>',
    ]
    for context in track.get("details", {}).get("contexts", []):
        for line in context["compositions"]:
            # Without an estimate there is no error to draw: the corner stands for "beyond".
            gamma = limit if line["gamma"] is None else min(line["gamma"], limit)
            epsilon = limit if line["epsilon"] is None else min(line["epsilon"], limit)
            parts.append(
                f'<circle cx="{left + gamma * scale:.1f}" cy="{bottom - epsilon * scale:.1f}" '
                'r="3" style="fill:var(--mark);fill-opacity:.5"/>'
            )
    for tick in (0.0, THRESHOLD, limit):
        label = f"{tick:g}" + ("+" if tick == limit else "")
        parts.append(
            f'<text class="axis" x="{left + tick * scale:.1f}" y="{bottom + 14}" '
            f'text-anchor="middle">{label}</text>'
            f'<text class="axis" x="{left - 5}" y="{bottom - tick * scale + 4:.1f}" '
            f'text-anchor="end">{label}</text>'
        )
    parts.append(
        f'<text class="axis" x="{left + size / 2}" y="{bottom + 29}" text-anchor="middle">'
        "internal error γ, up: external ε</text></svg>"
    )
    return "".join(parts)


def _curves(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Mean error of the pairs by number of mediating variables (CCR Fig. 9), as a table."""
    levels = sorted(
        {
            row["level"]
            for _, track in rows
            for row in track.get("details", {}).get("curves", [])
            if row["axis"] == "mediators"
        }
    )
    head = "".join(f"<th>{level}</th>" for level in levels)
    body = ""
    for name, track in rows:
        found = {
            row["level"]: row
            for row in track.get("details", {}).get("curves", [])
            if row["axis"] == "mediators"
        }
        cells = ""
        for level in levels:
            row = found.get(level, {})
            error = row.get("mean_rae")
            mark = ' style="color:#3a9d5d"' if error is not None and error <= THRESHOLD else ""
            cells += f"<td{mark}>{number(error)}</td>"
        body += f"<tr>{_name(name)}{cells}</tr>"
    return (
        '<p class="note">mediating variables between cause and effect; green: at most 0.1</p>'
        f'<table><thead><tr><th class="l">system</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _trees(rows: Sequence[tuple[str, Mapping[str, Any]]], alone: bool) -> str:
    note = (
        '<p class="note">Dark edges are valid pairs, light ones invalid; blue paths are valid '
        "compositions; a node is dark when every path through it is valid (after Fig. 8).</p>"
    )
    limit = CONTEXTS_DRAWN if alone else CONTEXTS_IN_LEADERBOARD
    blocks = []
    for name, track in rows:
        contexts = track.get("details", {}).get("contexts", [])[:limit]
        drawings = "".join(cut_tree_drawing(context) for context in contexts)
        opened = " open" if alone else ""
        blocks.append(f"<details{opened}><summary>{text(name)}</summary>{drawings}</details>")
    return note + "".join(blocks)


def commuting(context: Mapping[str, Any]) -> tuple[int, int]:
    """How many of the paths that are asked about commute: the direct ones and the compositions.

    A path commutes when it is externally valid, as in the paper's count for Fig. 8.
    """
    ends = {(line["path"][0], line["path"][-1]) for line in context["compositions"]}
    direct = [line["valid"] for line in context["pairs"] if tuple(line["pair"]) in ends]
    composed = [line["valid"] for line in context["compositions"]]
    return sum(direct) + sum(composed), len(direct) + len(composed)


def cut_tree_drawing(context: Mapping[str, Any]) -> str:
    """One cut tree as inline SVG."""
    nodes = list(context["nodes"])
    step, left, base = 74, 34, 34 + 16 * len(nodes)
    width, height = left * 2 + step * (len(nodes) - 1), base + 46
    place = {name: left + step * k for k, name in enumerate(nodes)}
    right, total = commuting(context)
    title = f"{context['class']}{', complete' if context['complete'] else ''}: "
    title += f"{right} of {total} paths commute"
    parts = [
        f'<svg viewBox="0 0 {width} {height}" style="display:inline-block;width:{width}px" '
        f'role="img" aria-label="Cut tree, {text(title, 80)}" xmlns="http://www.w3.org/2000/svg">',
        f'<text class="axis" x="6" y="14">{text(title, 80)}</text>',
    ]
    for line in context["compositions"]:
        if line["valid"]:
            for a, b in pairwise(line["path"]):
                style = "stroke:var(--mark);stroke-width:7;stroke-opacity:.16;fill:none"
                parts.append(_arc(place[a], place[b], base, step, style))
    for line in context["pairs"]:
        a, b = line["pair"]
        ink = "var(--ink)" if line["valid"] else "var(--line)"
        parts.append(
            _arc(place[a], place[b], base, step, f"stroke:{ink};stroke-width:1.6;fill:none",
                 f"{a} to {b}: {'valid' if line['valid'] else 'invalid'}")
        )  # fmt: skip
    for name in nodes:
        through = [line["valid"] for line in context["compositions"] if name in line["path"]]
        through += [line["valid"] for line in context["pairs"] if name in line["pair"]]
        ink = "var(--ink)" if through and all(through) else "var(--line)"
        parts.append(f'<circle cx="{place[name]}" cy="{base}" r="6" style="fill:{ink}"/>')
        parts.append(
            f'<text x="{place[name]}" y="{base + 24}" text-anchor="middle">{text(name, 9)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _arc(start: float, end: float, base: float, step: float, style: str, title: str = "") -> str:
    """A straight edge between neighbours, an arc above them otherwise."""
    span = (end - start) / step
    shape = f"M{start} {base}L{end} {base}"
    if span > 1:
        middle, top = (start + end) / 2, base - 13 * span * 2
        shape = f"M{start} {base}Q{middle} {top:.1f} {end} {base}"
    note = f"<title>{text(title)}</title>" if title else ""
    return f'<path d="{shape}" style="{style}">{note}</path>'
