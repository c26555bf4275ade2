"""Graphs with latent nodes and what can be read off them: the conceptual truth of a scene."""

from builder.causal.adjustment import (
    forbidden_controls,
    minimal_adjustment_sets,
    valid_adjustment_sets,
)
from builder.causal.graph import LatentDAG
from builder.causal.growth import (
    AUXILIARY,
    HOSTS,
    confounded,
    confounding_spoils,
    harmless_latent,
    random_graft,
)
from builder.causal.identification import (
    ate_identifiable,
    ett_identifiable,
    nde_identifiable,
    nie_identifiable,
)
from builder.causal.method import frontdoor_sets, identification_method
from builder.causal.motifs import MOTIFS, PLANTED, Motif
from builder.causal.paths import opens_collider_bias

__all__ = [
    "AUXILIARY",
    "HOSTS",
    "MOTIFS",
    "PLANTED",
    "LatentDAG",
    "Motif",
    "ate_identifiable",
    "confounded",
    "confounding_spoils",
    "ett_identifiable",
    "forbidden_controls",
    "frontdoor_sets",
    "harmless_latent",
    "identification_method",
    "minimal_adjustment_sets",
    "nde_identifiable",
    "nie_identifiable",
    "opens_collider_bias",
    "random_graft",
    "valid_adjustment_sets",
]
