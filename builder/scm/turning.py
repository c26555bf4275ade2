"""Turning a parent's part of an equation round, so that the mean moves the other way with it.

Signs are drawn fair and independent of sizes, so an equation that was turned is as likely as the
one that was drawn. Waiting for all signs to fall as wanted would take 2^k draws for k parents.
"""

from collections.abc import Callable, Collection, Sequence

from builder.scm.equation import Parameters, Parent, vector

Turn = Callable[[Parameters, Collection[int], Sequence[Parent]], Parameters | None]
"""The parameters with the parts of these parents turned; None where only others can be."""


def parts(*keys: str) -> Turn:
    """For sums of parts, one for each parent, whose signs are those of the vectors ``keys``."""

    def turn(parameters: Parameters, which: Collection[int], _: Sequence[Parent]) -> Parameters:
        turned = {key: _negated(vector(parameters, key), which) for key in keys}
        if "pairs" not in parameters:
            return {**parameters, **turned}
        # A product of two parents turns with either of them.
        places = [int(place) for place in vector(parameters, "pairs")]
        pairs = zip(places[::2], places[1::2], strict=True)
        odd = {i for i, (a, b) in enumerate(pairs) if (a in which) != (b in which)}
        return {**parameters, **turned, "products": _negated(vector(parameters, "products"), odd)}

    return turn


def whole(
    parameters: Parameters, which: Collection[int], parents: Sequence[Parent]
) -> Parameters | None:
    """For a product: all parents turn together, with its strength."""
    if len(which) < len(parents):
        return None
    strength = parameters["strength"]
    assert not isinstance(strength, tuple)
    return {**parameters, "strength": -strength}


def log_odds(
    parameters: Parameters, which: Collection[int], parents: Sequence[Parent]
) -> Parameters:
    """For a line through the parents' means: it goes on through the same point."""
    weights, bias = vector(parameters, "weights"), parameters["bias"]
    assert not isinstance(bias, tuple)
    moved = sum(weights[i] * parents[i].mean for i in sorted(which))
    return {**parameters, "weights": _negated(weights, which), "bias": bias + 2.0 * moved}


def first_layer(
    parameters: Parameters, which: Collection[int], parents: Sequence[Parent]
) -> Parameters:
    """For a network: of the first layer's matrix, written row by row, these columns."""
    count = len(parents)
    widths, weights = vector(parameters, "widths"), vector(parameters, "weights")
    first = int(widths[0]) * count
    turned = {place for place in range(first) if place % count in which}
    return {**parameters, "weights": _negated(weights, turned)}


def gate(parameters: Parameters, which: Collection[int], parents: Sequence[Parent]) -> Parameters:
    """For a gate: inputs are negated, and cut as far on the other side of the parent's mean, so
    that they hold as often."""
    cuts, negated = list(vector(parameters, "cuts")), list(vector(parameters, "negated"))
    for i in which:
        negated[i] = 1.0 - negated[i]
        if not parents[i].binary:
            cuts[i] = 2.0 * parents[i].mean - cuts[i]
    return {**parameters, "cuts": tuple(cuts), "negated": tuple(negated)}


def _negated(values: tuple[float, ...], which: Collection[int]) -> tuple[float, ...]:
    return tuple(-value if i in which else value for i, value in enumerate(values))
