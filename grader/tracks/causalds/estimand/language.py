"""The language of estimand formulas: text to steps in the order in which they are evaluated.

::

    formula := factor (("*" | "/") factor)*         from left to right
    factor  := "P(" names ["|" names] ")"           a probability, given what stands after the bar
             | "sum{" names "}(" formula ")"        over all values of the named variables
             | "(" formula ")"
    names   := name ("," name)*

A name in a formula stands for a value of its variable: the one that the nearest sum around it runs
over, or the one that is left free. Nothing here is recursive, and a text is gone through once, so
that neither its size nor its depth matters.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from grader.errors import Invalid
from grader.io.jsonio import clip
from grader.names import did_you_mean, known_name, normal_name

MAX_NODES: Final = 200
"""Probabilities, sums, products and quotients of a formula together."""
MAX_DEPTH: Final = 50
"""Open brackets around any part of a formula."""
MAX_FREE: Final = 12
"""Variables that the value of any part of a formula may depend on."""
MAX_TEXT: Final = 40_000

_SPACE: Final = re.compile(r"\s*")
_OPENING: Final = re.compile(r"(P)\s*\(|(sum)\s*\{|(\()", re.IGNORECASE)
_GRAMMAR: Final = "write P(names | names), sum{names}( … ) or ( … )"


@dataclass(frozen=True, slots=True)
class Probability:
    """P(targets | given): names of variables, none of them twice."""

    targets: tuple[str, ...]
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of the last result over all values of ``over``."""

    over: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """``*`` or ``/`` of the last two results, the earlier one first."""

    sign: str


Step = Probability | Total | Operation
Formula = tuple[Step, ...]
"""The steps of a formula in postfix order."""


@dataclass(slots=True)
class _Level:
    """An open bracket: the sum that it belongs to, and the sign that waits for a second factor."""

    total: Total | None = None
    sign: str = ""


@dataclass(slots=True)
class _Reader:
    """What has been read of a formula; ``free`` are the free variables of each open result."""

    known: Mapping[str, str]
    spelt: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    free: list[frozenset[str]] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=lambda: [_Level()])

    def names(self, text: str, where: str) -> tuple[str, ...]:
        """The variables in a list of names, as the task spells them."""
        found = tuple(self._name(name.strip(), where) for name in text.split(","))
        if len(set(found)) < len(found):
            raise Invalid("formula_names", f"{where}: a variable stands there twice; name it once")
        return found

    def _name(self, text: str, where: str) -> str:
        if text not in self.spelt:
            normal = known_name(text, self.known.keys())
            if not text:
                raise Invalid("formula", f"{where}: a name is missing")
            if normal not in self.known:
                raise Invalid(
                    "formula_names",
                    f"{where}: {clip(text)} is no measured variable"
                    f"{did_you_mean(text, self.known.values())}",
                )
            self.spelt[text] = self.known[normal]
        return self.spelt[text]

    def add(self, step: Step) -> None:
        """Take a step, with all that can be said against it before it is evaluated."""
        if len(self.steps) == MAX_NODES:
            raise Invalid("formula_limit", f"more than {MAX_NODES} parts; write a shorter formula")
        self.steps.append(step)
        match step:
            case Probability(targets, given):
                self.free.append(frozenset(targets + given))
            case Operation():
                second, first = self.free.pop(), self.free.pop()
                self.free.append(first | second)
            case Total(over):
                body = self.free.pop()
                if idle := sorted(set(over) - body):
                    raise Invalid(
                        "formula_names",
                        f"{clip(idle[0])} is summed over, but what is summed does not depend on "
                        "it; leave it out of the sum",
                    )
                self.free.append(body - set(over))
        if len(self.free[-1]) > MAX_FREE:
            raise Invalid(
                "formula_limit",
                f"a part depends on {len(self.free[-1])} variables; at most {MAX_FREE} are read",
            )

    def factor(self, step: Step | None) -> None:
        """A factor is complete: ``step`` makes it, where it needs one; then its sign applies."""
        if step is not None:
            self.add(step)
        level = self.levels[-1]
        if level.sign:
            self.add(Operation(level.sign))
            level.sign = ""


