"""The knowledge graph has names for every structure that a release may ask for."""

import name_coverage
import pytest

from builder.words.knowledge import domains


def test_every_motif_has_enough_matches_for_twice_the_main_release() -> None:
    """A motif at home in one domain only would be known by its domain."""
    lines, short = name_coverage.report(domains(), grafts=False)
    assert short == []
    assert len(lines) > 50


@pytest.mark.slow
def test_every_motif_with_any_single_graft_has_enough_matches() -> None:
    """A graft must not be confined to the few domains that happen to hold it."""
    _, short = name_coverage.report(domains())
    assert short == []
