"""JSON: one hardened loader for hostile input, one canonical form for output.

The standard parser accepts NaN, Infinity, 1e999 (as infinity) and duplicate keys, recurses on deep
input and spends quadratic time on huge integers. Every answer file goes through
:func:`parse_strict`, which refuses each of these with a reason of its own.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from grader.errors import Invalid

MAX_DEPTH: Final = 32
MAX_INTEGER_DIGITS: Final = 18
"""Longer integers are refused: no answer needs them and parsing them is slow."""
_NOT_ASCII: Final = re.compile(r"[^\n -~]")
# An unterminated string runs to the end: trying again at each later quote would be quadratic.
PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
"""A string, or a bracket outside of strings."""


class BadJson(Invalid):
    """Text is not acceptable JSON."""


def canonical_json(value: object) -> str:
    """Return ``value`` as canonical JSON: sorted keys, no spaces, shortest floats. Raises
    ``ValueError`` for NaN and infinities, ``TypeError`` for what is not JSON."""
    tight = (",", ":")
    return json.dumps(value, sort_keys=True, separators=tight, ensure_ascii=False, allow_nan=False)


def pretty_json(value: object) -> str:
    """Return ``value`` as indented, printable JSON with sorted keys and a final newline."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return escape_unprintable(text) + "\n"


def escape_unprintable(text: str) -> str:
    """Return JSON text that means the same, with ``\\u`` escapes for what cannot be printed but
    line feeds: ``json`` itself escapes no DEL, no C1 control and no bidirectional mark."""
    return _NOT_ASCII.sub(
        lambda one: one[0] if one[0].isprintable() else json.dumps(one[0])[1:-1], text
    )


def parse_strict(data: bytes, *, max_depth: int = MAX_DEPTH) -> Any:
    """Parse UTF-8 JSON, refusing what the standard parser lets through.

    The caller bounds the size. Raises :class:`BadJson` with reason ``empty``, ``encoding``,
    ``too_deep``, ``non_finite``, ``huge_number``, ``duplicate_key`` or ``not_json``.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is not UTF-8; save the file as UTF-8"
        raise BadJson("encoding", why) from None
    if text.startswith("\ufeff"):
        raise BadJson("encoding", "starts with a byte order mark; save as UTF-8 without it")
    if not text.strip():
        raise BadJson("empty", "the file is empty; write one JSON object")
    _check_depth(text, max_depth)
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            parse_int=_bounded_int,
            object_pairs_hook=_unique_keys,
        )
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}, column {error.colno}: {error.msg}"
        if text.lstrip().startswith("```"):
            why = "begins with a Markdown fence; leave out the lines ```"
        raise BadJson("not_json", why) from None
    _check_surrogates(text)
    return value


def as_mapping(text: str) -> Mapping[str, Any]:
    """Parse JSON text (a release's ``*_json`` column) that must hold an object of finite numbers;
    raises ``ValueError``. Long integers are read, since exact fractions have them."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite_float)
        _check_surrogates(text)
    except BadJson as error:
        raise ValueError(error.message) from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, not {clip(value)}")
    return value


def _check_depth(text: str, max_depth: int) -> None:
    """Raise :class:`BadJson` for deep nesting, before the recursive parser meets it."""
    if text.count("[") + text.count("{") <= max_depth:
        return
    depth = 0
    for piece in PIECE.finditer(text):
        first = text[piece.start()]
        depth += (first in "[{") - (first in "]}")
        if depth > max_depth:
            raise BadJson("too_deep", f"nested more than {max_depth} levels deep; flatten it")


def _refuse_constant(name: str) -> NoReturn:
    raise BadJson("non_finite", f"{name} is not a JSON number; write a finite number or null")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadJson("non_finite", f"{text[:40]} is beyond a double; write a finite number")
    return value


def _bounded_int(text: str) -> int:
    if len(text.lstrip("-")) > MAX_INTEGER_DIGITS:
        why = f"an integer of {len(text)} digits; at most {MAX_INTEGER_DIGITS} are read"
        raise BadJson("huge_number", why)
    return int(text)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object's members; raises :class:`BadJson` for a key that appears twice."""
    value = dict(pairs)
    if len(value) != len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise BadJson("duplicate_key", f"the key {clip(key)} appears twice; keep one")
    return value


def _check_surrogates(text: str) -> None:
    """Raise :class:`BadJson` for half a surrogate pair (``\\ud800``), legal JSON but no Unicode."""
    if "\\u" not in text.lower():
        return
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadJson("encoding", "holds half of a surrogate pair (\\ud800 …)") from None


def clip(value: object, length: int = 60) -> str:
    """Return ``value`` as short one-line JSON for messages; control characters stay escaped."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError):
        text = ascii(value)
    return text if len(text) <= length else text[: length - 1] + "…"
