"""The keyed permutation: a bijection that tells nothing of the order."""

import numpy as np
import pytest

from builder.permutation import Permutation


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 65, 1000])
def test_every_place_is_taken_once(size: int) -> None:
    """Two scenes in one place would have one name, and another place none."""
    places = Permutation(b"key", size)
    assert sorted(map(places, range(size))) == list(range(size))
    for outside in (-1, size):
        with pytest.raises(IndexError, match="not from 0"):
            places(outside)


def test_places_tell_nothing_of_the_order() -> None:
    """Whoever sees names must not learn which scenes were planned one after another."""
    size = 3000
    index = np.arange(size)
    for key in (b"a", b"b"):
        places = np.array([Permutation(key, size)(i) for i in range(size)])
        steps = np.diff(places)
        limit = 4 / np.sqrt(size)
        assert abs(np.corrcoef(index, places)[0, 1]) < limit
        assert abs(np.corrcoef(index % 20, places % 20)[0, 1]) < limit
        assert abs(np.corrcoef(places[1:], places[:-1])[0, 1]) < limit
        assert len(set(steps.tolist())) > size / 2


def test_another_key_is_another_permutation() -> None:
    """The places of one split say nothing of those of another."""
    one, other = ([Permutation(key, 500)(i) for i in range(500)] for key in (b"a", b"b"))
    assert sum(a == b for a, b in zip(one, other, strict=True)) < 10
