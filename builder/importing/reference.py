"""Read what the reference publishes: tasks and scenes, as rows of our tables.

``UsageError`` says in one line which file and field is wrong, and what to do.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError

from builder.release import rows
from builder.splits.track import Row
from builder.tracks.causalds.design.eligibility import ELIGIBILITY
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.names import did_you_mean
from grader.io.paths import GRAMMAR, is_plain, path_inside
from grader.scoring.shape import Variant
from grader.tracks.causalds import TRACK as CAUSALDS

FETCH: Final = "fetch the whole release again"

TEXT: Final = TypeAdapter(str)
NUMBER: Final[TypeAdapter[float]] = TypeAdapter(FiniteFloat)
FLAG: Final = TypeAdapter(bool)
NAMES: Final = TypeAdapter(list[str])
LISTS: Final = TypeAdapter(list[list[str]])
PAIRS: Final[TypeAdapter[list[list[str]]]] = TypeAdapter(
    list[Annotated[list[str], Field(min_length=2, max_length=2)]]
)
_OBJECT: Final = TypeAdapter(dict[str, Any])
_OBJECTS: Final = TypeAdapter(list[dict[str, Any]])

TRACK: Final = "causalds"
_VARIANTS: Final = {spec.key: spec for spec in CAUSALDS.variants}
_MODES: Final = {"symbolic": "story", "parquet": "data"}
_EFFECT: Final = {"effect_estimate": "ate", "identification": "ate", "counterfactual_effect": "ett"}
_GRAFT: Final = re.compile(r"AUX[^_]*_")
"""How nodes of the k-th grafted motif begin: ``AUX<k>_``."""

BINARY: Final = frozenset({0.0, 1.0})

Floats = npt.NDArray[np.float64]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object in ``file``, at the dotted ``path`` inside it; errors name both."""

    file: Path
    content: Mapping[str, Any]
    path: str = ""

    def get(self, *keys: str) -> Any:
        """Return the value under nested keys; ``None`` where any of them is absent."""
        value: Any = self.content
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def read(self, kind: TypeAdapter[_T], *keys: str) -> _T:
        """Return the value under nested keys, or raise ``UsageError``: absent or no ``kind``."""
        value = self.get(*keys)
        if value is None:
            raise self.problem(keys, "is absent")
        try:
            return kind.validate_python(value, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{clip(first['input'])}: {first['msg']}"
            raise self.problem((*keys, *map(str, first["loc"])), what) from None

    def one_of(self, choices: tuple[str, ...], *keys: str) -> str:
        """Return the text under nested keys; raises ``UsageError`` if it is none of ``choices``."""
        value = self.read(TEXT, *keys)
        if value not in choices:
            raise self.problem(keys, f"{clip(value)} is none of {', '.join(choices)}")
        return value

    def child(self, *keys: str) -> "Document":
        """Return the object under nested keys as a document, or raise ``UsageError``."""
        own: dict[str, Any] = self.read(_OBJECT, *keys)
        return Document(self.file, own, self._place(keys))

    def children(self, key: str) -> list["Document"]:
        """Return the objects in the list under ``key``, each as a document that knows its path."""
        found: list[dict[str, Any]] = self.read(_OBJECTS, key)
        path = self._place((key,))
        return [Document(self.file, one, f"{path}[{place}]") for place, one in enumerate(found)]

    def problem(self, keys: tuple[str, ...], what: str) -> UsageError:
        """Return the error, to be raised, about the value under ``keys``."""
        return UsageError(f"{self.file}: {self._place(keys)}: {what}; {FETCH}")

    def _place(self, keys: tuple[str, ...]) -> str:
        return ".".join(filter(None, (self.path, *keys)))


def read_bytes(file: Path) -> bytes:
    """Return the content of ``file``; raises ``UsageError`` if it is absent or cannot be read."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{file}: not found; {FETCH}") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror}); {FETCH}") from None


def read_object(file: Path) -> Document:
    """Return the JSON object in ``file``, or raise ``UsageError``."""
    try:
        content = json.loads(read_bytes(file))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: no JSON ({' '.join(str(error).split())}); {FETCH}") from None
    if not isinstance(content, dict):
        raise UsageError(f"{file}: a JSON object is expected; {FETCH}")
    return Document(file, content)


def read_columns(file: Path) -> dict[str, Floats]:
    """Return the columns of a Parquet table in order, as float64, without pandas' row numbers."""
    content = read_bytes(file)
    if content.startswith(b"version https://git-lfs"):
        what = "a Git LFS pointer, not the table itself; run `git lfs pull` in the checkout"
        raise UsageError(f"{file}: {what}")
    columns, name = dict[str, Floats](), ""
    try:
        table = pq.read_table(pa.BufferReader(content))
        for name in table.column_names:
            if not name.startswith("__index_level_"):
                columns[name] = table[name].cast(pa.float64()).to_numpy()
    except (OSError, pa.ArrowException) as error:
        what = f"no Parquet table of numbers ({clip(name)}: {str(error).splitlines()[0]})"
        raise UsageError(f"{file}: {what}; {FETCH}") from None
    return columns


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
    data, calibration = read_columns(place / "data.parquet"), place / "calibration.parquet"

    def table(columns: Mapping[str, Floats]) -> list[dict[str, object]]:
        return [{"name": name, "values": values} for name, values in columns.items()]

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
        "data": table(data),
        "test_features": table(read_columns(place / "test_features.parquet")),
        "calibration": table(read_columns(calibration)) if calibration.is_file() else [],
    }


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
        if self.spec.family in _EFFECT:
            return (_EFFECT[self.spec.family],)
        key = "effect_kind" if self.spec.family == "mediation_effect" else "estimand_kind"
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
            "variables": lambda: len(scene.truth.read(NAMES, "graph", "nodes_named")),
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
    value = document.read(TEXT, key)
    if not is_plain(value):
        raise document.problem((key,), f"{clip(value)} is not a plain name; use {GRAMMAR}")
    return value
