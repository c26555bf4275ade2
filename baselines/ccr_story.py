"""A reader of ccr prompts, from the text alone: model, cases, question."""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal

from builder.graphs.graph import LatentDAG
from builder.tracks.ccr.model import sorted_graph

Operator = Literal["or", "and"]


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one theme: that a variable (group 1) holds, or with the group ``not`` does
    not; its own condition (holder and need); an entry of a case (holder and what is said)."""

    state: re.Pattern[str]
    own: re.Pattern[str]
    item: re.Pattern[str]


_THEMES: Final = tuple(
    Patterns(**{part: re.compile(pattern) for part, pattern in theme.items()})
    for theme in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).values()
)
_RULE: Final = re.compile(
    r"(?:(?P<own>.*?)(?P<joint> and, besides, | and/or |$))??"
    r"(?:(?P<quantity>at least one of these holds|all of these hold): (?P<listed>.*))?"
)
_JOINTS: Final[Mapping[str, Operator]] = {" and, besides, ": "and", " and/or ": "or"}
_INTERVENTION: Final = re.compile(
    r"^- do_true: Suppose it is made to hold that (.*?)(?:, whatever .*?)?\. "
    r"Under this supposition, (.*)$",
    re.MULTILINE,
)
_PALETTE: Final = re.compile(r"(\w+) \(((?:\w+, )+\w+)\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A variable's rule. Its own condition is that ``holder`` has ``need`` (blank: is there).

    ``among`` joins the parents, ``own`` joins the condition with them.
    """

    holder: str
    need: str
    parents: tuple[str, ...]
    own: Operator
    among: Operator


@dataclass(frozen=True)
class StoryModel:
    """A context's model: rules by variable; ``palette`` maps shades of cases to colours."""

    rules: Mapping[str, Rule]
    palette: Mapping[str, str]
    theme: Patterns

    @property
    def dag(self) -> LatentDAG:
        """The graph of the rules, causes first."""
        return sorted_graph((p, name) for name, rule in self.rules.items() for p in rule.parents)

    def bits(self, case: str) -> dict[str, bool]:
        """Return, by variable, whether a case meets its own condition; raises ``ValueError``."""
        found = {}
        for item in case.rstrip(".").split("; "):
            match = self.theme.item.fullmatch(item)
            if match is None:
                raise ValueError(f"no such item in this theme: {item}")
            found[match[1]] = match[2]
        bits = {}
        for name, rule in self.rules.items():
            said = found[rule.holder]
            if said in ("present", "on", "absent", "off"):
                bits[name] = said in ("present", "on")
            elif said.isdigit():
                bits[name] = int(said) >= int(rule.need)
            else:
                bits[name] = self.palette[said] == rule.need
        return bits

    def value(
        self,
        name: str,
        bits: Mapping[str, bool],
        do: Mapping[str, bool],
        *,
        depth: float = math.inf,
        overlooked: frozenset[str] = frozenset(),
    ) -> bool:
        """Return whether ``name`` holds, given who meets its own condition and what ``do`` sets.

        ``depth`` limits how many steps upstream are followed; beyond them the own condition decides
        alone. That of an ``overlooked`` variable with parents is ignored.
        """

        @cache
        def holds(node: str, left: float) -> bool:
            if node in do:
                return do[node]
            rule = self.rules[node]
            if not rule.parents or left == 0:
                return bits[node]
            values = [holds(p, left - 1) for p in rule.parents]
            joined = any(values) if rule.among == "or" else all(values)
            if node in overlooked:
                return joined
            return (bits[node] or joined) if rule.own == "or" else (bits[node] and joined)

        return holds(name, depth)


@lru_cache(maxsize=64)
def read_context(text: str) -> StoryModel:
    """Return the model that a text tells; raises ``ValueError`` for an unknown sentence."""
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
    return StoryModel(rules, palette, theme)


def _rule(theme: Patterns, body: str) -> Rule:
    """Return the rule after "exactly when"; ``ValueError`` unless it has one own condition."""
    told = _RULE.fullmatch(body)
    assert told is not None
    clauses = told["listed"].split("; ") if told["listed"] else []
    everything = [told["own"], *clauses] if told["own"] else clauses
    conditions = [match for clause in everything if (match := theme.own.fullmatch(clause))]
    states = [match for clause in clauses if (match := theme.state.fullmatch(clause))]
    if len(conditions) != 1 or len(states) + 1 != len(everything):
        raise ValueError(f"not one condition of its own, or an unknown one: {body}")
    among: Operator = "and" if told["quantity"] == "all of these hold" else "or"
    holder, need = conditions[0].groups()
    own = _JOINTS.get(told["joint"], among)
    return Rule(holder, need, tuple(match[1] for match in states), own, among)


@dataclass(frozen=True)
class Simulation:
    """A task as read: per case, which own conditions are met; cause to set; effect asked about."""

    story: StoryModel
    cases: tuple[dict[str, bool], ...]
    cause: str
    effect: str


def read_simulation(prompt: str) -> Simulation:
    """Read a simulation prompt; raises ``ValueError`` unless it sets one variable and asks about
    one."""
    context, _, rest = prompt.partition("\n## Cases\n")
    cases, _, questions = rest.partition("\n## Questions\n")
    story = read_context(context)
    lines = re.findall(r"^\d+\. (.*)$", cases, re.MULTILINE)
    ((supposed, asked),) = _INTERVENTION.findall(questions)
    (cause,) = [match[1] for match in story.theme.state.finditer(supposed)]
    (effect,) = [word for word in re.findall(r"\w+", asked) if word in story.rules]
    return Simulation(story, tuple(map(story.bits, lines)), cause, effect)
