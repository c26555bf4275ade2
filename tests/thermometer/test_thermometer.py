"""The papers' metrics of stored answers to a stored release stay equal to the last digit."""

import duckdb
import pytest
from measure import HERE, changed, measure, read

from grader.tracks import TRACKS, VARIANTS


@pytest.mark.usefixtures("few_draws")
def test_the_papers_metrics_are_equal_to_the_last_digit() -> None:
    before, now = read(), measure()
    told = changed(before, now)
    assert not told, f"{len(told)} figures changed:\n" + "\n".join(told[:20])
    assert now.keys() == before.keys(), (
        "figures came or went: run python tests/thermometer/measure.py in a commit of its own; "
        f"such as {sorted(now.keys() ^ before.keys())[:5]}"
    )


def test_changed_figures_are_stored_under_raised_rules_only() -> None:
    """The command that makes the test pass again must not be the way around it."""
    before = {"gold/papers/ccr/points": 99.0, "rules/ccr/number": 3}
    assert changed(before, before) == []
    now = {**before, "gold/papers/ccr/points": 100.0}
    assert changed(before, now) == changed(before, now, allowed=True)
    assert changed(before, now) == ["gold/papers/ccr/points: 99.0 before, now 100.0"]
    raised = {**now, "rules/ccr/number": 4}
    assert changed(before, raised, allowed=True) == [] != changed(before, raised)


def test_every_shape_is_measured() -> None:
    """Of an answer that nobody stored no change is seen."""
    files = [file for name in TRACKS for file in (HERE / "release" / name).glob("*.parquet")]
    rows = (duckdb.sql(f"SELECT answer_schema FROM read_parquet('{f}')").fetchall() for f in files)
    stored = {name for found in rows for (name,) in found}
    assert stored == {variant.shape.name for variant in VARIANTS}
