"""The analysis of one scene, and how its findings are written as answers.

Everything is worked out once and kept, as a scene may be asked thirty questions. Which finding a
variant asks for, and under which fields, is the same for every analyst (``FORMS``).

Measured variables are put back into the tables by regression calibration: a regression on the
calibration rows, which show a variable beside its measurements, predicts it in all other rows
(Carroll, Ruppert, Stefanski & Crainiceanu 2006, chapter 4). What is left of the error biases
whatever is estimated from the predictions; double sampling takes it out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from baselines.causalds.effect_plan import plan_effect
from baselines.causalds.estimators import (
    ZERO,
    Chosen,
    Contrast,
    Estimate,
    Tables,
    bootstrap_weights,
    draws,
    summary,
    tables_of,
)
from baselines.causalds.regression import Columns, gram, is_binary
from baselines.exam import Answer, FloatArray, ShownScene, generator
from builder.equations.quantities import association_margin
from builder.graphs.graph import LatentDAG, one_is_apart
from builder.reader import read_story
from grader.scoring.shape import Task

RIDGE = 1e-3
"""Penalty per calibration row on standardised measurements: bundles can be collinear."""


def predict_measured(scene: ShownScene) -> ShownScene:
    """Return ``scene`` with predictions (binary: 0 or 1) in place of measured variables."""
    measured = [name for name in scene.calibration if name not in scene.data]
    if not measured:
        return scene
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data, test = dict(scene.data), dict(scene.test)
    for name in measured:
        bundle = [column for column in scene.data if column.startswith(f"{name}_meas_")]
        truth = scene.calibration[name]
        model = make_pipeline(StandardScaler(), Ridge(RIDGE * len(truth)))
        model.fit(np.column_stack([scene.calibration[column] for column in bundle]), truth)
        for table in (data, test):
            if all(column in table for column in bundle):
                rows = np.column_stack([table.pop(column) for column in bundle])
                values = np.asarray(model.predict(rows))
                table[name] = (values > 0.5).astype(np.float64) if is_binary(truth) else values
    return replace(scene, data=data, test=test)


_OVERRULING_ERRORS = 4.0
"""The data overrule a zero that was read from the story from so many standard errors on."""


def associations(
    tables: Tables, graph: LatentDAG, names: tuple[str, ...], weights: FloatArray
) -> list[Estimate]:
    """Return the correlation of X and Y, the first two ``names``, in a list of one.

    With a third name Z the list holds the partial correlation given Z, and that less the plain one.
    Each is exactly zero where ``graph`` says so and the data do not contradict it, although given Z
    it need be only where relations are linear in Z: what is asked for is exactly 0 or well away.
    """
    x, y, *third = names

    def estimator(data: Columns, w: FloatArray, chosen: Chosen) -> FloatArray:
        found = correlations(data, names, w)
        r = found[:, 0, 1]
        if not third:
            return r[:, None]
        s = partial_correlation(r, found[:, 0, 2], found[:, 1, 2])
        return np.column_stack([s, s - r])

    zeros = [graph.d_separated((x,), (y,), third)]
    zeros += [one_is_apart(graph, x, y, z) for z in third]
    # The prompt's promise: a label's value is exactly zero or at least this far from it.
    margin = association_margin(measured=not tables.measured.isdisjoint(names))
    found = draws(tables, frozenset(names), estimator, weights)
    estimates = [summary(column) for column in found.T]
    return [
        ZERO if zero and abs(one.value) < max(_OVERRULING_ERRORS * one.error, margin / 2) else one
        for one, zero in zip(estimates, zeros, strict=True)
    ]


def correlations(data: Columns, names: tuple[str, ...], weights: FloatArray) -> FloatArray:
    """Return weighted correlation matrices, shape (B, k, k); 0 with a column that is constant."""
    values = np.column_stack([data[name] - data[name].mean() for name in names])
    total = weights.sum(axis=1)[:, None]
    mean = weights @ values / total
    covariance = gram(values, weights) / total[:, :, None] - mean[:, :, None] * mean[:, None, :]
    spread = np.sqrt(np.maximum(np.einsum("bii->bi", covariance), 0))
    scale = spread[:, :, None] * spread[:, None, :]
    return np.asarray(np.where(scale > 1e-12, covariance / np.maximum(scale, 1e-12), 0.0))


def partial_correlation(r: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return r(X, Y | Z) from r(X, Y), r(X, Z) and r(Y, Z), each of shape (B,)."""
    return np.asarray((r - a * b) / np.sqrt(np.maximum((1 - a**2) * (1 - b**2), 1e-9)))


