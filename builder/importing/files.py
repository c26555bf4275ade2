"""Readers of others' files: ``UsageError`` says file, field and what to do in one line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from grader.errors import UsageError
from grader.io.jsonio import clip

FETCH: Final = "fetch the whole release again"

Floats = npt.NDArray[np.float64]


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

    def need(self, *keys: str) -> Any:
        """Return the value under nested keys; raises ``UsageError`` if it is absent or null."""
        value = self.get(*keys)
        if value is None:
            raise self.problem(keys, "is absent")
        return value

    def text(self, *keys: str) -> str:
        """Return the string under nested keys; raises ``UsageError`` if it is none or absent."""
        return str(self._need_type(keys, (str,), "no text"))

    def number(self, *keys: str) -> float:
        """Return the finite number under nested keys, or raise ``UsageError``."""
        value = float(self._need_type(keys, (int, float), "no finite number"))
        if not np.isfinite(value):
            raise self.problem(keys, f"{clip(value)} is no finite number")
        return value

    def flag(self, *keys: str) -> bool:
        """Return the true or false under nested keys, or raise ``UsageError``."""
        return bool(self._need_type(keys, (bool,), "neither true nor false"))

    def _need_type(self, keys: tuple[str, ...], types: tuple[type, ...], what: str) -> Any:
        """Return the value under ``keys``. Raises ``UsageError``, saying that it is ``what``, if
        its type is none of ``types``."""
        value = self.need(*keys)
        if type(value) not in types:
            raise self.problem(keys, f"{clip(value)} is {what}")
        return value

    def one_of(self, choices: tuple[str, ...], *keys: str) -> str:
        """Return the text under nested keys; raises ``UsageError`` if it is none of ``choices``."""
        value = self.text(*keys)
        if value not in choices:
            raise self.problem(keys, f"{clip(value)} is none of {', '.join(choices)}")
        return value

    def names(self, *keys: str) -> list[str]:
        """Return the list of strings under nested keys, or raise ``UsageError``."""
        value = self.need(*keys)
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self.problem(keys, f"{clip(value)} is no list of names")
        return value

    def objects(self, key: str) -> list["Document"]:
        """Return the objects in the list under ``key``, each as a document that knows its path."""
        items = self._need_type((key,), (list,), "no list")
        return [self.child(item, f"{key}[{place}]") for place, item in enumerate(items)]

    def child(self, value: Any, *keys: str) -> "Document":
        """Return the object ``value`` at nested keys as a document, or raise ``UsageError``."""
        place = self._place(keys)
        if not isinstance(value, Mapping):
            raise UsageError(f"{self.file}: {place}: {clip(value)} is no object; {FETCH}")
        return Document(self.file, value, place)

    def problem(self, keys: tuple[str, ...], what: str) -> UsageError:
        """Return the error, to be raised, about the value under ``keys``."""
        return UsageError(f"{self.file}: {self._place(keys)}: {what}; {FETCH}")

    def _place(self, keys: tuple[str, ...]) -> str:
        """Return the dotted path of nested keys in the file."""
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


def read_text(file: Path) -> str:
    """Return the UTF-8 text in ``file``, CR LF as LF, or raise ``UsageError``."""
    try:
        return read_bytes(file).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: cannot be read ({error}); {FETCH}") from None


def read_columns(file: Path) -> dict[str, Floats]:
    """Return the columns of a Parquet table in order, as float64, without pandas' row numbers."""
    content = read_bytes(file)
    if content.startswith(b"version https://git-lfs"):
        what = "a Git LFS pointer, not the table itself; run `git lfs pull` in the checkout"
        raise UsageError(f"{file}: {what}")
    try:
        table = pq.read_table(pa.BufferReader(content))
    except (OSError, pa.ArrowException) as error:
        what = f"no Parquet table ({str(error).splitlines()[0]})"
        raise UsageError(f"{file}: {what}; {FETCH}") from None
    columns = {}
    for name in table.column_names:
        if not name.startswith("__index_level_"):
            try:
                columns[name] = table[name].cast(pa.float64()).to_numpy()
            except pa.ArrowException:
                what = f"the column {clip(name)} is not numeric"
                raise UsageError(f"{file}: {what}; {FETCH}") from None
    return columns
