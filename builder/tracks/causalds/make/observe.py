"""Show a scene under a view: columns, rows, calibration rows, how recoverable variables are.

All views of a scene share their rows. Some variables are replaced by bundles of measurements, and
shown only in the calibration rows, a simple random sample of the training rows.

A measurement depends on one concept alone: continuous ones are h(z) + noise, binary ones Bernoulli
with probability p(z) (paper 3.2). Its information about z is known in closed form: h'(z)^2 over the
noise variance at z, and p'(z)^2 / (p (1 - p)) (paper A.6; for noise that is not Gaussian the first
is a lower bound of the Fisher information). The information of a bundle is the sum. For a binary
concept it is one number: the sum of squared standardised mean differences (continuous measurements)
and of mutual informations in nats (binary ones). All is on the scale of z = (value - mean) / sd.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from string import ascii_lowercase
from typing import Any, Final

import numpy as np

from builder.equations.equation import Array, Parameters, Parent, round_parameters, summary
from builder.equations.mechanisms import EMPIRICAL, MECHANISMS, PLAIN_NOISES
from builder.equations.noise import Noise, draw_noise_law
from builder.release.arrow import round_data
from builder.release.attempts import Rejection
from builder.splits.seeds import hmac_key, random_order, stream
from builder.splits.settings import TomlTable
from builder.tracks.causalds.design.scene_plan import CLEAN, ScenePlan, View
from builder.tracks.causalds.make.scene import Column, Scene

GRID_POINTS: Final = 513
OUTCOME_FACTOR: Final = 1.75
"""Factor by which the thresholds are stricter for a measured outcome."""

MAX_DRAWS: Final = 60
_MARGIN: Final = 1.03
"""Accepted bundles exceed each threshold by this factor, which covers the gaps of the grid."""

_CONTINUOUS_SHARE: Final = {"continuous": 0.75, "binary": 0.4}
_SHIFT: Final = 1.5


@dataclass(frozen=True, slots=True)
class Measurement:
    """A column's equation: a mechanism of the concept alone, and its noise, None if binary."""

    mechanism: str
    parameters: Parameters
    noise: Noise | None

    @property
    def kind(self) -> str:
        """The kind of the column, ``continuous`` or ``binary``."""
        return MECHANISMS[self.mechanism].kind

    def mean(self, values: Array) -> Array:
        """Return the column's mean, a probability if binary, at concept values (n,), as (n,)."""
        return np.asarray(MECHANISMS[self.mechanism].mean(self.parameters, [values]))

    def scale(self, values: Array) -> Array:
        """Return a continuous column's noise scale at concept values (n,), as (n,)."""
        assert self.noise is not None
        return np.broadcast_to(self.noise.scale_at([values]), values.shape)

    def draw(self, rng: np.random.Generator, values: Array) -> Array:
        """Return one random measurement of every unit, given its concept values (n,), as (n,)."""
        if self.noise is None:
            return (rng.random(len(values)) < self.mean(values)).astype(np.float64)
        return self.mean(values) + self.scale(values) * self.noise.draw(rng, len(values))

    def information(self, values: Array) -> Array:
        """Return information about a continuous concept at values (n,), per unit squared, (n,)."""
        slope = MECHANISMS[self.mechanism].slope
        assert slope is not None
        steep = slope(self.parameters, values)
        if self.noise is None:
            p = self.mean(values)
            spread = p * (1.0 - p)
            # Where the probability is 0 or 1 to the last digit, it says nothing of the place.
            return np.divide(steep**2, spread, out=np.zeros_like(spread), where=spread > 0.0)
        return np.asarray((steep / self.scale(values)) ** 2)

    def separation(self, prevalence: float) -> float:
        """Return the information about a binary concept with a share of ones: squared standardised
        mean difference (continuous), or mutual information in nats (binary)."""
        ends = np.array([0.0, 1.0])
        low, high = self.mean(ends)
        if self.noise is None:
            p = (1.0 - prevalence) * low + prevalence * high
            parts = (1.0 - prevalence) * _entropy(low) + prevalence * _entropy(high)
            return float(_entropy(p) - parts)
        variance = self.scale(ends) ** 2
        pooled = (1.0 - prevalence) * variance[0] + prevalence * variance[1]
        return float((high - low) ** 2 / pooled)

    def to_json(self) -> dict[str, object]:
        """Return the measurement as plain JSON values, for the world row."""
        noise = self.noise and self.noise.to_json()
        return {"mechanism": self.mechanism, "parameters": dict(self.parameters), "noise": noise}


