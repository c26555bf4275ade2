"""The hypothesis language: a strict schema, and errors an agent can be asked again with.

A hypothesis states directed edges, the target's equation in the episode's family, and the
coefficients of that equation (paper §4 and A.5). The equation is a sum of terms, read factor by
factor and never evaluated. A step record has five fields (memory, thought, past data, hypothesis,
experiment), of which only the hypothesis is read.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from grader.io.jsonio import clip
from grader.laboratory.episode import MAX_NAME, plain, spellings_of

Term = tuple[str, int]
"""A parent and its power; :data:`BASE` stands for the base."""
Equation = dict[Term, float | None]
"""The terms as they are written: a number, None where a coefficient's name stands instead."""

BASE: Final = ("", 0)
MAX_COEFFICIENT: Final = 1e12
STEP_FIELDS: Final = ("memory", "thought", "past_data", "hypothesis", "experiment")
MAX_EDGES: Final = 200
MAX_EQUATION: Final = 2000
_MEMBERS: Final = ("edges", "freq_equation", "coefficients")
_SYMBOLS: Final = (("c_", "", 1), ("c2_", "", 2), ("c_", "_1", 2), ("c_", "_2", 1))
"""How a coefficient's name may be written around its parent's, and the power that it belongs to.
Only the first stands in linear equations."""
_SIGNS: Final = re.compile(r"[\s+-]*+")
_FACTOR: Final = re.compile(
    r"\s*+(?:(?P<number>(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,3})?)"
    r"|(?P<name>[^\W\d]\w*+)(?:\s*+(?:\^|\*\*)\s*+(?P<power>[\w.]++))?)\s*+"
)


class BadHypothesis(ValueError):
    """Raised for a hypothesis that does not follow the schema; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A parsed hypothesis.

    ``edges`` are (parent, child) without repeats. ``terms`` maps every declared parent of the
    target to its coefficients ``(linear, quadratic)``. A term that the equation does not have is 0.
    ``base`` and a coefficient are None where they are not known yet.
    """

    edges: frozenset[tuple[str, str]]
    base: float | None
    terms: Mapping[str, tuple[float | None, float | None]]

    def predict(self, values: Mapping[str, float]) -> float | None:
        """Return the target for property ``values``; None while a number it needs is not known."""
        total = self.base
        for parent, (linear, quadratic) in self.terms.items():
            if total is None or linear is None or quadratic is None:
                return None
            total += quadratic * values[parent] ** 2 + linear * values[parent]
        return total


EMPTY: Final = Hypothesis(frozenset(), None, {})
"""The hypothesis that is scored where none was given."""


def parse_hypothesis(document: object, public: Mapping[str, Any]) -> Hypothesis:
    """Return the hypothesis in a document, which may be a step record that holds it.

    ``public`` is the public part of the episode. Raises :class:`BadHypothesis`, also where the
    hypothesis contradicts itself or the public part.
    """
    if isinstance(document, Mapping) and "hypothesis" in document:
        if strange := [key for key in document if key not in STEP_FIELDS]:
            raise BadHypothesis(
                f"the step record has no field {clip(strange[0])}; its fields are "
                f"{', '.join(STEP_FIELDS)}"
            )
        document = document["hypothesis"]
    return _Parser(public).parse(document)


