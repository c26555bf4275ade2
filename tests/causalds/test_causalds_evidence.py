"""The required figure: true truths."""

import pytest
from evidence import check_truths


@pytest.mark.slow
def test_stored_truths_of_200_scenes_are_true() -> None:
    """99.5% within four combined errors, all errors under the bound, zeros exactly zero."""
    report = check_truths(200)
    assert report.scenes == 200 and report.good, report
