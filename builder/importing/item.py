"""Tasks and scenes of the reference as it publishes them, and as rows of our tables."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from builder.importing.files import (
    FETCH,
    NAMES,
    NUMBER,
    TEXT,
    Document,
    Floats,
    read_bytes,
    read_columns,
    read_object,
)
from builder.release import rows
from builder.splits.track import Row
from builder.tracks.causalds.design.eligibility import ELIGIBILITY
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.names import did_you_mean
from grader.io.paths import GRAMMAR, is_plain, path_inside
from grader.scoring.shape import Variant
from grader.tracks.causalds import TRACK as CAUSALDS

TRACK: Final = "causalds"
_VARIANTS: Final = {spec.key: spec for spec in CAUSALDS.variants}
_MODES: Final = {"symbolic": "story", "parquet": "data"}
_GRAFT: Final = re.compile(r"AUX[^_]*_")
"""How nodes of the k-th grafted motif begin: ``AUX<k>_``."""

BINARY: Final = frozenset({0.0, 1.0})


@dataclass
class PublishedScene:
    """A scene's ``ground_truth.json``, and the path of ``test.parquet`` with its labels."""

    truth: Document
    test_file: Path

    def name(self, node: str) -> str:
        """Return the story name of a raw node id; any other text as it is."""
        named = self.truth.get("mapping", node)
        return named if isinstance(named, str) else node

    @cached_property
    def outcome(self) -> str:
        """The outcome's story name."""
        return self.name(self.truth.read(TEXT, "graph", "outcome"))

    @cached_property
    def nodes(self) -> list[str]:
        """The story names of all nodes, latent ones included."""
        return self.truth.read(NAMES, "graph", "nodes_named")

    @cached_property
    def labels(self) -> Floats:
        """The held-out outcome, shape (rows,); raises ``UsageError`` if absent or not finite."""
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
        """The name of the motif, or ``grafted_<k>`` where k motifs were grafted on."""
        label = self.truth.read(TEXT, "metadata", "structural_label")
        if label != "grafted":
            return label
        nodes = self.truth.read(NAMES, "graph", "nodes")
        return f"grafted_{len({match[0] for node in nodes if (match := _GRAFT.match(node))})}"


def scene_row(scene: Path, view: str) -> Row:
    """Return story and tables of a scene in a view; without a calibration file that is empty."""
    place = path_inside(scene / "variants", view)
    data = read_columns(place / "data.parquet")
    calibration = place / "calibration.parquet"
    story = read_bytes(scene / "story.md").decode("utf-8", "replace").replace("\r\n", "\n")
    heading, _, prose = story.partition("\n")
    return {
        "instance_id": scene.name,
        "view": view,
        # The heading names the scene.
        "story": (prose if heading.startswith("# ") else f"{heading}\n{prose}").strip(),
        "columns": [
            {"name": name, "kind": "binary" if set(np.unique(values)) <= BINARY else "continuous"}
            for name, values in data.items()
        ],
        "data": _table(data),
        "test_features": _table(read_columns(place / "test_features.parquet")),
        "calibration": _table(read_columns(calibration)) if calibration.is_file() else [],
    }


def _table(columns: Mapping[str, Floats]) -> list[dict[str, object]]:
    return [{"name": name, "values": values} for name, values in columns.items()]


