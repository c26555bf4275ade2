"""The required figures: true truths, estimable effects."""

import pytest
from evidence import check_estimability, check_truths


@pytest.mark.slow
def test_stored_truths_of_200_scenes_are_true() -> None:
    """99.5% within four combined errors, all errors under the bound, zeros exactly zero."""
    report = check_truths(200)
    assert report.scenes == 200 and report.good, report


@pytest.mark.slow
def test_textbook_intervals_cover_at_their_nominal_rate() -> None:
    """60 scenes, 20 replicates each: pooled coverage in the exact 99.9% binomial interval."""
    report = check_estimability(60, 20)
    assert report.scenes == 60 and report.good, report
