"""The values of a grading in their order: truth, raw answer, checked answer, mark, score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["scored", "missing", "invalid"]

Pool = Literal["pass", "nrel_point", "nrel_interval", "f1"]
"""Where a task's loss is pooled (CausalDS §3.7): exact matches, numbers, intervals, F1."""

InputMode = Literal["data", "story", "prompt"]
"""``data``: the test taker gets tables. ``story``: the narrated scene alone. ``prompt``: the
prompt says everything and nothing stands beside it."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth of one task, as a release's private side states it.

    ``should_abstain``: the target is not identifiable. ``structure`` is the kind of instance that
    reports are sliced by (a motif of scenes, say, or a pool of programs). ``value`` is the numeric
    target with its numerical standard error ``value_se``, null where there is none. ``target``
    holds everything else the scorer needs. ``labels`` are the held-out outcomes of a prediction
    task, shape (rows,).
    """

    task_id: str
    instance_id: str
    should_abstain: bool
    structure: str
    value: float | None
    value_se: float | None
    target: Mapping[str, Any]
    labels: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """The bytes of one answer, found in the file ``source``, or a code (``reason``) and a sentence
    (``message``) that say why there are none."""

    source: str
    data: bytes | None = None
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Predictions:
    """Columns of a prediction file, each (rows,); bounds are empty where none are asked."""

    prediction: tuple[float, ...]
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer after validation.

    ``answer`` is the parsed answer when ``status`` is ``scored`` and the answer commits: an object,
    :class:`Predictions`, or a type of the track's own. ``reason`` is a code for why it is missing
    or invalid, and ``message`` says it in words. ``paper_abstained`` differs from ``abstained``
    only where the paper counts an absent field as an abstention and the fixed reading counts it as
    invalid. ``extra`` are a track's own figures about the validation, for ``extra_json``.
    """

    status: Status
    answer: Any = None
    abstained: bool = False
    paper_abstained: bool = False
    reason: str = ""
    message: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mark:
    """The result of a shape's scorer for a committed answer to an identifiable target.

    ``loss`` is uncapped: 0/1 in the pass pool, NRelErr or NRelIS in the numeric pools, 1 - F1 in
    the F1 pool. ``value`` is the metric named by ``metric`` (RMSE, absolute error, F1 …), None
    where nothing could be measured. ``coverage`` (0 to 1) and ``width`` are of intervals alone.
    """

    metric: str
    value: float | None
    loss: float
    coverage: float | None = None
    width: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """One flat row of the table ``scores``: one task, graded.

    ``pool`` and ``loss`` are the *fixed* reading (the pool follows the truth, the loss is capped).
    ``paper_pool`` and ``paper_loss`` are the *paper* reading (the pool follows the answer too, and
    both are null where the paper drops a task). ``points`` are 0 to 1. ``metric_value`` is the
    figure that ``metric`` names. ``nominal_coverage`` is what an interval is asked for. Tasks with
    the same ``bundle`` ask one formal problem under different ``arm`` (a view, or a telling): the
    pairs of a matched ablation (:mod:`grader.release.exam`). All three follow from what is public.
    ``floor`` are the points (0 to 1) that knowing nothing earns, ``None`` where the exam has no
    floors.
    """

    task_id: str
    instance_id: str
    track: str
    family: str
    variant: str
    rung: int
    view: str
    structure: str
    input_mode: str
    pool: Pool
    status: Status
    reason: str
    metric: str
    metric_value: float | None
    loss: float
    points: float
    paper_pool: Pool | None
    paper_loss: float | None
    abstained: bool
    should_abstain: bool
    coverage: float | None
    interval_width: float | None
    extra_json: str
    message: str
    nominal_coverage: float | None = None
    bundle: str = ""
    arm: str = ""
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """One item of the mean that is a headline: a task, or several that count as one.

    ``points`` are those it earned and ``floor`` those that knowing nothing earns, both of them
    shares. A headline of several ``part``s is the mean of their means.
    """

    instance: str
    points: float
    floor: float | None
    part: str = ""


@dataclass(frozen=True, slots=True)
class TrackSummary:
    """A track's own figures for a report (:attr:`grader.scoring.track.Track.summarise`).

    ``points`` (0 to 100) is a headline other than the mean of the tasks' points, with its
    bootstrap ``replicates`` and the ``units`` that it is a mean of; ``None`` leaves the mean of
    the tasks. ``metrics`` are plain figures beside it, ``members`` further members of
    ``tracks.<track>`` in the report.
    """

    points: float | None
    replicates: Sequence[float]
    metrics: Mapping[str, Any]
    members: Mapping[str, Any]
    units: Sequence[Unit] = ()
