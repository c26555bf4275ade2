"""C-factors of the observed distribution as expressions (Tian & Pearl 2002).

Q of a district is a product of observed conditionals; ``identify_factor`` derives Q[C] from it for
any connected C inside that no hedge forbids.
"""

from expressions import (
    Expression,
    Probability,
    Ratio,
    free_variables,
    product,
    total,
)

from builder.graphs.bits import closure, members
from builder.graphs.graph import Projection

Chain = tuple[tuple[int, Expression], ...]
"""Factors of a c-factor, one per node in topological order: node i given what precedes it."""


def identify_factor(projection: Projection, target: int, district: int, within: int) -> Expression:
    """Return Q[target] as an expression; no hedge must forbid it.

    `district` is a district of the subgraph on `within`, an ancestral set of the projection.
    """
    chain = _district_chain(projection, district, within)
    while True:
        ancestral = closure(target, projection.parent_masks, district)
        if ancestral == target:
            break
        smaller = closure(target, projection.sibling_masks, ancestral)
        chain = _renormalise(projection, chain, smaller, district & ~ancestral)
        district = smaller
    summed, factors = _drop_barren(projection, chain, district & ~target)
    return total(projection.names(summed), product([e for _, e in factors]))


def _district_chain(projection: Projection, district: int, within: int) -> Chain:
    """Return Q[district] = prod P(v | its Markov pillow), Tian & Pearl 2002, corollary 1."""
    chain: list[tuple[int, Expression]] = []
    before = 0
    for node in projection.order:
        bit = 1 << node
        if not within & bit:
            continue
        before |= bit
        if district & bit:
            pillow = closure(bit, projection.sibling_masks, before)
            for member in members(pillow):
                pillow |= projection.parent_masks[member]
            chain.append(
                (
                    node,
                    Probability((projection.nodes[node],), projection.names(pillow & ~bit)),
                )
            )
    return tuple(chain)


def _renormalise(projection: Projection, chain: Chain, keep: int, summed: int) -> Chain:
    """Return the chain of Q[keep], `keep` a district of what is left when `summed` is summed out.

    Each factor is the conditional of its node given the remaining predecessors, that is, a ratio
    of two marginals of the old product (Tian & Pearl 2002, lemma 4, equation 37).
    """
    result: list[tuple[int, Expression]] = []
    later = sum(1 << node for node, _ in chain) & ~summed
    for node, _ in chain:
        bit = 1 << node
        if summed & bit:
            continue
        later &= ~bit
        if keep & bit:
            above = _drop_barren(projection, chain, summed | later)
            below = _drop_barren(projection, chain, summed | later | bit)
            result.append((node, _ratio(projection, above, below)))
    return tuple(result)


Marginal = tuple[int, Chain]
"""A mask of nodes to sum over, and the factors that are left."""


def _drop_barren(projection: Projection, chain: Chain, summed: int) -> Marginal:
    """Sum out last-first what only its own factor mentions: that factor sums to 1."""
    factors = list(chain)
    for position in reversed(range(len(factors))):
        node, _ = factors[position]
        name = projection.nodes[node]
        rest = factors[:position] + factors[position + 1 :]
        if summed >> node & 1 and not any(name in free_variables(e) for _, e in rest):
            factors = rest
            summed &= ~(1 << node)
    return summed, tuple(factors)


def _ratio(projection: Projection, above: Marginal, below: Marginal) -> Expression:
    """Divide two marginals, cancelling the factors that neither sum touches."""
    bound = frozenset(projection.names(above[0] | below[0]))
    shared = [
        factor
        for factor in above[1]
        if factor in below[1] and not free_variables(factor[1]) & bound
    ]

    def rest(marginal: Marginal) -> Expression:
        left = [factor[1] for factor in marginal[1] if factor not in shared]
        return total(projection.names(marginal[0]), product(left))

    if not below[0] and len(shared) == len(below[1]):
        return rest(above)
    return Ratio(rest(above), rest(below))