@dataclass(frozen=True, slots=True)
class Bundle:
    """The measurements of one concept, with the ``summary`` (least, mean, q10, q25) of their summed
    information over its ``support`` (least, greatest value), per squared sd of the concept, of a
    binary one four times one number; and as ``draws`` the number of bundles drawn until this."""

    measurements: tuple[Measurement, ...]
    summary: Mapping[str, float]
    support: tuple[float, float]
    draws: int


def draw_bundle(
    rng: np.random.Generator,
    concept: Parent,
    support: tuple[float, float],
    view: View,
    *,
    outcome: bool = False,
    squares: bool = False,
) -> Bundle:
    """Return a bundle that meets the view's thresholds, redrawn as a whole until one does. Its size
    is drawn once. ``support`` holds the concept's least and greatest value. ``outcome`` applies
    stricter thresholds, ``squares`` allows a square. Raises Rejection after ``MAX_DRAWS`` draws."""
    factor, needed = OUTCOME_FACTOR if outcome else 1.0, asdict(view.thresholds)
    count = int(rng.integers(view.columns[0], view.columns[1] + 1))
    grid = np.linspace(*support, GRID_POINTS)
    for draws in range(1, MAX_DRAWS + 1):
        measurements = tuple(_draw_measurement(rng, concept, view, squares) for _ in range(count))
        if concept.binary:
            total = math.fsum(one.separation(concept.mean) for one in measurements)
            least = mean = q10 = q25 = total
        else:
            at = np.sum([one.information(grid) for one in measurements], axis=0) * concept.sd**2
            least, mean = float(at.min()), float(at.mean())
            q10, q25 = np.quantile(at, (0.1, 0.25)).tolist()
        found = {"least": least, "mean": mean, "q10": q10, "q25": q25}
        if all(found[key] >= _MARGIN * (factor * value) for key, value in needed.items()):
            return Bundle(measurements, found, support, draws)
    raise Rejection(f"no informative measurements ({view.name})")


def _draw_measurement(
    rng: np.random.Generator, concept: Parent, view: View, squares: bool
) -> Measurement:
    """Return a random Bernoulli, neural or handcrafted measurement, by the view's shares."""
    kind = "binary" if concept.binary else "continuous"
    own_scale = {"centres": (concept.mean,), "scales": (concept.sd,)}
    if rng.random() >= _CONTINUOUS_SHARE[kind]:
        logistic = MECHANISMS["shifted_logistic"].draw(rng, [concept])
        return Measurement("shifted_logistic", round_parameters({**logistic, **own_scale}), None)
    if rng.random() < view.neural:
        drawn = MECHANISMS["neural"].draw(rng, [Parent(0.0, 1.0)])
        mechanism, parameters = "neural", {**drawn, **own_scale}
    else:
        drawn = MECHANISMS["handcrafted"].draw(rng, [concept])
        curvature = {"shifts": (float(rng.uniform(-_SHIFT, _SHIFT)),)}
        if squares:
            curvature["squares"] = (float(rng.choice((-1.0, 1.0)) * rng.normal(0.1, 0.05)),)
        mechanism, parameters = "handcrafted", {**drawn, **own_scale, **curvature}
    return Measurement(mechanism, round_parameters(parameters), _draw_noise(rng, concept, view))


