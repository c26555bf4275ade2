"""What every page of ours is: one self-contained document, light or dark as the reader's system.

No external request, no font, no image: the file can be mailed, archived, or opened from a USB
stick. Nothing runs but a script of our own where a page has one, named by its hash. Sections and
their blocks are values; only here do they become HTML, escaped.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grader.pages.svg import Svg
from grader.pages.table import Table
from grader.pages.words import explained, glossary, safe

if TYPE_CHECKING:
    from jinja2 import Template

_STYLE: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")

_TEMPLATE: Final = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
_LONGEST_TEXT: Final = 200_000


@dataclass(frozen=True, slots=True)
class Strong:
    """Words in bold; with ``marks``, classes of our own, words that light up what has them too."""

    text: str
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain and bold words; a ``note`` says how to read what stands beside it."""

    text: str | Sequence[str | Strong]
    note: bool = False

    def parts(self) -> Sequence[str | Strong]:
        """Its plain and bold words."""
        return [self.text] if isinstance(self.text, str) else self.text


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are shown when their summary is clicked."""

    summary: str
    blocks: "Sequence[Inside]"
    opened: bool = False


@dataclass(frozen=True, slots=True)
class SideBySide:
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

    def lines(self) -> list[str]:
        """As many lines as a page shows."""
        return self.text[:_LONGEST_TEXT].splitlines()


Block = Table | Svg | Paragraph | Fold | SideBySide | Card | Choice | Code


def non_empty(*tables: Table) -> list[Table]:
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
    ahead: Sequence[tuple[str, str]] = (),
) -> str:
    """A whole page; ``style`` and ``script`` are our own, everything else is plain text.

    With ``contents`` a list of the sections stands at its head; ``ahead`` are links above it and
    what they are called, such as the way back.
    """
    return _template().render(
        title=title,
        subtitle=subtitle,
        sections=[section for section in sections if section.blocks],
        footer=footer,
        style=_STYLE + style,
        contents=contents,
        script=script,
        ahead=ahead,
        policy=_policy(script),
    )


@cache
def _template() -> "Template":
    """The template of every page, whose values are all made safe, whoever wrote them.

    ``own`` is for markup that stands in the code, ``picture`` and ``glossary`` make it.
    """
    import jinja2
    from markupsafe import Markup as Safe

    def printed(value: object, limit: int = 200) -> Safe:
        return value if isinstance(value, Safe) else Safe(safe(str(value), limit))

    environment = jinja2.Environment(
        autoescape=True,
        finalize=printed,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "upto": printed,
        "own": Safe,
        "newline": Safe,
        "kind": lambda block: type(block).__name__,
        "picture": lambda drawing: Safe(drawing.markup()),
        "heading": lambda text: Safe(_heading(text)),
        "explained": lambda text: Safe(explained(text)),
        "glossary": lambda markup: Safe(glossary(markup)),
    }
    return environment.from_string(_TEMPLATE)


def _heading(heading: str) -> str:
    """A heading as HTML: its first term explained, subscripts below the line."""

    def with_subscripts(text: str) -> str:
        return re.sub(r"_([A-Z]+)", r"<sub>\1</sub>", safe(text))

    return explained(heading, with_subscripts).replace(" ↓", "&nbsp;↓").replace(" ↑", "&nbsp;↑")


def _policy(script: str) -> str:
    """What a browser may do with a page: show it; whatever slipped through escaping cannot run."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    return (
        f"default-src 'none'; {runs}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )
