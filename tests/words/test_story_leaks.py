"""Stories tell their facts and nothing else: no word of them is a shortcut (slow)."""

import statistics

import pytest
from story_leaks import leak_results, main_config, masked, problems_of, reader_f1, tell_many

pytestmark = pytest.mark.slow
LEVEL = 0.01
FACTS = 2


def test_two_thousand_stories_leak_nothing_and_a_planted_cue_is_caught() -> None:
    """The permutation test of the release's gate, over words; p at most 0.01/m would be a leak."""
    told = tell_many(main_config(), 2000, "leak test")
    texts = [masked(one) for one in told]
    for fine in (False, True):
        for result in leak_results(told, texts, fine=fine):
            assert result.p > LEVEL / FACTS, result
    cue = [
        text + (" Withal." if one.plan.motif == "confounding" and i % 3 else "")
        for i, (one, text) in enumerate(zip(told, texts, strict=True))
    ]
    (motif,) = leak_results(told, cue, facts=["motif"])
    assert motif.p <= LEVEL / FACTS


def test_five_hundred_stories_verify_and_are_read_with_f1_of_97_percent() -> None:
    """The verifier shares its frames with the narrator; the reader shares nothing."""
    told = tell_many(main_config(), 500, "reader test")
    assert [problems_of(one) for one in told] == [[]] * len(told)
    assert statistics.mean(reader_f1(one) for one in told) >= 0.97
