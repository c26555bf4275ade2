"""Numbers as words, untrusted text made safe, and the field's terms explained where they stand."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence, Set
from html import escape
from pathlib import Path
from typing import Final

from grader.io.jsonio import canonical_json
from grader.io.printing import printable

Edge = tuple[str, str]
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>#|!@])")


def clip_text(value: str, limit: int) -> str:
    """Return text, or its beginning with dots where it is longer than ``limit``."""
    return value if len(value) <= limit else value[: limit - 1] + "…"


def safe(value: str, limit: int = 200) -> str:
    """Return untrusted text for HTML and SVG: escaped, without control characters, bounded."""
    return escape(clip_text(printable(value), limit), quote=True)


def markdown_text(value: str, limit: int = 400) -> str:
    """Return untrusted text for Markdown: markup escaped, only what can be printed, bounded."""
    return _MARKUP.sub(r"\\\1", clip_text(printable(value), limit))


def question_of(prompt: str, begin: str = "Question") -> str:
    """Return a prompt from section ``begin`` up to the form of the answer; all without one."""
    _, _, rest = prompt.partition(f"\n## {begin}\n")
    return rest.partition("\n## Answer\n")[0].strip() or prompt


def plain_json(value: object) -> str:
    """Return parsed JSON as a line: edges as arrows, inner objects in brackets, lists in braces."""
    match value:
        case {"from": cause, "to": effect}:
            return f"{cause} → {effect}"
        case {"a": one, "b": other}:
            return f"{one} – {other}"
        case dict():
            said = ((k, isinstance(item, dict), plain_json(item)) for k, item in value.items())
            return "; ".join(
                f"{k} ({text})" if inner else f"{k}: {text}" for k, inner, text in said
            )
        case list():
            items = ((isinstance(item, list), plain_json(item)) for item in value)
            return ", ".join(f"{{{text}}}" if inner else text for inner, text in items) or "(empty)"
    return value if isinstance(value, str) else canonical_json(value)


def edge_changes(given: Set[Edge], true: Set[Edge], arrow: str = "→") -> str:
    """Return which edges ``given`` lacks, adds or turns round, in words; "all right" if none."""
    turned = {(a, b) for a, b in given - true if (b, a) in true - given}
    missing = true - given - {(b, a) for a, b in turned}
    groups = {"missing": missing, "extra": given - true - turned, "to be reversed": turned}
    said = {word: [f"{a} {arrow} {b}" for a, b in sorted(groups[word])] for word in groups}
    parts = (f"{word} {', '.join(texts)}" for word, texts in said.items() if texts)
    return "; ".join(parts) or "all right"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with ``digits`` decimals (scientific from a million), or a dash for None."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.2e}"


def points(value: float | None) -> str:
    """Return points with one digit, or a dash for None."""
    return number(value, 1)


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share (0 to 1) as a percentage, or a dash for None."""
    return "–" if share is None else f"{100 * share:.{digits}f}%"


def count(value: float | None) -> str:
    """Return a count or a rung as it is, or a dash where a redacted report leaves it out."""
    return "–" if value is None else f"{value:.0f}"


def count_text(value: float | None) -> str:
    """Return a large count with its unit, such as 12.9k or 2.45M, or a dash for None."""
    if value is None:
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f}{unit}" if value < 10 * size else f"{value / size:.1f}{unit}"
    return f"{value:.0f}"


def signed_number(value: float | None, digits: int = 1) -> str:
    """Return a difference with its sign, zero with a plus, or a dash for None."""
    return "–" if value is None else f"{value:+z.{digits}f}"


def interval_text(
    ends: Sequence[float] | None, digits: int = 3, show: Callable[[float, int], str] = number
) -> str:
    """Return an interval in brackets, each end by ``show``, or a dash for None."""
    return "–" if ends is None else f"[{', '.join(show(end, digits) for end in ends)}]"


def with_count(figure: str, tasks: int | None) -> str:
    """Return a figure with its number of tasks in brackets, or a dash over no task."""
    if tasks == 0:
        return "–"
    return figure if tasks is None or figure == "–" else f"{figure} ({tasks})"


_TERMS: Final[Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_TERM: Final = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(_TERMS, key=len, reverse=True)))})(?!\w)"
)
_USED: Final = re.compile(r'<abbr title="([^"]*)">(.*?)</abbr>')


def with_term_explained(text: str, write: Callable[[str], str] = safe) -> str:
    """Return text as HTML (by ``write``) in which hovering explains the first term."""
    found = _TERM.search(text)
    if found is None:
        return write(text)
    term = found.group()
    abbreviation = f'<abbr title="{safe(_TERMS[term], 400)}">{write(term)}</abbr>'
    return write(text[: found.start()]) + abbreviation + write(text[found.end() :])


def glossary(markup: str) -> str:
    """Return a list to unfold of the terms that finished markup explains, "" without any."""
    used = {term: meaning for meaning, term in _USED.findall(markup)}
    if not used:
        return ""
    terms = sorted(used.items(), key=lambda item: item[0].lower())
    lines = "".join(f"<dt>{term}</dt><dd>{meaning}</dd>" for term, meaning in terms)
    return (
        f'<details class="terms"><summary>What the terms mean</summary><dl>{lines}</dl></details>'
    )