@dataclass(frozen=True, slots=True)
class Item:
    """A task of the published exam by ``name`` (its answer file's stem), and its scene's files."""

    name: str
    spec: Variant
    scene_id: str
    view: str
    document: Document
    scene: PublishedScene

    @classmethod
    def read(cls, document: Document, private: Path) -> "Item":
        """Return the task in ``document``, its scene in ``private``, or raise ``UsageError``."""
        scene_id, view = _plain(document, "scene_id"), _plain(document, "observation_variant")
        key = f"{document.read(TEXT, 'task_type')}.{document.read(TEXT, 'output_variant')}"
        if key not in _VARIANTS:
            what = f"unknown variant {key}{did_you_mean(key, _VARIANTS)}"
            raise document.problem(("output_variant",), what)
        spec, field = _VARIANTS[key], "answer_filename"
        file = _plain(document, field)
        if not file.endswith(spec.shape.suffix) or file == spec.shape.suffix:
            raise document.problem((field,), f"{clip(file)} does not end in {spec.shape.suffix}")
        own = path_inside(private, scene_id)
        scene = PublishedScene(read_object(own / "ground_truth.json"), own / "test.parquet")
        return cls(file.removesuffix(spec.shape.suffix), spec, scene_id, view, document, scene)

    @property
    def effects(self) -> tuple[str, ...]:
        """The effects asked about, one or two of ``ate``, ``ett``, ``nde``, ``nie``."""
        if self.spec.name == "direct_vs_indirect_dominance":
            return ("nde", "nie")
        match self.spec.family:
            case "effect_estimate" | "identification":
                return ("ate",)
            case "counterfactual_effect":
                return ("ett",)
            case _:
                natural = self.spec.family == "mediation_effect"
                key = "effect_kind" if natural else "estimand_kind"
                return (self.document.one_of(("ett", "nde", "nie"), "inputs", key),)

    def variable(self, role: str) -> tuple[str | None, str]:
        """Return raw id (None if absent) and story name of the task's variable ``role``."""
        return self.document.get("inputs", f"{role}_id"), self.document.read(TEXT, "inputs", role)

    @property
    def candidates(self) -> list[tuple[str, str]]:
        """(raw id, story name) of the variables among which the task lets choose."""
        nodes = self.document.read(NAMES, "inputs", "conditioning_var_ids")
        return [(node, self.scene.name(node)) for node in nodes]

    @property
    def row(self) -> Row:
        """The task as a row of ``causalds``: with the published prompt and our inputs."""
        prompt, mode = self.document.read(TEXT, "prompt"), str(self.document.get("input_mode"))
        return rows.task_row(
            self.name, self.scene_id, self.spec, prompt, self._inputs(),
            view=self.view, input_mode=_MODES.get(mode),
        )  # fmt: skip

    def _inputs(self) -> dict[str, object]:
        """Return the inputs of the question, those of this variant in a built release."""
        scene, document = self.scene, self.document
        key = "observed_vars" if self.spec.shape.kind == "names" else "available_vars"
        is_told = self.spec.family == "counterfactual_identification"

        def names(where: Document, *keys: str) -> list[str]:
            """Return the story names of the nodes or variables in a list."""
            return [scene.name(name) for name in where.read(NAMES, *keys)]

        members: dict[str, Callable[[], object]] = {
            "treatment": lambda: scene.name(scene.truth.read(TEXT, "graph", "treatment")),
            "outcome": lambda: scene.outcome,
            "x0": lambda: document.read(NUMBER, "inputs", "x0"),
            "x1": lambda: document.read(NUMBER, "inputs", "x1"),
            "columns": self._columns,
            "outcome_kind": lambda: scene.outcome_kind,
            "rows": lambda: len(scene.labels),
            "alpha": lambda: document.read(NUMBER, "inputs", "alpha"),
            "available": lambda: names(document, "inputs", key),
            "observed": lambda: (
                names(scene.truth, "graph", "observed_nodes")
                if is_told
                else names(document, "inputs", "observed_vars")
            ),
            "variables": lambda: len(scene.nodes),
            "estimand": lambda: self.effects[0].upper(),
            "conditioning_var": lambda: self.variable("conditioning_var")[1],
            "variable": lambda: self.variable("collider")[1],
            "candidates": lambda: [name for _, name in self.candidates],
        }
        return {name: members[name]() for name in sorted(ELIGIBILITY[self.spec.key].inputs)}

    def _columns(self) -> list[str]:
        """Return the feature columns; ``UsageError`` for an answer file we do not read."""
        bounds = ["lower", "upper"] if self.spec.shape.pool == "nrel_interval" else []
        key, columns = ("inputs", "required_csv_columns"), ["prediction", *bounds]
        if (asked := self.document.read(NAMES, *key)) != columns:
            what = f"{clip(asked)}; only {', '.join(columns)} can be graded"
            raise self.document.problem(key, what)
        return self.document.read(NAMES, "inputs", "columns")


def _plain(document: Document, key: str) -> str:
    """Return the text under ``key``, a name without path or space, or raise ``UsageError``."""
    value = document.read(TEXT, key)
    if not is_plain(value):
        raise document.problem((key,), f"{clip(value)} is not a plain name; use {GRAMMAR}")
    return value
