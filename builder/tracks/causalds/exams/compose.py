"""Compose an exam of built or planned scenes, as its exam file says.

Every choice depends on a key and on the set of tasks, never on their order. With public truth the
candidates are built scenes and their tasks. With private truth they are planned scenes and the
tasks that these may get, no scene is asked twice, and the classes of answers are drawn by coins.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count, cycle, islice, product
from typing import Final

from builder.splits.seeds import hmac_key, pick, stream
from builder.splits.track import Candidate, DrawnExam, PossibleTask
from builder.tracks.causalds.design.eligibility import VARIANTS
from builder.tracks.causalds.design.scene_plan import VIEWS
from builder.tracks.causalds.design.shares import ByAxis, largest_remainder, requested_and_realised
from builder.tracks.causalds.exams.model import ComposedExam, ExamModel, MatchedExam
from builder.tracks.causalds.exams.priors import (
    Cell,
    choose_by_counts,
    deal_cells,
    family_weights,
    one_label,
    variant_weights,
    view_weights,
)
from grader.errors import UsageError

COMMON_CLASS: Final = 0.01
"""The least share of scenes that can have a class of answers, for a private exam to ask for it."""

Classes = Mapping[str, Sequence[str]]
"""Map a variant to the classes of answers that are asked for."""

Pick = tuple[Candidate, PossibleTask]
"""A scene and what it is asked."""

TasksByLabel = dict[str, dict[str, list[Pick]]]
"""Map variant and label to tasks with that answer, in seeded order."""

ALIKE: Final = 3
"""Tasks of an exam that may share a domain. In a larger one than that allows, each domain has
so many before any has more."""


def compose(
    model: ExamModel,
    candidates: Sequence[Candidate],
    key: bytes,
    where: str,
    *,
    private: bool = False,
    classes: Classes | None = None,
) -> DrawnExam:
    """Return the exam of a model, every choice seeded by ``key``. With ``private`` truth a balanced
    exam asks no scene twice, and the class of each answer is drawn by itself, evenly from the
    variant's ``classes`` (default: all that candidates can have). Raises ``UsageError`` at
    ``where`` for too few scenes or tasks."""
    offered = {task.view for candidate in candidates for task in candidate.tasks}
    views = [view for view in VIEWS if view in offered]
    bundles: dict[str, tuple[str, str]] = {}
    left_out: dict[str, str] = {}
    match model:
        case ComposedExam():
            picks = _compose_by_priors(model, candidates, views, key, where, private)
        case MatchedExam():
            picks, bundles = _compose_matched(model, candidates, key, where)
        case _:  # a balanced exam
            picks = _compose_balanced(model, candidates, key, where, private, classes)
            left_out = {} if private else _left_out(_tasks_by_label(candidates, key), picks)
    asked = [(scene.traits["structure"], Cell(task.variant, task.view)) for scene, task in picks]
    composition = composition_of(model, asked, views)
    return DrawnExam(tuple(task.name for _, task in picks), bundles, composition, left_out)


def _left_out(tasks: TasksByLabel, picks: Sequence[Pick]) -> dict[str, str]:
    """Return the variants without a pick whose tasks all have one label, each with that label."""
    rest = sorted(tasks.keys() - {task.variant for _, task in picks})
    return {name: min(tasks[name]) for name in rest if one_label(name, [{x} for x in tasks[name]])}


def composition_of(
    model: ExamModel, asked: Sequence[tuple[str, Cell]], there: Sequence[str]
) -> ByAxis:
    """Return requested beside realised numbers of tasks, by family, rung, variant and view.
    ``asked`` pairs the structure of each scene with what it is asked. It must not be empty. In a
    composed exam the priors say what is requested of these scenes and the views ``there``, whatever
    a scene can host. In others all variants asked, and all views, are requested equally often."""
    wanted: dict[str, dict[str, float]] = {axis: defaultdict(float) for axis in asked[0][1].levels}
    for cell, share in _requested_shares(model, asked, there):
        for axis, level in cell.levels.items():
            wanted[axis][level] += share
    found = {}
    for axis, levels in wanted.items():
        realised = Counter(cell.levels[axis] for _, cell in asked)
        found[axis] = dict(sorted(requested_and_realised(levels, realised).items()))
    return found


def _requested_shares(
    model: ExamModel, asked: Sequence[tuple[str, Cell]], there: Sequence[str]
) -> Iterator[tuple[Cell, float]]:
    """Yield cells with the (fractional) number of tasks requested of each. One may come again."""
    if not isinstance(model, ComposedExam):
        variants = sorted({cell.variant for _, cell in asked})
        for variant, view in product(variants, there):
            yield Cell(variant, view), len(asked) / len(variants) / len(there)
        return
    for structure, _ in asked:
        for family, share in family_weights(model, structure).items():
            views = view_weights(model, family, there)
            for name, part in variant_weights(model, family).items():
                for view, portion in views.items():
                    yield Cell(f"{family}.{name}", view), share * part * portion


def _compose_by_priors(
    model: ComposedExam,
    candidates: Sequence[Candidate],
    views: Sequence[str],
    key: bytes,
    where: str,
    private: bool,
) -> list[Pick]:
    """Return one task of each of ``model.tasks`` scenes, by ``key`` and the priors' quotas."""
    if len(candidates) < model.tasks:
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks are asked, one a scene, but there are "
            f"{len(candidates)} scenes; ask fewer or raise the number of scenes"
        )
    if model.counts:
        scenes = choose_by_counts(model, _in_seeded_order(candidates, key), ALIKE, key, where)
    else:
        scenes = _few_alike(_in_seeded_order(candidates, key))[: model.tasks]
    rng = stream(key, "cells")
    picks = []
    cells = deal_cells(model, scenes, views, rng, again=not private)
    for scene, cell in zip(scenes, cells, strict=True):
        able = [task for task in scene.tasks if (task.variant, task.view) == cell]
        picks.append((scene, pick(rng, sorted(able, key=lambda task: task.name))))
    return picks


