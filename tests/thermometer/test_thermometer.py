"""The papers' metrics of stored answers to a stored release are what they were, to the last digit.

The bytes are graded as they stand, so this fails for no change of seeds, builder or baselines; see
README.md beside it.
"""

from measure import changed, measure, read


def test_the_papers_metrics_are_equal_to_the_last_digit() -> None:
    before, now = read(), measure()
    told = changed(before, now)
    assert not told, f"{len(told)} figures changed:\n" + "\n".join(told[:20])
    assert now.keys() == before.keys(), (
        "figures came or went: run python tests/thermometer/measure.py in a commit of its own; "
        f"such as {sorted(now.keys() ^ before.keys())[:5]}"
    )
