"""What a view shows of a scene: columns, rows, the calibration subset; and how well it does.

All views of a scene share their rows. A replaced variable gives way to a bundle of measurements;
it is shown itself in the calibration rows, a simple random sample of the training rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from string import ascii_lowercase
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from builder.equations.profiles import is_empirical
from builder.equations.world import World
from builder.release.arrow import round_data
from builder.release.attempts import Rejected
from builder.splits.seeds import hmac_key, shuffled, stream
from builder.splits.settings import TomlTable
from builder.tracks.causalds.design.scene_plan import CLEAN, VIEWS, ScenePlan, View
from builder.tracks.causalds.make.measure import (
    OUTCOME_FACTOR,
    Bundle,
    Concept,
    NoBundle,
    attainable,
    draw_bundle,
)
from builder.tracks.causalds.make.scene import Column, Scene

_PILOT: Final = 4096
_FEWEST_CALIBRATION: Final = 30


@dataclass(frozen=True, slots=True)
class Shown:
    """One public column: its name and kind, and the node that it is or that it measures."""

    name: str
    kind: str
    node: str
    measures: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """A scene as one view shows it.

    ``columns`` are in table order; ``train``, ``test`` and ``calibration`` map column names to
    rows. ``calibration`` has the public columns and then the replaced variables; it is empty where
    nothing is replaced. ``chosen`` are the training rows it consists of. ``recovered`` holds the
    optional diagnostics by node.
    """

    view: View
    bundles: Mapping[str, Bundle]
    columns: tuple[Shown, ...]
    train: Mapping[str, Column]
    test: Mapping[str, Column]
    calibration: Mapping[str, Column]
    chosen: tuple[int, ...]
    recovered: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def measured(self) -> frozenset[str]:
        """The replaced nodes."""
        return frozenset(self.bundles)

    def columns_of(self, node: str) -> list[str]:
        """The measurements of a replaced node."""
        return sorted(c.name for c in self.columns if c.node == node and c.measures)


def observe(scene: Scene, view: View, key: bytes) -> Observation:
    """The scene under a view. Raises :class:`Rejected` when no bundle is informative enough."""
    if view.name == CLEAN.name:
        shown = tuple(
            Shown(scene.name(v), scene.variables[v].kind, v, False) for v in scene.columns
        )
        train, test = (
            {scene.name(v): table[v] for v in scene.columns}
            for table in (scene.tables.train, scene.tables.test)
        )
        return Observation(view, {}, shown, train, test, {}, ())
    own = hmac_key(key, f"view/{view.name}")
    bundles = _bundles(scene.plan, scene.world, view, own)
    shown = _columns(scene, bundles, own)
    values = {
        v: np.concatenate([scene.tables.train[v], scene.tables.test[v]]).astype(np.float64)
        for v in scene.columns
    }
    rows: dict[str, Column] = {}
    rng = stream(own, "noise")
    for node, bundle in sorted(bundles.items()):
        for letter, measurement in zip(ascii_lowercase, bundle.measurements, strict=False):
            drawn = measurement.draw(rng, values[node])
            rows[measurement_name(scene, node, letter)] = round_data(drawn)
    for node in scene.columns:
        if node not in bundles:
            whole = [scene.tables.train[node], scene.tables.test[node]]
            rows[scene.name(node)] = np.concatenate(whole)
    size = scene.plan.equations.train
    train = {column.name: rows[column.name][:size] for column in shown}
    test = {column.name: rows[column.name][size:] for column in shown}
    count = min(size, max(_FEWEST_CALIBRATION, round(view.calibration * size)))
    chosen = np.sort(stream(own, "calibration").choice(size, count, replace=False))
    gold = {scene.name(v): scene.tables.train[v] for v in scene.columns if v in bundles}
    calibration = {name: column[chosen] for name, column in {**train, **gold}.items()}
    found = Observation(
        view, bundles, shown, train, test, calibration, tuple(int(i) for i in chosen)
    )
    return (
        replace(found, recovered=_recovered(scene, found))
        if scene.plan.questions.diagnostics
        else found
    )


def _recovered(scene: Scene, found: Observation) -> dict[str, Mapping[str, float]]:
    """Recoverability of every replaced node."""
    result = {}
    for node in sorted(found.bundles):
        columns = found.columns_of(node)
        tables = (found.train, found.calibration, found.test)
        measured = [np.column_stack([t[c] for c in columns]).astype(np.float64) for t in tables]
        itself = (
            scene.tables.train[node],
            found.calibration[scene.name(node)],
            scene.tables.test[node],
        )
        pairs = zip(measured, (v.astype(np.float64) for v in itself), strict=True)
        result[node] = recoverability(*(array for pair in pairs for array in pair))
    return result


def measurement_name(scene: Scene, node: str, letter: str) -> str:
    """``<concept>_meas_<letter>``."""
    return f"{scene.name(node)}_meas_{letter}"


def _bundles(plan: ScenePlan, world: World, view: View, key: bytes) -> dict[str, Bundle]:
    query, rng = plan.structure.query, stream(key, "concepts")
    eligible = [v for v in query.graph.observed if v != query.outcome]
    wanted = min(len(eligible), int(rng.integers(view.concepts[0], view.concepts[1] + 1)))
    chosen = shuffled(rng, eligible)[:wanted]
    if plan.questions.outcome_measured:
        chosen = [*chosen, query.outcome]
    pilot = world.simulate(stream(key, "pilot"), _PILOT)
    squares = not is_empirical("continuous", plan.equations.continuous)
    found = {}
    for node in chosen:
        binary = world.node(node).kind == "binary"
        concept = Concept.seen_in(pilot[node], binary=binary)
        try:
            found[node] = draw_bundle(
                stream(key, f"bundle/{node}"),
                concept,
                view,
                outcome=node == query.outcome,
                squares=squares,
            )
        except NoBundle:
            raise Rejected(f"no informative measurements ({view.name})") from None
    return found


def _columns(scene: Scene, bundles: Mapping[str, Bundle], key: bytes) -> tuple[Shown, ...]:
    """All public columns in the seeded order of this view's table."""
    columns = []
    for node in scene.columns:
        if node in bundles:
            columns += [
                Shown(measurement_name(scene, node, letter), one.kind, node, True)
                for letter, one in zip(ascii_lowercase, bundles[node].measurements, strict=False)
            ]
        else:
            columns.append(Shown(scene.name(node), scene.variables[node].kind, node, False))
    return tuple(shuffled(stream(key, "columns"), columns))


