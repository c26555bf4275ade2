"""A lazy expert, who is told the graph, has the correlations at hand, and works nothing out: the
rules behind the shortcuts of ``baselines/shortcuts/causalds.py``.

The graph is the one that the story tells; only ``lookup`` takes it from the published
domains instead. Numbers are correlations and straight lines over the table, measurements replaced
by what they predict. A rule leaves unanswered what it does not speak of.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from baselines.causalds.desk import Desk
from baselines.causalds.estimators import Estimate
from baselines.causalds.forms import ends, third
from baselines.causalds.informed import SOLVERS
from baselines.causalds.naive import NaiveDesk
from baselines.release import OpenedExam, ShownScene, iterate_scenes
from baselines.solving import Answers
from baselines.writing import Answer
from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.reader import Reading
from builder.reader.names import MARK, mask
from builder.words.knowledge import Domain, domains
from grader.shape import Task

EFFECTS: Final = ("effect_estimate", "counterfactual_effect", "mediation_effect")


@dataclass
class LazyDesk(NaiveDesk):
    """A scene as the lazy expert sees it: columns and correlations, and the graph beside them."""

    @cached_property
    def _told(self) -> Desk:
        return Desk(self.shown)

    def graph(self, task: Task) -> LatentDAG:
        """The graph that the story tells, over the variables that the task says are measured."""
        named = task.inputs.get("observed") or task.inputs.get("available") or []
        return self._told.graph([*ends(task), *named] if named else [])

    @cached_property
    def looked_up(self) -> Desk:
        """A desk with the graph of the published domains."""
        return LookupDesk(self.shown)

    def causes(self, task: Task) -> list[str]:
        """The direct causes of the treatment that are measured, sorted."""
        graph = self.graph(task)
        return sorted(set(graph.parents(ends(task)[0])) - graph.latent)

    def between(self, task: Task, given: str) -> float:
        """How closely a variable goes with both ends: the product of its correlations with them."""
        found = self._correlations((*ends(task), given))[0]
        return float(abs(found[0, 2] * found[1, 2]))

    def line(self, task: Task, controls: Sequence[str]) -> Estimate:
        """The effect as the coefficient of the treatment beside ``controls``."""
        keep = {*ends(task), *controls}
        columns = {name: v for name, v in self.scene.data.items() if name in keep}
        return NaiveDesk(_with(self.scene, columns)).slope(task)


def _with(scene: ShownScene, columns: Mapping[str, Any]) -> ShownScene:
    """The scene with these columns alone, and nothing left to be predicted from measurements."""
    return ShownScene(scene.instance_id, scene.view, scene.story, scene.kinds, columns, {})


Rule = Callable[[Task, LazyDesk], Answer | None]
"""What a rule answers; None where it has nothing to say."""


def _number(task: Task, found: Estimate | None, desk: LazyDesk) -> Answer | None:
    """An effect in the form that its task asks for; None where that is no number, interval or
    sign."""
    match task.shape.kind:
        case "number":
            return {task.shape.field: None if found is None else found.value}
        case "interval":
            ends_of = (None, None, None) if found is None else (found.value, found.low, found.high)
            return dict(zip((task.shape.field, "ci_lower", "ci_upper"), ends_of, strict=True))
        case "sign":
            return {"sign": "unknown" if found is None else desk.label(found.value, "0")}
    return None


# --- effects from associations ---------------------------------------------------------------


def sign_of_r(task: Task, desk: LazyDesk) -> Answer | None:
    """An effect has the sign of the correlation."""
    if task.spec.key == "effect_estimate.ate_vs_assoc_sign_match":
        return {"matches": True}
    if task.family in EFFECTS and task.shape.kind == "sign":
        return {"sign": desk.label(desk.correlation(task), "0")}
    return None


def _by_line(task: Task, desk: LazyDesk, controls: Sequence[str]) -> Answer | None:
    """What the coefficient beside ``controls`` says of an effect, a sign, or the larger effect."""
    if task.spec.key == "effect_estimate.ate_vs_assoc_sign_match":
        return {"matches": desk.line(task, controls).value * desk.correlation(task) > 0}
    return _number(task, desk.line(task, controls), desk) if task.family in EFFECTS else None


def plain_slope(task: Task, desk: LazyDesk) -> Answer | None:
    """Every effect is the slope on the treatment alone."""
    return _by_line(task, desk, ())


def all_controls(task: Task, desk: LazyDesk) -> Answer | None:
    """Everything that is measured is controlled for."""
    x, y = ends(task) if "treatment" in task.inputs else ("", "")
    if task.family == "identification":
        named = task.inputs.get("available") or task.inputs["observed"]
        return _adjusted(task, sorted(set(named) - {x, y}), ())
    return _by_line(task, desk, [name for name in desk.scene.data if name not in (x, y)])


def baron_kenny(task: Task, desk: LazyDesk) -> Answer | None:
    """Direct is the slope beside the measured mediators, indirect what they take from the slope on
    the treatment and its direct causes."""
    if task.family != "mediation_effect":
        return None
    graph, (x, y) = desk.graph(task), ends(task)
    before = [name for name in desk.causes(task) if name != y]
    between = [name for name in graph.mediators(x, y) if name not in graph.latent]
    direct, total = desk.line(task, [*before, *between]), desk.line(task, before)
    through = total.value - direct.value
    half = float(np.hypot(direct.error, total.error))
    if task.shape.kind == "label":
        return {"dominant": "direct" if abs(direct.value) >= abs(through) else "indirect"}
    indirect = Estimate(through, half, through - half, through + half)
    return _number(task, indirect if task.inputs["estimand"] == "NIE" else direct, desk)


# --- sets, methods and verdicts from a glance at the graph -------------------------------------


def _adjusted(task: Task, controls: Sequence[str], rest: Sequence[str]) -> Answer | None:
    """What is said of adjustment sets where ``controls`` are one, with any of ``rest`` or none."""
    match task.spec.name:
        case "one_valid_adjustment_set":
            return {"adjust": list(controls)}
        case "all_minimal_adjustment_sets":
            return {"adjustment_sets": [list(controls)]}
        case "minimal_adjustment_set_size":
            return {"k": len(controls)}
        case "n_valid_adjustment_sets":
            return {"n": 2 ** len(rest)}
        case "method_label":
            return {"method": "backdoor"}
        case "identifiable_boolean":
            return {"identifiable": True}
    return None


def direct_causes(task: Task, desk: LazyDesk) -> Answer | None:
    """The direct causes of the treatment that are measured are what to adjust for, always."""
    if task.family == "identification":
        graph, (x, y) = desk.graph(task), ends(task)
        causes = desk.causes(task)
        rest = set(graph.observed) - graph.descendants(x) - {x, y, *causes}
        return _adjusted(task, causes, sorted(rest))
    causes = desk.causes(task) if task.family in EFFECTS else []
    return _by_line(task, desk, [name for name in causes if name != ends(task)[1]])


def _abstaining(hidden: Callable[[LatentDAG, str, str], bool]) -> Rule:
    """Abstains where ``hidden`` sees something, else goes by the direct causes."""

    def rule(task: Task, desk: LazyDesk) -> Answer | None:
        if task.family not in (*EFFECTS, "identification", "counterfactual_identification",
                               "bias_diagnostic"):  # fmt: skip
            return None
        lost, shape = hidden(desk.graph(task), *ends(task)), task.shape
        if task.spec.name == "identifiable_boolean":
            return {"identifiable": not lost}
        if not lost:
            return direct_causes(task, desk)
        if not shape.abstainable:
            return None
        if shape.kind == "interval":
            return _number(task, None, desk)
        # Of sets the word for "no set will do, nor anything else" is the one that they have.
        return {shape.field: "non_id" if "non_id" in shape.labels else shape.abstention}

    return rule


def _any_latent(graph: LatentDAG, x: str, y: str) -> bool:
    return bool(graph.latent)


def _bow(graph: LatentDAG, x: str, y: str) -> bool:
    """Whether something unmeasured acts on both ends directly."""
    return any({x, y} <= set(graph.children(u)) for u in graph.latent)


def _latent_cause(graph: LatentDAG, x: str, y: str) -> bool:
    """Whether a direct cause of the treatment is unmeasured."""
    return bool(set(graph.parents(x)) & graph.latent)


def method_by_latents(task: Task, desk: LazyDesk) -> Answer | None:
    """Nothing unmeasured behind both ends: back door. Otherwise front door where nothing leads
    from one to the other directly, else nothing."""
    if task.spec.key != "identification.method_label":
        return None
    graph, (x, y) = desk.graph(task), ends(task)
    if not _bow(graph, x, y):
        return {"method": "backdoor"}
    return {"method": "none" if y in graph.children(x) else "frontdoor"}


def verdict_of_ate(task: Task, desk: LazyDesk) -> Answer | None:
    """What holds of the average effect holds of the others."""
    if task.spec.key != "counterfactual_identification.identifiable_boolean":
        return None
    return {"identifiable": is_identifiable(desk.graph(task), *ends(task), "ate")}


def descendants(task: Task, desk: LazyDesk) -> Answer | None:
    """Forbidden is what the treatment affects."""
    if task.spec.key != "bias_diagnostic.forbidden_controls_list":
        return None
    graph, (x, y) = desk.graph(task), ends(task)
    return {"forbidden": sorted(graph.descendants(x) - graph.latent - {x, y})}


def below_outcome(task: Task, desk: LazyDesk) -> Answer | None:
    """A variable brings collider bias if the outcome affects it, or both ends do."""
    if task.spec.key != "bias_diagnostic.collider_bias_boolean":
        return None
    return {"bias_present": third(task) in desk.graph(task).descendants(ends(task)[1])}


def below_two(task: Task, desk: LazyDesk) -> Answer | None:
    """A variable brings collider bias if it has two direct causes or more."""
    if task.spec.key != "bias_diagnostic.collider_bias_boolean":
        return None
    return {"bias_present": len(desk.graph(task).parents(third(task))) > 1}


# --- associations ------------------------------------------------------------------------------


def direct_dominates(task: Task, desk: LazyDesk) -> Answer | None:
    """The direct effect is the larger."""
    found = {"dominant": "direct"}
    return found if task.spec.name == "direct_vs_indirect_dominance" else None


def r_stays(task: Task, desk: LazyDesk) -> Answer | None:
    """There is an association, with the sign of r, whatever is taken into account; what takes
    something off it most is what goes with both ends most."""
    if task.family not in ("association", "collider_phenomenon"):
        return None
    match task.shape.kind:
        case "boolean":
            return {task.shape.field: True}
        case "signs":
            sign = desk.label(desk.correlation(task), "0")
            return {"sign_before": sign, "sign_after": sign}
        case "sign":
            r = desk.correlation(task)
            return {"sign": desk.label(-r if task.family == "association" else r, "0")}
        case "name":
            candidates: list[str] = task.inputs["candidates"]
            return {task.shape.field: max(candidates, key=lambda z: desk.between(task, z))}
    return None


# --- looking the graph up ------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _domain_of(names: frozenset[str]) -> Domain | None:
    """The published domain that has most of these variables; None where none has half."""
    best = max(domains(), key=lambda one: sum(c.name in names for c in one.concepts))
    found = sum(concept.name in names for concept in best.concepts)
    return best if 2 * found > len(names) else None


@dataclass
class LookupDesk(Desk):
    """A desk whose graph is the published domain's, over the names that the story uses."""

    def _read(self, known: Sequence[str], count: int | None = None) -> Reading:
        found = _domain_of(frozenset(self.whole.data))
        if found is None:
            return Reading(tuple(known), (), frozenset())
        listed = [concept.name for concept in found.concepts]
        told = {listed[int(i)] for i in MARK.findall(mask(self.shown.story, listed))}
        names = [*known, *(name for name in listed if name in told - set(known))]
        edges = [edge for edge in found.mechanism_clauses if set(edge) <= set(names)]
        return Reading(tuple(names), tuple(edges), frozenset(names) - frozenset(self.whole.data))


