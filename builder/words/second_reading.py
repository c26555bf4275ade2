"""``python -m builder.words.second_reading``: do two readers tag the reasons of effects alike?

Without a file it prints a sheet: a random tenth of the reasons of the knowledge graph, with the
coding of cause and effect and without their signs. Given a sheet in which somebody has put a sign
between every pair of brackets, it prints how far these signs agree with those of the domains.
"""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sklearn.metrics import cohen_kappa_score

from builder.seeds import shuffled, stream
from builder.words.knowledge import SIGNS, Concept, Domain, Sign, domain, domains
from grader.errors import UsageError
from grader.io.pipe import exit_with

_SHARE: Final = 0.1
_KEY: Final = b"second reading 1"
_EMPTY: Final = " "
_LINE: Final = re.compile(r"\[(.)\] (\w+): ([^(]+) \(.*?\) -> ([^(]+) \(.*?\): ")

RULES: Final = """\
# Put + - or 0 between the brackets of every line.
# + (or -): who knows the two variables and their coding, and is told this reason, expects more (or
#   less) of the effect where there is more of the cause. The reason need not say so: what it
#   describes works one way for a sensible reader, at odds of three to one or better.
# 0: it leaves the direction open.
# More is more of the unit that is named, and the second of the two states, whatever the name of the
# variable suggests: of a sourness in pH units, more is less sour.
"""

Reason = tuple[str, str, str]
"""Key of a domain, cause, effect."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two readings of the same reasons agree: the share of equal signs, Cohen's kappa, and the
    reasons that they differ in, with the sign of the domain and that of the sheet."""

    reasons: int
    share: float
    kappa: float
    differing: Mapping[Reason, tuple[Sign, Sign]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the sheet, or how a filled one agrees; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m builder.words.second_reading", description=__doc__
    )
    parser.add_argument("sheet", nargs="?", type=Path, help="a sheet that was filled in")
    options = parser.parse_args(arguments)
    if options.sheet is None:
        print(RULES + "\n".join(sheet()))
        return 0
    try:
        found = agreement(options.sheet)
    except UsageError as error:
        print(f"error: {error}")
        return 2
    for (key, cause, effect), (first, second) in found.differing.items():
        print(f"{key}: {cause} -> {effect}: {first} here, {second} in the sheet")
    print(f"{found.reasons} reasons, {found.share:.1%} alike, kappa {found.kappa:.3f}")
    return 0


def sampled() -> list[Reason]:
    """The seeded tenth of the reasons, in the order of the domains."""
    reasons = [(one.key, *edge) for one in domains() for edge in one.mechanism_clauses]
    places = shuffled(stream(_KEY, "reasons"), range(len(reasons)))
    return [reasons[place] for place in sorted(places[: round(_SHARE * len(reasons))])]


def sheet() -> Iterator[str]:
    """A line for every reason of the tenth."""
    for key, cause, effect in sampled():
        one = domain(key)
        ends = " -> ".join(_coded(one, name) for name in (cause, effect))
        yield f"[{_EMPTY}] {key}: {ends}: {one.mechanism_clauses[cause, effect]}"


def _coded(found: Domain, name: str) -> str:
    concept: Concept = next(one for one in found.concepts if one.name == name)
    states = None if concept.states is None else " / ".join(concept.states)
    return f"{name} ({'; '.join(text for text in (concept.unit, states) if text)})"


def agreement(path: Path) -> Agreement:
    """How the signs of a filled sheet agree with those of the domains.

    Raises ``UsageError`` naming the line of a sign that is none, or of a reason that is unknown.
    """
    known = {(one.key, *edge): sign for one in domains() for edge, sign in one.signs.items()}
    found: dict[Reason, Sign] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}; give a filled sheet") from None
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        where = f"{path}, line {number}"
        match = _LINE.match(line)
        reason = match and (match[2], match[3], match[4])
        if match is None or reason not in known:
            raise UsageError(f"{where}: no reason of the knowledge graph; print the sheet again")
        sign = next((sign for sign in SIGNS if sign == match[1]), None)
        if sign is None:
            raise UsageError(f"{where}: {match[1]!r} is no sign; put one of {', '.join(SIGNS)}")
        found[reason] = sign
    if not found:
        raise UsageError(f"{path}: no reasons; give a filled sheet")
    pairs = {reason: (known[reason], sign) for reason, sign in found.items()}
    first, second = zip(*pairs.values(), strict=True)
    alike = sum(one == other for one, other in pairs.values())
    return Agreement(
        len(pairs),
        alike / len(pairs),
        float(cohen_kappa_score(first, second, labels=list(SIGNS))),
        {reason: pair for reason, pair in pairs.items() if pair[0] != pair[1]},
    )


if __name__ == "__main__":
    exit_with(main)
