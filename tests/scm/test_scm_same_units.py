"""Worlds run again and again on the same units."""

import numpy as np

from builder.scm.same_units import SameUnits


def test_what_is_looked_up_is_what_would_be_worked_out(cases) -> None:
    """A column kept under the wrong key would put one level's outcome into another's effect."""
    for case in cases[::5]:
        world, units = case.world, SameUnits(case.world)
        noise = world.draw_noise(case.rng(), 64)
        for do in ({}, {case.x: 0.0}, {case.x: 1.0}, {case.y: 1.0}, {case.x: np.arange(64.0)}, {}):
            values, again = world.run(noise, do), units.run(noise, do)
            assert values.keys() == again.keys()
            for name in world.order:
                assert np.array_equal(values[name], again[name])
                for asked in ("conditional_mean", "conditional_variance"):
                    right, found = (getattr(w, asked)(name, values) for w in (world, units))
                    assert np.array_equal(right, found)
                    assert np.array_equal(right, getattr(units, asked)(name, again))


def test_what_does_not_come_after_a_node_is_computed_once(cases) -> None:
    """Without that a moment of a world with four binary variables takes sixteen whole runs."""
    case = next(case for case in cases if case.world.graph.descendants(case.x) - {case.x})
    units = SameUnits(case.world)
    noise = case.world.draw_noise(case.rng(), 16)
    low, high = (units.run(noise, {case.x: level}) for level in (0.0, 1.0))
    after = case.world.graph.descendants(case.x) | {case.x}
    assert [low[name] is high[name] for name in case.world.order] == [
        name not in after for name in case.world.order
    ]
