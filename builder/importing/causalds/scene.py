"""The private side of one scene of the reference: its truths, its graph, its held-out labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from builder.importing.causalds.layout import ExamFolder
from builder.importing.files import FETCH, Document, Floats, read_columns, read_object
from grader.errors import UsageError
from grader.io.jsonio import clip

GRAFT: Final = "AUX"
"""Nodes of the k-th grafted motif begin with ``AUX<k>_``."""

BINARY: Final = frozenset({0.0, 1.0})


@dataclass
class PublishedScene:
    """What ``ground_truth.json`` and ``test.parquet`` of a scene say."""

    truth: Document
    test_file: Path
    label: str | None = None

    @classmethod
    def read(cls, folder: ExamFolder, scene_id: str, label: str | None) -> "PublishedScene":
        """The scene; ``label`` is the structure that the exam states."""
        read = read_object(folder.private(scene_id, "ground_truth.json"))
        content = {key: value for key, value in read.content.items() if key != "splits"}
        metadata = content.get("metadata")
        if isinstance(metadata, Mapping):
            # Row numbers and grids of every measurement: most of the file, and not read here.
            content["metadata"] = {k: v for k, v in metadata.items() if k != "observation_model"}
        truth = Document(read.file, content)
        return cls(truth, folder.private(scene_id, "test.parquet"), label)

    def name(self, node: str) -> str:
        """The story name of a raw node id; a name stays as it is."""
        named = self.truth.get("mapping", node)
        return named if isinstance(named, str) else node

    @cached_property
    def treatment(self) -> str:
        """The treatment's story name."""
        return self.name(self._end("treatment"))

    @cached_property
    def outcome(self) -> str:
        """The outcome's story name."""
        return self.name(self._end("outcome"))

    def _end(self, role: str) -> str:
        """The raw id of treatment or outcome; its story name where only that is stated."""
        named = f"{role}_named"
        raw = self.truth.get("graph", role) is not None or self.truth.get("graph", named) is None
        return self.truth.text("graph", role if raw else named)

    @cached_property
    def nodes(self) -> list[str]:
        """The story names of all nodes, latent ones included."""
        return self._names("nodes", required=True) or []

    @cached_property
    def edges(self) -> list[list[str]]:
        """(cause, effect) by story name."""
        key = "edges_named" if self.truth.get("graph", "edges_named") is not None else "edges"
        found = []
        for pair in self.truth.need("graph", key):
            ends = [pair.get("from"), pair.get("to")] if isinstance(pair, Mapping) else pair
            if (
                not isinstance(ends, list)
                or len(ends) != 2
                or not all(isinstance(end, str) for end in ends)
            ):
                raise self.truth.problem(("graph", key), f"{clip(pair)} is no pair of names")
            found.append([self.name(end) for end in ends])
        return found

    @cached_property
    def observed(self) -> list[str]:
        """The story names of what is observed: all but the latent nodes."""
        latent = self._names("latent_nodes")
        if latent is not None:
            return [name for name in self.nodes if name not in latent]
        seen = self._names("observed_nodes")
        if seen is None:
            seen = [self.name(column) for column in self.test]
        return [name for name in self.nodes if name in seen]

    def _names(self, key: str, *, required: bool = False) -> list[str] | None:
        """A list of nodes by story name, from ``<key>_named`` or from raw ids."""
        for given in (f"{key}_named", key):
            value = self.truth.get("graph", given)
            if isinstance(value, Mapping):
                value = list(value.values() if given != key else value)
            if isinstance(value, list) and all(isinstance(name, str) for name in value):
                return [self.name(name) for name in value]
        if required:
            raise self.truth.problem(("graph", f"{key}_named"), "is absent or no list of names")
        return None

    @cached_property
    def test(self) -> dict[str, Floats]:
        """The held-out conceptual variables: one column of shape (rows,) per observed node."""
        return read_columns(self.test_file)

    @cached_property
    def labels(self) -> Floats:
        """The held-out outcome, shape (rows,); raises ``UsageError`` where it is not there."""
        column = next((c for c in (self.outcome, self._end("outcome")) if c in self.test), None)
        if column is None:
            raise UsageError(f"{self.test_file}: no column {clip(self.outcome)}; {FETCH}")
        values = self.test[column]
        if not len(values) or not np.isfinite(values).all():
            raise UsageError(
                f"{self.test_file}: the column {clip(column)} is empty or not finite; {FETCH}"
            )
        return values

    @cached_property
    def binary_outcome(self) -> bool:
        """Whether the held-out labels are 0 and 1 only."""
        return set(np.unique(self.labels)) <= BINARY

    @property
    def outcome_kind(self) -> str:
        """``binary`` or ``continuous``."""
        return "binary" if self.binary_outcome else "continuous"

    @cached_property
    def structure(self) -> str:
        """The motif, or ``grafted_<k>`` for k grafted motifs."""
        label = self.truth.get("metadata", "structural_label") or self.label
        label = label or self.truth.get("metadata", "motif") or "unknown"
        if label != "grafted":
            return str(label)
        nodes = self.truth.get("graph", "nodes")
        grafts = {_graft_of(node) for node in nodes or () if isinstance(node, str)} - {""}
        return f"grafted_{len(grafts)}" if grafts else "grafted"

    def ablation(self, key: str) -> str | None:
        """What the scene says of itself as a member of a matched ablation."""
        value = self.truth.get("metadata", "ablation", key)
        return value if isinstance(value, str) and value else None

    def entry(self, key: str, **wanted: Any) -> Document | None:
        """The object of a list of the truth that agrees with one of ``wanted``, tried in order."""
        entries = self.truth.get(key)
        for name, value in wanted.items():
            for place, entry in enumerate(entries if isinstance(entries, list) else ()):
                if isinstance(entry, Mapping) and value is not None and entry.get(name) == value:
                    return self.truth.within(entry, f"{key}[{place}]")
        return None


def _graft_of(node: str) -> str:
    """``AUX2`` of ``AUX2_M``; empty for a node of the host."""
    head, underscore, _ = node.partition("_")
    number = head.removeprefix(GRAFT)
    return head if underscore and head.startswith(GRAFT) and number.isdigit() else ""
