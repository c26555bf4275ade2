"""Rows to Arrow and back to hashes: rounding, content hashes, commitments.

Floats are rounded once, when written: float32 columns (data) to 6 significant digits, float64
columns (estimated truths and their errors) to 9. Both are idempotent, so a track that needs the
written values beforehand, for a label's standard deviation say, rounds with the same functions.
"""

import hashlib
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from builder.splits.seeds import hmac_key
from builder.splits.track import Row
from grader.io.jsonio import canonical_json

DATA_DIGITS: Final = 6
TRUTH_DIGITS: Final = 9
SMALLEST: Final = np.float32(1e-37)
"""Smaller data are zero: close to the end of float32's range it has no six digits."""

_ONE: Final = 40
_POWERS: Final = np.array([float(f"1e{k}") for k in range(-_ONE, 50)])
"""Powers of ten, 1 at ``_ONE``. Looked up: a logarithm of one, or a power, may miss by a bit, and
whether it does depends on the processor."""

_NEAR_TIE: Final = 1e-9
"""A scaled value this near to a half of the last digit may have been rounded to it."""


def round_data(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return ``values`` to 6 significant decimal digits, as float32 of the same shape.

    Negative zero and anything below 1e-37 become 0. Else rounding again changes nothing, as six
    digits survive float32 (FLT_DIG = 6). Raises ``ValueError`` for what is not finite in float32.
    """
    exact = np.asarray(values, dtype=np.float64)
    if not np.isfinite(exact).all() or (np.abs(exact) > np.finfo(np.float32).max).any():
        raise ValueError("a value is not finite in float32")
    # Clipped for the logarithm alone: what is smaller becomes zero below.
    size = np.maximum(np.abs(exact), SMALLEST)
    shift = DATA_DIGITS - (np.searchsorted(_POWERS, size, side="right") - _ONE)
    # Powers of ten are exact up to 10**22: divide by one instead of multiplying by its inverse.
    up, down = _POWERS[np.maximum(shift, 0) + _ONE], _POWERS[np.maximum(-shift, 0) + _ONE]
    scaled = np.asarray(exact * up / down)
    whole = np.rint(scaled)
    off = np.abs(scaled - whole)
    digits = np.asarray(whole / up * down + 0.0)
    # Scaling may make a tie of what is none: there the decimals of the float itself decide.
    if off.max(initial=0.0) > 0.5 - _NEAR_TIE:
        for place in map(tuple, np.argwhere(off > 0.5 - _NEAR_TIE)):
            digits[place] = float(f"{exact[place]:.{DATA_DIGITS}g}")
    rounded = digits.astype(np.float32)
    return np.where(np.abs(rounded) < SMALLEST, np.float32(0), rounded)


def round_truth(value: float) -> float:
    """Return ``value`` to 9 significant digits, -0 as 0; raises ``ValueError`` unless finite."""
    if not np.isfinite(value):
        raise ValueError("a value is not finite")
    return float(f"{value:.{TRUTH_DIGITS}g}") + 0.0


def table_from_rows(
    rows: Sequence[Row], schema: pa.Schema, *, as_published: bool = False
) -> pa.Table:
    """Return ``rows`` as a table of exactly ``schema``, floats rounded unless ``as_published``.

    Raises ``ValueError`` when a row lacks a column, has one too many or, rounded, holds a float
    that is not finite, and ``pa.ArrowException`` when a value does not fit its type.
    """
    names = set(schema.names)
    for row in rows:
        if row.keys() != names:
            difference = sorted(names.symmetric_difference(row))
            raise ValueError(f"a row and the schema differ in the columns {', '.join(difference)}")
    columns = [pa.array([row[field.name] for row in rows], type=field.type) for field in schema]
    if not as_published:
        columns = [_round_nested(column) for column in columns]
    for column, field in zip(columns, schema, strict=True):
        if column.null_count and not field.nullable:
            raise ValueError(f"the column {field.name} must not hold nulls")
    return pa.Table.from_arrays(columns, schema=schema)


def _round_nested(array: pa.Array) -> pa.Array:
    """Return ``array`` with every float in it rounded, at any depth."""
    if pa.types.is_floating(array.type):
        return _round_floats(array)
    mask = array.is_null() if array.null_count else None
    if pa.types.is_list(array.type):
        values = _round_nested(array.values)
        return pa.ListArray.from_arrays(array.offsets, values, type=array.type, mask=mask)
    if pa.types.is_struct(array.type):
        fields = [array.type.field(i) for i in range(array.type.num_fields)]
        children = [_round_nested(array.field(i)) for i in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask)
    return array


def _round_floats(array: pa.Array) -> pa.Array:
    """Return an array with float32 rounded to 6 significant digits and float64 to 9; nulls stay."""
    mask = array.is_null().to_numpy(zero_copy_only=False)
    values = array.fill_null(0.0).to_numpy(zero_copy_only=False)
    if pa.types.is_float32(array.type):
        return pa.array(round_data(values), type=array.type, mask=mask)
    return pa.array([round_truth(float(value)) for value in values], type=array.type, mask=mask)


def content_sha256(schema: pa.Schema, tables: Iterable[pa.Table]) -> str:
    """Return the SHA-256 over the values of ``tables`` in order, however they are stored.

    Every column is walked down to its leaves in schema order. Each node feeds a hash of its own:
    validity as one byte a slot, list and string lengths as little-endian int64, strings as UTF-8,
    numbers as little-endian bytes with nulls as zero. The digest covers the schema's text, the row
    count and the digests of all nodes.
    """
    nodes: dict[str, Any] = defaultdict(hashlib.sha256)
    rows = 0
    for table in tables:
        rows += table.num_rows
        for name in schema.names:
            for chunk in table.column(name).chunks:
                _feed(nodes, name, chunk)
    total = hashlib.sha256(schema_text(schema).encode("utf-8"))
    total.update(struct.pack("<q", rows))
    for path, node in sorted(nodes.items()):
        total.update(path.encode("utf-8") + b"\0" + node.digest())
    return total.hexdigest()


def _feed(nodes: Mapping[str, Any], path: str, array: pa.Array) -> None:
    """Feed an array, and what is nested in it, to the hashes of its nodes. ``path`` names the node:
    a column, with ``[]`` for the items of a list and ``.name`` for a field; ``path?`` and ``path#``
    are hashes of validity and lengths."""
    valid = array.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8)
    nodes[f"{path}?"].update(valid.tobytes())
    kind = array.type
    if pa.types.is_list(kind):
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        nodes[f"{path}#"].update(lengths.astype("<i8").tobytes())
        _feed(nodes, f"{path}[]", array.flatten())
    elif pa.types.is_struct(kind):
        for index, child in enumerate(array.flatten()):
            _feed(nodes, f"{path}.{kind.field(index).name}", child)
    elif pa.types.is_string(kind):
        texts = array.fill_null("")
        lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False)
        nodes[f"{path}#"].update(lengths.astype("<i8").tobytes())
        nodes[path].update("".join(texts.to_pylist()).encode("utf-8"))
    else:
        numbers = array.cast(pa.uint8()) if pa.types.is_boolean(kind) else array
        values = numbers.fill_null(0).to_numpy(zero_copy_only=False)
        nodes[path].update(values.astype(values.dtype.newbyteorder("<")).tobytes())


def schema_text(schema: pa.Schema) -> str:
    """Return the schema as text, however Arrow prints types or names list items."""
    return ";".join(f"{field.name}:{_type_text(field.type)}" for field in schema)


def _type_text(kind: pa.DataType) -> str:
    """Return a type as text, with nested types in angle brackets."""
    if pa.types.is_list(kind):
        return f"list<{_type_text(kind.value_type)}>"
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        return f"struct<{','.join(f'{f.name}:{_type_text(f.type)}' for f in fields)}>"
    return str(kind)


def commitment(row_salts: bytes, config: str, split: str, row: Row) -> tuple[str, str]:
    """Return the id of a private row and the salted SHA-256 that binds its publisher to it.

    With ``id`` the row's first column,

    - salt = HMAC-SHA256(key = row_salts, message = UTF-8 of ``"<config>/<split>/<id>"``), 32 bytes;
    - text = canonical JSON of the row as an object of all its columns by name: sorted keys,
      separators ``,`` and ``:``, non-ASCII characters as they are, nulls as ``null``, lists as
      arrays, structs as objects, integers as integers, and floats as the shortest decimal that
      gives back the stored double, where a float32 is first widened to a double exactly
      (``grader.io.jsonio.canonical_json`` of what DuckDB's ``fetchall`` or Arrow's ``to_pylist``
      give);
    - commitment = SHA-256(salt || UTF-8 of text), hex.

    So the standalone grader recomputes it from the Parquet file with DuckDB alone.
    """
    row_id = str(next(iter(row.values())))
    salt = hmac_key(row_salts, f"{config}/{split}/{row_id}")
    return row_id, hashlib.sha256(salt + canonical_json(row).encode("utf-8")).hexdigest()
