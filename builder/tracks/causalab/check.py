"""The second derivation of every truth of a graph's episodes, and the facts for the leak test.

Nothing here runs the engine. Every shown value is checked against its own equation, in exact
fractions, from the shown values of its causes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from builder.splits.track import LeakFacts, TaskRow
from builder.tracks.causalab.plan import Suite, SuiteSetting, read_label

_HALF: Final = Fraction(1, 200)
"""The most that rounding to two decimals changes a value."""
_SLOP: Final = Fraction(1, 10**9)
"""Floating-point error of one equation, relative to the size of its terms."""
_DISCLOSED: Final = (
    "budget", "family", "frequency_may_be_parent", "mode", "reactor_range", "shifts", "tolerance",
)  # fmt: skip

Json = Mapping[str, Any]


def audit_instance(
    world_row: Json, truth_rows: Sequence[Json], label_row: object, scene_row: Json
) -> list[str]:
    """Return one graph's problems, none if empty. ``scene_row`` holds its task rows as "tasks"."""
    world = json.loads(world_row["world_json"])
    truths = {row["task_id"]: row for row in truth_rows}
    asked = {row["task_id"]: row for row in scene_row["tasks"]}
    problems = []
    for name, label in sorted(world["tasks"].items()):
        if name not in truths or name not in asked:
            problems.append(f"task {name}: no truth or no task row")
            continue
        public = json.loads(asked[name]["inputs_json"])
        private = json.loads(truths[name]["target_json"])
        found = _episode_problems(world, label, public, private, truths[name])
        problems += [f"task {name} ({label}): {problem}" for problem in found]
    strangers = truths.keys() - world["tasks"].keys()
    return problems + [f"task {name}: a truth of no task" for name in sorted(strangers)]


def _episode_problems(
    world: Json, label: str, public: Json, private: Json, row: Json
) -> Iterator[str]:
    """Yield one episode's problems, from its two sides and its truth ``row``."""
    if row["value"] != private["frequency"] or row["should_abstain"]:
        yield "the truth row's value is not the reactor's frequency"
    low, high = public["reactor_range"]
    if not low <= private["frequency"] <= high:
        yield "the target is outside the reactor's range"
    suite, setting = read_label(label)
    yield from _design_problems(world, suite, setting, public, private)
    yield from _disturbance_problems(suite, public, private)
    yield from _readings_problems(public, private)


def _design_problems(
    world: Json, suite: Suite, setting: SuiteSetting, public: Json, private: Json
) -> Iterator[str]:
    """Yield where an episode does not fit its suite, its setting or the graph of its instance."""
    if (private["suite"], private["setting"]) != (suite.name, setting):
        yield "the truth is of another suite"
    edges = sorted([t["parent"], node] for node, ts in private["equations"].items() for t in ts)
    if edges != sorted(map(list, world["edges"])):
        yield "the equations have other edges than the graph"
    names = [entry["name"] for entry in public["variables"]]
    if [*names, public["target"]["name"]] != world["names"]:
        yield "the variables are not the graph's"
    if any(cause == public["target"]["name"] for cause, _ in edges) > suite.acts:
        yield "frequency acts, though it is said not to"
    barred = [entry["name"] for entry in public["variables"] if not entry["controllable"]]
    if bool(barred) != (world["fixed"] and setting == "wide"):
        yield "the wrong properties can be controlled"
    observed = len(public["records"]) - (2 if suite.golden else 0)
    if (observed, public["budget"]) != (suite.observations, suite.budget):
        yield "numbers of records or interventions are not the suite's"
    for term in (term for terms in private["equations"].values() for term in terms):
        linear, quadratic = term["linear"], term["quadratic"]
        if suite.family == "quadratic":
            axis = -linear / (2 * quadratic)
            fits = quadratic in (0.008, 0.012, 0.016) and 34.99 <= axis <= 65.01
        elif setting == "wide":
            fits = not quadratic and 0.5 <= abs(linear) <= 3
        else:
            fits = not quadratic and linear in (1, 2, 3)
        if not fits:
            yield f"the mechanism of {term['parent']} is none of its setting"
    if not private["base"]:
        yield "frequency's base is zero"


def _readings_problems(public: Json, private: Json) -> Iterator[str]:
    """Yield the problems of every reading that the task shows: records, opening, reactor, trace."""
    records = zip(public["records"], private["records"], strict=True)
    shown = [(f"record {i}", *pair) for i, pair in enumerate(records, start=1)]
    if public["opening"] is not None:
        shown.append(("the opening", public["opening"], private["manipulator"]))
    target = public["target"]["name"]
    reactor = {**public["reactor"], target: private["frequency"]}
    shown.append(("the reactor", reactor, private["reactor"]))
    for where, reading, drawn in shown:
        exact = {name: _exact(value) for name, value in drawn.items()}
        yield from _reading_problems(where, reading, exact, set(), private, target)
    if not public["chain"]:
        return
    # The trace goes on from the first record, by the settings so far in the episode's mode.
    held: set[str] = set()
    bases = {name: _exact(value) for name, value in private["records"][0].items()}
    for number, step in enumerate(public["chain"], start=1):
        name, value = step["set"]["name"], _exact(step["set"]["value"])
        reading = step["reading"]
        if public["mode"] == "pin":
            inflow, _ = _inflow(private["equations"][name], reading)
            bases[name] = value - inflow
        else:
            bases[name] = value
        if public["mode"] == "do":
            held.add(name)
        yield from _reading_problems(
            f"step {number} of the trace", reading, bases, held, private, target
        )


