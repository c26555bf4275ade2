"""The record by which the builder's machinery knows a track, and the values that pass between them.

The machinery (``release``, ``gate``, ``commands``) asks a track nothing but what stands in its
:class:`Track`; ``builder.tracks`` is the list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from builder.splits.settings import TomlTable
    from grader.scoring.model import CheckedAnswer, Score, Truth
    from grader.scoring.shape import Task, Variant
    from grader.scoring.track import Track as GraderTrack

Record = Mapping[str, Any]
"""The JSON of a world row or of a truth row."""

Row = dict[str, object]
"""One row of a config: column name to a plain value that fits the config's Arrow schema."""

Read = Callable[[str, Sequence[str]], Iterable[Mapping[str, Any]]]
"""(config, columns) -> the rows of a config that is built."""

Composition = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Axis -> level -> {"requested": count, "realised": count}."""

VARIED_FROM: Final = 6
"""An exam that is composed, and asks so many instances for a label, has two different ones."""

Graded = tuple["Truth", "CheckedAnswer", "Score"]
"""A task's truth, an answer to it as it was checked, and its score."""


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """The tasks planned for one instance.

    ``tasks`` are the least and the most that it may have. ``exam`` is the exam that it is planned
    for, with private truth only. ``levels`` are pairs of axis and level by which plans are counted.
    """

    tasks: tuple[int, int] = (1, 1)
    exam: str | None = None
    levels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class InstanceSpec:
    """One instance to build: all that ``Track.build`` may depend on.

    ``key`` seeds the hidden world, ``id_key`` the ids of the instance and its tasks. Both stay out
    of ``repr`` so that no message can carry them. ``config_json`` is JSON of what the track decided
    while planning. Only the track reads it: what the machinery needs is ``task_plan``.
    """

    track: str
    split: str
    index: int
    key: bytes = field(repr=False)
    instance_id: str
    private: bool
    id_key: bytes = field(repr=False)
    config_json: str
    task_plan: TaskPlan = TaskPlan()

    @property
    def label(self) -> str:
        """The name of the instance in messages and for ``build --only``: ``track/split/index``."""
        return f"{self.track}/{self.split}/{self.index}"


@dataclass(frozen=True, slots=True)
class BuiltInstance:
    """The rows of one built instance, by config, and the number of rejected attempts by reason."""

    rows: dict[str, list[Row]]
    rejections: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrawnExam:
    """The tasks of an exam in order.

    ``bundles`` maps a task of a matched ablation to its bundle and arm. ``composition`` is what was
    requested and realised, empty unless the track composed the exam. ``left_out`` maps a variant
    that a public balanced exam does not ask to its only answer.
    """

    task_ids: tuple[str, ...]
    bundles: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    composition: Composition = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PossibleTask:
    """A task that an instance has or, while it is only planned, may have.

    ``name`` is its id, or a made-up name while it is planned. ``variant`` is ``family.variant``.
    ``label`` is the class of its answer. ``question`` is the same for tasks that differ in their
    view only. ``abstains`` says whether abstaining is right (None: not known yet).
    """

    name: str
    variant: str
    view: str = ""
    label: str = ""
    question: str = ""
    abstains: bool | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """An instance, built or planned, for the composition of an exam; ``traits``: facts by name."""

    instance_id: str
    tasks: tuple[PossibleTask, ...]
    traits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamFiles:
    """The functions by which a track composes an exam of its own from an exam file (TOML).

    ``parse(table)`` checks the file and gives a model, whose ``tasks`` is the number of tasks.
    ``plan_for(config, exams, where)`` gives the settings of a private-truth split whose instances
    are planned for the exams (pairs of name and model). ``built(read)`` are the candidates of rows
    that are built, ``planned(specs)`` those of a plan, with every task that they may come to have.
    ``compose(model, candidates, key, where)`` makes the exam from either; ``key`` seeds its
    choices. These raise ``UsageError`` naming the place.
    """

    parse: Callable[[TomlTable], Any]
    plan_for: Callable[[Any, tuple[tuple[str, Any], ...], str], Any]
    built: Callable[[Read], Sequence[Candidate]]
    planned: Callable[[Sequence[InstanceSpec]], Sequence[Candidate]]
    compose: Callable[[Any, Sequence[Candidate], bytes, str], DrawnExam]


