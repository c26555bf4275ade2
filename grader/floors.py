"""Floors: what an answer that knows nothing earns, as a release's manifest states it."""

import hashlib
from collections.abc import Mapping
from typing import Any

from grader.io.jsonio import canonical
from grader.shape import NEVER, Shape
from grader.track import Track

Floor = Mapping[str, Any]
"""``points`` (a share), ``se``, ``policy``, ``tasks``."""


def rules_sha256(track: Track) -> str:
    """Identifies how answers of a track are scored: its ``rules``, and its variants' shapes."""
    told = {variant.key: _told(variant.shape) for variant in track.variants}
    text = canonical({"track": track.name, "rules": track.rules, "variants": told})
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _told(shape: Shape) -> list[Any]:
    """What of a shape decides on points, as JSON; no abstention is not an abstention of null."""
    abstention = [] if shape.abstention is NEVER else [shape.abstention]
    labels = list(shape.labels)
    return [shape.name, shape.kind, shape.field, shape.pool, shape.metric, labels, abstention]


def find(entry: Mapping[str, Any], regime: str) -> Floor | None:
    """The floor of a variant's entry, of ``regime`` where there are several; ``None`` without."""
    if isinstance(entry.get("points"), (int, float)):
        return entry
    found: Floor | None = entry.get(regime)
    return found
