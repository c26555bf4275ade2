"""Show a scene under a view: columns, rows, calibration rows, how recoverable variables are.

All views of a scene share their rows. Replace some variables by bundles of measurements, and
show them only in the calibration rows, a simple random sample of the training rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from string import ascii_lowercase
from typing import Any, Final

import numpy as np

from builder.equations.equation import Array
from builder.equations.mechanisms import is_empirical
from builder.equations.world import World
from builder.release.arrow import round_data
from builder.release.attempts import Rejection
from builder.splits.seeds import hmac_key, random_order, stream
from builder.splits.settings import TomlTable
from builder.tracks.causalds.design.scene_plan import CLEAN, ScenePlan, View
from builder.tracks.causalds.make.measure import (
    Bundle,
    MeasuredConcept,
    Measurement,
    NoBundle,
    draw_bundle,
)
from builder.tracks.causalds.make.scene import Column, Scene

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
    draw_one, nodes = _bundles_of(scene.plan, scene.world, view, own)
    bundles: dict[str, Bundle] = {}
    recovered: dict[str, Mapping[str, float]] = {}
    rng = stream(own, "noise")
    for node in nodes:
        values = scene.rows[node].astype(np.float64)
        for turn in range(_TURNS if view.window else 1):
            bundles[node] = draw_one(node, turn)
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


def _bundles_of(
    plan: ScenePlan, world: World, view: View, key: bytes
) -> tuple[Callable[[str, int], Bundle], list[str]]:
    """Return what draws a node's bundle, another each turn (or ``Rejection``), and the nodes."""
    query, rng = plan.structure.query, stream(key, "concepts")
    eligible = [v for v in query.graph.observed_nodes if v != query.outcome]
    wanted = min(len(eligible), int(rng.integers(view.concepts[0], view.concepts[1] + 1)))
    chosen = random_order(rng, eligible)[:wanted]
    if plan.questions.outcome_measured:
        chosen = [*chosen, query.outcome]
    pilot = world.simulate(stream(key, "pilot"), _PILOT)
    squares = not is_empirical("continuous", plan.equations.continuous)

    def draw_one(node: str, turn: int) -> Bundle:
        """Return the bundle of a turn, from 0."""
        own = stream(key, f"bundle/{node}" + f"/{turn}" * bool(turn))
        concept, outcome = MeasuredConcept.seen_in(pilot[node]), node == query.outcome
        try:
            return draw_bundle(own, concept, view, outcome=outcome, squares=squares)
        except NoBundle:
            raise Rejection(f"no informative measurements ({view.name})") from None

    return draw_one, sorted(chosen)


def _columns(scene: Scene, bundles: Mapping[str, Bundle]) -> tuple[ShownColumn, ...]:
    """Return public columns in the clean table's order, measurements in place of replaced nodes."""
    columns = []
    for node in scene.columns:
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
    to training rows. The other members are differences. Arguments are measurements and the
    variable, of shapes (n, d) and (n,), in training, calibration and held-out rows.
    ``joint_only`` leaves all but ``joint`` out.
    """
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
