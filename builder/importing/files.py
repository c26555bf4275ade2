"""Readers of others' files: ``UsageError`` says file, field and what to do in one line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError

from grader.errors import UsageError
from grader.io.jsonio import clip

FETCH: Final = "fetch the whole release again"

TEXT: Final = TypeAdapter(str)
NUMBER: Final = TypeAdapter(FiniteFloat)
FLAG: Final = TypeAdapter(bool)
NAMES: Final = TypeAdapter(list[str])
LISTS: Final = TypeAdapter(list[list[str]])
PAIRS: Final = TypeAdapter(list[Annotated[list[str], Field(min_length=2, max_length=2)]])
_OBJECT: Final = TypeAdapter(dict[str, Any])
_OBJECTS: Final = TypeAdapter(list[dict[str, Any]])

Floats = npt.NDArray[np.float64]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object in ``file``, at the dotted ``path`` inside it ("" for the whole), so that every
    error names file and field."""

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
        return Document(self.file, self.read(_OBJECT, *keys), self._place(keys))

    def children(self, key: str) -> list["Document"]:
        """Return the objects in the list under ``key``, each as a document that knows its path."""
        found = enumerate(self.read(_OBJECTS, key))
        return [
            Document(self.file, item, f"{self._place((key,))}[{place}]") for place, item in found
        ]

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
