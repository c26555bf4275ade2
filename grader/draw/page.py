"""What every page of ours is: one self-contained document, light or dark as the reader's system.

No external request, no font, no image: the file can be mailed, archived, or opened from a USB
stick. Nothing runs but a script of our own where a page has one, named by its hash. Sections and
their blocks are values; only here do they become HTML, escaped.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from grader.draw.svg import Svg
from grader.draw.table import Table, on_page
from grader.draw.words import explained, glossary, safe

_STYLE: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")

_LONGEST: Final = 4_000
"""Characters of a paragraph."""
_LONGEST_LINE: Final = 20_000
_LONGEST_TEXT: Final = 200_000
_BREAK: Final = "§¶"
"""Stands for the end of a line while text is escaped."""


@dataclass(frozen=True, slots=True)
class Strong:
    """Words in bold."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain and bold words; a ``note`` says how to read what stands beside it."""

    text: str | Sequence[str | Strong]
    note: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are shown when their summary is clicked."""

    summary: str
    blocks: "Sequence[Inside]"
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """Columns of blocks; on a narrow screen below each other."""

    columns: "Sequence[Sequence[Block]]"


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure at a glance: its name, the figure, and what qualifies it."""

    name: str
    value: str
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Figures at a glance; those that come first are drawn largest."""

    tiles: Sequence[Tile]
    large: int = 2


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several to be chosen; the first is. ``style`` of a page says what follows from it.

    ``options`` are ids, which are of the code, and labels.
    """

    legend: str
    name: str
    options: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Code:
    """Text as it was written, line by line."""

    text: str


