"""Audit a scene: work out every published truth again another way.

Numbers are estimated again by :mod:`.stored_scene`, graph labels derived again by :mod:`.graph`.
The story is read back, and the data are held against the world.

Some ten numbers a scene are held against simulated units, each within five standard errors: of a
million scenes chance alone would refuse six. A scene with a problem is therefore checked again,
with other units and more of them.

``builder.stories.verify`` checks which sentence is said to tell which fact, not what it means. A
reader that knows plain English and no frame of the teller reads that. Words of the scene that sound
like effects are taken out first: mechanisms ("each vent cools the ward") and states.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, Final

import numpy as np
import scipy
from pydantic import TypeAdapter

from builder.reader import read_story, told_unmeasured
from builder.splits.track import StoryReading
from builder.stories.types import Attestation, Facts, Variable
from builder.stories.verbalise import BY_MODEL
from builder.stories.verify import verify, verify_attested
from builder.tracks.causalds.check.equations import (
    Array,
    NotAuditable,
    conditional_mean,
    correlation_and_influence,
    noise_law,
    noise_scale,
)
from builder.tracks.causalds.check.stored_scene import TOLERANCE, StoredScene, audit_quantities
from builder.tracks.causalds.check.tasks import Case, audit_task

Row = Mapping[str, Any]
Columns = Mapping[str, Array]

_read_scene = lru_cache(maxsize=2)(StoredScene.read)
"""Cached while the views of a scene are audited one after another."""
_resample_scene = lru_cache(maxsize=1)(StoredScene.with_new_units)
"""Cached for the same reason, for a second check."""


def audit_instance(
    world_row: Row, truth_rows: Sequence[Row], label_row: Row | None, scene_row: Row
) -> list[str]:
    """Return the problems of one instance in one view, a line each that begins with an id.

    Rows are of ``causalds_worlds``, ``causalds_truth`` (all of the instance), ``causalds_labels``
    (None where there are none) and ``causalds_scenes``. What other units do not show is dropped."""
    try:
        scene = _read_scene(world_row["instance_id"], world_row["world_json"])
    except (KeyError, TypeError, ValueError) as error:
        return [f"{world_row.get('instance_id')}: world row cannot be read ({error!r})"]
    rows = truth_rows, label_row, scene_row
    return _problems(scene, *rows) and _problems(_resample_scene(scene), *rows)


def _problems(
    scene: StoredScene, truth_rows: Sequence[Row], label_row: Row | None, scene_row: Row
) -> list[str]:
    """Return the problems of an instance, checked with one sample of units."""
    found = *_audit_world(scene, scene_row["story"]), *audit_scene(scene, label_row, scene_row)
    problems = [f"{scene.instance_id}: {text}" for text in found]
    views = scene.record["task_views"]
    tasks = [task for task in scene.record["tasks"] if views[task] == scene_row["view"]]
    missing = sorted(set(tasks) - {row["task_id"] for row in truth_rows})
    problems += [f"{task}: has no truth row" for task in missing]
    for row in truth_rows:
        key = str(scene.record["tasks"].get(row["task_id"]))
        case = Case(scene, row, json.loads(row["target_json"]), label_row)
        problems += [f"{row['task_id']}: {text}" for text in audit_task(key, case)]
    return problems


@lru_cache(maxsize=2)
def _audit_world(scene: StoredScene, story: str) -> tuple[str, ...]:
    """Return the problems of story, numbers and levels, cached: a scene's views share them."""
    record = scene.record
    edges = tuple((a, b) for a, b in record["world"]["edges"])
    variables = TypeAdapter(dict[str, Variable]).validate_python(record["variables"])
    clauses = {(cause, effect): how for cause, effect, how in record["hows"]}
    facts = Facts(variables, edges, scene.latent, clauses)
    attestations = TypeAdapter(list[Attestation]).validate_python(record["attestations"])
    # No rule wrote the sentences of a language model's story.
    check = verify_attested if record["plan"]["telling"]["words"] in BY_MODEL else verify
    problems = [f"story: {text}" for text in check(story, attestations, facts)]
    try:
        problems += [f"quantities: {text}" for text in audit_quantities(scene)]
        problems += _check_levels(scene)
    except NotAuditable as error:  # unknown equations are reported by ``audit_scene``, too
        problems.append(f"cannot be audited: {error}")
    return tuple(problems)


