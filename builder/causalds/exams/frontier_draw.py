"""A frontier exam drawn from tasks that are already built, where truth is public."""

from collections import Counter
from collections.abc import Sequence

from builder.causalds.exams.built import BuiltTask
from builder.causalds.exams.frontier import (
    CHANGES,
    EFFECTS,
    Slot,
    abstains,
    answers_axis,
    misleading,
    prior_axis,
    requested,
    slot_class,
    slots,
)
from builder.causalds.exams.model import ExamModel
from builder.causalds.make.prior import SIDES
from builder.causalds.plan.beside import ByAxis, beside
from builder.causalds.plan.tellings import FIRST
from builder.causalds.plan.wild_settings import MISLED
from builder.seeds import hmac_key, shuffled, stream
from builder.track import DrawnExam
from grader.errors import UsageError


def draw_frontier(
    model: ExamModel, tasks: Sequence[BuiltTask], key: bytes, where: str
) -> DrawnExam:
    """The exam; raises ``UsageError`` at ``where`` where some slot finds no task."""
    assert model.frontier is not None
    first = FIRST | {""}
    open_ = [task for task in tasks if not task.left_out and task.telling in first]
    if model.frontier.implied is not None:
        open_ = [task for task in open_ if task.implied]
    if not open_ or (model.frontier.wild and not any(task.wild for task in open_)):
        told = "" if model.frontier.implied is None else " whose stories imply them"
        raise UsageError(
            f"{where}: its tasks are about wild graphs{told}, and the split has none; see "
            "[splits.<name>.causalds.wild] in splits/main.toml"
        )
    labels: dict[tuple[str, bool], list[str]] = {}
    for task in open_:
        labels.setdefault((task.key, task.wild), []).append(slot_class(task.label))
    wanted = slots(model, stream(key, "slots"), labels, where)
    found = fill(wanted, open_, key, where)
    return DrawnExam(
        tuple(task.task_id for task in found), composition=realised(model, wanted, found)
    )


def fill(
    wanted: Sequence[Slot], tasks: Sequence[BuiltTask], key: bytes, where: str
) -> list[BuiltTask]:
    """A task for every slot, from the scenes used least; none twice, whatever its view.

    Of effects those that plain estimates miss are taken as long as their share is due. Where
    several tasks can take a place, signs of effect and association that differ and that agree
    take turns, and so do effects that agree with their reasons and that conflict with them; an
    effect of which the reasons say nothing is due last.
    """
    waiting: dict[tuple[str, str], list[BuiltTask]] = {}
    for task in sorted(tasks, key=lambda task: hmac_key(key, f"task/{task.task_id}")):
        waiting.setdefault((task.key, slot_class(task.label)), []).append(task)
    scenes: Counter[str] = Counter()
    turns: Counter[tuple[str, bool]] = Counter()
    priors: Counter[str] = Counter()
    missed: Counter[bool] = Counter()
    taken: set[tuple[str, str, str]] = set()
    found = []
    order = shuffled(stream(key, "order"), wanted)
    for slot in sorted(order, key=lambda slot: len(waiting.get((slot.key, slot.label), ()))):
        counts = misleading(slot.key, slot.label)
        due = missed[True] < MISLED * (missed.total() + 1) if counts else None

        def worth(
            task: BuiltTask, slot: Slot = slot, due: bool | None = due
        ) -> tuple[bool, bool, bool, int, int, int]:
            turn = task.turned if slot.key in CHANGES else task.reversed
            kind = "change" if slot.key in CHANGES else "effect"
            return (
                task.wild is not slot.wild,
                task.view != slot.view,
                due is not None and task.misled is not due,
                scenes[task.instance_id],
                0 if turn is None else turns[kind, turn],
                priors.total() if task.prior == "none" else priors[task.prior],
            )

        free = [
            task
            for task in waiting.get((slot.key, slot.label), ())
            if (task.instance_id, task.key, task.question) not in taken
        ]
        if not free:
            raise UsageError(
                f"{where}: too few scenes can be asked {slot.key} with an answer of the class "
                f"{slot.label}; raise the numbers of scenes, or ask the variant less often"
            )
        task = min(free, key=worth)
        taken.add((task.instance_id, task.key, task.question))
        scenes[task.instance_id] += 1
        if slot.key in CHANGES and task.turned is not None:
            turns["change", task.turned] += 1
        if slot.key not in CHANGES and task.reversed is not None:
            turns["effect", task.reversed] += 1
        if counts:
            missed[task.misled] += 1
        if task.prior in SIDES:
            priors[task.prior] += 1
        found.append(task)
    return found


def realised(model: ExamModel, wanted: Sequence[Slot], found: Sequence[BuiltTask]) -> ByAxis:
    """Requested beside realised numbers of tasks."""
    asked = requested(model, wanted)
    there = {
        "variant": Counter(task.key for task in found),
        "view": Counter(task.view for task in found),
        "graph": Counter("wild" if task.wild else "motif" for task in found),
        "abstention due": Counter(task.key for task in found if abstains(task.key, task.label)),
    }
    told = {axis: beside(asked[axis], there[axis]) for axis in asked}
    effects = [task for task in found if task.key.partition(".")[0] in EFFECTS]
    changes = [task for task in found if task.key in CHANGES]
    return {
        **told,
        **answers_axis(Slot(t.key, slot_class(t.label), t.view, t.wild) for t in found),
        **_in_turn("signs of effect and association", ("differ", "agree"),
                   [task.reversed for task in effects if not abstains(task.key, task.label)]),
        **_in_turn("sign of the association, given another", ("changes", "stays"),
                   [task.turned for task in changes]),
        **_in_turn("plain estimates", ("mislead", "may do either"),
                   [task.misled for task in found if misleading(task.key, task.label)], MISLED),
        **prior_axis(Counter(task.prior for task in found)),
    }  # fmt: skip


def _in_turn(
    axis: str, names: tuple[str, str], found: Sequence[bool | None], share: float = 0.5
) -> ByAxis:
    """How often something holds of the tasks of which it means anything, and its contrary, beside
    the share that is requested."""
    there = Counter(names[not one] for one in found if one is not None)
    requested = (share * there.total(), (1.0 - share) * there.total())
    return {axis: beside(dict(zip(names, requested, strict=True)), there)} if there else {}
