"""What was requested of scenes on wild graphs, beside what their plans hold.

Worlds are kept only where they do what their plan wants, so that what is planned is what ships.
"""

from collections import Counter
from collections.abc import Sequence

from builder.causal.identification import is_identifiable
from builder.causal.strata import STRATA, in_stratum
from builder.causalds.plan.beside import ByAxis, ByName, beside
from builder.causalds.plan.types import ScenePlan
from builder.causalds.plan.wanted import PREFIX, UNIDENTIFIED
from builder.causalds.plan.wild_settings import WildSettings


def wild_table(settings: WildSettings, plans: Sequence[ScenePlan]) -> ByAxis:
    """Numbers of wild scenes by stratum, verdict and condition; nothing without any.

    "lies in stratum" counts every stratum that a graph lies in, its own and others: nobody requests
    that.
    """
    if not plans:
        return {}
    total = len(plans)
    mass = sum(settings.strata.values())
    lost = total * sum(settings.strata.get(name, 0.0) for name in UNIDENTIFIED) / mass
    ate, nde = (
        [is_identifiable(*plan.query.effect, effect) for plan in plans] for effect in ("ate", "nde")
    )
    apart = Counter("differ" if a != b else "agree" for a, b in zip(ate, nde, strict=True))
    held = [name for plan in plans for name in STRATA if in_stratum(name, *plan.query.effect)]
    wanted = [plan.wild.wanted for plan in plans if plan.wild is not None]
    return {
        "wild: stratum": beside(
            {name: total * share / mass for name, share in settings.strata.items()},
            Counter(plan.structure.removeprefix(PREFIX) for plan in plans),
        ),
        "wild: lies in stratum": beside({}, Counter(held)),
        "wild: average effect": beside(
            {"identifiable": total - lost, "not identifiable": lost},
            Counter("identifiable" if one else "not identifiable" for one in ate),
        ),
        "wild: verdicts of ATE and NDE": beside(
            {"differ": total / 3, "agree": 2 * total / 3}, apart
        ),
        "wild: signs of effect and association": _flags(
            settings.reversed, [one.reversed for one in wanted], ("differ", "agree")
        ),
        "wild: plain estimates": _flags(
            settings.misled, [one.misled for one in wanted], ("mislead", "may do either")
        ),
        "wild: signs of careless estimates": _flags(
            settings.opposed, [one.opposed for one in wanted], ("wrong", "either")
        ),
        "wild: larger natural effect": _flags(
            settings.indirect, [_dominant(plan) for plan in plans], ("indirect", "direct")
        ),
        "wild: sign of the association, given another": _flags(
            settings.flipped, [one.flipped for one in wanted], ("changes", "stays")
        ),
    }


def _dominant(plan: ScenePlan) -> bool | None:
    """Whether the indirect effect is to be the larger, where both are identifiable and not 0."""
    graph, x, y = plan.query.effect
    both = x in graph.parents(y) and bool(graph.mediators(x, y))
    if plan.wild is None or not both or not is_identifiable(graph, x, y, "nde"):
        return None
    return plan.wild.wanted.indirect


def _flags(share: float, found: Sequence[bool | None], names: tuple[str, str]) -> ByName:
    """How often something is wanted, and how often its contrary, where either is."""
    stated = [one for one in found if one is not None]
    requested = (share * len(stated), (1.0 - share) * len(stated))
    return beside(
        dict(zip(names, requested, strict=True)), Counter(names[not one] for one in stated)
    )
