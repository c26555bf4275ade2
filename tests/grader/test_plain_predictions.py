"""Plain prediction files are read a column at a time: nothing may be said of them otherwise."""

import random
from typing import Final

import pytest

from grader.answers import predictions
from grader.answers.predictions import read_predictions
from grader.errors import Invalid
from grader.scoring.model import Predictions

_NAMES: Final = ("prediction", "lower", "upper", "more")
_ASKED: Final = (("prediction",), ("lower", "upper"), ("prediction", "lower", "upper"))
_STRANGE: Final = (
    b"", b" ", b'"', b"\n", b"\r", b"\r\n", b",", b"e", b"E5", b"e99999", b"1e400", b"1e00005",
    b"nan", b"inf", b"_", b"-", b"+", b".", b"\xd9\xa1", b"\xff", b"\x00", b'"1\n2"', b"5.", b".5",
)  # fmt: skip


def _said(data: bytes, asked: tuple[str, ...], rows: int) -> Predictions | str:
    try:
        return read_predictions(data, asked, rows)
    except Invalid as error:
        return f"{error.reason}: {error}"


def _file(draw: random.Random) -> tuple[bytes, int]:
    """A table of few cells with up to two strange pieces in it, and its number of rows."""
    rows, names = draw.choice([0, 1, 2, 5]), list(_NAMES[: draw.randint(1, 4)])
    draw.shuffle(names)
    lines = [names, *([repr(draw.gauss(0, 1)) for _ in names] for _ in range(rows))]
    end = draw.choice(["\n", "\r\n"])
    data = (end.join(map(",".join, lines)) + draw.choice(["", end, end + end])).encode()
    for _ in range(draw.choice([0, 1, 2])):
        place = draw.randrange(len(data) + 1)
        data = data[:place] + draw.choice(_STRANGE) + data[place + draw.choice([0, 0, 1, 3]) :]
    return data, rows


def test_whatever_is_read_quickly_is_read_as_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    files = [(*_file(draw), draw.choice(_ASKED)) for _ in range(3_000)]
    quickly = [_said(data, asked, rows) for data, rows, asked in files]
    read = [said for said in quickly if isinstance(said, Predictions)]
    assert len(read) > 500 and len(quickly) - len(read) > 500
    monkeypatch.setattr(predictions, "_plain_values", lambda *_: None)
    assert quickly == [_said(data, asked, rows) for data, rows, asked in files]


@pytest.mark.parametrize("cell", ["0." + "1" * 140_000, "1e-99999", "1e999"])
def test_a_number_too_long_or_too_large_is_not_plain(cell: str) -> None:
    data = f"prediction,more\n1.5,2\n{cell},2\n".encode()
    assert isinstance(_said(data, ("prediction",), 2), str)
    other = f"more,prediction\n2,1.5\n{cell},2\n".encode()
    assert isinstance(_said(other, ("prediction",), 2), str) == (len(cell) > 9)