class _Parser:
    """Parses hypotheses for one episode, whose names and family it knows."""

    def __init__(self, public: Mapping[str, Any]) -> None:
        self._quadratic = public["family"] == "quadratic"
        self._target = public["target"]["name"]
        self._target_acts = public["frequency_may_be_parent"]
        self._spellings = spellings_of(public)

    def parse(self, document: object) -> Hypothesis:
        """Return the hypothesis in its JSON object; raises ``BadHypothesis``."""
        if not isinstance(document, Mapping):
            raise BadHypothesis(f"the hypothesis is no object; give {', '.join(_MEMBERS)}")
        if absent := [member for member in _MEMBERS if member not in document]:
            raise BadHypothesis(f'the member "{absent[0]}" is absent; add it')
        if strange := [member for member in document if member not in _MEMBERS]:
            raise BadHypothesis(
                f"there is no member {clip(strange[0])}; give only {', '.join(_MEMBERS)}"
            )
        edges = self._edges(document["edges"])
        coefficients = self._coefficients(document["coefficients"])
        base = coefficients.pop(BASE)
        equation = self._equation(document["freq_equation"])
        has_base, stated_base = BASE in equation, equation.pop(BASE, None)
        self._check_agreement(edges, coefficients, equation)
        if stated_base is not None:
            _check_equal("the base", stated_base, base)
        elif not has_base and base:
            raise BadHypothesis("freq_equation: the base is missing; write base + …")
        terms = {
            parent: (coefficients.get((parent, 1), 0.0), coefficients.get((parent, 2), 0.0))
            for parent in sorted({parent for parent, _ in coefficients})
        }
        return Hypothesis(edges, base, terms)

    def _node(self, name: object, where: str) -> str:
        """Return the node that ``name`` means; ``BadHypothesis``, beginning ``where``, if none."""
        node = self._spellings.get(plain(name)) if isinstance(name, str) else None
        if node is None:
            declared = ", ".join(dict.fromkeys(self._spellings.values()))
            raise BadHypothesis(f"{where}: {clip(name)} is not declared; declared are {declared}")
        return node

    def _edges(self, value: object) -> frozenset[tuple[str, str]]:
        """Return (parent, child) edges, each once; ``BadHypothesis`` for a circle or bad edge."""
        if not isinstance(value, list) or len(value) > MAX_EDGES:
            raise BadHypothesis(f"edges: not a list of at most {MAX_EDGES} edges")
        edges = set()
        for number, edge in enumerate(value, start=1):
            where = f"edge {number}"
            if isinstance(edge, Mapping) and edge.keys() == {"from", "to"}:
                ends = [edge["from"], edge["to"]]
            elif isinstance(edge, list) and len(edge) == 2:
                ends = edge
            else:
                raise BadHypothesis(f'{where}: write {{"from": "…", "to": "…"}}')
            parent, child = (self._node(end, where) for end in ends)
            if parent == child:
                raise BadHypothesis(f"{where}: from {parent} to itself; leave it out")
            if parent == self._target and not self._target_acts:
                raise BadHypothesis(f"{where}: {parent} acts on nothing here; leave it out")
            edges.add((parent, child))
        sorter = TopologicalSorter[str]()
        for parent, child in sorted(edges):
            sorter.add(child, parent)
        try:
            sorter.prepare()
        except CycleError as error:
            circle = " to ".join(error.args[1])
            raise BadHypothesis(
                f"edges: a circle from {circle}; nothing acts on itself, so leave one of them out"
            ) from None
        return frozenset(edges)

    def _coefficients(self, value: object) -> Equation:
        """Return the coefficients by term, the base among them, None for each null."""
        if not isinstance(value, Mapping) or "base" not in value:
            raise BadHypothesis('coefficients: not an object with "base" and one entry a term')
        if len(value) > MAX_EDGES:
            raise BadHypothesis("coefficients: too many entries")
        found = Equation()
        for key, number in value.items():
            if isinstance(number, bool) or not isinstance(number, int | float | None):
                raise BadHypothesis(
                    f"coefficients: {clip(key)} is {clip(number)}; write a number or null"
                )
            if not abs(number or 0) <= MAX_COEFFICIENT:
                raise BadHypothesis(f"coefficients: {clip(key)} is beyond ±{MAX_COEFFICIENT:g}")
            term = BASE if key == "base" else self._term(key)
            if term is None:
                forms = "c_<name>, c2_<name>" if self._quadratic else "c_<name>"
                raise BadHypothesis(
                    f"coefficients: {clip(key)} names no term; write base, {forms}, with a name of "
                    f"{self._property_names()}"
                )
            if term in found:
                raise BadHypothesis(f"coefficients: {clip(key)} is given twice; keep one")
            found[term] = None if number is None else float(number)
        return found

    def _term(self, key: str) -> Term | None:
        """Return the (parent, power) that a coefficient's name means, None if it means none."""
        name = key[: MAX_NAME + 8]
        for prefix, suffix, power in _SYMBOLS if self._quadratic else _SYMBOLS[:1]:
            if name.startswith(prefix) and name.endswith(suffix):
                node = self._spellings.get(plain(name.removeprefix(prefix).removesuffix(suffix)))
                if node is not None and node != self._target:
                    return node, power
        return None

    def _property_names(self) -> str:
        return ", ".join(dict.fromkeys(n for n in self._spellings.values() if n != self._target))

    def _equation(self, text: object) -> Equation:
        """Return the target's equation in a text with or without its left side ``target =``."""
        if not isinstance(text, str) or len(text) > MAX_EQUATION:
            raise BadHypothesis(f"freq_equation: not a text of at most {MAX_EQUATION} characters")
        left, equals, right = text.partition("=")
        name = left.strip()
        if equals and not (
            name.isidentifier() and self._spellings.get(plain(name)) == self._target
        ):
            raise BadHypothesis(f"freq_equation: its left side is not {self._target}")
        return read_equation(right if equals else text, self._factor)

    def _factor(self, name: str) -> tuple[str, Term]:
        """Return kind (``base``, ``symbol``, ``variable``) and term; else ``BadHypothesis``."""
        node = self._spellings.get(plain(name))
        if node == self._target:
            raise BadHypothesis(f"freq_equation: {self._target} cannot be its own parent")
        if node is not None:
            return "variable", (node, 1)
        if name == "base":
            return "base", BASE
        term = self._term(name)
        if term is None:
            raise BadHypothesis(
                f"freq_equation: {clip(name)} is not declared; use {self._property_names()}, base, "
                "c_<name>"
            )
        return "symbol", term

    def _check_agreement(
        self, edges: frozenset[tuple[str, str]], coefficients: Equation, equation: Equation
    ) -> None:
        """Raise ``BadHypothesis`` unless edges, equation and coefficients have the same terms."""
        parents = {parent for parent, child in edges if child == self._target}
        in_equation = {parent for parent, _ in equation}
        if parents != in_equation:
            odd = min(parents ^ in_equation)
            sides = ("edges", "freq_equation") if odd in parents else ("freq_equation", "edges")
            raise BadHypothesis(
                f"{odd} is a parent of {self._target} in {sides[0]} but not in {sides[1]}; "
                "make them agree"
            )
        if not self._quadratic and any(power == 2 for _, power in equation):
            raise BadHypothesis("freq_equation: a square, but the family is linear")
        if coefficients.keys() != equation.keys():
            parent, power = min(coefficients.keys() ^ equation.keys())
            term = f"{parent}^2" if power == 2 else parent
            missing = "coefficients" if (parent, power) in equation else "freq_equation"
            raise BadHypothesis(f"the term {term} is missing in {missing}; make them agree")
        for (parent, power), number in equation.items():
            if number is not None:
                term = f"{parent}^2" if power == 2 else parent
                _check_equal(f"the coefficient of {term}", number, coefficients[parent, power])
        for parent in sorted(parents):
            if not any(value != 0 for (name, _), value in coefficients.items() if name == parent):
                raise BadHypothesis(
                    f"coefficients: {parent} adds 0, so it is no parent of {self._target}; leave "
                    "out its edge and term, or write null for what is not known"
                )