def _reading_problems(
    where: str,
    reading: Json,
    bases: Mapping[str, Fraction],
    held: set[str],
    private: Json,
    target: str,
) -> Iterator[str]:
    """Yield each value that is not its base plus what its causes add, rounded once."""
    for node, value in reading.items():
        base = _exact(private["base"]) if node == target else bases[node]
        terms = [] if node in held else private["equations"][node]
        inflow, size = _inflow(terms, reading)
        if abs(_exact(value) - base - inflow) > _HALF + _SLOP * (1 + size):
            yield f"{where}: {node} is not what its equation gives"
        if _exact(value) * 100 % 1:
            yield f"{where}: {node} has more than two decimals"


def _inflow(terms: Sequence[Json], reading: Json) -> tuple[Fraction, Fraction]:
    """Return what the causes add to a node in all, and the sum of the terms' absolute values."""
    parts = []
    for term in terms:
        value = _exact(reading[term["parent"]])
        parts += [_exact(term["linear"]) * value, _exact(term["quadratic"]) * value * value]
    return sum(parts, Fraction(0)), sum(map(abs, parts), Fraction(0))


def _exact(value: float) -> Fraction:
    """Return the shortest decimal that stands for ``value``, as an exact fraction."""
    return Fraction(repr(float(value)))


def _disturbance_problems(suite: Suite, public: Json, private: Json) -> Iterator[str]:
    """Yield where the hidden disturbance, or what is told of it, is not that of the suite."""
    hidden, found = suite.hidden, private["disturbance"]
    if (hidden is None) != (found is None):
        yield "a disturbance where the suite has none, or none where it has one"
        return
    disclosed = hidden if suite.disclosed else None
    if public["shifts"] != (disclosed and [-disclosed.reach, 0.0, disclosed.reach]):
        yield "the wrong shifts are told"
    if hidden is None or found is None:
        return
    target = public["target"]["name"]
    causes = {term["parent"] for term in private["equations"][target]}
    nodes = set(found["nodes"])
    if len(found["nodes"]) != len(nodes) or len(nodes) != hidden.count:
        yield "the disturbance shifts the wrong number of nodes"
    if (target in nodes) != hidden.frequency or (nodes != {target} and not nodes & causes):
        yield "the disturbance shifts the wrong nodes"
    if not {abs(v) for v in found["sequence"]} <= {0.0, hidden.reach}:
        yield "the disturbance has the wrong values"
    if len(found["sequence"]) != public["budget"]:
        yield "the disturbance has not one value per intervention"


def leak_facts(task: TaskRow, truth: Json, _world: Json) -> LeakFacts:
    """Return a task's facts for the leak test."""
    inputs, target = task.inputs, json.loads(truth["target_json"])
    names = tuple(one["name"] for one in inputs["variables"])
    barred = tuple(one["name"] for one in inputs["variables"] if not one["controllable"])
    parents = {
        name: [term["parent"] for term in terms] for name, terms in target["equations"].items()
    }
    causes = parents[inputs["target"]["name"]]
    shifted = (target["disturbance"] or {"nodes": ()})["nodes"]
    facts = {
        "suite": target["suite"],
        "edges": str(sum(map(len, parents.values()))),
        "causes of frequency": str(len(causes)),
        "roots": str(sum(not parents[name] for name in names)),
        "disturbed": str(len(shifted)),
        "the barred is a cause": str(barred[0] in causes) if len(barred) == 1 else "",
    }
    for which, name in (("first listed", names[0]), ("first by name", min(names))):
        facts[f"{which} is a cause"] = str(name in causes)
        facts[f"{which} is a root"] = str(not parents[name])
        facts[f"{which} is disturbed"] = str(name in shifted)
    return LeakFacts(
        facts=facts,
        of_task=(
            *(repr(inputs.get(name)) for name in _DISCLOSED),
            len(names),
            len(barred),
            len(inputs["records"]),
            len(inputs["chain"]),
            inputs["opening"] is None,
        ),
        ends=barred[:1],
        orders=(names, *(tuple(one) for one in (inputs["reactor"], *inputs["records"][:1]))),
        shown={"first": names[0], "last": names[-1], "barred": " ".join(sorted(barred))},
    )
