"""A world that is run on the same units again and again.

Two runs that differ in the level of one node agree on everything that does not come after it, and
conditional means are asked for several times over. A node's equation depends on its parents'
columns alone, so what was worked out from the same columns (the same arrays, not equal ones) is
looked up.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from builder.scm.equation import Array
from builder.scm.world import Node, Values, World

_COPIED: Final = ("graph", "nodes", "order", "_by_name")


class SameUnits(World):
    """``world`` for units whose noise, and whose number, does not change; columns that it returns
    are not to be written to."""

    __slots__ = ("_known",)

    _known: dict[tuple[object, ...], tuple[Sequence[Array], Array]]

    def __init__(self, world: World) -> None:
        for name in _COPIED:
            object.__setattr__(self, name, getattr(world, name))
        object.__setattr__(self, "_known", {})

    def conditional_mean(self, name: str, values: Values) -> Array:
        """See :meth:`World.conditional_mean`."""
        columns = [values[parent] for parent in self.node(name).parents]
        return self._once(
            ("mean", name), columns, lambda: World.conditional_mean(self, name, values)
        )

    def noise_scale(self, name: str, values: Values) -> Array:
        """See :meth:`World.noise_scale`."""
        columns = [values[parent] for parent in self.node(name).parents]
        return self._once(("scale", name), columns, lambda: World.noise_scale(self, name, values))

    def _solve(self, node: Node, values: Values, noise: Array) -> Array:
        columns = [*(values[parent] for parent in node.parents), noise]
        return self._once(
            ("value", node.name), columns, lambda: World._solve(self, node, values, noise)
        )

    def _set(self, level: float | Array, n: int) -> Array:
        if isinstance(level, np.ndarray):
            return World._set(self, level, n)
        return self._once(("level", level, n), (), lambda: World._set(self, level, n))

    def _once(
        self, what: tuple[object, ...], columns: Sequence[Array], work: Callable[[], Array]
    ) -> Array:
        # What is kept holds its columns, so that no other array can have the place of one.
        key = (*what, *map(id, columns))
        if key not in self._known:
            self._known[key] = columns, work()
        return self._known[key][1]
