"""Rounding and content hashes: what is written is what was meant, and is recognised again."""

import itertools
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builder.release.arrow import content_sha256, round_data, round_truth, table_from_rows

NESTED = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field(
            "data", pa.list_(pa.struct([("name", pa.string()), ("x", pa.list_(pa.float32()))]))
        ),
        pa.field("flag", pa.bool_()),
    ]
)
ROWS = [
    {"id": "a", "value": None, "data": [{"name": "é", "x": np.array([1.23456789, -0.0])}],
     "flag": True},
    {"id": "b", "value": 1.2345678987, "data": [], "flag": None},
    {"id": "c", "value": -0.0, "data": [{"name": "", "x": []}, {"name": "y", "x": [2.5]}],
     "flag": False},
]  # fmt: skip


@example(0.1234565)
@example(1234565e-5)
@example(2.5000005)
@example(9.9999995)
@example(0.00012345649)
@example(2.801585)
@given(st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-30))
def test_data_are_the_nearest_float32_to_six_digits(value):
    """Digits beyond the sixth are noise that no two platforms share."""
    rounded = round_data([value])[0]
    assert rounded == np.float32(float(Decimal(f"{Decimal(value):.5e}")))


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_rounding_twice_changes_nothing(value):
    """A track rounds before computing a label's spread, the writer rounds again."""
    once = round_data([value])
    assert np.array_equal(round_data(once), once)
    assert round_truth(round_truth(float(value))) == round_truth(float(value))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e39])
def test_what_is_not_finite_in_float32_is_refused(value):
    """NaN in released data would only surface in some reader's code."""
    with pytest.raises(ValueError, match="finite"):
        round_data([1.0, value])


def test_every_float_of_a_row_is_rounded_at_any_depth_and_minus_zero_is_zero():
    """One column that escapes rounding breaks the promise of equal content on another CPU."""
    rows = table_from_rows(ROWS, NESTED).to_pylist()
    assert rows[0]["data"][0]["x"] == [float(np.float32(1.23457)), 0.0]
    assert str(rows[0]["data"][0]["x"][1]) == "0.0" and str(rows[2]["value"]) == "0.0"
    assert rows[1]["value"] == 1.2345679
    assert rows[0]["value"] is None and rows[1]["data"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "differ in the columns extra"),
        ({"id": None}, "id must not hold nulls"),
        ({"value": float("nan")}, "not finite"),
        ({"data": [{"name": "x", "x": [float("inf")]}]}, "not finite"),
    ],
)
def test_a_row_that_breaks_its_schema_is_refused(change, message):
    """Arrow fills absent columns with nulls and says nothing."""
    with pytest.raises(ValueError, match=message):
        table_from_rows([{**ROWS[1], **change}], NESTED)
    with pytest.raises(ValueError, match="columns flag"):
        table_from_rows([{key: value for key, value in ROWS[1].items() if key != "flag"}], NESTED)


def test_the_content_hash_sees_values_and_not_their_storage(tmp_path):
    """A new Parquet version must not look like a new exam."""
    table = table_from_rows(ROWS, NESTED)
    expected = content_sha256(NESTED, [table])
    assert content_sha256(NESTED, [table.slice(0, 1), table.slice(1)]) == expected
    pq.write_table(table, tmp_path / "a.parquet", compression="none", row_group_size=1)
    read = pq.read_table(tmp_path / "a.parquet")
    assert content_sha256(read.schema, [read]) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"value": 0.0}, {"flag": False}, {"flag": None}, {"id": "aa"}, {"data": None},
        {"data": []}, {"data": [{"name": "é", "x": [1.23457, 1e-6]}]},
        {"data": [{"name": None, "x": [1.23457, 0.0]}]},
    ],
)  # fmt: skip
def test_the_content_hash_sees_every_change(change):
    """A hash that overlooks nulls or lengths certifies the wrong content."""
    before = content_sha256(NESTED, [table_from_rows(ROWS, NESTED)])
    rows = [{**ROWS[0], **change}, *ROWS[1:]]
    assert content_sha256(NESTED, [table_from_rows(rows, NESTED)]) != before


def test_texts_are_hashed_by_their_bytes_wherever_they_lie_in_memory():
    """Hashing strings end to end would take "ab", "c" for "a", "bc"."""
    pairs = (pa.table({"id": pair}) for pair in (["ab", "c"], ["a", "bc"], ["", "abc"]))
    assert len({content_sha256(pair.schema, [pair]) for pair in pairs}) == 3
    texts = ["", "ä", None, "two", "", "€uro", None, "last"]
    hidden = pa.array(texts).fill_null("hidden")
    valid = pa.array([text is not None for text in texts])
    with_garbage = pc.if_else(valid, hidden, pa.scalar(None, pa.string()))
    for start, stop in itertools.combinations(range(len(texts) + 1), 2):
        own = pa.table({"text": pa.array(texts[start:stop], pa.string())})
        for array in (pa.array(texts)[start:stop], with_garbage[start:stop]):
            table = pa.table({"text": array})
            assert content_sha256(own.schema, [table]) == content_sha256(own.schema, [own])
