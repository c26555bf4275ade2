"""An exam drawn from tasks that are already built, where truth is public.

Every draw depends on a key and on the set of tasks, never on their order. Tasks are told apart by
what their truth rows say (structure, class of answer), so an exam of a private-truth split is not
drawn here: it is planned (``assign``).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from builder.causalds.exams.cells import (
    Cell,
    choose_cell,
    family_weights,
    variant_weights,
    view_weights,
)
from builder.causalds.exams.model import ExamModel
from builder.causalds.plan.realised import Table
from builder.causalds.plan.views import VIEWS
from builder.seeds import hmac_key, stream
from builder.track import DrawnExam
from grader.errors import UsageError
from grader.variants.causalds import CAUSALDS

_RUNG: Final = {v.family: v.rung for v in CAUSALDS}


@dataclass(frozen=True, slots=True)
class BuiltTask:
    """A task with what an exam's composition looks at.

    ``question`` is the same for the tasks of a scene that differ in their view only; ``bundle``
    names the scenes that tell one formal problem, "" for most, and ``telling`` how this one tells
    it.
    """

    task_id: str
    instance_id: str
    key: str
    view: str
    structure: str
    label: str
    question: str
    bundle: str = ""
    telling: str = ""

    @property
    def family(self) -> str:
        """The first half of the key."""
        return self.key.partition(".")[0]

    @property
    def variant(self) -> str:
        """The second half of the key."""
        return self.key.partition(".")[2]


def draw_exam(model: ExamModel, tasks: Sequence[BuiltTask], key: bytes, where: str) -> DrawnExam:
    """Draw an exam; raises ``UsageError`` at ``where`` when there are too few scenes or tasks."""
    draws: Mapping[str, Callable[[], DrawnExam]] = {
        "composed": lambda: _composed(model, tasks, key, where),
        "balanced": lambda: _balanced(model, tasks, key, where),
        "views": lambda: _matched(model, _by_view(tasks), key, where),
        "tellings": lambda: _matched(model, _by_telling(tasks), key, where),
    }
    return draws[model.kind]()


def _composed(model: ExamModel, tasks: Sequence[BuiltTask], key: bytes, where: str) -> DrawnExam:
    """One task a scene, by the composition model."""
    scenes: dict[str, list[BuiltTask]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: task.task_id):
        scenes[task.instance_id].append(task)
    if len(scenes) < model.tasks:
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks of a scene each are asked but there are "
            f"{len(scenes)} scenes; ask fewer or raise the number of scenes"
        )
    names = sorted(scenes, key=lambda name: hmac_key(key, f"scene/{name}"))[: model.tasks]
    chosen = [_from_scene(model, scenes[name], hmac_key(key, f"cell/{name}")) for name in names]
    structures = [scenes[name][0].structure for name in names]
    return DrawnExam(
        tuple(task.task_id for task in chosen),
        {},
        composition(model, structures, [Cell(t.family, t.variant, t.view) for t in chosen]),
    )


def _from_scene(model: ExamModel, tasks: Sequence[BuiltTask], key: bytes) -> BuiltTask:
    hosts: dict[str, dict[str, set[str]]] = {}
    for task in tasks:
        hosts.setdefault(task.family, {}).setdefault(task.variant, set()).add(task.view)
    rng = stream(key, "cell")
    cell = choose_cell(model, tasks[0].structure, hosts, rng)
    assert cell is not None  # every scene has a task
    fitting = [t for t in tasks if (t.key, t.view) == (cell.key, cell.view)]
    return fitting[int(rng.integers(len(fitting)))]


def composition(model: ExamModel, structures: Sequence[str], cells: Sequence[Cell]) -> Table:
    """Requested beside realised numbers of tasks, by family, rung, variant and view.

    Requested is what the priors say of these scenes before any restriction to what they can host.
    """
    wanted: dict[str, Counter[str]] = {axis: Counter() for axis in _axes(cells[0])}
    for structure in structures:
        for family, share in family_weights(model, structure).items():
            wanted["family"][family] += share  # type: ignore[assignment]
            wanted["rung"][str(_RUNG[family])] += share  # type: ignore[assignment]
            for variant, part in variant_weights(model, family).items():
                wanted["variant"][f"{family}.{variant}"] += share * part  # type: ignore[assignment]
            for view, part in view_weights(model, family).items():
                wanted["view"][view] += share * part  # type: ignore[assignment]
    return _table(wanted, cells)


def _axes(cell: Cell) -> dict[str, str]:
    return {
        "family": cell.family,
        "rung": str(_RUNG[cell.family]),
        "variant": cell.key,
        "view": cell.view,
    }


def _table(wanted: Mapping[str, Mapping[str, float]], cells: Iterable[Cell]) -> Table:
    realised: dict[str, Counter[str]] = defaultdict(Counter)
    for cell in cells:
        for axis, name in _axes(cell).items():
            realised[axis][name] += 1
    return {
        axis: {
            name: {
                "requested": round(requested.get(name, 0.0), 2),
                "realised": realised[axis][name],
            }
            for name in sorted({*requested, *realised[axis]})
        }
        for axis, requested in wanted.items()
    }


def _balanced(model: ExamModel, tasks: Sequence[BuiltTask], key: bytes, where: str) -> DrawnExam:
    """Variants equally often; inside each its answers in turn, over as many scenes as can be."""
    waiting: dict[str, dict[str, list[BuiltTask]]] = {}
    for task in sorted(tasks, key=lambda task: hmac_key(key, f"task/{task.task_id}")):
        waiting.setdefault(task.key, {}).setdefault(task.label, []).append(task)
    order = sorted(waiting, key=lambda name: hmac_key(key, f"variant/{name}"))
    if model.tasks > len(tasks):
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks are asked but there are {len(tasks)}; ask fewer "
            "or raise the number of scenes"
        )
    quota = {
        name: model.tasks // len(order) + (place < model.tasks % len(order))
        for place, name in enumerate(order)
    }
    scenes: Counter[str] = Counter()
    views: Counter[str] = Counter()
    chosen: list[BuiltTask] = []
    # Variants with few tasks choose first, while all scenes are free.
    for name in sorted(order, key=lambda name: sum(map(len, waiting[name].values()))):
        for task in _in_turn(waiting[name], quota[name], scenes, views):
            chosen.append(task)
    wanted = {"variant": {name: float(count) for name, count in quota.items()}}
    for axis in ("family", "rung"):
        wanted[axis] = {}
    for name, count in quota.items():
        family = name.partition(".")[0]
        for axis, level in (("family", family), ("rung", str(_RUNG[family]))):
            wanted[axis][level] = wanted[axis].get(level, 0.0) + count
    there = [view for view in VIEWS if any(task.view == view for task in tasks)]
    wanted["view"] = {view: model.tasks / len(there) for view in there}
    return DrawnExam(
        tuple(task.task_id for task in chosen),
        {},
        _table(wanted, [Cell(t.family, t.variant, t.view) for t in chosen]),
    )


def _in_turn(
    classes: Mapping[str, list[BuiltTask]], count: int, scenes: Counter[str], views: Counter[str]
) -> Iterable[BuiltTask]:
    """``count`` tasks, the classes of answers in turn, from the scenes and views least used."""
    left = {label: list(found) for label, found in sorted(classes.items())}
    while count and any(left.values()):
        for label in left:
            if count and left[label]:
                task = min(left[label], key=lambda t: (scenes[t.instance_id], views[t.view]))
                left[label].remove(task)
                scenes[task.instance_id] += 1
                views[task.view] += 1
                count -= 1
                yield task


Groups = Mapping[tuple[str, str], Mapping[str, BuiltTask]]
"""(scene or bundle, question) to arm to task; complete groups only."""


def _by_view(tasks: Sequence[BuiltTask]) -> Groups:
    found: dict[tuple[str, str], dict[str, BuiltTask]] = defaultdict(dict)
    for task in tasks:
        found[task.instance_id, f"{task.key} {task.question}"][task.view] = task
    arms = {task.view for task in tasks}
    return {name: group for name, group in found.items() if len(arms) > 1 and set(group) == arms}


def _by_telling(tasks: Sequence[BuiltTask]) -> Groups:
    found: dict[tuple[str, str], dict[str, BuiltTask]] = defaultdict(dict)
    for task in tasks:
        if task.bundle and task.view == "clean":
            found[task.bundle, f"{task.key} {task.question}"][task.telling] = task
    arms = {task.telling for task in tasks if task.bundle}
    return {name: group for name, group in found.items() if set(group) == arms}


def _matched(model: ExamModel, groups: Groups, key: bytes, where: str) -> DrawnExam:
    """Whole groups, variants in turn, over as many scenes as can be."""
    arms = len(next(iter(groups.values()))) if groups else 0
    if arms == 0 or len(groups) * arms < model.tasks:
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks are asked but matched ones are "
            f"{len(groups) * arms}; a {model.kind} exam needs scenes in several {model.kind}"
        )
    waiting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in sorted(groups, key=lambda name: hmac_key(key, f"group/{'/'.join(name)}")):
        waiting[name[1].partition(" ")[0]].append(name)
    order = sorted(waiting, key=lambda variant: hmac_key(key, f"variant/{variant}"))
    scenes: Counter[str] = Counter()
    chosen: list[tuple[str, str]] = []
    while len(chosen) < model.tasks // arms:
        for variant in order:
            if waiting[variant] and len(chosen) < model.tasks // arms:
                name = min(waiting[variant], key=lambda name: scenes[name[0]])
                waiting[variant].remove(name)
                scenes[name[0]] += 1
                chosen.append(name)
    bundles = {
        task.task_id: (f"bundle-{number:03d}", arm)
        for number, name in enumerate(chosen, start=1)
        for arm, task in sorted(groups[name].items())
    }
    drawn = [task for name in chosen for _, task in sorted(groups[name].items())]
    even = dict.fromkeys(order, len(drawn) / len(order))
    cells = [Cell(task.family, task.variant, task.view) for task in drawn]
    return DrawnExam(
        tuple(task.task_id for task in drawn), bundles, _table({"variant": even}, cells)
    )