def _few_alike(scenes: Iterable[Candidate]) -> list[Candidate]:
    """Return the scenes, those whose domain has told ``ALIKE`` of them already moved to the end."""
    told: Counter[str] = Counter()
    rounds = []
    for scene in scenes:
        domain = scene.traits["domain"]
        rounds.append((bool(domain) * told[domain] // ALIKE, scene))
        told[domain] += 1
    return [scene for _, scene in sorted(rounds, key=lambda one: one[0])]


@dataclass(slots=True)
class _Balance:
    """The tasks taken by a balanced exam. ``waiting`` are the others. ``due`` counts the tasks
    wanted by kind of scene. With ``once`` no scene is asked twice."""

    waiting: TasksByLabel
    due: Counter[str]
    once: bool
    picks: list[Pick] = field(default_factory=list)
    _scenes: Counter[str] = field(default_factory=Counter)
    _views: Counter[str] = field(default_factory=Counter)
    _domains: Counter[str] = field(default_factory=Counter)

    def take(self, variant: str, labels: Iterable[str]) -> bool:
        """Add a task of a variant with one of these labels to ``picks``. Return False where there
        is none. Prefer the scene least asked, then a domain that is asked less than others, then a
        kind that is due, then the view least used."""
        able = [
            pick
            for label in labels
            for pick in self.waiting[variant][label]
            if not (self.once and self._scenes[pick[0].instance_id])
        ]
        if not able:
            return False
        scene, task = chosen = min(able, key=self._cost)
        self.picks.append(chosen)
        self.waiting[variant][task.label].remove(chosen)
        self._scenes[scene.instance_id] += 1
        self._views[task.view] += 1
        self._domains[scene.traits["domain"]] += 1
        self.due[scene.traits["kind"]] -= 1
        return True

    def _cost(self, pick: Pick) -> tuple[int, int, bool, int]:
        """Return uses of scene, uses of domain by ``ALIKE``, is its kind spent, uses of view."""
        scene, task = pick
        asked, domain = self._scenes[scene.instance_id], self._domains[scene.traits["domain"]]
        is_spent = self.due[scene.traits["kind"]] <= 0
        return asked, domain // ALIKE, is_spent, self._views[task.view]


def classes_of(candidates: Sequence[Candidate], where: str) -> Classes:
    """Return the classes of answers that a private balanced exam asks for, by variant: those that
    ``COMMON_CLASS`` of ``candidates`` can have. These must not depend on the split's secret, so
    that no refusal does. Raises ``UsageError`` at ``where`` for a variant with one label."""
    hosts: dict[str, Counter[str]] = {key: Counter() for key in VARIANTS}
    for one in candidates:
        for variant, label in {(task.variant, task.label) for task in one.tasks}:
            hosts[variant][label] += 1
    least = COMMON_CLASS * len(candidates)
    found = {n: sorted(x for x in own if own[x] >= least) for n, own in hosts.items()}
    for name, labels in found.items():
        if not labels or one_label(name, [{label} for label in labels]):
            raise UsageError(
                f"{where}: every task of {name} that this split's composition allows has the same "
                'answer; use composition = "full" or add motifs that can'
            )
    return found


def _compose_balanced(
    model: ExamModel,
    candidates: Sequence[Candidate],
    key: bytes,
    where: str,
    private: bool,
    classes: Classes | None,
) -> list[Pick]:
    """Return equally many tasks of each variant, its labels in turn, or by coins if ``private``.

    They come from as many scenes as possible, whose motifs and verdicts keep their shares. Without
    ``classes`` a variant with one label everywhere is left out, as it is worth nothing."""
    tasks = _tasks_by_label(candidates, key)
    offered = {name: sorted(labels) for name, labels in tasks.items()}
    varied = {n: own for n, own in offered.items() if not one_label(n, [{x} for x in own])}
    labels_of = classes or varied or offered
    kinds = Counter(candidate.traits["kind"] for candidate in candidates)
    balance = _Balance(tasks, Counter(largest_remainder(kinds, model.tasks)), private)
    variants = sorted(labels_of, key=lambda name: hmac_key(key, f"variant/{name}"))
    each, left_over = divmod(model.tasks, len(variants))
    slots: list[tuple[str, str]] = []
    for place, name in enumerate(variants):
        own = labels_of[name]
        # In turn, one answer would tell the next.
        rng = stream(key, f"classes/{name}")
        labels: Iterator[str] = (pick(rng, own) for _ in count()) if private else cycle(own)
        slots += [(name, label) for label in islice(labels, each + (place < left_over))]
    # A slot is a variant and the label that its task is to have. Fill those first that few tasks
    # fit, while all scenes are free.
    slots.sort(key=lambda slot: len(tasks[slot[0]][slot[1]]))
    unfilled = [(name, label) for name, label in slots if not balance.take(name, [label])]
    if unfilled and classes is not None:
        name, label = unfilled[0]
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks are asked but scenes for {name} with the answer "
            f"{label} run out; ask fewer, or add motifs that can have it"
        )
    # Give what a label lacks of its share to others of its variant, and what a variant lacks to
    # the variants that are asked least.
    for _ in [name for name, _ in unfilled if not balance.take(name, tasks[name])]:
        asked = Counter(task.variant for _, task in balance.picks)
        least = sorted(variants, key=lambda name: asked[name])
        if not any(balance.take(name, tasks[name]) for name in least):
            raise UsageError(
                f"{where}.tasks: {model.tasks} tasks are asked but there are "
                f"{len(balance.picks)}; ask fewer or raise the number of scenes"
            )
    return balance.picks


def _tasks_by_label(candidates: Sequence[Candidate], key: bytes) -> TasksByLabel:
    """Return the tasks of candidates by variant and label, in an order seeded by ``key``."""
    found: TasksByLabel = defaultdict(lambda: defaultdict(list))
    for one in _in_seeded_order(candidates, key):
        for task in sorted(one.tasks, key=lambda task: task.name):
            found[task.variant][task.label].append((one, task))
    return found


def _in_seeded_order(candidates: Sequence[Candidate], key: bytes) -> list[Candidate]:
    """Return the candidates in an order that depends on ``key`` and their ids alone."""
    return sorted(candidates, key=lambda one: hmac_key(key, f"scene/{one.instance_id}"))


def _compose_matched(
    model: MatchedExam, candidates: Sequence[Candidate], key: bytes, where: str
) -> tuple[list[Pick], dict[str, tuple[str, str]]]:
    """Return tasks of whole groups, variants in turn, and (bundle, arm) of tasks by name."""
    groups = _matched_groups(model, candidates)
    arms = len(next(iter(groups.values()))) if groups else 0
    if arms == 0 or len(groups) * arms < model.tasks:
        raise UsageError(
            f"{where}.tasks: {model.tasks} tasks are asked but only {len(groups) * arms} are "
            f"matched; a {model.kind} exam needs scenes in several {model.kind}"
        )
    waiting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name in sorted(groups, key=lambda name: hmac_key(key, f"group/{'/'.join(name)}")):
        waiting[name[1].partition(" ")[0]].append(name)
    order = sorted(waiting, key=lambda variant: hmac_key(key, f"variant/{variant}"))
    scenes: Counter[str] = Counter()
    domains: Counter[str] = Counter()
    domain_of = {name: next(iter(g.values()))[0].traits["domain"] for name, g in groups.items()}
    chosen: list[tuple[str, str]] = []
    while len(chosen) < model.tasks // arms:
        for variant in order:
            if waiting[variant] and len(chosen) < model.tasks // arms:
                name = min(
                    waiting[variant], key=lambda n: (scenes[n[0]], domains[domain_of[n]] // ALIKE)
                )
                waiting[variant].remove(name)
                scenes[name[0]] += 1
                domains[domain_of[name]] += 1
                chosen.append(name)
    picks: list[Pick] = []
    bundles = {}
    for number, name in enumerate(chosen, start=1):
        for arm, one in sorted(groups[name].items()):
            picks.append(one)
            bundles[one[1].name] = (f"bundle-{number:03d}", arm)
    return picks, bundles


def _matched_groups(
    model: MatchedExam, candidates: Sequence[Candidate]
) -> dict[tuple[str, str], dict[str, Pick]]:
    """Return the groups that have every arm, as arm -> task, by (scene or bundle, question)."""
    found: dict[tuple[str, str], dict[str, Pick]] = defaultdict(dict)
    admits = cache(model.admits)
    for scene in candidates:
        for task in scene.tasks:
            if not admits(task.variant, task.abstains):
                continue
            question = f"{task.variant} {task.question}"
            if model.kind == "views":
                found[scene.instance_id, question][task.view] = scene, task
            elif scene.traits["bundle"] and task.view == "clean":
                found[scene.traits["bundle"], question][scene.traits["telling"]] = scene, task
    arms = {arm for group in found.values() for arm in group}
    return {name: group for name, group in found.items() if len(arms) > 1 and set(group) == arms}
