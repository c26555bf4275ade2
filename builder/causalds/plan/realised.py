"""The composition table of a split: what was requested beside what came out.

Everything here follows from the plan: attempts that are replaced keep the plan of their scene, so
that no rejection moves the composition.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from builder.causal import MOTIFS, PLANTED, ate_identifiable
from builder.causalds.plan.blueprint import PLANTED_FROM, Composition
from builder.causalds.plan.config import Config
from builder.causalds.plan.tellings import retold
from builder.causalds.plan.types import ScenePlan
from builder.words.knowledge import domains

Table = dict[str, dict[str, dict[str, float]]]
"""Axis -> name -> {"requested": scenes, a fraction where the share gives one, "realised": scenes}.
"""


def composition_table(config: Config, plans: Sequence[ScenePlan]) -> Table:
    """Requested and realised numbers of scenes by axis; one told several times counts once."""
    plans = [plan for plan in plans if not retold(plan)]
    total = len(plans)
    parts = config.composition
    grafts = {
        ("not grafted" if k == 0 else f"grafted_{k}"): share
        for k, share in enumerate(parts.grafts)
        if share > 0.0
    }
    verdicts = [_verdict(plan) for plan in plans]
    unmeasured = Counter(
        verdict if plan.latent else "none" for plan, verdict in zip(plans, verdicts, strict=True)
    )
    hidden = total - unmeasured["none"]
    return {
        "motif": _axis(_motif_shares(parts), total, [plan.motif for plan in plans]),
        "grafts": _axis(
            grafts,
            total,
            [p.structure if p.structure.startswith("grafted_") else "not grafted" for p in plans],
        ),
        "verdict": _axis(_verdict_shares(parts), total, verdicts),
        "unmeasured variable": {
            name: {
                "requested": round(share * hidden, 2),
                "realised": unmeasured[name],
            }
            for name, share in (
                ("identifiable", parts.harmless),
                ("not identifiable", 1.0 - parts.harmless),
            )
        },
        "continuous profile": _axis(dict(config.continuous), total, [p.continuous for p in plans]),
        "binary profile": _axis(dict(config.binary), total, [p.binary for p in plans]),
        "treatment": _axis(
            _kinds(config.treatment_binary), total, [p.treatment_kind for p in plans]
        ),
        "outcome": _axis(_kinds(config.outcome_binary), total, [p.outcome_kind for p in plans]),
        **_names(plans),
    }


def _names(plans: Sequence[ScenePlan]) -> Table:
    """How evenly the domains tell, and how many structures were drawn again to find names."""
    told = Counter(plan.domain for plan in plans if plan.domain is not None)
    if not told:
        return {}
    count = len(domains())
    return {
        "names": {
            "domains": {"requested": min(count, len(plans)), "realised": len(told)},
            "scenes of the most frequent domain": {
                "requested": round(len(plans) / count, 2),
                "realised": max(told.values()),
            },
            "structures drawn again": {
                "requested": 0,
                "realised": sum(plan.redrawn for plan in plans),
            },
            "scenes with the names of another": {
                "requested": 0,
                "realised": len(plans) - len({frozenset(dict(p.names).values()) for p in plans}),
            },
        }
    }


def _axis(
    shares: Mapping[str, float], total: int, found: Sequence[str]
) -> dict[str, dict[str, float]]:
    counts, mass = Counter(found), sum(shares.values())
    names = [*shares, *sorted(set(counts) - set(shares))]
    return {
        name: {
            "requested": round(total * shares.get(name, 0.0) / mass, 2),
            "realised": counts[name],
        }
        for name in names
    }


def _kinds(share: float) -> dict[str, float]:
    return {"binary": share, "continuous": 1.0 - share}


def _motif_shares(parts: Composition) -> dict[str, float]:
    mass = sum(weight for _, weight in parts.motifs)
    shares = {name: weight / mass for name, weight in parts.motifs}
    for name, share in parts.planted:
        shares[name] = share
        shares[PLANTED_FROM] -= share
    return shares


def _verdict_shares(parts: Composition) -> dict[str, float]:
    """By nature, from the motifs' own verdicts, plus the injected confounders."""
    catalogue = {**MOTIFS, **PLANTED}
    spoiled = parts.confounded + sum(
        share
        for name, share in _motif_shares(parts).items()
        if not ate_identifiable(*catalogue[name].effect)
    )
    return {"identifiable": 1.0 - spoiled, "not identifiable": spoiled}


def _verdict(plan: ScenePlan) -> str:
    return "identifiable" if ate_identifiable(*plan.query.effect) else "not identifiable"