def _check_equal(what: str, written: float, given: float | None) -> None:
    """Raise ``BadHypothesis`` unless the equation's number is the coefficient that was given."""
    if given is None or not math.isclose(written, given, rel_tol=1e-9, abs_tol=1e-9):
        raise BadHypothesis(
            f"{what} is {written:g} in freq_equation but {clip(given)} in coefficients; "
            "make them agree"
        )


def read_equation(text: str, factor: Callable[[str], tuple[str, Term]]) -> Equation:
    """Return the equation on a right side, or raise :class:`BadHypothesis`.

    ``factor`` gives the kind of a name (``variable``, ``symbol`` or ``base``) and its term.
    """
    equation, text, place = Equation(), text.strip(), 0
    while place < len(text):
        signs = _SIGNS.match(text, place)
        assert signs is not None
        if place and not signs[0]:
            raise BadHypothesis(
                f"freq_equation: {clip(text[place : place + 12])} is not expected there; "
                "write a sum of coefficient*name"
            )
        is_negative = signs[0].count("-") % 2 == 1
        place, number, symbol, variable = _read_product(text, signs.end(), factor)
        if symbol is not None and (number is not None or is_negative):
            raise BadHypothesis(
                "freq_equation: a coefficient's name already stands for sign and number; "
                "write it with + and alone"
            )
        term = variable or BASE
        if symbol not in (None, term):
            raise BadHypothesis(
                "freq_equation: a coefficient alone or before another variable than its own"
            )
        if term in equation:
            twice = f"{term[0]} has two terms of one power" if variable else "two constants"
            raise BadHypothesis(f"freq_equation: {twice}; add them up")
        factors = 1.0 if number is None else number
        equation[term] = None if symbol else -factors if is_negative else factors
    return equation


