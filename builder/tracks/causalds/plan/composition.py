"""Build the composition table of a split: requested beside realised numbers of scenes.

Everything here follows from the plan. Attempts that are replaced keep the plan of their scene, so
that no rejection moves the composition.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from builder.graphs.identification import is_identifiable
from builder.graphs.motifs import MOTIFS, PLANTED, Motif
from builder.stories.knowledge import domains
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.design.shares import ByAxis, ByName, requested_and_realised
from builder.tracks.causalds.plan.blueprint import PLANTED_FROM, Composition
from builder.tracks.causalds.plan.config import SceneSettings
from builder.tracks.causalds.plan.names import is_retelling

_FOUND: Final = "identifiable"
_LOST: Final = "not identifiable"


def composition_table(config: SceneSettings, plans: Sequence[ScenePlan]) -> ByAxis:
    """Return requested and realised numbers of scenes by axis. A scene told several times counts
    once. With stored scenes there are the axes of the profiles alone."""
    plans = [plan for plan in plans if not is_retelling(plan)]
    structures = [plan.structure for plan in plans]
    equations = [plan.equations for plan in plans]
    profiles = {
        "continuous profile": _axis(config.profiles.continuous, [x.continuous for x in equations]),
        "binary profile": _axis(config.profiles.binary, [x.binary for x in equations]),
    }
    if config.stored_scenes:
        return profiles
    verdicts = [_verdict(plan.structure.query) for plan in plans]
    unmeasured = Counter(
        verdict for plan, verdict in zip(plans, verdicts, strict=True) if plan.structure.latent
    )
    hidden = unmeasured.total()
    grafted = {
        ("not grafted" if k == 0 else f"grafted_{k}"): share
        for k, share in enumerate(config.grafts)
        if share > 0.0
    }
    labels = ["not grafted" if x.label == x.motif else x.label for x in structures]
    return {
        "motif": _axis(_motif_shares(config), [x.motif for x in structures]),
        "grafts": _axis(grafted, labels),
        "verdict": _axis(_verdict_shares(config), verdicts),
        "unmeasured variable": requested_and_realised(
            {_FOUND: config.harmless * hidden, _LOST: (1.0 - config.harmless) * hidden}, unmeasured
        ),
        **profiles,
        "treatment": _axis(_kinds(config.treatment_binary), [x.treatment_kind for x in structures]),
        "outcome": _axis(_kinds(config.outcome_binary), [x.outcome_kind for x in structures]),
        **_names(plans),
    }


def _verdict(motif: Motif) -> str:
    """Return whether a motif's average effect is identifiable, as a name on its axis."""
    return _FOUND if is_identifiable(*motif.effect, "ate") else _LOST


def _names(plans: Sequence[ScenePlan]) -> ByAxis:
    """Return how evenly domains tell, and how many structures were redrawn, {} without domains."""
    told = Counter(plan.telling.domain for plan in plans if plan.telling.domain is not None)
    if not told:
        return {}
    count = len(domains())
    wanted = {
        "domains": min(count, len(plans)),
        "scenes of the most frequent domain": len(plans) / count,
        "structures drawn again": 0,
        "scenes with the names of another": 0,
    }
    sets = {frozenset(dict(plan.telling.names).values()) for plan in plans}
    found = (
        len(told),
        max(told.values()),
        sum(p.structure.redrawn for p in plans),
        len(plans) - len(sets),
    )
    return {"names": requested_and_realised(wanted, Counter(dict(zip(wanted, found, strict=True))))}


def _axis(shares: Mapping[str, float], found: Sequence[str]) -> ByName:
    """Return numbers of scenes by name: requested as ``shares``, realised as in ``found``."""
    mass = sum(shares.values())
    wanted = {name: len(found) * share / mass for name, share in shares.items()}
    return requested_and_realised(wanted, Counter(found))


def _kinds(share: float) -> dict[str, float]:
    """Return the shares of scenes whose treatment (or outcome) is "binary" and "continuous",
    given that of binary ones."""
    return {"binary": share, "continuous": 1.0 - share}


def _motif_shares(parts: Composition) -> dict[str, float]:
    """Return the share of every motif and planted structure, these taken from ``PLANTED_FROM``."""
    mass = sum(parts.motifs.values())
    shares = {name: weight / mass for name, weight in parts.motifs.items()}
    for name, share in parts.planted.items():
        shares[name] = share
        shares[PLANTED_FROM] -= share
    return shares


def _verdict_shares(parts: Composition) -> dict[str, float]:
    """Return the requested shares of verdicts. Not identifiable are the motifs that are so by
    nature and the scenes with an injected confounder."""
    catalogue = {**MOTIFS, **PLANTED}
    spoiled = parts.confounded + sum(
        share for name, share in _motif_shares(parts).items() if _verdict(catalogue[name]) == _LOST
    )
    return {_FOUND: 1.0 - spoiled, _LOST: spoiled}
