"""Graphs with latent nodes and what can be read off them: the conceptual truth of a scene."""

from builder.causal.adjustment import (
    forbidden_controls,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.causal.graph import LatentDAG, Projection
from builder.causal.growth import (
    AUXILIARY,
    HOSTS,
    confounded,
    graft,
    harmless_latent,
    random_graft,
    single_grafts,
)
from builder.causal.identification import (
    ate_identifiable,
    ett_identifiable,
    identify,
    nde_identifiable,
    nie_identifiable,
)
from builder.causal.method import Method, frontdoor_sets, identification_method
from builder.causal.motifs import MOTIFS, PLANTED, Motif
from builder.causal.paths import opens_collider_bias
from builder.causal.proof.estimand import Effect, Estimand, Hedge

__all__ = [
    "AUXILIARY",
    "HOSTS",
    "MOTIFS",
    "PLANTED",
    "Effect",
    "Estimand",
    "Hedge",
    "LatentDAG",
    "Method",
    "Motif",
    "Projection",
    "ate_identifiable",
    "confounded",
    "ett_identifiable",
    "forbidden_controls",
    "frontdoor_sets",
    "graft",
    "harmless_latent",
    "identification_method",
    "identify",
    "minimal_adjustment_sets",
    "nde_identifiable",
    "nie_identifiable",
    "opens_collider_bias",
    "random_graft",
    "single_grafts",
    "valid_adjustment_sets",
]
