"""Reading a ccr prompt: the model out of its sentences, the cases, the questions.

Everything comes from the text. No name, shade, threshold or operator is known beforehand; the only
knowledge is how each theme's sentences are built.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

Operator = Literal["or", "and"]

_NAME: Final = r"([A-Z][A-Za-z0-9]*)"


@dataclass(frozen=True, slots=True)
class _Theme:
    """How a theme says that a variable holds, what its bit depends on, and a case's item."""

    state: re.Pattern[str]
    own: re.Pattern[str]
    item: re.Pattern[str]


_THEMES: Final = (
    _Theme(
        re.compile(rf"{_NAME} is (?P<not>not )?happy", re.IGNORECASE),
        re.compile(rf"{_NAME} gets at least (\d+) candies"),
        re.compile(rf"{_NAME} (\d+)"),
    ),
    _Theme(
        re.compile(rf"{_NAME} is (?P<not>not )?delighted", re.IGNORECASE),
        re.compile(rf"{_NAME} is given a (\w+) flower"),
        re.compile(rf"{_NAME} ([a-z]+)"),
    ),
    _Theme(
        re.compile(rf"{_NAME} (?P<not>does not )?gets? the flu shot", re.IGNORECASE),
        re.compile(rf"{_NAME} has had at least (\d+) days of high fever"),
        re.compile(rf"{_NAME}: .*?high fever (\d+).*"),
    ),
    _Theme(
        re.compile(rf"marker {_NAME} is (?P<not>not )?raised", re.IGNORECASE),
        re.compile(r"the patient carries allele (\w+)()"),
        re.compile(r"allele (\w+) (present|absent)"),
    ),
    _Theme(
        re.compile(rf"{_NAME} is (?:true|(?P<not>false))"),
        re.compile(r"switch (\d+) is on()"),
        re.compile(r"switch (\d+) (on|off)"),
    ),
)

