"""The frontier tasks of the ccr track, read from their prompts and enumerated.

Nothing of the builder's truths is used: every pattern of conditions is gone through, one at a time,
with the reader's own evaluation of the rules.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, Final

from baselines.ccr.solver import model
from baselines.ccr.story import ToldModel, read_context, read_question, state_of
from baselines.writing import Answer
from builder.ccr.ask.questions import check_deduction
from builder.ccr.ask.text import Given
from builder.ccr.frontier.chains import Known
from builder.ccr.make.graph import sorted_graph
from grader.shape import Task

LISTS: Final = ("do_true", "do_false", "joint")

_LISTED: Final = re.compile(r"^- (Q\d+): (\w+)\((\w+), (\w+)(?: \| (.*?))?\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One listed quantity of a pair; ``known`` are the variables behind the bar."""

    measure: str
    cause: str
    effect: str
    known: tuple[tuple[str, bool], ...]


def wanted(prompt: str) -> dict[str, Wanted]:
    """The listed quantities by name."""
    return {
        name: Wanted(measure.lower(), cause, effect, tuple(_known(bar)))
        for name, measure, cause, effect, bar in _LISTED.findall(prompt)
    }


def _known(bar: str) -> Iterator[tuple[str, bool]]:
    for clause in filter(None, bar.split(", ")):
        yield clause.removeprefix("not "), not clause.startswith("not ")


@dataclass(frozen=True)
class Patterns:
    """Every pattern of a told model's conditions, with its probability."""

    story: ToldModel
    cases: tuple[tuple[dict[str, bool], Fraction], ...]

    @classmethod
    def of(cls, prompt: str) -> "Patterns":
        """The patterns of the model that a prompt tells with its probabilities."""
        story = read_context(prompt)
        context = model(story, prompt)
        odds = [Fraction(tenth, 10) for tenth in context.tenths]
        cases = []
        for bits in product((False, True), repeat=len(odds)):
            mass = Fraction(1)
            for bit, chance in zip(bits, odds, strict=True):
                mass *= chance if bit else 1 - chance
            cases.append((dict(zip(context.dag.nodes, bits, strict=True)), mass))
        return cls(story, tuple(cases))

    def joint(self, asked: Wanted) -> Mapping[tuple[bool, bool, bool, bool], Fraction]:
        """The probability of (cause, effect, effect if made to hold, if made not to hold) together
        with what is known."""
        found: dict[tuple[bool, bool, bool, bool], Fraction] = {}
        look = self.story.value
        for bits, mass in self.cases:
            if all(look(name, bits, {}) == holds for name, holds in asked.known):
                key = (
                    look(asked.cause, bits, {}),
                    look(asked.effect, bits, {}),
                    look(asked.effect, bits, {asked.cause: True}),
                    look(asked.effect, bits, {asked.cause: False}),
                )
                found[key] = found.get(key, Fraction(0)) + mass
        return found


def defined(measure: str, joint: Mapping[tuple[bool, bool, bool, bool], Fraction]) -> Fraction:
    """A measure by its definition."""

    def mass(fits: Any) -> Fraction:
        return sum((p for key, p in joint.items() if fits(*key)), Fraction(0))

    total = mass(lambda *_: True)
    match measure:
        case "pns":
            return mass(lambda x, y, high, low: high and not low) / total
        case "ate":
            return (
                mass(lambda x, y, high, low: high) / total
                - mass(lambda x, y, high, low: low) / total
            )
        case "pn":
            return mass(lambda x, y, high, low: x and y and not low) / mass(
                lambda x, y, high, low: x and y
            )
        case "ps":
            return mass(lambda x, y, high, low: not x and not y and high) / mass(
                lambda x, y, high, low: not x and not y
            )
        case other:
            raise ValueError(f"no such measure: {other}")


def seen(joint: Mapping[tuple[bool, bool, bool, bool], Fraction]) -> Fraction:
    """``P(effect | cause) - P(effect | not cause)``: what the patterns show without doing."""
    rates = []
    for level in (True, False):
        here = {key: p for key, p in joint.items() if key[0] == level}
        rates.append(sum(p for key, p in here.items() if key[1]) / sum(here.values()))
    return Fraction(rates[0] - rates[1])


def simulated(prompt: str) -> dict[str, list[bool]]:
    """The three lists of a simulation, case by case."""
    story, cases, asked = _simulation(prompt)
    return {
        name: [story.value(effect, case, done) for case in cases]
        for name, (done, effect) in asked.items()
    }


def copied(prompt: str) -> dict[str, list[bool]]:
    """The facts in place of every supposition."""
    story, cases, asked = _simulation(prompt)
    return {
        name: [story.value(effect, case, {}) for case in cases]
        for name, (_, effect) in asked.items()
    }