def _read_product(
    text: str, place: int, factor: Callable[[str], tuple[str, Term]]
) -> tuple[int, float | None, Term | None, Term | None]:
    """Return (place after a product, number, symbol's term, variable's term), each or None."""
    number: float | None = None
    symbol: Term | None = None
    variable: Term | None = None
    while True:
        match = _FACTOR.match(text, place)
        if match is None:
            rest = text[place : place + 12].strip()
            if not rest or rest[0] in "+-*^=":
                raise BadHypothesis(
                    "freq_equation: it ends, or two operators meet, where a number or a name "
                    "should be"
                )
            raise BadHypothesis(
                f"freq_equation: {clip(rest)} cannot be read; write a sum of coefficient*name"
            )
        place = match.end()
        if match["number"]:
            if not (value := float(match["number"])) <= MAX_COEFFICIENT:
                raise BadHypothesis(f"freq_equation: {clip(match['number'])} is too large")
            number = value if number is None else number * value
        else:
            kind, term = factor(match["name"])
            if kind == "variable":
                if variable is not None:
                    raise BadHypothesis("freq_equation: a product of two variables")
                if match["power"] not in (None, "1", "2"):
                    raise BadHypothesis("freq_equation: a power other than 2")
                variable = term[0], int(match["power"] or 1)
            elif match["power"]:
                raise BadHypothesis("freq_equation: a power of a coefficient")
            elif symbol is not None:
                raise BadHypothesis("freq_equation: two coefficients in one term")
            else:
                symbol = term
        if not text.startswith("*", place):
            return place, number, symbol, variable
        place += 1


def write_hypothesis(
    target: str,
    family: str,
    edges: Iterable[tuple[str, str]],
    base: float | None,
    terms: Mapping[str, tuple[float | None, float | None]],
) -> dict[str, Any]:
    """Return a hypothesis as the JSON object that :func:`parse_hypothesis` reads.

    ``terms`` maps the target's parents to their (linear, quadratic) coefficients, None for one that
    is not known. Coefficients that are exactly zero are left out, and with all of them the parent.
    The edges into the target follow from ``terms``: those in ``edges`` are not used.
    """
    parts, coefficients = ["base"], {"base": base}
    kept = {edge for edge in edges if edge[1] != target}
    for parent, (linear, quadratic) in terms.items():
        square = 0 if family == "linear" else quadratic
        for name, power, value in ((f"c2_{parent}", "^2", square), (f"c_{parent}", "", linear)):
            if value != 0:
                parts.append(f"{name}*{parent}{power}")
                coefficients[name] = value
                kept.add((parent, target))
    return {
        "edges": [{"from": parent, "to": child} for parent, child in sorted(kept)],
        "freq_equation": " + ".join(parts),
        "coefficients": coefficients,
    }
