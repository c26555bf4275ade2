"""Reading CauseNet-Precision: causal relations found in text (Heindorf et al. 2020).

Each line is a JSON object ``{"causal_relation": {"cause": {"concept": …}, "effect": {"concept":
…}}, "sources": […]}``; the file may be compressed with bzip2. The number of sources is the
*support* of a relation: how often it was found.
"""

import bz2
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final

from builder.words.terms import TECHNICAL
from grader.errors import UsageError

_CONCEPT: Final = re.compile(r"[a-z]+(?:[ -][a-z]+){0,2}")
_LONGEST_NAME: Final = 34
_LONGEST_LINE: Final = 50_000_000
"""Bytes; provenance makes some lines long."""

CausalPair = tuple[str, str]


@lru_cache(maxsize=1)
def read_pairs(path: Path, where: str) -> Mapping[CausalPair, int]:
    """The (cause, effect) pairs whose concepts can serve as names, sorted, with their support: 0
    where the file tells of no sources.

    Concepts of more than three words, with digits or signs, with terms of statistics, and pairs
    where one concept stands inside the other are left out. ``where`` is the place of the settings
    in a split file. Raises ``UsageError`` naming file and line.
    """
    try:
        with path.open("rb") as raw:
            packed = raw.read(3) == b"BZh"
        with bz2.open(path, "rb") if packed else path.open("rb") as stream:
            found = Counter[CausalPair]()
            for pair, support in _pairs(stream, path):
                found[pair] += support
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{path}: cannot be read ({reason}); give the CauseNet-Precision JSONL file, plain or "
            f"as .bz2, in {where}.causenet"
        ) from None
    if not found:
        raise UsageError(f"{path}: holds no causal relation that could name two variables")
    return MappingProxyType(dict(sorted(found.items())))


def _pairs(stream: "IO[bytes] | bz2.BZ2File", path: Path) -> Iterator[tuple[CausalPair, int]]:
    number = 0
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            relation = told["causal_relation"]
            ends = [relation[end]["concept"] for end in ("cause", "effect")]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise UsageError(
                f'{path}: line {number} is no CauseNet relation; each needs {{"causal_relation": '
                '{"cause": {"concept": …}, "effect": {"concept": …}}}'
            ) from None
        if (pair := _usable(*ends)) is not None:
            sources = told.get("sources")
            yield pair, len(sources) if isinstance(sources, list) else 0


def _usable(cause: object, effect: object) -> CausalPair | None:
    names = []
    for concept in (cause, effect):
        text = " ".join(concept.replace("_", " ").split()) if isinstance(concept, str) else ""
        if not _CONCEPT.fullmatch(text) or not 3 <= len(text) <= _LONGEST_NAME:
            return None
        if TECHNICAL.search(text):
            return None
        names.append(text[0].upper() + text[1:])
    low = [name.lower() for name in names]
    return None if low[0] in low[1] or low[1] in low[0] else (names[0], names[1])