class Analyst(Protocol):
    """The findings about one scene that answers are written from."""

    def association(self, task: Task, *given: str) -> Sequence[float]:
        """Return [correlation of x and y], or given a third [partial correlation, its change]."""

    def effect(self, task: Task, name: str) -> Estimate | None:
        """Return the "ATE", "ETT", "NDE" or "NIE"; None where it is held not identifiable."""

    def sketch(self, task: Task) -> Sequence[tuple[str, str]]:
        """Return the direct effects (cause, effect) among all variables of the task's story."""

    def label(self, value: float, zero: str) -> str:
        """Return "+", "-", or ``zero`` where the analyst holds the number to be exactly zero."""


Form = Callable[[Task, Analyst], Answer]
"""Writes the answer to a task from what an analyst finds."""


def ends(task: Task) -> tuple[str, str]:
    """Return the names of the task's treatment and outcome."""
    return task.inputs["treatment"], task.inputs["outcome"]


def third(task: Task) -> str:
    """Return the name of the variable that the task conditions on."""
    return str(task.inputs.get("variable") or task.inputs["conditioning_var"])


def _form(**fields: Callable[[Task, Analyst], object]) -> Form:
    """Return the form that writes these fields, each with the function that finds its value."""
    return lambda task, analyst: {name: find(task, analyst) for name, find in fields.items()}


def _plain_sign(task: Task, analyst: Analyst) -> str:
    # The word for zero that imported releases accept, too; ours ask for "0".
    return analyst.label(analyst.association(task)[0], "unknown")


def _partial_sign(task: Task, analyst: Analyst) -> str:
    return analyst.label(analyst.association(task, third(task))[0], "unknown")


def _change(task: Task, analyst: Analyst) -> float:
    """Return the partial correlation given the third variable less the plain one."""
    return analyst.association(task, third(task))[1]


def _effect(task: Task, analyst: Analyst) -> Estimate | None:
    """Return the effect that the family implies or the task names; None as the analyst abstains."""
    estimand = {"effect_estimate": "ATE", "counterfactual_effect": "ETT"}.get(task.family)
    return analyst.effect(task, estimand or task.inputs["estimand"])


def _value(task: Task, analyst: Analyst) -> Answer:
    """Answer with the effect's estimate alone, null to abstain."""
    found = _effect(task, analyst)
    return {task.shape.field: None if found is None else found.value}


def _interval(task: Task, analyst: Analyst) -> Answer:
    """Answer with the effect's estimate and both ends of its interval, all null to abstain."""
    found = _effect(task, analyst)
    if found is None:
        return {task.shape.field: None, "ci_lower": None, "ci_upper": None}
    return {task.shape.field: found.value, "ci_lower": found.low, "ci_upper": found.high}


def _sign(task: Task, analyst: Analyst) -> Answer:
    """Answer with the sign of the effect, "unknown" to abstain."""
    found = _effect(task, analyst)
    return {"sign": "unknown" if found is None else analyst.label(found.value, "0")}


