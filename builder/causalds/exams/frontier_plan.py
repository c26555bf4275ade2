"""The scenes of a frontier exam where truth is private: one task and one view each, planned.

Of each slot of the exam the graph is drawn for what it asks, by strata in their shares; what its
equations should do is wanted where the slot's task depends on it.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final

import numpy as np

from builder.causal.identification import is_identifiable
from builder.causal.paths import has_bow
from builder.causal.strata import STRATA
from builder.causalds.ask import ASKERS
from builder.causalds.exams.frontier import (
    ADJUSTED,
    COUNTED,
    TOTAL,
    Slot,
    abstains,
    answered_by_causes,
    answers_axis,
    leaves_out,
    misleading,
    on_total,
    prior_axis,
    requested,
    slot_class,
    slots,
)
from builder.causalds.exams.model import ExamModel, counts, due
from builder.causalds.exams.wishes import Wishes
from builder.causalds.make.prior import ESTIMANDS, SIDES, Prior, expected_sign
from builder.causalds.plan.beside import ByAxis, beside
from builder.causalds.plan.blueprint import Impossible, largest_remainder
from builder.causalds.plan.types import ScenePlan, wild_rows
from builder.causalds.plan.wanted import UNIDENTIFIED, Wanted, Wild
from builder.causalds.plan.wild import Draft, Regions, drafts
from builder.seeds import pick
from grader.errors import UsageError
from grader.tracks import variant as variant_of

_TRIES: Final = 300
"""Regions tried for a slot in one stratum before another stratum's turn comes."""
_DETAILS: Final = {
    "counterfactual_identification.identifiable_boolean": ("NDE", "NIE"),
}
"""What a variant that is not left out may name."""
_TAME_LABELS: Final = frozenset({"zero", "0", "trivial_zero"})
"""Answers about effects and associations that a wild graph, on which there always is one, does not
have; a number of sets or members may well be 0 there."""

_BOWED: Final = frozenset({"front_door", "components", "natural_kept"})
"""Strata of graphs that may have an unmeasured cause of both ends and be asked for a verdict."""

_BY_ADJUSTMENT: Final = ("several_controls", "hidden_cause", "m_bias", "natural_lost", "harmless")
_ANSWERED: Final[Mapping[str, Sequence[str]]] = {
    "set": _BY_ADJUSTMENT,
    COUNTED: _BY_ADJUSTMENT,
    "0": ("m_bias", "harmless"),
    "backdoor": _BY_ADJUSTMENT,
    "frontdoor": ("front_door",),
    "other_id": ("components",),
    "no_backdoor": ("front_door", "components"),
}
"""Strata in which an answer of a class can be had, of classes that say it."""


def _strata(slot: Slot) -> Sequence[str]:
    """The strata worth a try for a slot: what they say of the ATE and of the natural effects must
    not contradict its answer."""
    if slot.label in _ANSWERED:
        return _ANSWERED[slot.label]
    family, quiet = slot.key.partition(".")[0], abstains(slot.key, slot.label)
    if family in ("identification", "bias_diagnostic", *TOTAL):
        if ASKERS[slot.key].anywhere:
            return tuple(STRATA)
        return UNIDENTIFIED if quiet else [name for name in STRATA if name not in UNIDENTIFIED]
    if family == "mediation_effect" or slot.key in _DETAILS:
        kept = [name for name in STRATA if name not in ("natural_lost", *UNIDENTIFIED)]
        if slot.key in _DETAILS:
            # Where the verdict is that of the ATE as often as it can be, the ATE's would do.
            return ("natural_lost",) if quiet else [*kept, "natural_kept"]
        return ("natural_lost", *UNIDENTIFIED) if quiet else kept
    return tuple(STRATA)