def _simulation(
    prompt: str,
) -> tuple[ToldModel, list[dict[str, bool]], dict[str, tuple[dict[str, bool], str]]]:
    context, _, rest = prompt.partition("\n## Cases\n")
    cases, _, questions = rest.partition("\n## Questions\n")
    story = read_context(context)
    lines = [line.partition(". ")[2] for line in cases.splitlines() if re.match(r"\d+\. ", line)]
    asked = {
        name: read_question(story, question)
        for name, question in re.findall(r"^- (\w+): (Suppose .*)$", questions, re.MULTILINE)
    }
    return story, [story.bits(line) for line in lines], asked


def enumerator(task: Task) -> Answer:
    """Every frontier task from its prompt, by going through all patterns."""
    return _SOLVERS[task.variant](task.prompt)


def _quantities(prompt: str) -> Answer:
    patterns = Patterns.of(prompt)
    joint = cache(patterns.joint)
    return {
        "quantities": {
            name: float(defined(asked.measure, joint(_same(asked))))
            for name, asked in wanted(prompt).items()
        }
    }


def _same(asked: Wanted) -> Wanted:
    """What one joint table is needed for: all measures of a pair share it."""
    return Wanted("", asked.cause, asked.effect, asked.known)


def _bounds(prompt: str) -> Answer:
    return {"intervals": interval_ends(prompt)}


def interval_ends(prompt: str) -> dict[str, list[float]]:
    """Both ends of every interval, by linear programming over all models with the told shares."""
    told = read_margins(prompt)
    return {
        name: [_end(told, asked.measure, sign) for sign in (1, -1)]
        for name, asked in wanted(prompt).items()
    }


def _end(told: "Told", measure: str, sign: int) -> float:
    """The least (sign 1) or greatest (-1) value of a measure; variables are the probabilities of
    (stratum, cause, effect if made to hold, effect if made not to hold)."""
    from scipy.optimize import linprog

    cells = list(product((True, False), repeat=4))
    rows, shares = [], []
    for (world, stratum, cause, effect), share in told.shares.items():
        fits = []
        for z, x, high, low in cells:
            y = {"seen": high if x else low, "true": high, "false": low}[world]
            fits.append(stratum in (None, z) and cause in (None, x) and y == effect)
        rows.append([float(fit) for fit in fits])
        shares.append(float(share))
    if not told.strata:
        rows.append([float(not z) for z, *_ in cells])
        shares.append(0.0)
    wanted_cells = {
        "pns": [float(high and not low) for _, _, high, low in cells],
        "pn": [float(x and high and not low) for _, x, high, low in cells],
        "ps": [float(not x and high and not low) for _, x, high, low in cells],
        "ate": [float(high) - float(low) for _, _, high, low in cells],
        "do": [float(high) for _, _, high, _ in cells],
    }[measure]
    level = {"pn": True, "ps": False}.get(measure)
    divisor = sum(
        float(share)
        for (world, _, cause, effect), share in told.shares.items()
        if level is not None and (world, cause, effect) == ("seen", level, level)
    )
    solved = linprog([sign * value for value in wanted_cells], A_eq=rows, b_eq=shares)
    assert solved.fun is not None, solved.message
    return sign * solved.fun / (divisor or 1.0)


@dataclass(frozen=True, slots=True)
class Told:
    """Shares by (``seen``, or made ``true`` or ``false``; stratum, cause; effect); ``None`` for
    what a share does not speak of. ``strata``: a further variable is told."""

    shares: Mapping[tuple[str, bool | None, bool | None, bool], Fraction]
    strata: bool

    def done(self, world: str) -> Fraction:
        """The share in which the effect holds in an experiment; 0 without one."""
        return sum((p for key, p in self.shares.items() if key[0] == world), Fraction(0))

    def rate(self, level: bool) -> Fraction:
        """How often the effect holds, as things are, where the cause does (or does not)."""
        here = {key: p for key, p in self.shares.items() if key[0] == "seen" and key[2] == level}
        return Fraction(sum(p for key, p in here.items() if key[3])) / sum(here.values())

    @property
    def conditioned(self) -> float:
        """``P(effect | cause) - P(effect | not cause)``."""
        return float(self.rate(True) - self.rate(False))


_SHARE: Final = re.compile(
    r"^- (?:As things are|Where (?P<cause>\w+) is made (?P<level>not )?to hold), (?P<clauses>.*): "
    r"(?P<share>0\.\d+)$",
    re.MULTILINE,
)


