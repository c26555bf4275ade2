"""replayscm's smaller tables: edits by depth, a supplied program's worth, alternatives found."""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.draw.svg import text

Row = Mapping[str, Any]
Systems = Sequence[tuple[str, Mapping[str, Any]]]

_EDITS = (
    ("pool", "pool"),
    ("depth", "depth"),
    ("vars", "variables"),
    ("changed_rate", "changed"),
    ("parents_and_mechanism_rate", "parents and mechanism"),
    ("mechanism_only_rate", "mechanism only"),
    ("share_of_changes", "share of changes"),
)
_SUPPLIED = (
    ("induction", "induction"),
    ("alternative", "alternative"),
    ("programs", "programs"),
    ("induced", "HeldoutExact"),
    ("joint", "Alt joint"),
    ("joint_if_not_induced", "Alt joint | not induced"),
)
_DISCOVERY = (
    ("less", "less evidence"),
    ("more", "more evidence"),
    ("programs", "programs"),
    ("found_less", "found"),
    ("found_more", "found with more"),
    ("delta", "difference"),
    ("n_solved_both", "solved both"),
    ("found_less_if_solved", "found | solved"),
    ("found_more_if_solved", "with more | solved"),
    ("delta_if_solved", "difference | solved"),
)
_COUNTS = {
    "joint_if_not_induced": "n_not_induced",
    "found_less_if_solved": "n_solved_both",
    "found_more_if_solved": "n_solved_both",
    "delta_if_solved": "n_solved_both",
}
"""What a conditional rate is over: 1 to 5 cases are shown as a star."""


def rate(value: float | None, denominator: int | None = None) -> str:
    """A rate to three digits; ``*`` over 1 to 5 cases, a dash over none (§5.1)."""
    if value is None or denominator == 0:
        return "–"
    if denominator is not None and 1 <= denominator <= 5:
        return "*"
    return f"{value:.3f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 2) -> str:
    """An HTML table of safe cells; the first ``left`` columns are aligned left."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} class="l">{cell}</{tag}>' if place < left else f"<{tag}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{line(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def sections(systems: Systems) -> list[tuple[str, str]]:
    """Headings and HTML of the tables that have rows; ``systems`` pairs a name with its track."""
    wanted = (
        ("replayscm: where alternatives edit the supplied program, by depth", "edits", _EDITS, 3),
        ("replayscm: does a supplied program help?", "supplied", _SUPPLIED, 3),
        ("replayscm: alternatives found, as evidence is added", "discovery", _DISCOVERY, 3),
    )
    found = []
    for heading, member, columns, left in wanted:
        rows = [
            [text(name), *(_cell(row, key) for key, _ in columns)]
            for name, track in systems
            for row in track.get(member, ())
        ]
        if rows:
            found.append((heading, table(["system", *(title for _, title in columns)], rows, left)))
    return found


def _cell(row: Row, key: str) -> str:
    value = row[key]
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int):
        return str(value)
    return rate(value, row[_COUNTS[key]] if key in _COUNTS else None)
