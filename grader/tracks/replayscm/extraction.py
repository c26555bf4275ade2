"""Finding the answer object in a response (ReplaySCM A.2), by one deterministic rule.

The rule: if the whole text is one JSON object, that is it. Otherwise it is the last complete JSON
object in the text that fits the answer's schema; if none fits, the last complete one. Formulas
are never rewritten or repaired.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from grader.io.jsonio import BadJson, parse_strict

MAX_STARTS: Final = 200
"""Opening braces that are tried: the last ones of the text."""
MAX_SCANNED: Final = 8 << 20
"""Characters looked at in all, so that nested fragments cannot cost quadratic time."""

_REFUSED: Final = frozenset({"duplicate_key", "non_finite", "huge_number", "too_deep"})
"""Reasons for which an object that is one in form is refused, with all that is in it."""

# An unterminated string runs to the end: trying again at each later quote would be quadratic.
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The object found; ``strict`` when the response was nothing else."""

    document: dict[str, Any]
    strict: bool


def extract(data: bytes, fits: Callable[[object], bool]) -> Extracted:
    """The answer object of a response; raises ``BadJson`` when there is no complete object.

    A JSON string is taken for the text of the response: that is how ``answers.jsonl`` holds one.
    """
    try:
        value = parse_strict(data)
    except BadJson as problem:
        bare = data.strip().startswith(b"{") and data.strip().endswith(b"}")
        if problem.reason in ("encoding", "empty") or (bare and problem.reason in _REFUSED):
            raise
        return _search(data.decode("utf-8"), fits, problem)
    if isinstance(value, str):
        return extract(value.encode("utf-8"), fits)
    if isinstance(value, dict):
        return Extracted(value, strict=True)
    return _search(data.decode("utf-8"), fits, BadJson("not_object", "JSON, but not an object"))


def _search(text: str, fits: Callable[[object], bool], problem: BadJson) -> Extracted:
    starts = [match.start() for match in re.finditer(r"\{", text)][-MAX_STARTS:]
    last: dict[str, Any] | None = None
    fitting: dict[str, Any] | None = None
    budget = MAX_SCANNED
    behind = 0
    for start in starts:
        if start < behind:
            continue  # inside an object that is settled already
        end, scanned = _end_of_object(text, start, budget)
        budget -= scanned
        if budget <= 0:
            break
        if end is None:
            continue
        try:
            document = parse_strict(text[start:end].encode("utf-8", errors="replace"))
        except BadJson as found:
            problem = found
            if found.reason in _REFUSED:
                behind = end  # an object, but a bad one: its parts are no answers either
            continue
        if fits(document):
            fitting, behind = document, end
        last = document
    chosen = fitting if fitting is not None else last
    if chosen is None:
        raise BadJson(problem.reason, f"no complete JSON object: {problem.message}")
    return Extracted(chosen, strict=False)


def _end_of_object(text: str, start: int, budget: int) -> tuple[int | None, int]:
    """Where the object that opens at ``start`` closes, and how many characters were looked at."""
    depth = 0
    limit = start + budget
    for piece in _PIECE.finditer(text, start, min(len(text), limit)):
        token = piece.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return piece.end(), piece.end() - start
    return None, min(len(text), limit) - start
