"""Variables that nobody measured, and nothing depends on them."""

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.causal.method import Method, identification_method


def harmless(g: LatentDAG, x: str, y: str) -> bool:
    """Whether latent common causes of measured variables change no verdict: without them all
    three effects would be identifiable, and are; the label of the ATE stays what it is."""
    shared = [u for u in g.latent if len(g.children(u)) > 1]
    if not shared:
        return False
    edges = tuple(edge for edge in g.edges if not g.latent & set(edge))
    return _verdicts(g, x, y) == _verdicts(LatentDAG(g.observed, edges), x, y)


def _verdicts(g: LatentDAG, x: str, y: str) -> tuple[Method, bool, bool]:
    nde, nie = (is_identifiable(g, x, y, effect) for effect in ("nde", "nie"))
    return identification_method(g, x, y), nde, nie