def plan_frontier(
    exam: str,
    model: ExamModel,
    tame: Sequence[ScenePlan],
    regions: Regions,
    rng: np.random.Generator,
) -> list[ScenePlan]:
    """The plans of an exam's scenes; ``tame`` are plans of the split's composition to choose from.

    Raises ``UsageError`` where a slot finds no scene, :class:`Impossible` where no wild graph will
    do.
    """
    where = f"exam {exam}"
    labels = _labels(model, tame)
    wanted = slots(model, rng, labels, where)
    rows = (regions.settings.rows[0], regions.settings.rows[1])
    chosen, rest = _on_motifs([slot for slot in wanted if not slot.wild], tame, labels, rng, where)
    found = [wild_rows(one, int(rng.integers(rows[0], rows[1] + 1))) for one in chosen]
    found += _on_wild([*[slot for slot in wanted if slot.wild], *rest], regions, rng)
    return found


def allowed(plan: ScenePlan, key: str) -> bool:
    """Whether a plan can be asked a variant that no shortcut answers."""
    details = _DETAILS.get(key, ("",))
    return ASKERS[key].can_host(plan) and not all(
        leaves_out(key, plan.query, detail) for detail in details
    )


def suits(plan: ScenePlan, slot: Slot) -> bool:
    """Whether a plan can be what a slot asks for. Where a set without members will do, the measured
    causes do as well; a natural effect that is not identifiable is asked for where the average one
    is, whose verdict would do otherwise."""
    if answered_by_causes(slot.key, plan.query) and slot.label != "0":
        return False
    lost = slot.key in _DETAILS and abstains(slot.key, slot.label)
    if lost and not is_identifiable(*plan.query.effect, "ate"):
        return False
    return allowed(plan, slot.key) and slot.label in classes(plan, slot.key)


def classes(plan: ScenePlan, key: str) -> tuple[str, ...]:
    """The classes of answers that a plan can have, what is left out apart."""
    if key in _DETAILS:
        graph, x, y = plan.query.effect
        if not graph.mediators(x, y):
            return ()
        return tuple(sorted({str(is_identifiable(graph, x, y, one)) for one in ("nde", "nie")}))
    return tuple(slot_class(label) for label in ASKERS[key].possible_classes(plan))


def _labels(
    model: ExamModel, tame: Sequence[ScenePlan]
) -> Mapping[tuple[str, bool], Sequence[str]]:
    """The classes of every variant: on motifs those that plans have; on wild graphs the same and
    abstention, but for effects that are 0 and associations that vanish."""
    found: dict[tuple[str, bool], list[str]] = {}
    for key in counts(model):
        labels = {one for plan in tame if allowed(plan, key) for one in classes(plan, key)}
        found[key, False] = sorted(labels)
        absent = frozenset[str]() if key in ADJUSTED else _TAME_LABELS
        if key == "collider_phenomenon.induced_association_boolean":
            absent = frozenset({"False"})
        found[key, True] = sorted({*labels, *quiet_class(key)} - absent)
    return found


def quiet_class(key: str) -> tuple[str, ...]:
    """The class of a variant's abstentions, where it allows them."""
    shape = variant_of("causalds", key).shape
    if not shape.abstainable:
        return ()
    worded = shape.abstention is not None or shape.kind in ("boolean", "label")
    return (str(shape.abstention) if worded else "abstain",)


