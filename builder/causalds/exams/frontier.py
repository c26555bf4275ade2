"""What a frontier exam asks: its slots, and what it leaves out because a shortcut answers it.

A slot is one task to be found or planned: a variant, the class of its answer, a view, and whether
its graph is wild. Abstention is due in a fixed share of every variant that allows it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from builder.causal.adjustment import forbidden_controls, valid_adjustment_sets
from builder.causal.graph import LatentDAG
from builder.causal.motifs import Motif
from builder.causal.paths import opens_collider_bias
from builder.causalds.exams.model import ExamModel, counts, due
from builder.causalds.make.prior import SIDES
from builder.causalds.plan.beside import ByAxis, beside
from builder.causalds.plan.deal import dealt
from builder.causalds.plan.wanted import WILD
from builder.seeds import shuffled
from grader.errors import UsageError

ABSTAINING: Final = frozenset({"abstain", "unknown", "None", "non_id", "none"})
"""Classes of answers that abstain; of a verdict on identifiability it is "False"."""

VERDICT: Final = "identification.identifiable_boolean"
"""Whether the average effect is identifiable."""

VERDICTS: Final = frozenset(
    {
        VERDICT,
        "counterfactual_identification.identifiable_boolean",
    }
)

CHANGES: Final = frozenset(
    {
        "association.sign_before_after",
        "association.delta_sign_only",
        "association.delta_point",
        "association.argmax_change",
        "collider_phenomenon.induced_association_sign_only",
    }
)
"""Variants that ask what a third variable does to an association, or what it leaves of it."""

ADJUSTED: Final = frozenset(
    {
        "identification.one_valid_adjustment_set",
        "identification.all_minimal_adjustment_sets",
        "identification.minimal_adjustment_set_size",
        "identification.n_valid_adjustment_sets",
        "identification.estimand_formula",
    }
)
TOTAL: Final = ("effect_estimate", "counterfactual_effect")
"""Families on total effects, of all or of the treated, which the direct causes of the treatment
answer where all are measured, and which plain estimates are to miss."""
EFFECTS: Final = (*TOTAL, "mediation_effect")

COUNTED: Final = "counted"
"""The class of every number of sets, or of members: wild graphs have many of them."""

_WILD_FIRST: Final = frozenset(
    {
        "bias_diagnostic.collider_bias_boolean",
        VERDICT,
        "identification.method_label",
    }
)

LARGEST_OVERLAP: Final = 0.5
"""F1 of "what the treatment affects" on a list of forbidden controls that is asked."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One task of a frontier exam. ``label`` is the class of its answer."""

    key: str
    label: str
    view: str
    wild: bool


def abstains(key: str, label: str) -> bool:
    """Whether an answer of this class abstains."""
    return label in ABSTAINING or (key in VERDICTS and label == "False")


def on_total(key: str) -> bool:
    """Whether a variant asks for a total effect."""
    return key.partition(".")[0] in TOTAL


def on_sign(key: str) -> bool:
    """Whether a variant asks for the sign of a total effect, or holds it against another."""
    return on_total(key) and ("sign_only" in key or "sign_match" in key)


def wild_first(key: str) -> bool:
    """Whether rules of thumb answer a variant on motifs, but not on wild graphs: their equations
    are made to mislead, what brings collider bias there is not affected by the outcome, and what
    is not identifiable need not have an unmeasured cause of both ends."""
    return on_total(key) or key in CHANGES or key in _WILD_FIRST


def misleading(key: str, label: str) -> bool:
    """Whether plain estimates are to miss what is asked, in the share of tasks that is wanted."""
    return on_total(key) and not abstains(key, label)


def slot_class(label: str) -> str:
    """The class of an answer as slots tell classes apart."""
    return COUNTED if label.isdecimal() and label != "0" else label


def leaves_out(key: str, query: Motif, detail: str) -> bool:
    """Whether a shortcut is a theorem here, or nearly one, so that the task is not asked.

    Of a binary treatment the verdict on the ETT is that of the ATE; the direct causes of the
    treatment are a valid set where all are measured, which answers all that is asked of sets and
    effects, and whether the average one is identifiable; where nothing leads from the treatment to
    the outcome, effects are 0; where it acts directly alone, or not directly, one natural effect is
    0 and the other the average one; whether some variable leaves an association is asked where one
    does and another does not, so that the graph at large does not tell; what the treatment affects
    is mostly what must not be controlled for; and on wild graphs, where the question is whether a
    sign changes, an association that the graph makes zero has none.
    """
    graph, x, y = query.effect
    family = key.partition(".")[0]
    if family in EFFECTS and y not in graph.descendants(x):
        return True
    if family == "mediation_effect":
        return x not in graph.parents(y) or not graph.mediators(x, y)
    if key in ADJUSTED or family in TOTAL or key == VERDICT:
        return not graph.latent & set(graph.parents(x))
    if key in CHANGES and query.name == WILD and detail in query.others:
        return graph.d_separated(x, y) or _parts(graph, x, y, detail)
    match key:
        case "counterfactual_identification.identifiable_boolean":
            return detail == "ETT"
        case "collider_phenomenon.induced_association_boolean":
            opens = any(opens_collider_bias(graph, x, y, z) for z in query.others)
            return not (opens and any(_parts(graph, x, y, z) for z in query.others))
        case "bias_diagnostic.forbidden_controls_list":
            affected = graph.descendants(x) & set(query.others)
            right = forbidden_controls(graph, x, y)
            sets = valid_adjustment_sets(graph, x, y)
            total = len(affected) + len(right)
            overlap = 2 * len(affected & right) / total if total else 1.0
            return bool(sets) and overlap > LARGEST_OVERLAP
    return False


