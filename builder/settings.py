"""Settings files (TOML): read once, and every value checked as it is taken.

Whatever is wrong is found before any work starts, as a one-line ``UsageError`` that names the file,
the key and what to write instead.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.names import did_you_mean

MAX_BYTES: Final = 1_000_000
MOST_ENTRIES: Final = 100_000
LARGEST_WEIGHT: Final = 1e9
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of a settings file and where it stands, with checked access to its keys.

    ``where`` is the file and the dotted path of the table, ending in ``": "`` or ``"."``, and
    ``beside`` the folder that the file lies in. A getter without a ``default`` wants its key to be
    there. All raise ``UsageError``.
    """

    values: Mapping[str, Any]
    where: str
    beside: Path = Path()

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def problem(self, key: str, what: str) -> UsageError:
        """The complaint about the value of ``key``."""
        return UsageError(f"{self.where}{key}: {what}")

    def wrong(self, key: str, what: str) -> UsageError:
        """The complaint that the value of ``key`` is not what it must be."""
        return self.problem(key, f"must be {what}, not {clip(self.values.get(key))}")

    def only(self, *known: str) -> None:
        """Refuses keys that are not ``known``."""
        for key in self.values:
            if key not in known:
                raise self.problem(key, f"unknown key{did_you_mean(key, known)}")

    def need(self, key: str, what: str) -> Any:
        """The value of a key that must be there."""
        if key not in self.values:
            raise self.problem(key, f"missing; give {what}")
        return self.values[key]

    def table(
        self, key: str, default: Mapping[str, Any] | None = None, what: str = "a table"
    ) -> "TomlTable":
        """A table inside this one."""
        value = self._value(key, what, default)
        if not isinstance(value, Mapping):
            raise self.wrong(key, what)
        return TomlTable(value, f"{self.where}{key}.", self.beside)

    def entries(self, key: str, what: str, most: int = MOST_ENTRIES) -> "TomlTable":
        """The entries of a list, at least one, under the keys ``key[0]``, ``key[1]`` ..."""
        value = self.need(key, what)
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            raise self.wrong(key, what)
        listed = {f"{key}[{i}]": entry for i, entry in enumerate(value)}
        return TomlTable(listed, self.where, self.beside)

    def tables(self, key: str, what: str = "a list of tables") -> list["TomlTable"]:
        """The tables of a list, at least one."""
        entries = self.entries(key, what)
        return [entries.table(place) for place in entries.values]

    def texts(self, key: str, what: str = "a list of texts") -> tuple[str, ...]:
        """The texts of a list, at least one."""
        entries = self.entries(key, what)
        return tuple(entries.text(place) for place in entries.values)

    def text(self, key: str, what: str = "text", pattern: re.Pattern[str] | None = None) -> str:
        """Text that is not blank and matches ``pattern``."""
        value = self.need(key, what)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, what)
        if pattern is not None and not pattern.fullmatch(value):
            raise self.wrong(key, what)
        return value

    def variable(self, key: str) -> str:
        """The name of an environment variable."""
        what = "the name of an environment variable"
        value = self.need(key, what)
        if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
            # The text is not repeated: who writes a secret here must not find it in a log.
            raise self.problem(key, f"must be {what}, not a value")
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._value(key, "true or false", default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number within bounds."""
        what = f"a whole number from {low} to {high}"
        value = self._value(key, what, default)
        if not _is_number(value, low, high) or not isinstance(value, int):
            raise self.wrong(key, what)
        return value

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        """A number within bounds."""
        what = f"a number from {low:g} to {high:g}"
        value = self._value(key, what, default)
        if not _is_number(value, low, high):
            raise self.wrong(key, what)
        return float(value)

    def share(self, key: str, default: float | None = None) -> float:
        """A number from 0 to 1."""
        return self.number(key, 0.0, 1.0, default)

    def whole_range(
        self, key: str, low: int, high: int, default: tuple[int, int] | None = None
    ) -> tuple[int, int]:
        """Two whole numbers within bounds, the least and the most."""
        what = f"two whole numbers from {low} to {high}, the least and the most"
        first, last = self._pair(key, what, low, high, default)
        if not isinstance(first, int) or not isinstance(last, int):
            raise self.wrong(key, what)
        return first, last

    def number_range(
        self, key: str, low: float, high: float, default: tuple[float, float] | None = None
    ) -> tuple[float, float]:
        """Two numbers within bounds, the least and the most."""
        what = f"two numbers from {low:g} to {high:g}, the least and the most"
        first, last = self._pair(key, what, low, high, default)
        return float(first), float(last)

    def choice(self, key: str, known: Sequence[Name], default: Name | None = None) -> Name:
        """One of the ``known`` names."""
        return self._one_of(key, self._value(key, f"one of {', '.join(known)}", default), known)

    def names(
        self, key: str, known: Sequence[Name], default: Sequence[Name] | None = None
    ) -> tuple[Name, ...]:
        """Some of the ``known`` names, at least one and each once, in the order of ``known``."""
        what = f"a list of names such as {clip(list(known[:2]))}"
        value = self._value(key, what, None if default is None else list(default))
        if not isinstance(value, list) or not value:
            raise self.wrong(key, what)
        found = [self._one_of(key, name, known) for name in value]
        if len(set(found)) != len(found):
            raise self.problem(key, "a name is listed twice; list each once")
        return tuple(name for name in known if name in found)

    def weights(self, key: str, known: Sequence[str]) -> dict[str, float]:
        """Weights by ``known`` name, in the order of the file; one at least is positive."""
        table = self.table(key, what=f"a table of weights such as {{ {known[0]} = 1 }}")
        table.only(*known)
        weights = {name: table.number(name, 0.0, LARGEST_WEIGHT) for name in table.values}
        if not any(weights.values()):
            raise self.problem(key, "no weight is positive; give at least one")
        return weights

    def _value(self, key: str, what: str, default: object) -> Any:
        return self.need(key, what) if default is None else self.values.get(key, default)

    def _pair(
        self, key: str, what: str, low: float, high: float, default: tuple[Any, Any] | None
    ) -> tuple[Any, Any]:
        value = self._value(key, what, default and list(default))
        if not isinstance(value, list) or len(value) != 2:
            raise self.wrong(key, what)
        first, last = value
        if not (_is_number(first, low, high) and _is_number(last, low, high)):
            raise self.wrong(key, what)
        if first > last:
            raise self.problem(key, f"{first:g} is more than {last:g}; swap them")
        return first, last

    def _one_of(self, key: str, value: object, known: Sequence[Name]) -> Name:
        for name in known:
            if name == value:
                return name
        near = did_you_mean(value if isinstance(value, str) else "", known)
        raise self.problem(key, f"unknown name {clip(value)}{near}")


def read_toml(path: Path) -> TomlTable:
    """A file's table; raises ``UsageError`` naming the file and what is wrong with it."""
    try:
        if path.is_dir():
            raise UsageError(f"{path}: is a folder; name a split file such as splits/mini.toml")
        with path.open("rb") as handle:
            data = handle.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"{path}: not found; name a split file such as splits/mini.toml") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be read ({reason}); check the path") from None
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path}: larger than {MAX_BYTES} bytes; this is no split file")
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: invalid TOML ({error}); correct that place") from None
    _check_plain(document, f"{path}: ")
    return TomlTable(document, f"{path}: ", path.parent)


def _check_plain(value: object, where: str) -> None:
    """TOML has dates, infinities and not-a-number; no setting of a release does."""
    if isinstance(value, dict):
        for key, member in value.items():
            _check_plain(member, f"{where}{key}.")
    elif isinstance(value, list):
        for member in value:
            _check_plain(member, where)
    elif not isinstance(value, bool | int | str) and not (
        isinstance(value, float) and math.isfinite(value)
    ):
        raise UsageError(
            f"{where.rstrip('.')}: {value} is no setting; write a finite number or text"
        )


def _is_number(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