def read_formula(text: str, names: Collection[str], ends: Collection[str]) -> Formula:
    """The formula that ``text`` spells over the variables ``names``, with ``ends`` alone left free.

    Raises :class:`Invalid` with one line that says what to change.
    """
    if len(text) > MAX_TEXT:
        raise Invalid("formula_limit", f"{len(text):,} characters; at most {MAX_TEXT:,} are read")
    reader = _Reader({normal_name(name): name for name in names})
    position, expects_factor = 0, True
    while (position := _after_space(text, position)) < len(text):
        if expects_factor:
            position, expects_factor = _opened(reader, text, position)
        else:
            expects_factor = _continued(reader, text, position)
            position += 1
    if expects_factor:
        problem = "it ends where a factor should follow" if reader.steps else "it is empty"
        raise Invalid("formula", f"{problem}; {_GRAMMAR}")
    if len(reader.levels) > 1:
        raise Invalid("formula", "a bracket is never closed; add )")
    left = sorted(reader.free[-1].difference(ends))
    if left:
        raise Invalid(
            "formula_free",
            f"{clip(left[0])} is left free beside treatment and outcome; sum over it (where it "
            "makes no difference, weighted by its probability)",
        )
    return tuple(reader.steps)


def _opened(reader: _Reader, text: str, position: int) -> tuple[int, bool]:
    """Read a probability, or the opening of a sum or bracket; whether a factor must follow."""
    match = _OPENING.match(text, position)
    if match is None:
        raise Invalid("formula", f"{_here(text, position)} begins no factor; {_GRAMMAR}")
    if match[1]:
        content, position = _upto(text, match.end(), ")")
        reader.factor(_probability(reader, content))
        return position, False
    total = None
    if match[2]:
        content, position = _upto(text, match.end(), "}")
        total = Total(reader.names(content, clip(f"sum{{{content}}}")))
        position = _after_space(text, position)
        if text[position : position + 1] != "(":
            raise Invalid("formula", "what a sum adds up stands in brackets; write sum{names}( … )")
        position += 1
    else:
        position = match.end()
    if len(reader.levels) > MAX_DEPTH:
        raise Invalid("formula_limit", f"more than {MAX_DEPTH} open brackets; flatten it")
    reader.levels.append(_Level(total))
    return position, True


def _continued(reader: _Reader, text: str, position: int) -> bool:
    """Read what follows a factor; whether a factor must follow it."""
    sign = text[position]
    if sign in "*/":
        reader.levels[-1].sign = sign
        return True
    if sign != ")":
        raise Invalid(
            "formula",
            f"{_here(text, position)} follows a factor; only * and / join factors, and ) closes a "
            "bracket",
        )
    if len(reader.levels) == 1:
        raise Invalid("formula", "a ) without its (")
    total = reader.levels.pop().total
    reader.factor(total)
    return False


def _probability(reader: _Reader, content: str) -> Probability:
    where = clip(f"P({content})")
    targets, bar, given = content.partition("|")
    if "|" in given:
        raise Invalid("formula", f"{where}: two bars; write what is given after one, with commas")
    left = reader.names(targets, where)
    right = reader.names(given, where) if bar else ()
    if both := sorted(set(left) & set(right)):
        raise Invalid("formula_names", f"{where}: {clip(both[0])} stands on both sides of the bar")
    return Probability(left, right)


def _upto(text: str, start: int, closing: str) -> tuple[str, int]:
    """What stands before the next ``closing``, and the place after it."""
    end = text.find(closing, start)
    if end < 0:
        raise Invalid("formula", f"{_here(text, start)}: no {closing} closes the list of names")
    content = text[start:end]
    if "do(" in content.casefold():
        raise Invalid("formula", "do(…) is what is asked for; only what is observed may be used")
    return content, end + 1


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()


def _here(text: str, position: int) -> str:
    return clip(text[position : position + 20])


def text_of(formula: Formula) -> str:
    """The formula as text; :func:`read_formula` reads it back to the same steps."""
    parts: list[tuple[str, bool]] = []
    for step in formula:
        match step:
            case Probability(targets, given):
                bar = f" | {', '.join(given)}" if given else ""
                parts.append((f"P({', '.join(targets)}{bar})", False))
            case Total(over):
                body, _ = parts.pop()
                parts.append((f"sum{{{', '.join(over)}}}({body})", False))
            case Operation(sign):
                second, composite = parts.pop()
                first, _ = parts.pop()
                parts.append((f"{first} {sign} {f'({second})' if composite else second}", True))
    return parts[0][0]
