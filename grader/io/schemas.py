"""The JSON Schemas, read once, and validation by them with one-line messages."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from grader.io.jsonio import clip

_ENOUGH: Final = 20
"""Errors that are looked at, of a document and of every branch of an ``anyOf``: a message needs no
more, and a hostile list of a million has a million of them."""


def schema_folder() -> Path:
    """Return the folder of schemas: package data in a wheel, ``schemas/`` in a checkout."""
    packaged = Path(__file__).parent.parent / "schemas"
    return packaged if packaged.is_dir() else Path(__file__).parent.parent.parent / "schemas"


_folders: Final[list[Path]] = [schema_folder()]


def add_folder(path: Path) -> None:
    """Look for schemas in a further folder, laid out like ``schemas/``."""
    if path not in _folders:
        _folders.append(path)


@cache
def schema(name: str) -> dict[str, Any]:
    """Read the schema called ``name``, such as ``answers/sign``; raises ``FileNotFoundError``."""
    files = [place / f"{name}.json" for place in _folders]
    found = next((file for file in files if file.is_file()), files[0])
    value: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return value


def _any_of(
    validator: Any, branches: Sequence[Any], instance: object, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Yield one error with the first errors of each branch of ``anyOf``, or nothing if one fits."""
    found: list[ValidationError] = []
    for place, branch in enumerate(branches):
        errors = list(islice(validator.descend(instance, branch, schema_path=place), _ENOUGH))
        if not errors:
            return
        found += errors
    yield ValidationError(f"{clip(instance)} fits no branch", context=found)


def _check_bounded(keyword: str, most: str) -> Any:
    """Return the library's check of ``keyword``, which skips what its limit ``most`` refuses."""
    check: Any = Draft202012Validator.VALIDATORS[keyword]

    def members(validator: Any, value: object, instance: object, schema: Mapping[str, Any]) -> Any:
        if isinstance(instance, list | dict) and len(instance) > schema.get(most, math.inf):
            return None
        return check(validator, value, instance, schema)

    return members


_Validator: Final[Any] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "anyOf": _any_of,
        "items": _check_bounded("items", "maxItems"),
        "additionalProperties": _check_bounded("additionalProperties", "maxProperties"),
    },
)
"""JSON Schema in bounded work: what is too long is refused by its length alone."""


@cache
def _validator(name: str) -> Any:
    """Return the validator of a schema, or of ``file#part`` (the file and what ``$defs`` adds).

    A file that no folder has accepts everything, if a part of it is asked for.
    """
    file, _, part = name.partition("#")
    try:
        whole = schema(file)
    except FileNotFoundError:
        if not part:
            raise
        return _Validator({})
    return _Validator({**whole, **whole.get("$defs", {}).get(part, {})})


def first_problem(name: str, document: object) -> str | None:
    """Return where ``document`` fails the schema and what was expected, or None if it fits.

    ``name`` may be ``file#part``: a part of ``$defs`` whose keywords join those of the file.
    """
    error = best_match(islice(_validator(name).iter_errors(document), _ENOUGH))
    return None if error is None else _sentence(error)


_COUNTS: Final = {
    "maxItems": "has more than {} entries",
    "maxLength": "is longer than {} characters",
    "minLength": "is shorter than {} characters",
}


def _sentence(error: Any) -> str:
    """Return one line about an error: the place, what is there, and what to do."""
    while isinstance(error.parent, ValidationError):  # an anyOf is explained by its member
        error = error.parent
    pointer = "".join(f"/{part}" for part in error.absolute_path)
    where = f"at {pointer[:120]}: " if pointer else ""
    if error.validator == "required":
        absent = [key for key in error.validator_value if key not in error.instance]
        return f"{where}the member {clip(absent[0])} is absent; add it"
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = error.schema.get("properties", {})
        more = [key for key in error.instance if key not in known]
        return f"{where}there is no member {clip(more[0])}"
    if error.validator == "type":
        return f"{where}{clip(error.instance)} is not of type {error.validator_value}"
    if error.validator in _COUNTS:
        excess = _COUNTS[error.validator].format(error.validator_value)
        return f"{where}{clip(error.instance)} {excess}"
    hint = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    expectation = f"; expected: {hint}" if hint else f" fails '{error.validator}'"
    quoted = isinstance(error.instance, str) and error.instance.strip()[:1] in set("+-.0123456789")
    remedy = " (write a number without quotes)" if quoted else ""
    return f"{where}{clip(error.instance)} does not fit{expectation}{remedy}"