def _check_levels(scene: StoredScene) -> Iterator[str]:
    """Yield where the compared levels are not 0 and 1 (binary treatment), or not its quartiles."""
    if scene.binary_treatment:
        if scene.levels != (0.0, 1.0):
            yield f"binary treatment compared at {scene.levels}"
        return
    for level, share in zip(scene.levels, (0.25, 0.75), strict=True):
        found = float(np.mean(scene.population.factual[scene.x] <= level))
        error = math.sqrt(found * (1 - found) / scene.population.draws)
        # Levels have three digits; rounding moves the share by no more than about 0.01.
        if abs(found - share) > TOLERANCE * error + 0.01:
            yield f"level {level:g} is the {found:.3f} quantile, not {share}"


_REASON: Final = "so it is"
_STATE: Final = "is open"
"""What takes the place of a mechanism, a clause without a name, and of a state."""


def read_scene_story(world_row: Row, scene_row: Row) -> StoryReading:
    """Return where the story of ``scene_row`` tells otherwise than the graph of ``world_row``. It
    is certain only of what was told by rules, not of a language model's text."""
    return _read_story(world_row["world_json"], scene_row["story"])


@lru_cache(maxsize=2)  # the views of a scene share their story
def _read_story(world_json: str, story: str) -> StoryReading:
    record = json.loads(world_json)
    by_rules = record["plan"]["telling"]["words"] not in BY_MODEL
    return StoryReading(tuple(_story_problems(record, story)), certain=by_rules)


def _story_problems(record: Row, story: str) -> Iterator[str]:
    """Yield effects and unmeasured variables told otherwise than in the parsed ``world_json``."""
    variables, world = record["variables"], record["world"]
    names = {node: str(variable["name"]) for node, variable in variables.items()}
    bare = story
    for reason in sorted((how for _, _, how in record["hows"]), key=lambda how: (-len(how), how)):
        for first in {reason[0].lower(), reason[0].upper()}:
            clause = _REASON.capitalize() if first.isupper() else _REASON
            bare = re.sub(rf"(?<!\w){re.escape(first + reason[1:])}(?!\w)", clause, bare)
    for variable in variables.values():
        for state in variable["states"] or ():
            whether = (
                rf"\b([Ww]hether (?:the )?{re.escape(variable['name'])}) {re.escape(state)}(?!\w)"
            )
            bare = re.sub(whether, rf"\1 {_STATE}", bare)
    found = read_story(bare, tuple(sorted(names.values())), len(names))
    told_by = {tuple(one["what"]): one["sentence"] for one in record["attestations"]}
    true, read = {(names[a], names[b]) for a, b in world["edges"]}, set(found.edges)
    for cause, effect in sorted(true - read):
        how = "reads the wrong way round" if (effect, cause) in read else "cannot be read"
        sentence = told_by.get(("edge", cause, effect), "no sentence")
        yield f"{cause} → {effect} {how}: {sentence}"
    for cause, effect in sorted(read - true):
        if (effect, cause) not in true - read:
            yield f"{cause} → {effect} is read, which is not so"
    values = [text for one in variables.values() for text in one["states"] or [one["unit"]] if text]
    hidden = told_unmeasured(bare, sorted(names.values()), values)
    unmeasured = {names[node] for node in world["latent"]}
    for name in sorted(hidden ^ unmeasured):
        yield f"{name} reads as {'' if name in hidden else 'not '}unmeasured, which is not so"


_SIGMAS: Final = 7.0
"""Standard errors by which sample statistics may stray (heavy tails widen them a little)."""

