"""An episode as a value: its public part, its hidden part, and the check that the two agree.

Format: ``docs/causalab.md``. Everything random was drawn when the episode was built, so an engine
needs neither a generator nor a clock.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError
from typing import Any, Final, Literal, Self

from grader.io.jsonio import canonical_json
from grader.laboratory.model import Crystal, Mode, Model, Term

Reading = dict[str, float]
"""The values that a crystal shows, by node."""

MAX_READING: Final = 1e50
"""No reading of an episode may be as large: figures of a session square readings and add them."""
_UNIT: Final = re.compile(r"[(\[][^()\[\]]*[)\]]")
_FILLING: Final = re.compile(r"[\s_\-]+")
_TARGET_ALIASES: Final = ("freq", "frequency", "resonancefreq", "resonancefrequency")
MAX_NAME: Final = 80


def plain(name: str) -> str:
    """Return ``name`` for comparison: NFKC, case-folded, no bracketed unit, no spaces, _ or -."""
    text = unicodedata.normalize("NFKC", name[: 2 * MAX_NAME]).casefold()
    return _FILLING.sub("", _UNIT.sub("", text))


class EpisodeError(ValueError):
    """Raised for an episode that breaks the format; the message names the member."""


def spellings_of(public: Mapping[str, Any]) -> Mapping[str, str]:
    """Return each node's name by plain spelling, display name and (target) usual short forms.

    A property called so keeps its short form. Raises :class:`EpisodeError` where two nodes have
    one spelling.
    """
    target = public["target"]
    found: dict[str, str] = {}
    for entry in [*public["variables"], target]:
        name = entry["name"]
        for spelling in {plain(name), plain(entry["display"])} - {""}:
            if found.setdefault(spelling, name) != name:
                raise EpisodeError(f"{name} and {found[spelling]} are spelled alike")
    for alias in _TARGET_ALIASES:
        found.setdefault(alias, target["name"])
    return found


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The hidden shift of ``nodes``: its possible ``values``, its ``sequence`` by intervention."""

    nodes: tuple[str, ...]
    values: tuple[float, ...]
    sequence: tuple[float, ...]

    @property
    def largest_shift(self) -> float:
        """The largest shift it can cause, in absolute value."""
        return max(abs(value) for value in self.values)