def answered_by_causes(key: str, query: Motif) -> bool:
    """Whether the measured direct causes of the treatment are a valid set, and answer what is asked
    of sets and effects though others are not measured: of tasks that are planned one by one."""
    graph, x, y = query.effect
    causes = frozenset(graph.parents(x)) - graph.latent
    asks = key in ADJUSTED or on_total(key)
    return asks and causes in valid_adjustment_sets(graph, x, y)


def _parts(graph: LatentDAG, x: str, y: str, z: str) -> bool:
    """Whether the graph makes the partial correlation given z zero."""
    separated = graph.d_separated
    return separated(x, y, z) or separated(x, (y, z)) or separated(y, (x, z))


def slots(
    model: ExamModel,
    rng: np.random.Generator,
    labels: Mapping[tuple[str, bool], Sequence[str]],
    where: str,
) -> list[Slot]:
    """The slots of an exam, those that few tasks can fill first.

    ``labels`` are the classes of answers that a variant has on wild graphs (True) and on others.
    Raises ``UsageError`` at ``where`` for a variant that nothing can be asked.
    """
    assert model.frontier is not None
    asked: list[tuple[str, str]] = []
    for key, count in counts(model).items():
        known = sorted({one for wild in (True, False) for one in labels.get((key, wild), ())})
        quiet = [one for one in known if abstains(key, one)]
        loud = shuffled(rng, [one for one in known if one not in quiet])
        silent = due(key, count, model.frontier.abstain)
        if (silent and not quiet) or not loud:
            raise UsageError(f"{where}: no scene can be asked {key}; leave it out, or add scenes")
        asked += [(key, quiet[i % len(quiet)]) for i in range(silent)]
        asked += [(key, loud[i % len(loud)]) for i in range(count - silent)]
    tame = _tame(model, asked, rng, labels)
    views = dealt(rng, model.frontier.views, len(asked))
    return [Slot(*one, views[i], i not in tame) for i, one in enumerate(asked)]


def _tame(
    model: ExamModel,
    asked: Sequence[tuple[str, str]],
    rng: np.random.Generator,
    labels: Mapping[tuple[str, bool], Sequence[str]],
) -> set[int]:
    """The slots that are not on wild graphs: those which cannot be, then others by chance, and only
    then those that rules of thumb would answer."""
    assert model.frontier is not None
    most = model.tasks - round(model.frontier.wild * model.tasks)

    def on(wild: bool, place: int) -> bool:
        key, label = asked[place]
        return label in labels.get((key, wild), ())

    places = shuffled(rng, range(len(asked)))
    forced = [place for place in places if not on(True, place)]
    free = [place for place in places if on(True, place) and on(False, place)]
    free.sort(key=lambda place: wild_first(asked[place][0]))
    return set(forced + free[: max(0, most - len(forced))])


def prior_axis(found: Mapping[str, int]) -> ByAxis:
    """How many effects agree with their reasons and how many conflict with them, as many of one as
    of the other requested; nothing where reasons say nothing of any."""
    there: Counter[str] = Counter({side: found.get(side, 0) for side in SIDES})
    half = there.total() / len(SIDES)
    return {"reasons": beside(dict.fromkeys(SIDES, half), there)} if half else {}


def answers_axis(found: Iterable[Slot]) -> ByAxis:
    """How often each class of answer is right, abstentions apart: the classes of a variant in equal
    shares requested, collider questions half and half and either effect the larger equally often
    among them."""
    loud = Counter((slot.key, slot.label) for slot in found if not abstains(slot.key, slot.label))
    by_key = Counter(key for key, _ in loud)
    totals = Counter[str]()
    for (key, _), count in loud.items():
        totals[key] += count
    shares = {pair: totals[pair[0]] / by_key[pair[0]] for pair in sorted(loud)}
    told = {pair: f"{pair[0]} {pair[1]}" for pair in shares if by_key[pair[0]] > 1}
    realised = Counter({name: loud[pair] for pair, name in told.items()})
    return {"answers": beside({name: shares[pair] for pair, name in told.items()}, realised)}


def requested(model: ExamModel, found: Sequence[Slot]) -> dict[str, dict[str, float]]:
    """Axis -> level -> number of tasks that the exam's rules ask for."""
    assert model.frontier is not None
    wild = model.frontier.wild * model.tasks
    table = model.frontier.views
    views = {view: model.tasks * share / sum(table.values()) for view, share in table.items()}
    abstaining = Counter(slot.key for slot in found if abstains(slot.key, slot.label))
    return {
        "variant": {key: float(n) for key, n in counts(model).items()},
        "view": views,
        "graph": {"wild": wild, "motif": model.tasks - wild},
        "abstention due": {key: float(n) for key, n in sorted(abstaining.items())},
    }