def _draw_noise(rng: np.random.Generator, concept: Parent, view: View) -> Noise:
    """Return random noise on the view's scale (in sds of the concept), constant or varying."""
    scale = float(rng.uniform(*view.noise))
    families = ("gaussian_mixture",) if rng.random() < view.mixture else PLAIN_NOISES
    law = draw_noise_law(rng, families, scale)
    if rng.random() >= view.heteroscedastic:
        return law
    weight = float(rng.normal(0.0, 0.5)) / concept.sd
    bias = float(rng.normal(0.0, 0.3)) - weight * concept.mean
    return law.spread_over((weight,), bias, *view.spread)


def _entropy(p: float) -> float:
    return -sum(q * math.log(q) for q in (p, 1.0 - p) if q > 0.0)


_PILOT: Final = 4096
"""Simulated units from which a concept's mean, sd and range are taken."""
_FEWEST_CALIBRATION: Final = 30
_TURNS: Final = 20
"""Bundles that are tried for one of the wanted recoverability."""


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A public column: name, kind, the node it shows, and whether as a noisy measurement."""

    name: str
    kind: str
    node: str
    measures: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """A scene as one view shows it. ``bundles`` are the measurements by replaced node, ``columns``
    the public columns in table order. ``rows`` maps names of public columns and replaced variables
    to values, training rows first. ``chosen`` indexes the calibration rows among these,
    ``recovered`` holds optional diagnostics by node."""

    view: View
    bundles: Mapping[str, Bundle]
    columns: tuple[ShownColumn, ...]
    rows: Mapping[str, Column]
    chosen: tuple[int, ...] = ()
    recovered: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def observe(scene: Scene, view: View, key: bytes) -> Observation:
    """Return the scene in a view, by the attempt's ``key``. Raises Rejection without a bundle."""
    rows = {scene.name(node): column for node, column in scene.rows.items()}
    if view.name == CLEAN.name:
        return Observation(view, {}, _columns(scene, {}), rows)
    own, size = hmac_key(key, f"view/{view.name}"), scene.plan.equations.train
    count = min(size, max(_FEWEST_CALIBRATION, round(view.calibration * size)))
    chosen = np.sort(stream(own, "calibration").choice(size, count, replace=False)).tolist()
    parts = (slice(size), chosen, slice(size, None))
    pilot = scene.world.simulate(stream(own, "pilot"), _PILOT)
    squares = scene.plan.equations.continuous not in EMPIRICAL["continuous"]
    bundles: dict[str, Bundle] = {}
    recovered: dict[str, Mapping[str, float]] = {}
    rng = stream(own, "noise")
    for node in _replaced_nodes(scene.plan, view, stream(own, "concepts")):
        values, outcome = scene.rows[node].astype(np.float64), node == scene.motif.outcome
        concept = Parent.seen_in(pilot[node])
        support = summary(float(pilot[node].min())), summary(float(pilot[node].max()))
        for turn in range(_TURNS if view.window else 1):
            turn_rng = stream(own, f"bundle/{node}" + f"/{turn}" * bool(turn))
            bundles[node] = draw_bundle(
                turn_rng, concept, support, view, outcome=outcome, squares=squares
            )
            named = measurement_columns(scene, node, bundles[node])
            drawn = {name: round_data(one.draw(rng, values)) for name, one in named.items()}
            tables = (np.column_stack(list(drawn.values())).astype(np.float64), values)
            data = [table[part] for part in parts for table in tables]
            if view.window is None or (
                view.window[0] <= recoverability(*data, joint_only=True)["joint"] <= view.window[1]
            ):
                break
        else:
            raise Rejection(f"no measurements of the wanted recoverability ({view.name})")
        rows |= drawn
        if scene.plan.questions.diagnostics:
            recovered[node] = recoverability(*data)
    columns = tuple(random_order(stream(own, "columns"), _columns(scene, bundles)))
    return Observation(view, bundles, columns, rows, tuple(chosen), recovered)


