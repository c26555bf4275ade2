"""Of many cases alike, a few for the quick run."""

from collections.abc import Iterable
from typing import Any

import pytest


def some_of(cases: Iterable[object], each: int) -> list[Any]:
    """Returns ``cases`` (tuples where a test has several names); one in ``each`` is not slow."""
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [
        pytest.param(*case, marks=[pytest.mark.slow] * (number % each > 0))
        for number, case in enumerate(values)
    ]
