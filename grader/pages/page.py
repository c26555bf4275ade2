"""Pages as values, and the HTML of a page: one document that stands by itself, light or dark.

It makes no external request and has no font and no image: the file can be mailed, archived, or
opened from a USB stick. No script runs but one of our own where a page has one, named by its hash.
Sections and their blocks are values. Only here do they become HTML, escaped.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grader.io.printing import printable
from grader.pages.svg import Svg
from grader.pages.table import Table
from grader.pages.words import glossary, safe, with_term_explained

if TYPE_CHECKING:
    from jinja2 import Template

_STYLE: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")

_TEMPLATE: Final = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Strong:
    """Words in bold. With ``marks``, classes of our own, they light up what has these too."""

    text: str
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain and bold words. A ``note`` says how to read what stands beside it."""

    text: str | Sequence[str | Strong]
    note: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are shown when their summary is clicked, or at once where ``opened``."""

    summary: str
    blocks: "Sequence[Inside]"
    opened: bool = False


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Columns of blocks, which stand below each other on a narrow screen."""

    columns: "Sequence[Sequence[Block]]"


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure at a glance: its name, the figure, and what qualifies it."""

    name: str
    value: str
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Figures at a glance. The first ``large`` ones are drawn largest."""

    tiles: Sequence[Tile]
    large: int = 2


@dataclass(frozen=True, slots=True)
class Code:
    """Text as it was written, line by line. A page shows its first 200,000 characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown of at most 200,000 characters; markup, links and pictures in it stay text."""

    text: str


Block = Table | Svg | Paragraph | Fold | SideBySide | Card | Code | Prose


def non_empty(*tables: Table) -> list[Table]:
    """Return the tables that have a row."""
    return [table for table in tables if table.rows]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and blocks, unshown without any; ``folded`` shows only heading and ``aside``."""

    title: str
    blocks: "Sequence[Inside]"
    aside: str = ""
    folded: bool = False


Inside = Block | Section
"""The members of a section: blocks, and sections of its own."""


def page(
    title: str,
    subtitle: str,
    sections: Sequence[Section],
    footer: str,
    style: str = "",
    contents: bool = False,
    script: str = "",
    ahead: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the HTML of a page. ``style`` and ``script`` are our own, all else is plain text.

    With ``contents`` a list of the sections stands at its head. ``ahead`` are links above it with
    their names, such as the way back. A browser runs nothing but ``script``.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    return _template().render(
        title=title,
        subtitle=subtitle,
        sections=[section for section in sections if section.blocks],
        footer=footer,
        style=_STYLE + style,
        contents=contents,
        script=script,
        ahead=ahead,
        policy=f"default-src 'none'; {runs}style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'",
    )


@cache
def _template() -> "Template":
    """Return the template of every page; its values are made safe but for markup of ours."""
    import jinja2
    from markdown_it import MarkdownIt
    from markupsafe import Markup as Safe

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.disable(["link", "image", "autolink", "reference", "entity"])

    def to_prose(text: str) -> Safe:
        return Safe("\n".join(map(printable, markdown.render(text[:200_000]).splitlines())))

    def to_markup(value: object, limit: int = 200) -> Safe:
        return value if isinstance(value, Safe) else Safe(safe(str(value), limit))

    environment = jinja2.Environment(
        autoescape=True,
        finalize=to_markup,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "upto": to_markup,
        "own": Safe,
        "newline": Safe,
        "prose": to_prose,
        "kind": lambda block: type(block).__name__,
        "picture": lambda drawing: Safe(drawing.markup()),
        "heading": lambda text: Safe(_heading(text)),
        "explained": lambda text: Safe(with_term_explained(text)),
        "glossary": lambda markup: Safe(glossary(markup)),
    }
    return environment.from_string(_TEMPLATE)


def _heading(heading: str) -> str:
    """Return a heading as HTML, with its first term explained and subscripts below the line."""

    def with_subscripts(text: str) -> str:
        return re.sub(r"_([A-Z]+)", r"<sub>\1</sub>", safe(text))

    markup = with_term_explained(heading, with_subscripts)
    return markup.replace(" ↓", "&nbsp;↓").replace(" ↑", "&nbsp;↑")