_ROUNDING: Final = 1e-4
_DATA_ROUNDING: Final = 1e-5


def audit_scene(scene: StoredScene, label_row: Row | None, scene_row: Row) -> list[str]:
    """Return the problems of one view's columns, values and labels against the world. Rows are of
    ``causalds_labels`` (None where the scene has none) and ``causalds_scenes``."""
    record, view = scene.record, scene_row["view"]
    data, features, calibration = (
        {column["name"]: np.asarray(column["values"], np.float64) for column in scene_row[part]}
        for part in ("data", "test_features", "calibration")
    )
    shown = record["views"].get(view)
    if shown is None:
        return [f"the world row knows no view {view}"]
    kinds = {column["name"]: column["kind"] for column in shown["columns"]}
    kinds |= {node["name"]: node["kind"] for node in record["variables"].values()}
    problems = list(_check_columns(record, shown, scene_row))
    tables = [data, features, calibration]
    if label_row is not None and len(label_row["values"]):
        outcome = scene.names[scene.y]
        labels = np.asarray(label_row["values"], np.float64)
        if label_row["outcome"] != outcome:
            problems.append(f"labels of {label_row['outcome']}, the outcome is {outcome}")
        tables.append({outcome: labels})
        known = data if outcome in data else calibration
        problems += _check_labels(outcome, labels, known, features)
    for table in tables:
        problems += _check_values(kinds, table)
    if data:
        try:
            problems += _check_view(record, view, data, calibration)
            problems += _check_correlations(scene, data, calibration)
        except NotAuditable as error:
            return [*problems, f"cannot be audited: {error}"]
    return problems


def _check_columns(record: Row, shown: Row, scene_row: Row) -> Iterator[str]:
    """Yield columns that are not those of the world row, or show other nodes than observed ones."""
    expected = [{"name": c["name"], "kind": c["kind"]} for c in shown["columns"]]
    stated = [dict(column) for column in scene_row["columns"]]
    if stated != expected and (stated or scene_row["calibration"]):
        yield f"columns {stated}, the world says {expected}"
    observed = set(record["variables"]) - set(record["world"]["latent"])
    if {column["node"] for column in shown["columns"]} != observed:
        yield "the columns do not show the observed nodes"


def _check_values(kinds: Mapping[str, str], table: Columns) -> Iterator[str]:
    """Yield columns that are not finite, not 0 and 1 though binary, or of more than six digits."""
    for name, column in table.items():
        if not np.isfinite(column).all():
            yield f"{name}: a value is not finite"
        elif kinds.get(name) == "binary":
            if not np.isin(column, (0.0, 1.0)).all():
                yield f"{name}: binary, but not all 0 or 1"
        elif any(np.float32(f"{value:.6g}") != np.float32(value) for value in column[:50]):
            yield f"{name}: more than six significant digits"


def _check_labels(outcome: str, labels: Array, data: Columns, features: Columns) -> Iterator[str]:
    """Yield features whose rank correlation with the labels is not that with the known outcome."""
    # Ranks, because a few extreme values can move Pearson's r by more than its usual error. As many
    # training rows as held-out ones: more would hardly sharpen the comparison.
    seen = slice(0, max(labels.size, 1))
    known, held_out = _ranks(data[outcome][seen]), _ranks(labels)
    for name, column in features.items():
        if column.size != labels.size:
            yield f"{labels.size} labels for {column.size} held-out rows"
            return
        train, train_error = _agreement(_ranks(data[name][seen]), known)
        test, test_error = _agreement(_ranks(column), held_out)
        if abs(train - test) > _SIGMAS * math.hypot(train_error, test_error) + _ROUNDING:
            yield f"correlation with {name}: {train:.3f} in training, {test:.3f} held out"


