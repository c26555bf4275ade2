"""Settings files (TOML): a table is checked against a model before any work starts.

Whatever is wrong becomes a one-line ``UsageError`` that names the file, the key and what to write
instead; of several faults the first in the file. At the end are types of values: texts, names of a
catalogue, weights, ranges.
"""

import json
import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import ErrorDetails

from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.names import did_you_mean

MAX_BYTES: Final = 1_000_000
STRICT: Final = ConfigDict(extra="forbid", strict=True)
"""No key but the fields, and no value of another TOML type: true is no number."""

Made = TypeVar("Made")


class TomlModel(BaseModel):
    """The base of models of settings: a table of a file, with its keys as fields.

    The ``description`` of a field says what its value must be where type and bounds do not.
    """

    model_config = ConfigDict(**STRICT, frozen=True)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of a settings file, not checked yet.

    ``where`` is its file and dotted path, ending in ``": "`` or ``"."``, as errors begin.
    ``beside`` is the folder of the file.
    """

    values: Mapping[str, Any]
    where: str
    beside: Path = Path()

    def problem(self, key: str, what: str) -> UsageError:
        """Return the error about the value of ``key``, to be raised."""
        return UsageError(f"{self.where}{key}: {what}")


class Fault(ValueError):
    """A validator's complaint about a value: about all of it, or about the dotted ``key`` inside
    it."""

    def __init__(self, what: str, key: str = "") -> None:
        super().__init__(what)
        self.key = key


def check(model: type[Made], table: TomlTable) -> Made:
    """Return the table as an instance of the model. Raises ``UsageError`` for the first fault in
    the file."""
    adapter = TypeAdapter(model)
    try:
        return adapter.validate_json(json.dumps(table.values))  # in JSON, a list may be a tuple
    except ValidationError as error:
        schema = adapter.json_schema()
        faults = [_FaultPlace.from_error(fault, table.values, schema) for fault in error.errors()]
        raise UsageError(table.where + min(faults, key=lambda one: one.order).message()) from None


@dataclass(frozen=True, slots=True)
class _FaultPlace:
    """A fault of pydantic and its place in the document.

    ``order`` sorts faults as they stand in the file. It has the position of each key on the way,
    infinity for an absent one, and a last infinity that puts an entry before its list. ``path`` is
    dotted. ``value`` is what stands there, ``schema`` the JSON schema for it, and ``known`` the
    keys that may stand beside it.
    """

    fault: ErrorDetails
    order: tuple[float, ...]
    path: str
    value: Any
    schema: Mapping[str, Any]
    known: tuple[str, ...]

    @staticmethod
    def from_error(fault: ErrorDetails, values: Any, whole: Mapping[str, Any]) -> "_FaultPlace":
        """Return the place of a fault in ``values``, the document.

        ``whole`` is the JSON schema of the document's model. Both are followed step by step, as far
        as a step of the fault's location is a key or an index.
        """
        inner = getattr(fault.get("ctx", {}).get("error"), "key", "")
        order, path, known, schema = [], "", (), _resolve_schema(whole, whole)
        keys = (int(key) if key.isdigit() else key for key in inner.split(".") if key)
        for step in (*fault["loc"], *keys):
            if isinstance(values, Mapping) and schema.get("type") == "object":
                order.append([*values].index(str(step)) if step in values else math.inf)
                path, known = f"{path}.{step}", tuple(schema.get("properties", ()))
                part = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
                values = values.get(step)
            elif isinstance(values, list) and isinstance(step, int) and "items" in schema:
                order.append(step)
                path, part, values = f"{path}[{step}]", schema["items"], values[step]
            else:
                break  # what follows names a branch of the model, or one number of a pair
            schema = _resolve_schema(part or {}, whole)
        order.append(math.inf)  # of a list and its entries, an entry first
        return _FaultPlace(fault, tuple(order), path.removeprefix("."), values, schema, known)

    def message(self) -> str:
        """Return the message of an error: path, what is wrong, and what to write instead."""
        kind, error = self.fault["type"], self.fault.get("ctx", {}).get("error")
        if isinstance(error, Fault):
            what = str(error)
        elif kind in ("extra_forbidden", "unexpected_keyword_argument"):
            what = f"unknown key{did_you_mean(self.path.rpartition('.')[2], self.known)}"
        elif math.inf in self.order[:-1]:
            what = f"missing; give {_expected_value(self.schema)}"
        elif kind == "literal_error" and "description" not in self.schema:
            what = f"unknown name {clip(self.value)}{did_you_mean(str(self.value), self._names)}"
        elif isinstance(self.value, str) and not self.value.strip():
            what = f"must not be empty; give {_expected_value(self.schema)}"
        else:
            what = f"must be {_expected_value(self.schema)}, not {clip(self.value)}"
        return f"{self.path}: {what}"

    @property
    def _names(self) -> list[str]:
        """The names that the schema allows as the value."""
        return self.schema.get("enum") or [self.schema.get("const", "")]


def _resolve_schema(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``schema``, a part of the JSON schema ``whole``, with its reference resolved and
    without the null that no TOML has.

    The description of a field is kept, but not the docstring of a model, which does not describe a
    value.
    """
    own = {key: schema[key] for key in ("description",) if key in schema and schema is not whole}
    for branch in schema.get("anyOf", ()):
        if branch != {"type": "null"}:
            return {**_resolve_schema(branch, whole), **own}
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
        return {**_resolve_schema({**schema, "description": ""}, whole), "description": "", **own}
    return schema