def planned_variants(spec: InstanceSpec) -> list[str]:
    """Return the variants that an instance is planned for; none if plans are counted otherwise."""
    return [level for axis, level in spec.task_plan.levels if axis == "variant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Floors:
    """The functions that measure the floors of a track's variants (:mod:`builder.release.floors`).

    ``constants(task, truth)`` are pairs of name and text for a fixed finite list of answers. Names
    are the same for all tasks of a variant. From the truth they may take only the names that a
    story tells. ``twin(settings, tasks)`` are the settings of instances like those of a split, so
    many that each variant has that many tasks, where the track can. ``variants_of(spec)`` are the
    variants that an instance of the twin is asked. ``whole`` is for instances whose tasks count
    together. It is the key of their floor, and a function from the graded tasks of one instance to
    its points (0 to 1), None for an instance that does not count so.
    """

    constants: Callable[[Task, Truth], Iterable[tuple[str, str]]]
    twin: Callable[[Any, int], Any]
    variants_of: Callable[[InstanceSpec], Iterable[str]] = planned_variants
    whole: tuple[str, Callable[[Sequence[Graded]], float | None]] | None = None


@dataclass(frozen=True, slots=True)
class StoryReading:
    """The differences between a story and its world to a plain reader, a line each. ``certain``: it
    was told by rules, so that they are its fault; of a free text they may be the reader's."""

    problems: tuple[str, ...]
    certain: bool


@dataclass(frozen=True, slots=True)
class RowPlace:
    """The place of a row in the files of its config and split. ``position`` counts rows through all
    shards, ``offset`` in its row group, which has ``group_bytes`` uncompressed."""

    position: int
    offset: int
    group_bytes: int


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One row of ``<track>``, with ``inputs`` parsed, and its place."""

    task_id: str
    instance_id: str
    track: str
    rung: int
    family: str
    variant: str
    view: str
    input_mode: str
    prompt: str
    answer_schema: str
    answer_file: str
    inputs: Mapping[str, Any]
    place: RowPlace

    @property
    def key(self) -> str:
        """The key of the variant: ``family.variant``."""
        return f"{self.family}.{self.variant}"


@dataclass(frozen=True, slots=True)
class SceneRow:
    """One row of ``<track>_scenes`` without the values of its tables, and its place.

    ``columns`` pairs names and kinds as the scene declares them. ``data_columns`` and
    ``test_columns`` are those of the two tables, ``rows`` their numbers of rows (train, test).
    """

    instance_id: str
    view: str
    story: str
    columns: tuple[tuple[str, str], ...]
    data_columns: tuple[str, ...]
    test_columns: tuple[str, ...]
    rows: tuple[int, int]
    place: RowPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakFacts:
    """The private facts of a task that the leak test looks for, and what may tell them.

    ``hidden`` are private facts about the instance, ``facts`` those about the task, by name. They
    are compared as text, and an empty text leaves the task out of the test of that fact.
    ``of_instance`` and ``of_task`` are the values that instance and task may disclose besides
    variant and view, such as numbers of variables. ``ends`` are the names that the task asks about.
    ``orders`` are the lists of names that it shows. ``shown`` is what else it shows beside meaning,
    by name: a text is a category, a number a quantity.
    """

    hidden: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    of_instance: tuple[object, ...] = ()
    of_task: tuple[object, ...] = ()
    ends: tuple[str, ...] = ()
    orders: tuple[tuple[str, ...], ...] = ()
    shown: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One exam of the benchmark as the builder's machinery sees it.

    ``grader`` is the same track on the grader's side: its variants, the number of its rules.
    ``name`` is also the config of its tasks, and its other configs are called ``<name>_...``.
    ``tables`` maps a config to its explicit Arrow schema, whose first column is the id of its rows.
    ``private`` are the configs that a private-truth split keeps out of the public repository.

    ``parse(table)`` returns the settings in the track's TOML table and raises ``UsageError`` naming
    the key. ``plan(config, split, count_root, private)`` gives the instances of a split in index
    order, where ``config`` are those settings. ``build(spec)`` builds one of them, a pure function
    of ``spec``.

    ``audit(world, truths, labels, shown)`` derives every truth of an instance a second time and
    returns one line per problem. ``world`` is its world row, ``truths`` are its truth rows,
    ``labels`` is its row of labels or None, ``shown`` a scene row, or ``{"tasks": [task rows]}``
    without scenes. ``read(world, shown)`` reads the story of a scene by :mod:`builder.reader`,
    where there is one. ``inputs(variant)`` names the members that a task's declared inputs must
    have.

    ``apart(a, b)`` tells of two variants asked about one instance whether one's prompt answers the
    other, so that no exam may hold both. ``lends(shown, asked)`` gives the answers to the task
    ``asked``, as texts of an answer file, that the prompt of the task ``shown`` about the same
    instance prints. The gate hands them in. None: there is nothing to look for. ``scenes`` says
    that the track ships ``<name>_scenes``. Without them prompts hold all there is. ``protocol``
    says that an instance may have several tasks even in a private-truth split, all in one exam.
    ``exams`` is None for a track without exam files, ``floors`` for one without floors.

    ``published(table)`` is the track's TOML table as a manifest may show it. ``composition(config,
    specs)`` is what was requested beside what was planned. ``shown(task, scene, private)`` gives a
    line for each thing that is wrong with a task row beside the scene that it shows.
    ``leak_facts(task, truth row, world row)`` is what the leak test looks for, None for an instance
    that only shows another again. ``report(worlds, truths)`` gives the parts of a generation report
    as Markdown, from the JSON of a split's world rows and that of its truth rows by task.
    ``scene_page(release, scene)`` gives a page about one scene and a summary. ``new_variant(key,
    shape, folder)`` writes the pieces that a new variant needs, each with its place.
    """

    name: str
    tables: Mapping[str, pa.Schema]
    private: frozenset[str]
    parse: Callable[[TomlTable], Any]
    plan: Callable[[Any, str, bytes, bool], Sequence[InstanceSpec]]
    build: Callable[[InstanceSpec], BuiltInstance]
    audit: Callable[
        [Mapping[str, Any], Sequence[Mapping[str, Any]], Mapping[str, Any] | None, Any], list[str]
    ]
    grader: GraderTrack
    floors: Floors | None = None
    inputs: Callable[[Variant], frozenset[str]]
    read: Callable[[Mapping[str, Any], Mapping[str, Any]], StoryReading] | None = None
    scenes: bool = False
    protocol: bool = False
    exams: ExamFiles | None = None
    apart: Callable[[str, str], bool] = lambda _a, _b: False
    lends: Callable[[Task, Task], Iterable[str]] | None = None
    published: Callable[[Mapping[str, object]], Mapping[str, object]] = dict
    composition: Callable[[Any, Sequence[InstanceSpec]], Composition] = lambda _config, _specs: {}
    report: Callable[[Sequence[Record], Mapping[str, Record]], Sequence[str]] | None = None
    scene_page: Callable[[Path, str], tuple[str, str]] | None = None
    new_variant: Callable[[str, str, Path], Sequence[tuple[Path, str]]] | None = None
    shown: Callable[[TaskRow, SceneRow, bool], Iterable[str]] = lambda *_: ()
    leak_facts: (
        Callable[[TaskRow, Mapping[str, Any], Mapping[str, Any]], LeakFacts | None] | None
    ) = None