SOLVED: Final = (
    "causal_sketch", "identification", "bias_diagnostic", "counterfactual_identification",
)  # fmt: skip
"""Families whose answers follow from a graph alone."""


def lookup(task: Task, desk: LazyDesk) -> Answer | None:
    """The right method on the graph that the published domains have among these names."""
    if task.family not in SOLVED:
        return None
    return SOLVERS[task.spec.key](task, desk.looked_up)


RULES: Final[Mapping[str, Rule]] = {
    "sign-of-r": sign_of_r,
    "plain-slope": plain_slope,
    "all-controls": all_controls,
    "baron-kenny": baron_kenny,
    "direct-causes": direct_causes,
    "unmeasured": _abstaining(_any_latent),
    "bow": _abstaining(_bow),
    "latent-cause": _abstaining(_latent_cause),
    "method-by-latents": method_by_latents,
    "verdict-of-ate": verdict_of_ate,
    "descendants": descendants,
    "below-outcome": below_outcome,
    "below-two": below_two,
    "direct-dominates": direct_dominates,
    "r-stays": r_stays,
    "lookup": lookup,
}
"""By the names of the shortcuts."""


def every_rule(exam: OpenedExam, tasks: Sequence[Task]) -> Iterator[tuple[str, Task, Answer]]:
    """What each rule answers, each scene read once."""
    for scene, members in iterate_scenes(exam, tasks):
        desk = LazyDesk(scene)
        for task in members:
            for name, rule in RULES.items():
                found = rule(task, desk)
                if found is not None:
                    yield name, task, found


def by_rule(name: str, exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
    """The tasks that one rule speaks of, with what it says."""
    for scene, members in iterate_scenes(exam, tasks):
        desk = LazyDesk(scene)
        for task in members:
            found = RULES[name](task, desk)
            if found is not None:
                yield task, found
