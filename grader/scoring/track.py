"""The record of a track, by which alone the rest of the grader knows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.scoring.model import Score, TrackSummary, Truth
from grader.scoring.shape import Task, Variant

TrackResults = Any
"""A track's part of one grading: :class:`grader.reports.table.TrackResults`."""
TrackPages = Any
"""What a track shows: :class:`grader.pages.specification.TrackPages`."""
Report = Mapping[str, Any]
Pairs = Sequence[tuple[Score, Score]]
"""The rows of two gradings of one exam, task by task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigure:
    """A figure that a track gives of each of several attempts as a complete exam, beside points.

    ``name`` is its key in a report, ``label`` its name for people, ``digits`` its decimals.
    ``of`` gives the figure of one attempt by level (such as a reading), for all or some of
    ``levels``."""

    name: str
    label: str
    digits: int
    levels: tuple[str, ...]
    of: Callable[[TrackResults], Mapping[str, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """The exam of one paper; members that a track does not need are left out.

    ``variants``: its ways of asking, in the order in which they are listed.
    ``reading``: a text that says how to read its tasks, for every workspace (``reading.md``).
    ``schemas``: a folder laid out like ``schemas/``, where a track brings schemas of its own.
    ``rules``: raised whenever some answer's points change: floors that were graded under another
    number do not count (:class:`grader.statistics.skill.Floors`).
    ``bundle``: what a task asks, and in which of several ways, where it may have partners that ask
    the same in another way (:mod:`grader.release.exam`).
    ``summarise``: a headline other than the mean of the tasks' points, and figures beside it.
    ``own_points``: what that headline is a mean over (such as ``contexts``) where it is what
    counts, and not the mean of the tasks' points.
    ``extend``: fills in what else its part of a report has.
    ``run_figure``, ``attempts``: what repeated attempts say of it: one figure of each, and what
    they add to its part, given the score rows of each attempt.
    ``compare``: ``(pairs, first, second)``: what a comparison says beside points, given the score
    rows and both parts of the reports.
    ``board_members``: what ``leaderboard --json`` says of each of several reports beside its place.
    ``check_truths``: raises ``ValueError`` for truths, each fine by itself, that do not fit each
    other.
    ``certify``: proves again what a truth claims (``verify``), or says what is wrong with it.
    ``pages``: imports and returns what the track shows in the terminal and on pages: a function, so
    that a grading imports nothing that draws.
    """

    name: str
    variants: tuple[Variant, ...]
    reading: Path | None = None
    schemas: Path | None = None
    rules: int = 1
    bundle: Callable[[Task], tuple[str, str] | None] | None = None
    summarise: Callable[[TrackResults], TrackSummary] | None = None
    own_points: str = ""
    extend: Callable[[dict[str, Any], TrackResults], None] | None = None
    run_figure: RunFigure | None = None
    attempts: Callable[[Sequence[Sequence[Score]]], dict[str, Any]] | None = None
    compare: Callable[[Pairs, Report, Report], Mapping[str, Any]] | None = None
    board_members: Callable[[Sequence[Report]], Sequence[Mapping[str, Any]]] | None = None
    check_truths: Callable[[Sequence[Truth]], None] | None = None
    certify: Callable[[Task, Truth], str | None] | None = None
    pages: Callable[[], TrackPages] | None = None

    def variant(self, key: str) -> Variant:
        """Return the variant called ``family.variant``; raises ``KeyError`` if there is none."""
        for spec in self.variants:
            if spec.key == key:
                return spec
        raise KeyError(key)


Tracks = Mapping[str, Track]
"""The tracks that are known, by name."""
