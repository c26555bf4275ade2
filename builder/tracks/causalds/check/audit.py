"""Audit a scene: work out every published truth again another way.

The gate of a release calls :func:`audit_instance` on rows as they were written. Numbers are
re-estimated by :mod:`builder.tracks.causalds.check.stored_scene`, graph labels re-derived by
:mod:`builder.tracks.causalds.check.graph`. The story is read back, and the data are held against
the world.

Some ten numbers a scene are held against simulated units, each within five standard errors: of a
million scenes chance alone would refuse six. A scene with a problem is therefore checked again,
with other units and more of them. A problem that is due to chance does not come back, and a wrong
number stands out more.

``builder.stories.verify`` checks which sentence is said to tell which fact, not what it means. A
reader that knows plain English and no frame of the teller reads that. It is given every name. Words
of the scene that sound like effects are taken out first: mechanisms ("each vent cools the ward")
and states ("whether sessions were held").
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter

from builder.reader import read_story, told_unmeasured
from builder.splits.track import StoryReading
from builder.stories.types import Attestation, Facts, Variable
from builder.stories.verbalise import BY_MODEL
from builder.stories.verify import verify, verify_attested
from builder.tracks.causalds.check.equations import NotAuditable
from builder.tracks.causalds.check.rows import audit_scene
from builder.tracks.causalds.check.stored_scene import TOLERANCE, StoredScene, audit_quantities
from builder.tracks.causalds.check.tasks import Case, audit_task

Row = Mapping[str, Any]

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
    attestations = [
        Attestation(tuple(item["what"]), item["sentence"]) for item in record["attestations"]
    ]
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
        found = scene.population.share_below(scene.x, level)
        # Levels have three digits; rounding moves the share by no more than about 0.01.
        if abs(found.value - share) > TOLERANCE * found.se + 0.01:
            yield f"level {level:g} is the {found.value:.3f} quantile, not {share}"


_REASON: Final = "so it is"
_STATE: Final = "is open"
"""What takes the place of a mechanism, a clause without a name, and of a state."""


def read_scene_story(world_row: Row, scene_row: Row) -> StoryReading:
    """Return where the story of ``scene_row`` tells otherwise than the graph of ``world_row``. It
    is certain only of what was told by rules, not of a language model's text."""
    return _reading(world_row["world_json"], scene_row["story"])


@lru_cache(maxsize=2)
def _reading(world_json: str, story: str) -> StoryReading:
    """Return where a story differs from its world, cached: the views of a scene share it."""
    record = json.loads(world_json)
    return StoryReading(
        tuple(_story_problems(record, story)),
        certain=record["plan"]["telling"]["words"] not in BY_MODEL,
    )


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