def measurement_columns(scene: Scene, node: str, bundle: Bundle) -> dict[str, Measurement]:
    """Return a replaced node's measurements by column name, ``<variable>_meas_<letter>``."""
    letters = zip(ascii_lowercase, bundle.measurements, strict=False)
    return {f"{scene.name(node)}_meas_{letter}": one for letter, one in letters}


def _replaced_nodes(plan: ScenePlan, view: View, rng: np.random.Generator) -> list[str]:
    query = plan.structure.query
    eligible = [v for v in query.graph.observed_nodes if v != query.outcome]
    wanted = min(len(eligible), int(rng.integers(view.concepts[0], view.concepts[1] + 1)))
    chosen = random_order(rng, eligible)[:wanted]
    return sorted([*chosen, query.outcome] if plan.questions.outcome_measured else chosen)


def _columns(scene: Scene, bundles: Mapping[str, Bundle]) -> tuple[ShownColumn, ...]:
    """Return public columns in the clean table's order, measurements in place of replaced nodes."""
    columns = []
    for node in scene.rows:
        if node in bundles:
            measurements = measurement_columns(scene, node, bundles[node])
            columns += [ShownColumn(n, one.kind, node, True) for n, one in measurements.items()]
        else:
            columns.append(ShownColumn(scene.name(node), scene.variables[node].kind, node, False))
    return tuple(columns)


_MOST_ROWS: Final = 8000
"""Fit recoverability models to at most so many training rows."""
_TREES: Final = {"max_iter": 100, "max_depth": 3, "learning_rate": 0.1, "early_stopping": False}


def check_recoverability(views: Sequence[View], diagnostics: bool, table: TomlTable) -> None:
    """Raise ``UsageError`` naming a key that needs scikit-learn, where that is not installed."""
    windows = [f"observation.{view.name}.window" for view in views if view.window]
    for key in ["diagnostics"] * diagnostics + windows if find_spec("sklearn") is None else ():
        what = "recoverability needs scikit-learn; install it, or leave the key out"
        raise table.problem(key, what)


def recoverability(
    train: Array,
    target: Array,
    calibration: Array,
    known: Array,
    held_out: Array,
    truth: Array,
    *,
    joint_only: bool = False,
) -> Mapping[str, float]:
    """Return how well one variable can be recovered from its measurements in the held-out rows.

    Scores are R², or AUC if it is binary, of three best models: ``naive``, linear in one column,
    fitted to calibration rows, ``single`` and ``joint``, boosted, of one column and of all, fitted
    to training rows; and differences. Arguments are measurements (n, d) and the variable (n,) in
    training, calibration and held-out rows."""
    from sklearn import ensemble, linear_model, metrics
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    binary = bool(np.isin(truth, (0.0, 1.0)).all())
    train, target = train[:_MOST_ROWS], target[:_MOST_ROWS]
    columns = range(train.shape[1])

    def score(model: Any, chosen: list[int], features: Array, values: Array) -> float:
        """Return the held-out R², or AUC, of a model of some columns, fitted to ``values``."""
        fitted, shown = model.fit(features[:, chosen], values), held_out[:, chosen]
        if binary:
            return float(metrics.roc_auc_score(truth, fitted.predict_proba(shown)[:, 1]))
        return float(metrics.r2_score(truth, fitted.predict(shown)))

    if binary:
        linear, trees = linear_model.LogisticRegression, ensemble.HistGradientBoostingClassifier
    else:
        linear, trees = linear_model.LinearRegression, ensemble.HistGradientBoostingRegressor
    boosted = partial(trees, random_state=0, **_TREES)
    with threadpool_limits(1):  # scenes are built side by side, one to a core
        joint = score(boosted(), list(columns), train, target)
        if joint_only:
            return {"joint": joint}
        lower = max(score(linear(), [column], calibration, known) for column in columns)
        single = max(score(boosted(), [column], train, target) for column in columns)
    return {
        "naive": lower,
        "single": single,
        "joint": joint,
        "misspecification": single - lower,
        "information_gain": joint - single,
        "gap": joint - lower,
    }