_LIST: Final = re.compile(r"(at least one of these holds|all of these hold): (.*)")
_PALETTE: Final = re.compile(r"(\w+) \(((?:\w+, )+\w+)\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One variable's rule: its own condition (whose, and how much) joined with its parents."""

    holder: str
    need: str
    parents: tuple[str, ...]
    own: Operator
    among: Operator


@dataclass(frozen=True)
class ToldModel:
    """The model of a context: a rule for each variable, and how cases are read."""

    rules: Mapping[str, Rule]
    palette: Mapping[str, str]
    theme: _Theme

    def bits(self, case: str) -> dict[str, bool]:
        """Whether each variable's own condition is met in a case."""
        found = {}
        for item in case.rstrip(".").split("; "):
            match = self.theme.item.fullmatch(item)
            if match is None:
                raise ValueError(f"no such item in this theme: {item}")
            found[match[1]] = match[2]
        return {name: self._met(rule, found[rule.holder]) for name, rule in self.rules.items()}

    def _met(self, rule: Rule, said: str) -> bool:
        if said in ("present", "on", "absent", "off"):
            return said in ("present", "on")
        if said.isdigit():
            return int(said) >= int(rule.need)
        return self.palette[said] == rule.need

    def state(self, clause: str) -> tuple[str, bool]:
        """The variable that a clause is about, and whether it says that it holds."""
        match = self.theme.state.search(clause)
        if match is None:
            raise ValueError(f"no state of this theme: {clause}")
        return match[1], match["not"] is None

    def order(self) -> list[str]:
        """The variables, causes first."""
        done: list[str] = []
        while len(done) < len(self.rules):
            done += [
                name
                for name, rule in self.rules.items()
                if name not in done and set(rule.parents) <= set(done)
            ]
        return done

    def value(
        self,
        name: str,
        bits: Mapping[str, bool],
        do: Mapping[str, bool],
        *,
        depth: int | None = None,
        overlooked: frozenset[str] = frozenset(),
    ) -> bool:
        """Whether a variable holds.

        ``depth`` limits how many steps upstream are followed; of the ``overlooked`` the own
        condition is left out of account.
        """
        memory: dict[tuple[str, int | None], bool] = {}

        def look(node: str, left: int | None) -> bool:
            if node in do:
                return do[node]
            key = (node, left)
            if key not in memory:
                memory[key] = apply(node, left)
            return memory[key]

        def apply(node: str, left: int | None) -> bool:
            rule = self.rules[node]
            if not rule.parents or left == 0:
                return bits[node]
            values = [look(p, None if left is None else left - 1) for p in rule.parents]
            joined = any(values) if rule.among == "or" else all(values)
            if node in overlooked:
                return joined
            return (bits[node] or joined) if rule.own == "or" else (bits[node] and joined)

        return look(name, depth)


@lru_cache(maxsize=64)
def read_context(text: str) -> ToldModel:
    """The model that a context's text describes; raises ``ValueError`` for unknown sentences."""
    lines = [line[2:] for line in text.splitlines() if " exactly when " in line]
    (theme,) = [theme for theme in _THEMES if lines and theme.state.match(lines[0])]
    palette = {
        shade: colour for colour, shades in _PALETTE.findall(text) for shade in shades.split(", ")
    }
    rules: dict[str, Rule] = {}
    for line in lines:
        head, _, body = line.rstrip(".").partition(" exactly when ")
        match = theme.state.fullmatch(head)
        if match is None:
            raise ValueError(f"no rule of this theme: {line}")
        rules[match[1]] = _rule(theme, body)
    return ToldModel(rules, palette, theme)


def _rule(theme: _Theme, body: str) -> Rule:
    before, own, rest = body, "or", ""
    for mark, operator in ((" and, besides, ", "and"), (" or else ", "or")):
        if mark in body:
            before, _, rest = body.partition(mark)
            return _parsed(theme, [before], rest, operator)
    if _LIST.match(body):
        return _parsed(theme, [], body, "")
    return _parsed(theme, [before], rest, own)


def _parsed(theme: _Theme, own_clauses: Sequence[str], rest: str, own: str) -> Rule:
    """A rule from its own condition and the list behind it; the list may hold the condition."""
    among = "or"
    clauses: list[str] = []
    listed = _LIST.fullmatch(rest)
    if listed is not None:
        among = "or" if listed[1].startswith("at least") else "and"
        clauses = listed[2].split("; ")
    elif rest:
        raise ValueError(f"no list of conditions: {rest}")
    conditions = [theme.own.fullmatch(clause) for clause in (*own_clauses, *clauses)]
    (condition,) = [match for match in conditions if match is not None]
    parents = [
        match[1]
        for clause in clauses
        if theme.own.fullmatch(clause) is None and (match := theme.state.fullmatch(clause))
    ]
    if len(parents) + (not own_clauses) != len(clauses):
        raise ValueError(f"an unknown condition in: {rest}")
    joint: Operator = "or" if among == "or" else "and"
    outer: Operator = joint if not own else "or" if own == "or" else "and"
    return Rule(condition[1], condition[2], tuple(parents), outer, joint)


@dataclass(frozen=True)
class Simulation:
    """A simulation prompt, read: the model, each case's bits, cause and effect."""

    story: ToldModel
    cases: tuple[dict[str, bool], ...]
    cause: str
    effect: str


def read_simulation(prompt: str) -> Simulation:
    """A whole simulation task from its prompt."""
    context, _, rest = prompt.partition("\n## Cases\n")
    cases, _, questions = rest.partition("\n## Questions\n")
    story = read_context(context)
    lines = [line.partition(". ")[2] for line in cases.splitlines() if re.match(r"\d+\. ", line)]
    asked = re.search(r"^- do_true: (.*)$", questions, re.MULTILINE)
    if asked is None:
        raise ValueError("no question about an intervention")
    do, effect = read_question(story, asked[1])
    return Simulation(story, tuple(story.bits(line) for line in lines), next(iter(do)), effect)


def read_question(story: ToldModel, question: str) -> tuple[dict[str, bool], str]:
    """What is supposed, if anything, and the variable that is asked about."""
    suppose = re.match(r"Suppose that (.*?), .* Under this supposition, (.*)", question)
    if suppose is None:
        return {}, _asked(story, question)
    name, level = story.state(suppose[1])
    return {name: level}, _asked(story, suppose[2])


def _asked(story: ToldModel, question: str) -> str:
    words: list[str] = re.findall(r"\w+", question)
    (name,) = [word for word in words if word in story.rules]
    return name