FORMS: Final[Mapping[str, Form]] = {
    "association.sign_only": _form(sign=_plain_sign),
    "association.effect_size_point": _form(value=lambda t, a: a.association(t)[0]),
    "association.sign_before_after": _form(sign_before=_plain_sign, sign_after=_partial_sign),
    "association.delta_point": _form(delta=_change),
    "association.delta_sign_only": _form(sign=lambda t, a: a.label(_change(t, a), "0")),
    "association.argmax_change": _form(
        conditioning_var=lambda t, a: max(
            t.inputs["candidates"], key=lambda z: abs(a.association(t, z)[1])
        )
    ),
    "collider_phenomenon.induced_association_sign_only": _form(sign=_partial_sign),
    "collider_phenomenon.induced_association_strength_point": _form(
        value=lambda t, a: a.association(t, third(t))[0]
    ),
    "causal_sketch.edges_only": _form(
        edges=lambda t, a: [{"from": x, "to": y} for x, y in a.sketch(t)]
    ),
    "causal_sketch.skeleton_edges": _form(
        skeleton_edges=lambda t, a: [{"a": x, "b": y} for x, y in a.sketch(t)]
    ),
    "effect_estimate.ate_point": _value,
    "effect_estimate.ate_uq_95": _interval,
    "effect_estimate.ate_sign_only": _sign,
    "counterfactual_effect.effect_point": _value,
    "counterfactual_effect.effect_uq_95": _interval,
    "counterfactual_effect.sign_only": _sign,
    "mediation_effect.effect_point": _value,
    "mediation_effect.effect_uq_95": _interval,
    "mediation_effect.sign_only": _sign,
}
"""By ``family.variant``."""


@dataclass(eq=False)
class SceneAnalysis:
    """The informed analyst of one scene; ``corrected`` corrects estimates by calibration rows."""

    shown: ShownScene
    corrected: bool = False
    _graphs: dict[frozenset[str], LatentDAG] = field(default_factory=dict)
    _effects: dict[tuple[str, Contrast], Estimate | None] = field(default_factory=dict)
    _associations: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    @cached_property
    def predicted_scene(self) -> ShownScene:
        """The scene with a predicted column for each measured variable, without measurements."""
        return predict_measured(self.shown)

    @cached_property
    def tables(self) -> Tables:
        """The rows with measured variables predicted, and those in which they are known."""
        return tables_of(self.shown, self.predicted_scene, corrected=self.corrected)

    @cached_property
    def weights(self) -> FloatArray:
        """Bootstrap weights of the rows, the same for every question, shape (B, n)."""
        count = len(next(iter(self.shown.data.values())))
        rng = generator(f"bootstrap/{self.shown.instance_id}/{self.shown.view}")
        return bootstrap_weights(rng, count)

    def graph(self, observed: Sequence[str] = ()) -> LatentDAG:
        """Return the story's graph over ``observed`` (default: the table's) and latent nodes."""
        known = frozenset(observed or self.predicted_scene.data)
        if known not in self._graphs:
            read = read_story(self.shown.story, sorted(known), None)
            self._graphs[known] = LatentDAG(read.variables, read.edges, read.unmeasured)
        return self._graphs[known]

    def sketch(self, task: Task) -> tuple[tuple[str, str], ...]:
        """Return the story's (cause, effect) pairs; the task gives the number of variables."""
        return read_story(self.shown.story, (), task.inputs["variables"]).edges

    def association(self, task: Task, *given: str) -> list[float]:
        """Return [correlation of x and y], or given a third [partial correlation, its change]."""
        names = (*ends(task), *given)
        if names not in self._associations:
            found = associations(self.tables, self.graph(), names, self.weights)
            self._associations[names] = [estimate.value for estimate in found]
        return self._associations[names]

    def label(self, value: float, zero: str) -> str:
        """Return "+", "-", or ``zero`` for exactly 0, which a value is where the graph says so."""
        return zero if value == 0 else "+" if value > 0 else "-"

    def effect(self, task: Task, name: str) -> Estimate | None:
        """Return the "ATE", "ETT", "NDE" or "NIE" with its interval; None if not identifiable."""
        low, high = float(task.inputs["x0"]), float(task.inputs["x1"])
        contrast = Contrast(*ends(task), low, high, name == "ETT")
        if (name, contrast) not in self._effects:
            binary = is_binary(self.predicted_scene.data[contrast.x])
            plan = plan_effect(self.graph(), contrast, name, binary=binary)
            found = None if plan is None else ZERO
            if plan is not None and plan.estimator is not None:
                sample = draws(self.tables, plan.names, plan.estimator, self.weights)
                found = summary(sample, plan.widen)
            self._effects[name, contrast] = found
        return self._effects[name, contrast]