@dataclass(frozen=True)
class Episode:
    """One episode; make it with :meth:`load`. ``public`` and ``private`` keep the plain JSON.

    ``ranges`` are the lowest and highest value of each property. ``model`` is the hidden mechanism.
    ``budget`` is the number of interventions allowed. A prediction is right within ``tolerance`` of
    the true value, and must be in ``reactor_range``, both ends included. ``disturbance`` is None
    without one.
    """

    task_id: str
    public: Mapping[str, Any]
    private: Mapping[str, Any]
    ranges: Mapping[str, tuple[float, float]]
    model: Model
    mode: Mode
    family: Literal["linear", "quadratic"]
    budget: int
    tolerance: float
    reactor_range: tuple[float, float]
    disturbance: Disturbance | None

    @classmethod
    def load(cls, task_id: str, public: Mapping[str, Any], private: Mapping[str, Any]) -> Self:
        """Return a task's episode; ``EpisodeError`` where the parts disagree, or one with itself.

        Each fits its schema (``inputs/causalab`` and ``truth/causalab``), which is not asked again.
        """
        try:
            target = public["target"]["name"]
            names = [entry["name"] for entry in public["variables"]]
            ranges = {
                name: _range(entry["low"], entry["high"], f"public.variables.{name}")
                for name, entry in zip(names, public["variables"], strict=True)
            }
            if len({*names, target}) != len(names) + 1:
                raise EpisodeError("public.variables: a name appears twice")
            equations = {
                node: [Term(t["parent"], float(t["linear"]), float(t["quadratic"])) for t in terms]
                for node, terms in private["equations"].items()
            }
            parents = {term.parent for terms in equations.values() for term in terms}
            if strangers := (equations.keys() | parents) - {*names, target}:
                raise EpisodeError(f"private.equations: {min(strangers)} is no node")
            for node, terms in equations.items():
                if len({term.parent for term in terms}) != len(terms):
                    raise EpisodeError(f"private.equations.{node}: a parent appears twice")
            squares = [t.quadratic for terms in equations.values() for t in terms]
            if public["family"] == "linear" and any(squares):
                raise EpisodeError("private.equations: a square in the linear family")
            low, high = public["reactor_range"]
            budget = int(public["budget"])
            disturbance = _disturbance(private["disturbance"], {*names, target})
            if disturbance is not None and len(disturbance.sequence) < budget:
                raise EpisodeError("private.disturbance.sequence: shorter than the budget")
            episode = cls(
                task_id=task_id,
                public=public,
                private=private,
                ranges=ranges,
                model=Model.make(names, target, equations, float(private["base"])),
                mode=public["mode"],
                family=public["family"],
                budget=budget,
                tolerance=float(public["tolerance"]),
                reactor_range=_range(low, high, "public.reactor_range"),
                disturbance=disturbance,
            )
            _check_agreement(episode)
            return episode
        except (LookupError, OverflowError) as error:
            raise EpisodeError(f"malformed: {type(error).__name__}: {error}") from None
        except CycleError as error:
            raise EpisodeError(f"equations: a circle through {min(error.args[1])}") from None

    @property
    def target(self) -> str:
        """The name of the target node."""
        return self.model.nodes[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the properties, without the target, in the order they are listed."""
        return self.model.nodes[:-1]

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes, the target last."""
        return self.model.nodes

    @property
    def controllable(self) -> tuple[str, ...]:
        """The names of the properties that can be set."""
        return tuple(v["name"] for v in self.public["variables"] if v["controllable"])

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """The true edges as (parent, child)."""
        return self.model.edges

    @property
    def frequency(self) -> float:
        """The value to be predicted: the reactor crystal's target."""
        return float(self.private["frequency"])

    @cached_property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, over task id and public part.

        The private part stays out: a hash of it would let a test taker check guesses of the
        mechanism. A transcript is tied to the private part by its readings.
        """
        text = canonical_json({"task_id": self.task_id, "public": self.public})
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    @cached_property
    def _spellings(self) -> Mapping[str, str]:
        return spellings_of(self.public)

    def node(self, name: object) -> str | None:
        """Return the node that ``name`` means in any spelling, None if there is none."""
        return self._spellings.get(plain(name)) if isinstance(name, str) else None

    def manipulator(self) -> Crystal:
        """Return a new manipulator crystal, before any intervention."""
        affected = self.disturbance.nodes if self.disturbance else ()
        return Crystal(self.model, self.private["manipulator"], self.mode, affected)


def _range(low: float, high: float, where: str) -> tuple[float, float]:
    """Return (low, high); ``EpisodeError``, its message beginning ``where``, unless low < high."""
    bounds = float(low), float(high)
    if not bounds[0] < bounds[1]:
        raise EpisodeError(f"{where}: an empty range")
    return bounds


def _disturbance(entry: Mapping[str, Any] | None, nodes: set[str]) -> Disturbance | None:
    """Return the hidden disturbance, None without one. ``nodes`` are the names it may shift."""
    if entry is None:
        return None
    values, sequence = tuple(map(float, entry["values"])), tuple(map(float, entry["sequence"]))
    if not set(sequence) <= set(values):
        raise EpisodeError("private.disturbance.sequence: a value that is not among its values")
    if not set(entry["nodes"]) <= nodes:
        raise EpisodeError("private.disturbance.nodes: not all of them are nodes")
    return Disturbance(tuple(entry["nodes"]), values, sequence)


def _check_agreement(episode: Episode) -> None:
    """Raise :class:`EpisodeError` where the public part does not follow from the private one.

    Shown readings are what the model gives, number for number; told shifts are None or the hidden.
    """
    public, private, model = episode.public, episode.private, episode.model
    if len(public["records"]) != len(private["records"]):
        raise EpisodeError("private.records: not one base map per record")
    pairs = [
        (f"records[{k}]", model.read(private["records"][k]), shown)
        for k, shown in enumerate(public["records"])
    ]
    opening = episode.manipulator().read()
    if public["opening"] is not None:
        pairs.append(("opening", opening, public["opening"]))
    reactor = model.read(private["reactor"])
    pairs.append(("reactor", reactor, {**public["reactor"], episode.target: private["frequency"]}))
    if public["chain"]:
        crystal = Crystal(model, private["records"][0], episode.mode)
        for k, step in enumerate(public["chain"]):
            crystal.set(step["set"]["name"], step["set"]["value"])
            pairs.append((f"chain[{k}]", crystal.read(), step["reading"]))
    for where, computed, shown in pairs:
        if computed != shown:
            raise EpisodeError(f"public.{where}: not what the equations give")
    crystals = [private["manipulator"], private["reactor"], *private["records"]]
    bases = [value for crystal in crystals for value in crystal.values()]
    ranges = [end for ends in episode.ranges.values() for end in ends]
    shift = episode.disturbance.largest_shift if episode.disturbance else 0.0
    if not model.largest(max(map(abs, [*bases, *ranges, model.base])) + shift) < MAX_READING:
        raise EpisodeError(f"private.equations: readings may be over {MAX_READING:g}")
    low, high = episode.reactor_range
    if not low <= episode.frequency <= high:
        raise EpisodeError("private.frequency: outside public.reactor_range")
    hidden, shifts = episode.disturbance, public["shifts"]
    if shifts is not None and list(shifts) != list(hidden.values if hidden else ()):
        raise EpisodeError("public.shifts: not the values of private.disturbance")
    if not public["frequency_may_be_parent"] and any(a == episode.target for a, _ in episode.edges):
        raise EpisodeError("public.frequency_may_be_parent: frequency acts, though it may not")
