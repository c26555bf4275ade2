"""Stories tell their facts and nothing else: no word of them is a shortcut (slow)."""

import pytest
from story_leaks import leak_results, main_config, masked, tell_many

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
        text + (" Withal." if one.plan.structure.motif == "confounding" and i % 3 else "")
        for i, (one, text) in enumerate(zip(told, texts, strict=True))
    ]
    (motif,) = leak_results(told, cue, facts=["motif"])
    assert motif.p <= LEVEL / FACTS
