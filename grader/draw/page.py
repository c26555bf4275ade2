"""What every page of ours is: one self-contained document, light or dark as the reader's system.

No script, no external request, no font, no image: the file can be mailed, archived, or opened from
a USB stick. Sections and their blocks are values; only here do they become HTML, escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from grader.draw.svg import Svg
from grader.draw.table import Table, on_page
from grader.draw.words import safe

_STYLE: Final = """
:root { --ink:#1c2430; --soft:#5b6675; --line:#d9dee6; --page:#f6f7f9; --card:#fff; --mark:#2458a6;
        --other:#b4632a; --third:#2f7d4f; --good:#1f7a4d; --bad:#b3341f; --fair:#d9b13b }
@media (prefers-color-scheme: dark) {
  :root { --ink:#e6e9ee; --soft:#9aa5b4; --line:#343c48; --page:#14181e; --card:#1c2129;
          --mark:#78a9f5; --other:#e0a05c; --third:#7bc48f; --good:#5fc492; --bad:#f08a75 } }
* { box-sizing:border-box }
body { margin:0; background:var(--page); color:var(--ink);
       font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif }
main { max-width:1160px; margin:0 auto; padding:32px 20px 48px }
h1 { font-size:26px; margin:0 0 4px } h2 { font-size:17px; margin:0 0 12px }
h3 { font-size:14px; margin:18px 0 6px } p { margin:0 0 10px }
p.sub, footer, .note, .aside { color:var(--soft) } p.sub { margin:0 0 24px }
section { background:var(--card); border:1px solid var(--line); border-radius:10px;
          padding:18px 20px; margin:0 0 18px; overflow-x:auto }
table { border-collapse:collapse; width:100%; font-variant-numeric:tabular-nums }
th { color:var(--soft); font-weight:600; font-size:13px; text-align:right; padding:6px 8px;
     border-bottom:1px solid var(--line); vertical-align:bottom }
td { text-align:right; padding:7px 8px; border-bottom:1px solid var(--line); white-space:nowrap }
tr:last-child td { border-bottom:0 } table + p, svg + table { margin-top:10px }
th.l, td.l { text-align:left }
.name { display:inline-block; min-width:120px; max-width:200px; font-weight:600;
        white-space:normal; overflow-wrap:anywhere }
.long { display:inline-block; min-width:260px; max-width:420px; white-space:normal;
        overflow-wrap:anywhere }
.points { font-weight:700 } .good { color:var(--good) }
.id, .code { font:.93em ui-monospace,Menlo,Consolas,monospace } .code { white-space:pre-wrap }
.beside { display:grid; gap:8px 32px; align-items:start;
          grid-template-columns:repeat(auto-fit, minmax(min(100%, 420px), 1fr)) }
.beside > div { min-width:0; overflow-x:auto } .beside svg { min-width:0 !important }
summary { cursor:pointer; padding:4px 0 } footer { font-size:13px }
svg { width:100%; height:auto; display:block }
svg text { font:13px system-ui,sans-serif; fill:var(--ink) }
svg .axis { fill:var(--soft); font-size:12px } svg .grid { stroke:var(--line) }
svg .value { font-weight:700 } svg .head { stroke:none }
svg .heat { fill:var(--mark) } svg .none { fill:none; stroke:var(--line) }
svg .cell.on { fill:var(--card); font-weight:600 }
@media (max-width:640px) { main { padding:18px 10px 32px } section { padding:14px 12px } }
"""

_LONGEST: Final = 4_000
"""Characters of a paragraph."""


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
    blocks: "Sequence[Block]"
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """Columns of blocks; on a narrow screen below each other."""

    columns: "Sequence[Sequence[Block]]"


Block = Table | Svg | Paragraph | Fold | Beside


def filled(*tables: Table) -> list[Table]:
    """Those that have a row."""
    return [table for table in tables if table.rows]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; nothing of it is shown where there is no block."""

    title: str
    blocks: Sequence[Block]


def page(
    title: str, subtitle: str, sections: Sequence[Section], footer: str, style: str = ""
) -> str:
    """A whole page; ``style`` adds to the common one, everything else is plain text."""
    shown = "".join(
        f"<section><h2>{safe(section.title)}</h2>{_blocks(section.blocks)}</section>"
        for section in sections
        if section.blocks
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title)} · causal-exams</title><style>{_STYLE}{style}</style></head>"
        f'<body><main><h1>{safe(title)}</h1><p class="sub">{safe(subtitle, 1_000)}</p>{shown}'
        f"<footer>{safe(footer, 1_000)}</footer></main></body></html>\n"
    )


def _blocks(blocks: Sequence[Block]) -> str:
    # A table alone is named by its heading; of several, each has a title of its own.
    titled = sum(isinstance(block, Table) for block in blocks) > 1
    return "".join(_block(block, titled) for block in blocks)


def _block(block: Block, titled: bool) -> str:
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
        case _:
            assert_never(block)