@dataclass(frozen=True, slots=True)
class Marked:
    """Paragraphs of running text (an empty line ends one) with some parts marked.

    ``spans`` are (start, end, class) in characters of ``text``; what overlaps an earlier one is not
    marked. The classes are names of our own.
    """

    text: str
    spans: Sequence[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class Markup:
    """Finished markup of our own, in which everything foreign is escaped."""

    html: str


Block = Table | Svg | Paragraph | Fold | Beside | Card | Choice | Code | Marked | Markup


def filled(*tables: Table) -> list[Table]:
    """Those that have a row."""
    return [table for table in tables if table.rows]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; nothing of it is shown where there is no block.

    A ``folded`` one shows its heading and ``aside`` alone, until it is clicked or linked to.
    """

    title: str
    blocks: "Sequence[Inside]"
    aside: str = ""
    folded: bool = False


Inside = Block | Section
"""What stands in a section: blocks, and sections of its own."""


def page(
    title: str,
    subtitle: str,
    sections: Sequence[Section],
    footer: str,
    style: str = "",
    contents: bool = False,
    script: str = "",
    ahead: str = "",
) -> str:
    """A whole page; ``style`` and ``script`` are our own, everything else is plain text.

    With ``contents`` a list of the sections stands at its head; ``ahead`` is finished markup above
    it, such as the way back.
    """
    present = [section for section in sections if section.blocks]
    shown = "".join(_section(place, section) for place, section in enumerate(present))
    listed = ""
    if contents:
        links = "".join(
            f'<a href="#part-{place}">{safe(section.title.partition(",")[0])}</a>'
            for place, section in enumerate(present)
        )
        listed = f'<nav aria-label="contents">{links}</nav>'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title)} · causal-exams</title><style>\n{_STYLE}{style}</style></head>"
        f"<body><main>{ahead}<h1>{safe(title)}</h1>"
        f'<p class="sub">{safe(subtitle, 1_000)}</p>{listed}{shown}'
        f"<footer>{safe(footer, 1_000)}</footer></main>"
        f"{f'<script>{script}</script>' if script else ''}</body></html>\n"
    )


def way_back(link: str, text: str) -> str:
    """What stands ahead of a page that belongs to another."""
    return f'<p class="sub"><a href="{safe(link)}">← {safe(text)}</a></p>'


def _policy(script: str) -> str:
    """What a browser may do with a page: show it; whatever slipped through escaping cannot run."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    return (
        f"default-src 'none'; {runs}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )


def _section(place: int, section: Section) -> str:
    inside = _blocks(section.blocks)
    body = f'<div id="part-{place}">{inside}{glossary(inside)}</div>'
    heading = f"<h2>{safe(section.title)}</h2>"
    if section.aside:
        heading += f' <span class="aside">{safe(section.aside)}</span>'
    if not section.folded:
        return f"<section>{heading}{body}</section>"
    # A link to what stands inside opens it.
    return f"<section><details><summary>{heading}</summary>{body}</details></section>"


def _blocks(blocks: "Sequence[Inside]") -> str:
    # A table alone is named by its heading; of several, each has a title of its own.
    titled = sum(isinstance(block, Table) for block in blocks) > 1
    return "".join(_block(block, titled) for block in blocks)


def _block(block: "Inside", titled: bool) -> str:
    match block:
        case Table():
            title = f"<h3>{safe(block.title)}</h3>" if titled and block.title else ""
            return title + on_page(block)
        case Svg():
            return block.markup()
        case Paragraph():
            parts = [block.text] if isinstance(block.text, str) else block.text
            text = "".join(
                safe(part, _LONGEST) if isinstance(part, str) else f"<b>{safe(part.text)}</b>"
                for part in parts
            )
            return f'<p class="note">{text}</p>' if block.note else f"<p>{text}</p>"
        case Fold():
            opened = " open" if block.opened else ""
            return (
                f"<details{opened}><summary>{safe(block.summary)}</summary>"
                f"{_blocks(block.blocks)}</details>"
            )
        case Beside():
            columns = "".join(f"<div>{_blocks(column)}</div>" for column in block.columns)
            return f'<div class="beside">{columns}</div>'
        case Code():
            return f"<pre>{_lines(block.text)}</pre>"
        case Marked():
            return _marked(block)
        case Markup():
            return block.html
        case Card():
            return '<dl class="card">' + "".join(_tiles(block)) + "</dl>"
        case Choice():
            return f"<fieldset><legend>{safe(block.legend)}</legend>{_options(block)}</fieldset>"
        case Section():
            # A section inside another: as large as its heading says.
            if not block.blocks:
                return ""
            return f'<div class="part"><h3>{safe(block.title)}</h3>{_blocks(block.blocks)}</div>'
        case _:
            assert_never(block)


def _options(choice: Choice) -> str:
    return "".join(
        f'<label><input type="radio" name="{safe(choice.name)}" id="{safe(option)}"'
        f"{'' if place else ' checked'}> {safe(label)}</label>"
        for place, (option, label) in enumerate(choice.options)
    )


def _lines(text: str) -> str:
    return "\n".join(safe(line, _LONGEST_LINE) for line in text[:_LONGEST_TEXT].splitlines())


def _marked(block: Marked) -> str:
    """The text as paragraphs, its marked parts as spans."""
    text, at, parts = block.text[:_LONGEST_TEXT], 0, []
    for start, end, kind in sorted(block.spans):
        if at <= start < end <= len(text):
            parts.append(safe(text[at:start].replace("\n", _BREAK), _LONGEST_TEXT))
            inside = safe(text[start:end].replace("\n", " "), _LONGEST_TEXT)
            parts.append(f'<span class="told {safe(kind)}" tabindex="0">{inside}</span>')
            at = end
    parts.append(safe(text[at:].replace("\n", _BREAK), _LONGEST_TEXT))
    paragraphs = "".join(parts).split(_BREAK * 2)
    return "".join(f"<p>{part.replace(_BREAK, ' ')}</p>" for part in paragraphs if part)


def _tiles(card: Card) -> Iterator[str]:
    for place, tile in enumerate(card.tiles):
        kind = ' class="large"' if place < card.large else ""
        aside = f'<dd class="aside">{safe(tile.aside, 400)}</dd>' if tile.aside else ""
        figure = f"<dd>{safe(tile.value, 400)}</dd>"
        yield f"<div{kind}><dt>{explained(tile.name)}</dt>{figure}{aside}</div>"