def read_margins(prompt: str) -> Told:
    """The shares of a prompt about bounds."""
    first = next(iter(wanted(prompt).values()))
    found: dict[tuple[str, bool | None, bool | None, bool], Fraction] = {}
    strata = False
    for match in _SHARE.finditer(prompt):
        said = dict(map(state_of, match["clauses"].split(" and ")))
        cause, effect = said.pop(first.cause, None), said.pop(first.effect)
        (stratum,) = said.values() or (None,)
        strata = strata or stratum is not None
        world = "seen" if match["cause"] is None else "false" if match["level"] else "true"
        found[world, stratum, cause, effect] = Fraction(match["share"])
    return Told(found, strata)


def _deduction(prompt: str) -> Answer:
    """Models are searched for, given the graph that the prompt tells."""
    from builder.ccr.frontier.fitting import fit

    edges, givens, target = read_deduction(prompt)
    verdict, value = fit(edges, givens, target).answer
    return {"value": value if verdict == "value" else verdict or "inconsistent"}


def read_deduction(prompt: str) -> tuple[list[tuple[str, str]], list[Known], Known]:
    """The edges, the givens and what is asked."""
    edges = re.findall(r"^- (\w+) acts directly on (\w+)$", prompt, re.MULTILINE)
    givens = [
        Known(measure.lower(), (cause, effect), Fraction(value))
        for measure, cause, effect, value in re.findall(
            r"^- (\w+)\((\w+), (\w+)\) = (\S+)$", prompt, re.MULTILINE
        )
    ]
    asked = re.search(r"^What is (\w+)\((\w+), (\w+)\)\?$", prompt, re.MULTILINE)
    if asked is None:
        raise ValueError("nothing asked")
    return edges, givens, Known(asked[1].lower(), (asked[2], asked[3]))


def chained(prompt: str) -> tuple[list[str], list[Given], Known, float | None]:
    """A deduction as if every variable that is spoken of were a cutpoint: these in causal order,
    the PNS of pairs (from PN and PS where both are given), what is asked, and its value where that
    follows from the pair's own givens."""
    edges, givens, target = read_deduction(prompt)
    by_pair: dict[tuple[str, str], dict[str, Fraction]] = {}
    for known in givens:
        by_pair.setdefault(known.pair, {})[known.measure] = known.value
    pns = []
    for pair, values in by_pair.items():
        if "pns" not in values and len(values) == 2:
            product_ = values["pn"] * values["ps"]
            values["pns"] = product_ / (values["pn"] + values["ps"] - product_)
        if "pns" in values:
            pns.append(Given(pair, values["pns"]))
    spoken = {name for known in (*givens, target) for name in known.pair}
    order = [name for name in sorted_graph(edges).nodes if name in spoken]
    own = by_pair.get(target.pair, {}).get(target.measure)
    return order, pns, target, None if own is None else float(own)


def paper_formulas(task: Task) -> Answer:
    """The paper's formulas, as if every function were monotone, nothing confounded, and every
    variable that a deduction speaks of a cutpoint.

    ``PNS = ATE = P(y_x) - P(y_x')``, ``PN = PNS / P(y_x)``, ``PS = PNS / P(y'_x')`` (CCR Eq. B.7,
    B.8), PNS multiplied along the chain; what they do not speak of is left as the facts have it.
    """
    match task.variant:
        case "simulation":
            return copied(task.prompt)
        case "bounds":
            return {"intervals": {n: [d, d] for n, d in _points(task.prompt).items()}}
        case "deductive":
            order, givens, target, _ = chained(task.prompt)
            verdict, value = check_deduction(order, givens, target.pair, bounded=True)
            return {"value": value if verdict == "value" else verdict}
    patterns = Patterns.of(task.prompt)
    found = {}
    for name, asked in wanted(task.prompt).items():
        joint = patterns.joint(asked)
        total = sum(joint.values())
        high, low = (Fraction(sum(p for key, p in joint.items() if key[k])) / total for k in (2, 3))
        found[name] = _monotone(asked.measure, high, low)
    return {"quantities": found}


def _points(prompt: str) -> dict[str, float]:
    """The same of experiments, or of conditional shares where there were none."""
    told = read_margins(prompt)
    high, low = told.done("true"), told.done("false")
    if not high:
        high, low = told.rate(True), told.rate(False)
    return {name: _monotone(one.measure, high, low) for name, one in wanted(prompt).items()}


def _monotone(measure: str, high: Fraction, low: Fraction) -> float:
    if measure == "do":
        return float(high)
    scale = {"pn": high, "ps": 1 - low}.get(measure, Fraction(1))
    return float((high - low) / scale) if scale else 0.0


_SOLVERS: Final = {
    "direct": _quantities,
    "evidence": _quantities,
    "bounds": _bounds,
    "deductive": _deduction,
    "simulation": simulated,
}