def _check_correlations(scene: StoredScene, data: Columns, calibration: Columns) -> Iterator[str]:
    """Yield pairs of observed variables that correlate otherwise than in the simulated units."""
    for nodes in combinations(scene.record["columns"], 2):
        a, b = (scene.names[node] for node in nodes)
        shown = data if a in data and b in data else calibration  # there where one is replaced
        if a not in shown or b not in shown:
            continue  # reported above
        expected = scene.population.correlation(*nodes)
        varies = shown[a].std() > 0 and shown[b].std() > 0
        sample = float(np.corrcoef(shown[a], shown[b])[0, 1]) if varies else 0.0
        # The influence function knows the sampling error under any dependence.
        sigma = expected.se * math.sqrt(1.0 + scene.population.draws / shown[a].size)
        if abs(sample - expected.value) > _SIGMAS * sigma + _ROUNDING:
            yield (
                f"{a} and {b} correlate {sample:.3f} in the data, {expected.value:.3f} in the world"
            )


def _ranks(column: Array) -> Array:
    """Return a column's ranks, standardised, ties sharing theirs. All 0 where nothing varies."""
    ranks = scipy.stats.rankdata(column)
    spread = ranks.std()
    return np.asarray((ranks - ranks.mean()) / spread if spread > 0 else 0.0 * ranks)


def _agreement(za: Array, zb: Array) -> tuple[float, float]:
    """Return the correlation of two columns of standardised ranks, and its standard error."""
    if not za.any() or not zb.any():
        return 0.0, 1.0 / math.sqrt(za.size)
    r, influence = correlation_and_influence(za, zb)
    return r, float(influence.std()) / math.sqrt(za.size)


def _check_view(record: Row, view: str, data: Columns, calibration: Columns) -> Iterator[str]:
    """Yield problems of a view's measurements and calibration rows, given columns by name."""
    shown = record["views"][view]
    names = {node: record["variables"][node]["name"] for node in record["columns"]}
    gold = [names[node] for node in record["columns"] if node in shown["bundles"]]
    if set(calibration) != ({*data, *gold} if gold else set()):
        yield f"calibration has the columns {sorted(calibration)}"
        return
    chosen = np.asarray(shown["calibration"], dtype=int)
    if len(set(chosen.tolist())) != len(chosen):
        yield "a calibration row was drawn twice"
    for name in data if gold else ():
        if not np.array_equal(data[name][chosen], calibration[name]):
            yield f"calibration rows of {name} are not the rows drawn from the data"
    for node, bundle in shown["bundles"].items():
        measured = f"{names[node]} ({view})"
        for one in bundle["measurements"]:
            values = calibration[one["column"]], calibration[names[node]]
            for problem in _check_measurement(one, *values):
                yield f"{measured}: {one['column']} {problem}"


def _check_measurement(one: Row, values: Array, gold: Array) -> Iterator[str]:
    """Yield where ``values`` do not come from the concept's ``gold`` as the equation says."""
    size, node = len(gold), {**one, "name": one["column"]}
    mean = conditional_mean(node, [gold], size)
    if one["noise"] is None:
        z = float((values - mean).sum()) / math.sqrt(float((mean * (1.0 - mean)).sum()))
        if abs(z) > _SIGMAS:
            yield f"is 1 more or less often than it should be ({z:.1f} sigmas)"
        return
    rest = (values - mean) / noise_scale(node, [gold], size)
    spread = float(np.mean(rest**2))
    # Of the law, too: samples may lack its tail. That of a mixture is no longer than a Gaussian's.
    tail = 0.0 if one["noise"]["family"] == "gaussian_mixture" else noise_law(one).stats("k")
    error = max(float(np.std(rest**2)), math.sqrt(2.0 + tail)) / math.sqrt(size)
    if abs(float(rest.mean())) > _SIGMAS / math.sqrt(size) + _DATA_ROUNDING:
        yield f"is off by {rest.mean():.3f} noise sds"
    if abs(spread - 1.0) > _SIGMAS * error:
        yield f"has {spread:.3f} times the noise variance it should have"
