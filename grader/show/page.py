"""What every page of ours is: one self-contained document, light or dark as the reader's system."""

from typing import Final

from grader.draw.svg import text

_BASE: Final = """
:root { --ink:#1c2430; --soft:#5b6675; --line:#d9dee6; --page:#f6f7f9; --card:#fff; --mark:#2458a6;
        --other:#b4632a; --third:#2f7d4f; --good:#1f7a4d; --bad:#b3341f }
@media (prefers-color-scheme: dark) {
  :root { --ink:#e6e9ee; --soft:#9aa5b4; --line:#343c48; --page:#14181e; --card:#1c2129;
          --mark:#78a9f5; --other:#e0a05c; --third:#7bc48f; --good:#5fc492; --bad:#f08a75 } }
* { box-sizing:border-box }
body { margin:0; background:var(--page); color:var(--ink);
       font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif }
main { max-width:1160px; margin:0 auto; padding:32px 20px 48px }
h1 { font-size:26px; margin:0 0 4px } h2 { font-size:17px; margin:0 0 12px }
p.sub, footer, .note { color:var(--soft) } p.sub { margin:0 0 24px }
section { background:var(--card); border:1px solid var(--line); border-radius:10px;
          padding:18px 20px; margin:0 0 18px; overflow-x:auto }
table { border-collapse:collapse; width:100%; font-variant-numeric:tabular-nums }
th { color:var(--soft); font-weight:600; font-size:13px; text-align:right; padding:6px 8px;
     border-bottom:1px solid var(--line); vertical-align:bottom }
td { text-align:right; padding:7px 8px; border-bottom:1px solid var(--line); white-space:nowrap }
tr:last-child td { border-bottom:0 }
th.l, td.l { text-align:left }
svg { width:100%; height:auto; display:block }
svg text { font:13px system-ui,sans-serif; fill:var(--ink) }
svg .axis { fill:var(--soft); font-size:12px } svg .grid { stroke:var(--line) }
"""


def whole(title: str, style: str, body: str) -> str:
    """A page; ``style`` adds to the common one, ``body`` is finished HTML, ``title`` plain text."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title><style>{_BASE}{style}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def headed(sections: list[tuple[str, str]]) -> str:
    """Sections of (heading, finished HTML), the empty ones left out."""
    return "".join(
        f"<section><h2>{text(name)}</h2>{content}</section>"
        for name, content in sections
        if content
    )
