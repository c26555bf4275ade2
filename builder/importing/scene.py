"""One scene of the reference: its published truths, its held-out labels, its public tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from builder.importing.files import FETCH, Document, Floats, read_columns, read_object, read_text
from builder.track import Row
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.paths import inside

_GRAFT: Final = "AUX"
"""Nodes of the k-th grafted motif begin with ``AUX<k>_``."""

BINARY: Final = frozenset({0.0, 1.0})


@dataclass
class PublishedScene:
    """What ``ground_truth.json`` and ``test.parquet`` of a scene say."""

    truth: Document
    test_file: Path

    @classmethod
    def read(cls, private: Path) -> "PublishedScene":
        """Return the scene whose private files are in the folder ``private``."""
        return cls(read_object(private / "ground_truth.json"), private / "test.parquet")

    def name(self, node: str) -> str:
        """Return the story name of a raw node id; a name stays as it is."""
        named = self.truth.get("mapping", node)
        return named if isinstance(named, str) else node

    @cached_property
    def treatment(self) -> str:
        """The treatment's story name."""
        return self.name(self.truth.text("graph", "treatment"))

    @cached_property
    def outcome(self) -> str:
        """The outcome's story name."""
        return self.name(self.truth.text("graph", "outcome"))

    @cached_property
    def nodes(self) -> list[str]:
        """The story names of all nodes, latent ones included."""
        return self.truth.names("graph", "nodes_named")

    @cached_property
    def observed(self) -> list[str]:
        """The story names of what is observed."""
        return [self.name(node) for node in self.truth.names("graph", "observed_nodes")]

    @cached_property
    def edges(self) -> list[list[str]]:
        """(cause, effect) by story name."""
        key = ("graph", "edges_named")
        found = self.truth.need(*key)
        pairs = isinstance(found, list) and all(
            isinstance(pair, list) and [type(end) for end in pair] == [str, str] for pair in found
        )
        if not pairs:
            raise self.truth.problem(key, f"{clip(found)} is no list of pairs of names")
        return [list(pair) for pair in found]

    @cached_property
    def labels(self) -> Floats:
        """The held-out outcome, shape (rows,); raises ``UsageError`` where it is not there."""
        values = read_columns(self.test_file).get(self.outcome)
        if values is None or not len(values) or not np.isfinite(values).all():
            what = f"no column {clip(self.outcome)} of finite numbers"
            raise UsageError(f"{self.test_file}: {what}; {FETCH}")
        return values

    @property
    def outcome_kind(self) -> str:
        """``binary`` where the held-out labels are 0 and 1 only, else ``continuous``."""
        return "binary" if set(np.unique(self.labels)) <= BINARY else "continuous"

    @cached_property
    def structure(self) -> str:
        """The motif, or ``grafted_<k>`` for k grafted motifs."""
        label = self.truth.text("metadata", "structural_label")
        if label != "grafted":
            return label
        return f"grafted_{len({*map(_graft_of, self.truth.names('graph', 'nodes'))} - {''})}"


def _graft_of(node: str) -> str:
    """Return ``AUX2`` of ``AUX2_M``; nothing of a node of the host."""
    head, underscore, _ = node.partition("_")
    return head if underscore and head.startswith(_GRAFT) else ""


def scene_row(scene: Path, view: str) -> Row:
    """Return story and tables of a scene, whose public folder is ``scene``, under a view.

    The calibration rows may be absent.
    """
    place = inside(scene / "variants", view)
    data = read_columns(place / "data.parquet")
    calibration = place / "calibration.parquet"
    heading, _, prose = read_text(scene / "story.md").partition("\n")
    return {
        "instance_id": scene.name,
        "view": view,
        # The heading names the scene.
        "story": (prose if heading.startswith("# ") else f"{heading}\n{prose}").strip(),
        "columns": [
            {"name": name, "kind": "binary" if set(np.unique(values)) <= BINARY else "continuous"}
            for name, values in data.items()
        ],
        "data": _nested(data),
        "test_features": _nested(read_columns(place / "test_features.parquet")),
        "calibration": _nested(read_columns(calibration)) if calibration.is_file() else [],
    }


def _nested(columns: Mapping[str, Floats]) -> list[dict[str, object]]:
    return [{"name": name, "values": values} for name, values in columns.items()]
