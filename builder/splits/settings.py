"""Settings files (TOML): a table is checked against a model before any work starts.

Whatever is wrong becomes a one-line ``UsageError`` that names the file, the key and what to write
instead. At the end are types of values: texts, names of a catalogue, weights, ranges.
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
    """The base of models of settings: a table of a file, with its keys as fields. The
    ``description`` of a field says what its value must be where type and bounds do not."""

    model_config = ConfigDict(**STRICT, frozen=True)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of a settings file, not checked yet.

    ``where`` is its file and dotted path, as errors begin. ``beside`` is the folder of the file.
    """

    values: Mapping[str, Any]
    where: str
    beside: Path = Path()

    def problem(self, key: str, what: str) -> UsageError:
        """Return the error about the value of ``key``, to be raised."""
        return UsageError(f"{self.where}{key}: {what}")


class Fault(ValueError):
    """A validator's complaint about a value, or about the dotted ``key`` inside it."""

    def __init__(self, what: str, key: str = "") -> None:
        super().__init__(what)
        self.key = key


def check(model: type[Made], table: TomlTable) -> Made:
    """Return the table as an instance of the model. Raises ``UsageError`` for a fault in it: one of
    a key that is there, if any, as a misspelt key explains one that is missing."""
    adapter = TypeAdapter(model)
    try:
        return adapter.validate_json(json.dumps(table.values))  # in JSON, a list may be a tuple
    except ValidationError as error:
        fault = min(error.errors(), key=lambda one: one["type"] == "missing")
        what = _fault_message(fault, table.values, adapter.json_schema())
    # Outside: as its context, pydantic's error would hide what it holds from the garbage collector.
    raise UsageError(table.where + what)


def _fault_message(fault: ErrorDetails, value: Any, whole: Mapping[str, Any]) -> str:
    """Return the message of a fault in ``value`` of JSON schema ``whole``: path, fault, remedy."""
    kind, error = fault["type"], fault.get("ctx", {}).get("error")
    path, schema = "", _resolve_schema(whole, whole)
    known: Any = {}
    keys = (key for key in getattr(error, "key", "").split(".") if key)
    for step in (*fault["loc"], *(int(key) if key.isdigit() else key for key in keys)):
        if isinstance(value, Mapping) and schema.get("type") == "object":
            path, known, value = f"{path}.{step}", schema.get("properties", {}), value.get(step)
            part = known.get(step, schema.get("additionalProperties"))
        elif isinstance(value, list) and isinstance(step, int) and "items" in schema:
            path, part, value = f"{path}[{step}]", schema["items"], value[step]
        else:
            break  # what follows names a branch of the model, or one number of a pair
        schema = _resolve_schema(part or {}, whole)
    path = path.removeprefix(".")
    if isinstance(error, Fault):
        return f"{path}: {error}"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{path}: unknown key{did_you_mean(path.rpartition('.')[2], known)}"
    if kind == "missing" and value is None:
        return f"{path}: missing; give {_expected_value(schema)}"
    if kind == "literal_error" and "description" not in schema:
        names = schema.get("enum") or [schema.get("const", "")]
        return f"{path}: unknown name {clip(value)}{did_you_mean(str(value), names)}"
    if isinstance(value, str) and not value.strip():
        return f"{path}: must not be empty; give {_expected_value(schema)}"
    return f"{path}: must be {_expected_value(schema)}, not {clip(value)}"


def _resolve_schema(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``schema``, a part of ``whole``, its reference resolved, without null."""
    # A field's description is kept, but not a model's docstring, which does not describe a value.
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
        case {"type": "integer" | "number" as kind}:
            return f"a {'whole ' if kind == 'integer' else ''}number from {low} to {high}"
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
    """Return the content of a TOML file; raises ``UsageError``."""
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
    """Yield ``place: value`` for each date, infinity or not-a-number in ``value`` at ``where``."""
    plain = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            path = f"[{key}]" if isinstance(value, list) else f".{key}"
            yield from _no_settings(member, (where + path).removeprefix("."))
    elif not plain:
        yield f"{where}: {value}"


Weights = TypeVar("Weights", dict[str, float], tuple[float, ...])


def _variable(value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        # The text is not repeated: who writes a secret here must not find it in a log.
        raise Fault("must be the name of an environment variable, not a value")
    return value


def _check_order(pair: tuple[Any, Any]) -> tuple[Any, Any]:
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
    """Return the names in the list ``value``, in the order of ``known``. Raises :class:`Fault` for
    an empty list, an unknown name or one that is listed twice."""
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
    """Raise :class:`Fault` for the first key in ``found``, a table at ``inside``, not ``known``."""
    for key in found:
        if key not in known:
            raise Fault(f"unknown key{did_you_mean(key, known)}", inside + key)


def check_positive(weights: Weights, key: str = "") -> Weights:
    """Return the weights. Raises :class:`Fault` about ``key`` where none is positive."""
    if not any(weights.values() if isinstance(weights, dict) else weights):
        raise Fault("no weight is positive; give at least one", key)
    return weights


def weights_of(known: Collection[str], ordered: bool = False) -> WrapValidator:
    """Return a validator of a table of weights by ``known`` name, one at least positive. With
    ``ordered`` it gives only the positive ones, in the order of ``known``."""

    def check(value: object, handler: Callable[[object], dict[str, float]]) -> dict[str, float]:
        if not isinstance(value, Mapping):
            what = f"a table of weights such as {{ {next(iter(known))} = 1 }}"
            raise Fault(f"must be {what}, not {clip(value)}")
        check_keys(value, known)
        found = check_positive(handler(value))
        return {name: found[name] for name in known if found.get(name)} if ordered else found

    return WrapValidator(check)