Array = npt.NDArray[np.float64]

_MOST_ROWS: Final = 8000
_TREES: Final = {"max_iter": 100, "max_depth": 3, "learning_rate": 0.1, "early_stopping": False}


def check_views(
    views: Sequence[View], measured: float, diagnostics: bool, table: TomlTable
) -> None:
    """Refuse settings of views, at their place in ``table``, that no scene can be shown by.

    Raises ``UsageError`` for thresholds that no bundle meets, or none for an outcome where a share
    of outcomes is ``measured``; and for ``diagnostics`` where scikit-learn is not installed.
    """
    for view in views:
        if view == VIEWS[view.name]:
            continue
        if not attainable(view):
            what = (
                f"no bundle of {view.columns[1]} columns with noise from {view.noise[0]:g} to "
                f"{view.noise[1]:g} meets them; lower them, lower the noise, or allow more columns"
            )
        elif measured and not attainable(view, outcome=True):
            what = (
                "no bundle meets them for a measured outcome, for which they count "
                f"{OUTCOME_FACTOR:g} times; lower them, or the noise, allow more columns, or set "
                "outcome_measured = 0"
            )
        else:
            continue
        raise table.problem(f"observation.{view.name}.thresholds", what)
    if diagnostics and find_spec("sklearn") is None:
        what = "recoverability needs scikit-learn; install it, or leave the key out"
        raise table.problem("diagnostics", what)


def recoverability(
    train: Array, target: Array, calibration: Array, known: Array, held_out: Array, truth: Array
) -> Mapping[str, float]:
    """The three numbers and their differences for one variable.

    Args:
        train: measurements of training rows, (n, d), and ``target`` the variable there, (n,).
        calibration: measurements of calibration rows, (m, d), and ``known`` the variable there.
        held_out: measurements of held-out rows, (t, d), and ``truth`` the variable there.
    """
    binary = bool(np.isin(truth, (0.0, 1.0)).all())
    train, target = train[:_MOST_ROWS], target[:_MOST_ROWS]
    columns = range(train.shape[1])

    def naive(column: int) -> float:
        fitted = _linear(binary).fit(calibration[:, [column]], known)
        return _score(binary, fitted, held_out[:, [column]], truth)

    def boosted(chosen: list[int]) -> float:
        fitted = _trees(binary).fit(train[:, chosen], target)
        return _score(binary, fitted, held_out[:, chosen], truth)

    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):  # scenes are built side by side, one to a core
        lower = max(naive(column) for column in columns)
        single = max(boosted([column]) for column in columns)
        joint = boosted(list(columns))
    return {
        "naive": lower,
        "single": single,
        "joint": joint,
        "misspecification": single - lower,
        "information_gain": joint - single,
        "gap": joint - lower,
    }


def _linear(binary: bool) -> Any:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    return LogisticRegression() if binary else LinearRegression()


def _trees(binary: bool) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingClassifier if binary else HistGradientBoostingRegressor
    return make(random_state=0, **_TREES)


def _score(binary: bool, fitted: Any, features: Array, truth: Array) -> float:
    from sklearn.metrics import r2_score, roc_auc_score

    if binary:
        return float(roc_auc_score(truth, fitted.predict_proba(features)[:, 1]))
    return float(r2_score(truth, fitted.predict(features)))
