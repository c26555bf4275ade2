"""An episode as a value: what the agent is told, what is hidden, and whether the two agree.

Format: ``docs/causalab.md``. Everything random was drawn when the episode was built, so an engine
needs neither a generator nor a clock.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, Self

from grader.io.jsonio import canonical
from grader.laboratory.model import MODES, Crystal, CyclicModel, Mode, Model, Product, Term
from grader.laboratory.names import AmbiguousNames, plain, spellings_of
from grader.laboratory.noise import History, Noise

Reading = dict[str, float]
"""What a crystal shows: value by node."""

FAMILIES: Final = ("linear", "quadratic", "interacting")
_PUBLIC: Final = frozenset(
    ("variables", "target", "family", "mode", "frequency_may_be_parent", "shifts", "records")
) | {"chain", "opening", "reactor", "reactor_range", "budget", "tolerance"}
_PRIVATE: Final = frozenset(
    ("suite", "setting", "regime", "equations", "base", "records", "manipulator", "reactor")
) | {"disturbance", "undecided", "frequency"}
_NOISY: Final = frozenset({"noise", "common_cause", "record_bases"})
"""What the public side of an episode has too whose readings have errors."""
_HIDDEN: Final = frozenset({"noise_key", "common_cause", "products", "accurate"})
"""What its private side has too."""
_VARIABLE: Final = frozenset({"name", "display", "controllable", "low", "high"})
MAX_BUDGET: Final = 1000
MAX_NODES: Final = 12
MIN_KEY: Final = 16


class EpisodeError(ValueError):
    """An episode that is not what the format says; the message names the member."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A property: its name, how it is displayed, and the values it may be set to."""

    name: str
    display: str
    controllable: bool
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The hidden influence: the nodes it shifts, its possible values, and the drawn sequence."""

    nodes: tuple[str, ...]
    values: tuple[float, ...]
    sequence: tuple[float, ...]

    @property
    def bound(self) -> float:
        """The largest shift it can cause."""
        return max(abs(value) for value in self.values)


@dataclass(frozen=True, slots=True)
class CommonCause:
    """An unmeasured cause of properties: what a unit of it adds to each, and how much of it every
    crystal has. It is the same in a crystal whatever is set."""

    weights: Mapping[str, float]
    records: tuple[float, ...]
    manipulator: float
    reactor: float

    def adds(self, amount: float) -> dict[str, float]:
        """What so much of it adds, by property."""
        return {name: weight * amount for name, weight in self.weights.items()}


@dataclass(frozen=True)
class Episode:
    """One episode; make it with :meth:`load`. ``public`` and ``private`` keep the plain JSON."""

    task_id: str
    public: Mapping[str, Any]
    private: Mapping[str, Any]
    variables: tuple[Variable, ...]
    model: Model
    mode: Mode
    family: Literal["linear", "quadratic", "interacting"]
    budget: int
    tolerance: float
    reactor_range: tuple[float, float]
    disturbance: Disturbance | None
    noise: Noise | None
    common_cause: CommonCause | None

    @classmethod
    def load(cls, row: Mapping[str, Any]) -> Self:
        """An episode from ``{"task_id", "public", "private"}``; raises :class:`EpisodeError`."""
        if not isinstance(row, Mapping) or set(row) != {"task_id", "public", "private"}:
            raise EpisodeError("an episode has the members task_id, public and private")
        if not isinstance(row["task_id"], str) or not row["task_id"]:
            raise EpisodeError("task_id: not a text")
        return cls.of(row["task_id"], row["public"], row["private"])

    @classmethod
    def of(cls, task_id: str, public: Mapping[str, Any], private: Mapping[str, Any]) -> Self:
        """An episode from its two parts; raises :class:`EpisodeError`."""
        try:
            return cls._of(task_id, public, private)
        except (KeyError, TypeError, AttributeError, OverflowError, AmbiguousNames) as error:
            raise EpisodeError(f"malformed: {type(error).__name__}: {error}") from None
        except CyclicModel as error:
            raise EpisodeError(f"equations: {error}") from None

    @classmethod
    def _of(cls, task_id: str, public: Mapping[str, Any], private: Mapping[str, Any]) -> Self:
        noisy = "noise" in public
        _members(public, _PUBLIC | _NOISY if noisy else _PUBLIC, "public")
        _members(private, _PRIVATE | _HIDDEN if noisy else _PRIVATE, "private")
        variables = tuple(_variable(entry) for entry in public["variables"])
        if not 1 <= len(variables) < MAX_NODES:
            raise EpisodeError(f"public.variables: between 1 and {MAX_NODES - 1} of them")
        target = public["target"]["name"]
        names = [variable.name for variable in variables]
        if len({*names, target}) != len(names) + 1:
            raise EpisodeError("public.variables: a name appears twice")
        equations = {
            node: [Term(t["parent"], _number(t["linear"]), _number(t["quadratic"])) for t in terms]
            for node, terms in private["equations"].items()
        }
        if strangers := equations.keys() - {*names, target}:
            raise EpisodeError(f"private.equations: {min(strangers)} is no node")
        for node, terms in equations.items():
            if len({term.parent for term in terms}) != len(terms):
                raise EpisodeError(f"private.equations.{node}: a parent appears twice")
        if public["mode"] not in MODES or public["family"] not in FAMILIES:
            raise EpisodeError("public.mode or public.family: unknown")
        if public["family"] == "linear" and any(
            t.quadratic for ts in equations.values() for t in ts
        ):
            raise EpisodeError("private.equations: a square in the linear family")
        if noisy != (public["family"] == "interacting"):
            raise EpisodeError(
                "public.noise: given where the family is interacting, and only there"
            )
        if noisy and public["chain"]:
            raise EpisodeError("public.chain: none where readings have errors")
        low, high = public["reactor_range"]
        budget = public["budget"]
        if not isinstance(budget, int) or not 0 <= budget <= MAX_BUDGET:
            raise EpisodeError(f"public.budget: an integer from 0 to {MAX_BUDGET}")
        disturbance = _disturbance(private["disturbance"], {*names, target})
        if disturbance is not None and len(disturbance.sequence) < budget:
            raise EpisodeError("private.disturbance.sequence: shorter than the budget")
        episode = cls(
            task_id,
            public,
            private,
            variables,
            Model.make(names, target, equations, _number(private["base"]), _products(private)),
            public["mode"],
            public["family"],
            budget,
            _number(public["tolerance"]),
            _range(low, high, "public.reactor_range"),
            disturbance,
            _noise(public, private) if noisy else None,
            _common_cause(private, set(names)) if noisy else None,
        )
        _agree(episode)
        return episode

    @property
    def target(self) -> str:
        """The name of the target node."""
        return self.model.nodes[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """The properties, in the order they are listed."""
        return self.model.nodes[:-1]

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes, the target last."""
        return self.model.nodes

    @property
    def controllable(self) -> tuple[str, ...]:
        """The properties that can be set."""
        return tuple(variable.name for variable in self.variables if variable.controllable)

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """The true edges as (parent, child)."""
        return self.model.edges

    @cached_property
    def undecided(self) -> frozenset[tuple[str, str]]:
        """The ordered pairs that no legal experiment decides."""
        return frozenset((parent, child) for parent, child in self.private["undecided"])

    @property
    def frequency(self) -> float:
        """What is to be predicted: the reactor crystal's target value."""
        return float(self.private["frequency"])

    @cached_property
    def digest(self) -> str:
        """SHA-256 over task id and public part.

        The private part stays out: a hash of it would let a test taker check guesses of the
        mechanism. A transcript is tied to the private part by its readings.
        """
        text = canonical({"task_id": self.task_id, "public": self.public})
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Plain spelling to node (:func:`grader.laboratory.names.spellings_of`)."""
        return spellings_of(self.public)

    def node(self, name: object) -> str | None:
        """The node that ``name`` means, ``None`` if there is none."""
        return self.spellings.get(plain(name)) if isinstance(name, str) else None

    def variable(self, name: str) -> Variable:
        """The property called ``name``."""
        return self.variables[self.names.index(name)]

    def manipulator(self) -> Crystal:
        """The manipulator crystal before any intervention."""
        affected = self.disturbance.nodes if self.disturbance else ()
        common = self.common_cause
        added = common.adds(common.manipulator) if common else {}
        return Crystal(self.model, self.private["manipulator"], self.mode, affected, added)

    def shown(self, values: Reading, history: History) -> Reading:
        """What a reading of the manipulator shows of its ``values`` after the settings so far."""
        return values if self.noise is None else self.noise.after(history, values)


def _members(part: Mapping[str, Any], expected: frozenset[str], where: str) -> None:
    if absent := expected - part.keys():
        raise EpisodeError(f"{where}.{min(absent)}: absent")
    if strange := part.keys() - expected:
        raise EpisodeError(f"{where}.{min(strange)}: not part of the format")


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise EpisodeError(f"{value!r} is not a finite number")
    return float(value)


def _range(low: object, high: object, where: str) -> tuple[float, float]:
    bounds = _number(low), _number(high)
    if not bounds[0] < bounds[1]:
        raise EpisodeError(f"{where}: an empty range")
    return bounds


def _variable(entry: Mapping[str, Any]) -> Variable:
    _members(entry, _VARIABLE, "public.variables")
    low, high = _range(entry["low"], entry["high"], f"public.variables.{entry['name']}")
    return Variable(entry["name"], entry["display"], bool(entry["controllable"]), low, high)


def _disturbance(entry: Mapping[str, Any] | None, nodes: set[str]) -> Disturbance | None:
    if entry is None:
        return None
    values = tuple(_number(value) for value in entry["values"])
    sequence = tuple(_number(value) for value in entry["sequence"])
    if not values or not set(sequence) <= set(values):
        raise EpisodeError("private.disturbance.sequence: a value that is not among its values")
    if not set(entry["nodes"]) <= nodes:
        raise EpisodeError("private.disturbance.nodes: not all of them are nodes")
    return Disturbance(tuple(entry["nodes"]), values, sequence)


def _products(private: Mapping[str, Any]) -> list[Product]:
    return [
        Product(one["first"], one["second"], _number(one["coefficient"]))
        for one in private.get("products", ())
    ]


def _noise(public: Mapping[str, Any], private: Mapping[str, Any]) -> Noise:
    spread = _number(public["noise"])
    if spread <= 0:
        raise EpisodeError("public.noise: a standard deviation above 0")
    try:
        key = bytes.fromhex(private["noise_key"])
    except ValueError:
        raise EpisodeError("private.noise_key: not hexadecimal") from None
    if len(key) < MIN_KEY:
        raise EpisodeError(f"private.noise_key: under {MIN_KEY} bytes")
    low, high = public["record_bases"]
    _range(low, high, "public.record_bases")
    return Noise(spread, key)


def _common_cause(private: Mapping[str, Any], names: set[str]) -> CommonCause | None:
    entry = private["common_cause"]
    if entry is None:
        return None
    weights = {name: _number(weight) for name, weight in entry["weights"].items()}
    if not weights.keys() <= names:
        raise EpisodeError("private.common_cause.weights: not all of them are properties")
    amounts = tuple(_number(amount) for amount in entry["records"])
    if len(amounts) != len(private["records"]):
        raise EpisodeError("private.common_cause.records: not one amount per record")
    return CommonCause(weights, amounts, _number(entry["manipulator"]), _number(entry["reactor"]))


def _agree(episode: Episode) -> None:
    """The stored readings are the ones the model gives; raises :class:`EpisodeError`."""
    public, private, model = episode.public, episode.private, episode.model
    if len(public["records"]) != len(private["records"]):
        raise EpisodeError("private.records: not one base map per record")
    pairs = [
        (f"records[{k}]", _record(episode, k), shown) for k, shown in enumerate(public["records"])
    ]
    if public["opening"] is not None:
        read = episode.shown(episode.manipulator().read(), ())
        pairs.append(("opening", read, public["opening"]))
    common = episode.common_cause
    reactor = model.read(private["reactor"], common.adds(common.reactor) if common else {})
    pairs.append(("reactor", reactor, {**public["reactor"], episode.target: private["frequency"]}))
    if public["chain"]:
        crystal = Crystal(model, private["records"][0], episode.mode)
        for k, step in enumerate(public["chain"]):
            crystal.set(step["set"]["name"], step["set"]["value"])
            pairs.append((f"chain[{k}]", crystal.read(), step["reading"]))
    for where, computed, shown in pairs:
        if computed != shown:
            raise EpisodeError(f"public.{where}: not what the equations give")
    low, high = episode.reactor_range
    if not low <= episode.frequency <= high:
        raise EpisodeError("private.frequency: outside public.reactor_range")
    hidden = episode.disturbance
    if list(public["shifts"]) != list(hidden.values if hidden else ()):
        raise EpisodeError("public.shifts: not the values of private.disturbance")
    if bool(public.get("common_cause")) != (common is not None):
        raise EpisodeError("public.common_cause: not what private.common_cause has")
    if not public["frequency_may_be_parent"] and any(a == episode.target for a, _ in episode.edges):
        raise EpisodeError("public.frequency_may_be_parent: frequency acts, though it may not")
    if not episode.undecided <= {(a, b) for a in episode.nodes for b in episode.nodes if a != b}:
        raise EpisodeError("private.undecided: a pair that is none of two nodes")


def _record(episode: Episode, number: int) -> Reading:
    """What measurement ``number`` shows."""
    common, noise = episode.common_cause, episode.noise
    added = common.adds(common.records[number]) if common else {}
    values = episode.model.read(episode.private["records"][number], added)
    return values if noise is None else noise.of_record(number, values)
