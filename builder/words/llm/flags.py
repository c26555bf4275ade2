"""Yellow flags: names and meanings that often hide a derived quantity (paper A.4).

A broad construct that is told as the direct cause of an artefact of record keeping, or a variable
whose meaning denies every other influence, passes an auditor easily. The scan points at such
variables; whether they may stay is for the auditor to say.
"""

import re
from collections.abc import Mapping
from typing import Final

from builder.words.terms import DERIVED

_MORE_DERIVED: Final = re.compile(
    r"\b(index based on|composite|score based on|number of|standardi[sz]ed|normali[sz]ed|"
    r"derived from|computed from|calculated|identifier|record (?:id|number)|percentile|deviation|"
    r"proxy|estimate of|predicted)\b",
    re.IGNORECASE,
)
_RESTRICTIVE: Final = re.compile(
    r"\b(based (?:only|solely|purely) on|independent(?:ly)? of|not (?:influenced|affected|driven) "
    r"by|regardless of|unrelated to|(?:only|solely|exclusively|purely) (?:on|by|from)|"
    r"irrespective of|no other (?:factors?|influences?))\b",
    re.IGNORECASE,
)


def yellow_flags(texts: Mapping[str, str]) -> list[str]:
    """One line for every suspicious variable; ``texts`` maps its id to name and meaning."""
    found = []
    for node, text in texts.items():
        for what, patterns in (
            ("sounds derived", (DERIVED, _MORE_DERIVED)),
            ("denies other influences", (_RESTRICTIVE,)),
        ):
            hits = sorted({m[0].lower() for p in patterns for m in p.finditer(text)})
            if hits:
                found.append(f"{node} {what}: {', '.join(repr(hit) for hit in hits)}")
    return found