def _expected_value(schema: Mapping[str, Any]) -> str:
    """Return in words what a value must be by its JSON schema: "a whole number from 1 to 5"."""
    low, high = (f"{schema.get(end, 0):.15g}" for end in ("minimum", "maximum"))
    match schema:
        case {"description": str(what)} if what:
            return what
        case {"enum": [*known]}:
            return f"one of {', '.join(known)}"
        case {"prefixItems": [first, *_]}:
            pair = _expected_value(first).replace("a ", "two ").replace("number", "numbers")
            return f"{pair}, the least and the most"
        case {"items": {"enum": [*known]}}:
            return f"a list of names such as {clip(known[:2])}"
        case {"type": "integer"}:
            return f"a whole number from {low} to {high}"
        case {"type": "number"}:
            return f"a number from {low} to {high}"
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "array"}:
            return f"a list of {_expected_value(schema['items']).removeprefix('a ')}s"
        case {"additionalProperties": {"type": "number"}}:
            return "a table of weights"
        case {"type": "object"}:
            return "a table"
    return "text"


def read_toml(path: Path) -> TomlTable:
    """Return the content of a TOML file. Raises ``UsageError`` naming the file and what is wrong
    with it."""
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
        strange = next(_no_settings(document, ""), None)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: invalid TOML ({error}); correct that place") from None
    if strange:
        raise UsageError(f"{path}: {strange} is no setting; write a finite number or text")
    return TomlTable(document, f"{path}: ", path.parent)


def _no_settings(value: object, where: str) -> Iterator[str]:
    """Yield ``place: value`` for each date, infinity or not-a-number in ``value``, which stands at
    ``where``. TOML has them but no setting is one."""
    plain = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            path = f"[{key}]" if isinstance(value, list) else f".{key}"
            yield from _no_settings(member, (where + path).removeprefix("."))
    elif not plain:
        yield f"{where}: {value}"


Weights = TypeVar("Weights", dict[str, float], tuple[float, ...])
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _variable(value: object) -> object:
    """Return the value if it may be the name of an environment variable; raises :class:`Fault`."""
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        # The text is not repeated: who writes a secret here must not find it in a log.
        raise Fault("must be the name of an environment variable, not a value")
    return value


def _check_order(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the pair; raises :class:`Fault` if the first number is the larger."""
    if pair[0] > pair[1]:
        raise Fault(f"{pair[0]:g} is more than {pair[1]:g}; swap them")
    return pair


Text = Annotated[str, Field(pattern=r"\S")]
"""Text that is not blank."""
Variable = Annotated[str, BeforeValidator(_variable)]
"""The name of an environment variable."""
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1e9)]
Ordered: Final = AfterValidator(_check_order)
"""Of two numbers the first is not the larger."""


def as_known(name: object, known: Iterable[str]) -> str:
    """Return the name if it is one of ``known``; raises :class:`Fault`."""
    for one in known:
        if one == name:
            return one
    raise Fault(f"unknown name {clip(name)}{did_you_mean(str(name), known)}")


def one_of(known: Iterable[str]) -> BeforeValidator:
    """Return a validator that accepts exactly one of the ``known`` names."""
    return BeforeValidator(lambda name: as_known(name, known))


def chosen_names(value: object, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the list ``value``, in the order of ``known``.

    Raises :class:`Fault` for an empty list, an unknown name or one that is listed twice.
    """
    if not isinstance(value, list | tuple) or not value:
        what = f"a list of names such as {clip(list(known[:2]))}"
        raise Fault(f"must be {what}, not {clip(value)}")
    found = [as_known(name, known) for name in value]
    if len({*found}) < len(found):
        raise Fault("a name is listed twice; list each once")
    return tuple(name for name in known if name in found)


def some_of(known: Sequence[str]) -> BeforeValidator:
    """Return a validator of a list of ``known`` names, as :func:`chosen_names` checks it."""
    schema = {"type": "array", "items": {"enum": [*known]}}
    listed = Annotated[Any, WithJsonSchema(schema)]
    return BeforeValidator(lambda value: chosen_names(value, known), json_schema_input_type=listed)


def check_keys(found: Iterable[str], known: Iterable[str], inside: str = "") -> None:
    """Raise :class:`Fault` for the first key in ``found`` that is not ``known``. ``inside`` is the
    path of its table, with the dot."""
    for key in found:
        if key not in known:
            raise Fault(f"unknown key{did_you_mean(key, known)}", inside + key)


def check_positive(weights: Weights, key: str = "") -> Weights:
    """Return the weights. Raises :class:`Fault` about ``key`` where none is positive."""
    if not any(weights.values() if isinstance(weights, dict) else weights):
        raise Fault("no weight is positive; give at least one", key)
    return weights


def weights_of(known: Collection[str], ordered: bool = False) -> WrapValidator:
    """Return a validator of a table of weights by ``known`` name, of which one at least is
    positive.

    It gives the weights as the file has them or, with ``ordered``, only the positive ones in the
    order of ``known``.
    """

    def check(value: object, handler: Callable[[object], dict[str, float]]) -> dict[str, float]:
        """Return the weights, or raise :class:`Fault`: no table, unknown name, none positive."""
        if not isinstance(value, Mapping):
            what = f"a table of weights such as {{ {next(iter(known))} = 1 }}"
            raise Fault(f"must be {what}, not {clip(value)}")
        check_keys(value, known)
        found = check_positive(handler(value))
        return {name: found[name] for name in known if found.get(name)} if ordered else found

    return WrapValidator(check)
