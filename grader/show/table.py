"""HTML tables."""

from collections.abc import Sequence

from grader.draw.svg import text


def name_cell(name: str) -> str:
    """A system's name, escaped and bounded; it wraps, so that its figures stay in sight."""
    return f'<span class="name">{text(name, 60)}</span>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 2) -> str:
    """A table whose cells are finished HTML; the first ``left`` columns are left-aligned."""
    titles = "".join(
        f'<th class="l">{name}</th>' if k < left else f"<th>{name}</th>"
        for k, name in enumerate(name.replace(" ↓", "&nbsp;↓") for name in head)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="l">{cell}</td>' if k < left else f"<td>{cell}</td>"
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
