"""The sentence patterns of implied stories (``patterns.toml``) and what each of them says.

A row of patterns says one statement or several about the same slots. The teller fills a row with
statements that agree on its slots (:func:`bindings`); the verifier reads a sentence back through
the same rows (:func:`readings`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from builder.implied.statements import Kind, Statement
from builder.texts import Texts
from builder.words import frames
from builder.words.types import Variable

_TEXTS: Final = Texts(__file__)
INTROS: Final = _TEXTS.lines("intros")
OPENERS: Final = _TEXTS.lines("openers")
NO_DIRECTION: Final = _TEXTS.lines("no_direction")
AFTER_TRIALS: Final = _TEXTS.lines("after_trials")
AS_IT_HAPPENED: Final = _TEXTS.lines("as_it_happened")
ROOTS: Final = _TEXTS.lines("roots")

Binding = Mapping[str, str]
"""By slot: a name, several joined by ``_LIST``, or a number in digits."""

_LIST: Final = "|"
_NUMBERS: Final = frozenset("nk")
_PIECES: Final = re.compile(r"(\{\w+\}|\[[\w./]+\])")
_AGREES_WITH: Final = re.compile(r"\[(\w)\.([\w/]+)\]")
_SYMMETRIC: Final = frozenset({"shared", "unshared"})


@dataclass(frozen=True, slots=True)
class Row:
    """Patterns of one meaning: kinds of statements with their slots."""

    says: tuple[tuple[Kind, tuple[str, ...]], ...]
    texts: tuple[str, ...]


def _row(says: Sequence[str], texts: Sequence[str]) -> Row:
    meant = (line.split() for line in says)
    return Row(tuple((kind, tuple(slots)) for kind, *slots in meant), tuple(texts))  # type: ignore[misc]


ROWS: Final = tuple(_row(**row) for row in _TEXTS["rows"])


def bindings(row: Row, statements: Sequence[Statement]) -> Binding | None:
    """The slots of a row for these statements, in this order, or None where they do not agree."""
    found: dict[str, str] = {}
    if len(row.says) != len(statements):
        return None
    for (kind, slots), statement in zip(row.says, statements, strict=True):
        if statement.kind != kind:
            return None
        values = _values(statement)
        if len(values) != len(slots):
            return None
        for slot, value in zip(slots, values, strict=True):
            if found.setdefault(slot, value) != value:
                return None
    things = [value for slot, value in found.items() if slot not in _NUMBERS]
    return found if len(set(things)) == len(things) else None


def _values(statement: Statement) -> tuple[str, ...]:
    if statement.kind == "reach" and len(statement.names) > 1:
        return statement.names[0], _LIST.join(statement.names[1:])
    return (*statement.names, *(() if statement.number is None else (str(statement.number),)))


def things(slot: str, value: str) -> tuple[str, ...]:
    """The names in a slot; none in a slot for a number."""
    return () if slot in _NUMBERS else tuple(value.split(_LIST)) if value else ()


def agreeing(text: str, plural: Mapping[str, bool]) -> str:
    """A pattern with its words that agree with a slot of their own in the form of that slot."""
    return _AGREES_WITH.sub(lambda m: frames.number_forms(m[2])[plural[m[1]]], text)


def number_words(number: int) -> str:
    """How many: "none", "exactly two"."""
    if number == 0:
        return "none"
    words = frames.COUNT_WORDS
    return f"exactly {words[number] if number < len(words) else number}"


def read_number(words: str) -> int | None:
    """The number that :func:`number_words` told, or None."""
    told = words.lower()
    if told == "none":
        return 0
    told = told.removeprefix("exactly ")
    return int(told) if told.isdecimal() else frames.COUNT_WORDS.index(told)


# --- reading back --------------------------------------------------------------------------------


def readings(masked: str, variables: Sequence[Variable]) -> Iterator[tuple[Statement, ...]]:
    """Every way to read a sentence without its full stop, in which «i» is the i-th variable."""
    opener = _openers().match(masked)
    for start in sorted({0, 0 if opener is None else opener.end()}):
        for row, patterns in _compiled():
            for pattern in patterns:
                if (match := pattern.fullmatch(masked[start:])) is not None:
                    yield _said(row, match, variables)


def _said(row: Row, match: re.Match[str], variables: Sequence[Variable]) -> tuple[Statement, ...]:
    found = []
    for kind, slots in row.says:
        names: list[str] = []
        number = None
        for slot in slots:
            told = match[slot]
            if slot in _NUMBERS:
                number = read_number(told)
            else:
                names += [variables[int(i)].name for i in re.findall(r"«(\d+)»", told)]
        found.append(statement(kind, names, number))
    return tuple(found)


def statement(kind: Kind, names: Sequence[str], number: int | None = None) -> Statement:
    """A statement with the names that have no order among them sorted."""
    if kind == "reach":
        return Statement(kind, (names[0], *sorted(names[1:])))
    return Statement(kind, tuple(sorted(names) if kind in _SYMMETRIC else names), number)


@cache
def _compiled() -> tuple[tuple[Row, tuple[re.Pattern[str], ...]], ...]:
    return tuple((row, tuple(re.compile(_regex(text)) for text in row.texts)) for row in ROWS)


@cache
def _openers() -> re.Pattern[str]:
    return re.compile("|".join(_regex(text) for text in OPENERS))


def _regex(template: str) -> str:
    """A pattern as a regular expression; slots about the place match any plain words."""
    one = r"(?:[Tt]he )?«\d+»"
    parts: list[str] = []
    seen: set[str] = set()
    for piece in _PIECES.split(template):
        slot = piece[1:-1]
        if piece.startswith("["):
            parts.append(f"(?:{'|'.join(frames.number_forms(slot.rpartition('.')[2]))})")
        elif not piece.startswith("{"):
            parts.append(f"(?i:{re.escape(piece)})")
        elif slot in seen:
            parts.append(f"(?i:(?P={slot}))")
        elif slot in _NUMBERS:
            parts.append(rf"(?P<{slot}>(?i:none|exactly [\w-]+))")
        elif slot == "list":
            parts.append(rf"(?P<list>{one}(?:, {one})*(?: and {one})?)")
        elif len(slot) == 1:
            parts.append(rf"(?P<{slot}>{one})")
        else:
            parts.append(r"[\w' -]+?")
        seen.add(slot)
    return "".join(parts)


def is_one_of(sentence: str, lines: Sequence[str]) -> bool:
    """Whether a sentence is one of these lines, whatever the place."""
    return any(re.fullmatch(_regex(text), sentence) for text in lines)


def tells_trial(sentence: str) -> bool:
    """Whether a remark is about what was changed by hand."""
    return "by hand" in sentence
