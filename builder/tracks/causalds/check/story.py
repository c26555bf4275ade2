"""Read the story of a scene with a reader that knows none of the teller's frames.

``builder.stories.verify`` checks which sentence is said to tell which fact, not what it means. This
reader knows plain English and no frame. It is given every name. Words of the scene that sound like
effects are taken out first: mechanisms ("each vent cools the ward") and states ("whether sessions
were held").
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from builder.reader import Reading, read_story, told_unmeasured
from builder.splits.track import StoryReading
from builder.stories.verbalise import BY_MODEL

_REASON: Final = "so it is"
"""The clause, without a name, that takes the place of a mechanism."""
_STATE: Final = "is open"
"""The words that take the place of a state."""

Edge = tuple[str, str]


def read_scene_story(world_row: Mapping[str, Any], scene_row: Mapping[str, Any]) -> StoryReading:
    """Return where the story of ``scene_row`` tells otherwise than the graph of ``world_row``. It
    is certain only of what was told by rules, not of a language model's text."""
    return _reading(world_row["world_json"], scene_row["story"])


@lru_cache(maxsize=2)
def _reading(world_json: str, story: str) -> StoryReading:
    """Return where a story differs from its world, cached: the views of a scene share it."""
    record = json.loads(world_json)
    return StoryReading(
        tuple(_problems(record, story)), certain=record["plan"]["telling"]["words"] not in BY_MODEL
    )


def _problems(record: Mapping[str, Any], story: str) -> Iterator[str]:
    """Yield effects and unmeasured variables told otherwise than in the parsed ``world_json``."""
    variables, world = record["variables"], record["world"]
    names = {node: str(variable["name"]) for node, variable in variables.items()}
    bare = _without_reasons(story, [how for _, _, how in record["hows"]])
    for variable in variables.values():
        for state in variable["states"] or ():
            bare = _without_state(bare, variable["name"], state)
    found: Reading = read_story(bare, tuple(sorted(names.values())), len(names))
    told_by = {tuple(one["what"]): one["sentence"] for one in record["attestations"]}
    true = {(names[a], names[b]) for a, b in world["edges"]}
    yield from _edge_problems(true, set(found.edges), told_by)
    values = [text for one in variables.values() for text in one["states"] or [one["unit"]] if text]
    hidden = told_unmeasured(bare, sorted(names.values()), values)
    unmeasured = {names[node] for node in world["latent"]}
    for name in sorted(hidden ^ unmeasured):
        yield f"{name} reads as {'' if name in hidden else 'not '}unmeasured, which is not so"


def _edge_problems(
    true: set[Edge], read: set[Edge], told_by: Mapping[tuple[str, ...], str]
) -> Iterator[str]:
    """Yield a problem for each edge that differs between the graph (``true``) and the story
    (``read``). ``told_by`` maps ("edge", cause, effect) to the sentence that should tell it."""
    for cause, effect in sorted(true - read):
        turned = (effect, cause) in read
        how = "reads the wrong way round" if turned else "cannot be read"
        sentence = told_by.get(("edge", cause, effect), "no sentence")
        yield f"{cause} → {effect} {how}: {sentence}"
    for cause, effect in sorted(read - true):
        if (effect, cause) not in true - read:
            yield f"{cause} → {effect} is read, which is not so"


def _without_reasons(story: str, reasons: Iterable[str]) -> str:
    """Return ``story``, each mechanism's clause replaced by ``_REASON``, longest first."""
    for reason in sorted(reasons, key=lambda reason: (-len(reason), reason)):
        for first in {reason[0].lower(), reason[0].upper()}:
            clause = _REASON.capitalize() if first.isupper() else _REASON
            story = re.sub(rf"(?<!\w){re.escape(first + reason[1:])}(?!\w)", clause, story)
    return story


def _without_state(story: str, name: str, state: str) -> str:
    """Return ``story`` with ``_STATE`` for the state in "whether <name> <state>"."""
    pattern = rf"\b([Ww]hether (?:the )?{re.escape(name)}) {re.escape(state)}(?!\w)"
    return re.sub(pattern, rf"\1 {_STATE}", story)
