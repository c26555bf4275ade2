"""The objects of a response that may be its answer (ReplaySCM Table A.3), in the order they begin.

Which of them is the answer, ``grader.tracks.replayscm.submission`` decides: the first that is an
executable program. Formulas are never rewritten or repaired.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from grader.io.jsonio import BadJson, parse_strict

MAX_STARTS: Final = 5_000
"""Opening braces that are tried: the first ones of the text."""
MAX_SCANNED: Final = 3 << 20
"""Characters looked at in all, three times the largest answer."""
MAX_PASSES: Final = 100
"""And no more than so often the text's own length: each brace that is never closed costs a pass
over all that follows, which would make the work quadratic."""

_REFUSED: Final = frozenset({"duplicate_key", "non_finite", "huge_number", "too_deep"})
"""Reasons for which an object that is one in form is refused, with all that is in it."""

# An unterminated string runs to the end: trying again at each later quote would be quadratic.
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An object of a response and its length in characters; ``strict``: there is nothing else."""

    document: dict[str, Any]
    span: int
    strict: bool = False


def candidates(data: bytes) -> Iterator[Candidate]:
    """The complete JSON objects of a response in the order they begin, nested ones too.

    A JSON string is taken for the text of the response: that is how ``answers.jsonl`` holds one.
    Raises ``BadJson`` (at the end) when there was none.
    """
    problem = BadJson("not_object", "JSON, but not an object")
    whole: Any = None
    try:
        whole = parse_strict(data)
    except BadJson as found:
        bare = data.strip().startswith(b"{") and data.strip().endswith(b"}")
        if found.reason in ("encoding", "empty") or (bare and found.reason in _REFUSED):
            raise
        problem = found
    if isinstance(whole, str):
        yield from candidates(whole.encode("utf-8"))
        return
    text = data.decode("utf-8")
    strict = isinstance(whole, dict)
    if strict:
        yield Candidate(whole, len(text), strict=True)
    yield from _search(text, problem, nested=strict)


def _search(text: str, problem: BadJson, *, nested: bool) -> Iterator[Candidate]:
    """The objects in a text; with ``nested`` the first brace is that of the whole, and known."""
    budget, behind, found = min(MAX_SCANNED, MAX_PASSES * len(text)), 0, nested
    for place, match in enumerate(re.finditer(r"\{", text)):
        start = match.start()
        if start < behind or (nested and place == 0):
            continue
        end, scanned = _end_of_object(text, start, budget)
        budget -= scanned
        if budget <= 0 or place == MAX_STARTS:
            break
        if end is None:
            continue
        try:
            document = parse_strict(text[start:end].encode("utf-8", errors="replace"))
        except BadJson as bad:
            problem = bad
            if bad.reason in _REFUSED:
                behind = end  # an object, but a bad one: its parts are no answers either
            continue
        found = True
        yield Candidate(document, end - start)
    if not found:
        raise BadJson(problem.reason, f"no complete JSON object: {problem.message}")


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