def check_scenes(
    exam: str, model: ExamModel, plans: Sequence[ScenePlan], misled: float, where: str
) -> None:
    """Raises ``UsageError`` at ``where`` if an exam that is drawn from a public-truth split will
    not find its tasks: too few scenes for a class of answers, or too few in which plain estimates
    mislead, for the split's share of these."""
    assert model.frontier is not None
    open_ = [p for p in plans if p.implied is not None or model.frontier.implied is None]
    told = f"{where}.wild: exam {exam}"
    for key, count in counts(model).items():
        hosts = Counter(label for plan in open_ for label in set(_expected(plan, key)))
        silent = due(key, count, model.frontier.abstain)
        loud = [label for label in hosts if not abstains(key, label)]
        quiet = sum(hosts[label] for label in hosts if abstains(key, label))
        if quiet < silent or not loud:
            what = " where abstaining is right" if loud else ""
            raise UsageError(
                f"{told}: too few scenes can be asked {key}{what}; raise scenes or motifs, or ask "
                "the variant less often"
            )
        most = -(-(count - silent) // len(loud))
        rare = min(loud, key=lambda label: hosts[label])
        if hosts[rare] < most:
            raise UsageError(
                f"{told}: {hosts[rare]} scenes can be asked {key} with an answer of the class "
                f"{rare}, and it needs {most}; raise scenes or motifs"
            )
        made = sum(
            any(misleading(key, one) for one in _expected(p, key)) for p in filter(_bent, open_)
        )
        least = math.ceil(misled * (count - silent)) if on_total(key) else 0
        if made < least:
            raise UsageError(
                f"{told}: plain estimates mislead in {made} scenes that can be asked {key}, and it "
                f"needs {least}; raise scenes, or misled"
            )


def _bent(plan: ScenePlan) -> bool:
    """Whether the equations are to be such that plain estimates mislead."""
    return plan.wild is not None and bool(plan.wild.wanted.misled)


def _expected(plan: ScenePlan, key: str) -> Iterator[str]:
    """The classes of answers that a plan can have, and does not want otherwise."""
    if not allowed(plan, key):
        return
    wanted = {} if plan.wild is None else asdict(plan.wild.wanted)
    for label in classes(plan, key):
        said = ASKERS[key].says.get(label, {})
        if all(wanted.get(name) in (None, value) for name, value in said.items()):
            yield label


def _on_motifs(
    wanted: Sequence[Slot],
    tame: Sequence[ScenePlan],
    labels: Mapping[tuple[str, bool], Sequence[str]],
    rng: np.random.Generator,
    where: str,
) -> tuple[list[ScenePlan], list[Slot]]:
    """Plans on motifs, and the slots for which there are none left, where wild graphs will do."""
    found, rest = list[ScenePlan](), list[Slot]()
    hosts = {slot: [i for i, plan in enumerate(tame) if suits(plan, slot)] for slot in set(wanted)}
    free = set(range(len(tame)))
    for slot in sorted(wanted, key=lambda slot: len(hosts[slot])):
        fitting = [i for i in hosts[slot] if i in free]
        if not fitting and slot.label in labels[slot.key, True]:
            rest.append(replace(slot, wild=True))
            continue
        if not fitting:
            raise UsageError(
                f"{where}: too few scenes of this split's composition can be asked {slot.key} with "
                f"an answer of the class {slot.label}; ask the variant less often"
            )
        place = pick(rng, fitting)
        free.discard(place)
        found.append(asked(tame[place], slot))
    return found, rest


def asked(plan: ScenePlan, slot: Slot) -> ScenePlan:
    """The plan with its one task."""
    views = tuple(one for one in plan.views if one.name == slot.view)
    label = None if slot.label == COUNTED else slot.label
    return replace(plan, variant=slot.key, views=views, wanted=label, frontier=True)


def _on_wild(
    wanted: Sequence[Slot], regions: Regions, rng: np.random.Generator
) -> Iterator[ScenePlan]:
    settings = regions.settings
    left = Counter(largest_remainder(settings.strata, len(wanted)))
    quota = Wishes(settings)
    kinds = drafts(rng, regions.config, [Wild("", Wanted())] * len(wanted))
    for slot in _choosiest_first(wanted):
        found = _first(slot, kinds, left, quota, regions)
        if found is None:
            raise Impossible(
                "wild",
                f"no graph of any stratum can be asked {slot.key} with an answer of the class "
                f"{slot.label}; ask the variant less often",
            )
        draft, plan = found
        assert plan.wild is not None
        kinds.remove(draft)
        left[plan.wild.stratum] -= 1
        quota.count(slot, plan)
        yield asked(plan, slot)


def _first(
    slot: Slot,
    kinds: Sequence[Draft],
    left: Counter[str],
    quota: Wishes,
    regions: Regions,
) -> tuple[Draft, ScenePlan] | None:
    """The first graph for a slot: with an unmeasured cause of both ends or without, where that is
    dealt; of kinds that are still to be had, of the stratum that lacks most scenes, after others
    where it had no graph for the slot's family, with the wishes most needed."""
    family = slot.key.partition(".")[0]
    different = {(one.treatment_kind, one.outcome_kind): one for one in reversed(kinds)}
    for bowed in quota.bows(slot, _strata(slot)):

        def fits(plan: ScenePlan, bowed: bool | None = bowed) -> bool:
            return suits(plan, slot) and bowed in (None, has_bow(*plan.query.effect))

        strata = [name for name in _strata(slot) if not bowed or name in _BOWED]
        for draft in sorted(different.values(), key=kinds.index):
            for stratum in sorted(strata, key=lambda one: (quota.barren[family, one], -left[one])):
                for wish in quota.wishes(slot, stratum):
                    try:
                        one = replace(draft, wild=Wild(stratum, wish))
                        return draft, regions.draw(one, fits, _TRIES)
                    except Impossible:
                        continue
                quota.barren[family, stratum] += 1
    return None


def _choosiest_first(wanted: Sequence[Slot]) -> list[Slot]:
    """The slots: first predictions, which need an outcome of their kind while it is to be had, then
    those that have the fewest strata to choose from."""
    return sorted(
        wanted,
        key=lambda slot: (not slot.key.startswith("prediction."), len(_strata(slot)), slot.key),
    )


def with_priors(plans: Sequence[ScenePlan]) -> list[ScenePlan]:
    """The plans in their order, those of frontier exams with the ``prior`` of their effect: in each
    exam agreement with its reasons and conflict take turns where the wanted answer leaves that
    open. To be asked once the plans have their names."""
    there: Counter[tuple[str | None, str]] = Counter()
    found = list(plans)
    able = [_priors(plan) if plan.frontier else [] for plan in plans]
    for place in sorted(range(len(found)), key=lambda place: len(able[place])):
        if able[place]:
            pairs = [(plans[place].exam, prior) for prior in able[place]]
            exam, prior = min(pairs, key=there.__getitem__)
            there[exam, prior] += 1
            found[place] = replace(found[place], prior=prior)
    return found


def _priors(plan: ScenePlan) -> list[Prior]:
    """What an effect can be to its reasons where the plan's task has the answer that is wanted:
    "none" alone, one side or both; nothing of a task that asks for no effect or wants abstention.
    """
    estimands = ESTIMANDS.get((plan.variant or "").partition(".")[0], ())
    if not estimands or plan.wanted not in ("value", "+", "-"):
        return []
    signs = {expected_sign(plan, one) for one in estimands} - {0}
    if not signs:
        return ["none"]
    if plan.wanted == "value":
        return list(SIDES)
    wanted = 1 if plan.wanted == "+" else -1
    return [side for side, factor in zip(SIDES, (1, -1), strict=True) if factor * wanted in signs]


def frontier_composition(model: ExamModel, plans: Sequence[ScenePlan]) -> ByAxis:
    """Requested beside planned numbers of tasks."""
    there = [
        Slot(plan.variant or "", plan.wanted or COUNTED, plan.views[0].name, plan.wild is not None)
        for plan in plans
    ]
    rules = requested(model, there)
    found = {
        "variant": Counter(slot.key for slot in there),
        "view": Counter(slot.view for slot in there),
        "graph": Counter("wild" if slot.wild else "motif" for slot in there),
        "abstention due": Counter(slot.key for slot in there if abstains(slot.key, slot.label)),
    }
    told = {axis: beside(rules[axis], found[axis]) for axis in rules}
    told |= answers_axis(there)
    return told | prior_axis(Counter(plan.prior for plan in plans if plan.prior))
