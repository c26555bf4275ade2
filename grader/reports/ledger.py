"""The ledger of a private exam: who submitted how often, and which figures were shown.

It is a JSON file beside the private side. The maintainer names a team by the name of its file or
folder up to the first ``@`` (``acme@2.parquet`` is the second of ``acme``), and lists in
``teams.txt`` beside the ledger those that may be shown figures, as names cost nothing and each has
a first figure. A report shows the team's figure so far; the same answers again are not counted.
The final ranking is made once and recorded too: later submissions have no place in it and no new
figure. All versions of a release that came of one secret are counted together.
"""

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from grader.answers.submission import submission_name, team_of, with_notice
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import clip, pretty_json
from grader.release.exam import Exam
from grader.reports.build import GradedSubmission
from grader.reports.redact import SUBMISSIONS, Ladder, overall, weights, with_figure

FORMAT: Final = 2
NAME: Final = "ledger.json"
TEAMS: Final = "teams.txt"
_HELD: Final = "held"


def ladder_of(graded: GradedSubmission) -> Ladder:
    """Return the ladder of the graded exam. It follows from the instances, not from the answers."""
    return Ladder.from_weights(weights(graded.shown_units).values())


def with_held_back(graded: GradedSubmission) -> dict[str, Any]:
    """Return the redacted report with a member ``held`` that :func:`show_all` reads and removes."""
    units = graded.shown_units
    return {
        **graded.report,
        _HELD: {
            "answers": graded.answers_sha256,
            "points": overall(units) if units and graded.totals.points is not None else None,
            "instances": ladder_of(graded).instances,
        },
    }


def show_all(
    path: Path | None, exam: Exam, reports: Sequence[tuple[Path, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Enter submissions into the ledger, and return their reports with their teams' figures.

    ``reports`` are pairs of a submission's file and what :func:`with_held_back` returned. The same
    answers of a team are counted once. A team's figure is one for all its submissions, and absent
    where none may be shown. ``path`` is as in :func:`ledger_path`. Raises ``UsageError`` for a file
    that is no ledger.
    """
    kept = []
    with locked_ledger(path, exam) as ledger:
        for source, report in reports:
            own = report[_HELD]
            ladder = Ladder(own["instances"])
            if own["points"] is not None:
                ledger.enter(_team(source), own["answers"], own["points"], ladder)
            kept.append((_team(source), ladder, {k: v for k, v in report.items() if k != _HELD}))
    return [ledger.show(report, team, ladder) for team, ladder, report in kept]


def refuse_several(sources: Sequence[Path]) -> None:
    """Raise ``UsageError`` where a team has several submissions to the final ranking."""
    for team, count in Counter(map(_team, sources)).items():
        if count > 1:
            raise UsageError(
                f"--final: team {clip(team)} has {count} submissions here; keep only the one "
                "that it chose for the final ranking"
            )


def ledger_path(path: Path | None, exam: Exam) -> Path:
    """Return a ledger's ``path``, by default beside the private side of the exam's release."""
    private = exam.split.release.private
    assert private is not None
    return (path or private.path.absolute().parent / NAME).resolve()


@contextmanager
def locked_ledger(path: Path | None, exam: Exam) -> "Iterator[Ledger]":
    """Yield the ledger of ``exam``, locked against other processes, and write it after the block.

    ``path`` is as in :func:`ledger_path`. The ledger is not written where the block raises. Raises
    ``UsageError`` where it cannot be locked.
    """
    path = ledger_path(path, exam)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise UsageError(
            f"{path}: the ledger cannot be kept here ({error.strerror}); give another --ledger"
        ) from None
    with os.fdopen(lock):
        fcntl.flock(lock, fcntl.LOCK_EX)
        ledger = Ledger(path, exam)
        yield ledger
        ledger.save()


def _team(source: Path) -> str:
    return team_of(submission_name(source))


class Ledger:
    """The record, in a JSON file, of the submissions to one exam that count: by team, in the
    order in which they came, the hash of the answers and the figure shown, if any. It also
    holds the final ranking once that is made."""

    def __init__(self, path: Path, exam: Exam) -> None:
        """Read the ledger, which need not exist; raises ``UsageError`` for what is none."""
        self._path = path
        self._document = _read(path)
        self._listed = _read_teams(path.with_name(TEAMS))
        split, self._is_whole = exam.split, exam.is_whole
        public = split.release.public.manifest
        secret = str(public["splits"][split.name].get("seed_commitment", ""))
        self._key = f"{public['release']} {secret[:16]}/{split.name}/{exam.name}"
        exams: dict[str, dict[str, list[dict[str, Any]]]] = self._document["exams"]
        self._teams = exams.setdefault(self._key, {}) if self._is_whole else {}

    @property
    def is_closed(self) -> bool:
        """Whether the final ranking was made."""
        return self._key in self._document["finals"]

    def enter(self, team: str, answers: str, points: float, ladder: Ladder) -> None:
        """Count a submission, unless the team handed in the same ``answers`` (a hash) before.

        That of a team which is not listed is not counted, nor one to a part or a sum of exams, as
        nothing is shown of it. ``points`` are over the shown half. The entry holds the team's
        figure after it, or None.
        """
        if team not in self._listed or not self._is_whole:
            return
        before = self._teams.setdefault(team, [])
        if all(entry["answers"] != answers for entry in before):
            earlier = [entry["figure"] for entry in before]
            best = earlier[-1] if earlier else None
            figure = best if self.is_closed else ladder.next_figure(earlier, points)
            before.append({"answers": answers, "figure": figure})

    def close(self, handed: Mapping[str, str]) -> dict[str, str]:
        """Record ``handed`` (team to hash of answers) as the final ranking, unless one was made.

        The first call closes the exam; later ones rank the same answers of the same team alone.
        Return why teams of ``handed`` have no place in it: they are not listed, or come too late.
        Raises ``UsageError`` where none of them is listed and no ranking was made.
        """
        listed = {team: handed[team] for team in handed if team in self._listed}
        if not listed and not self.is_closed:
            where = self._path.with_name(TEAMS)
            raise UsageError(f"{where}: lists no team of these submissions; list who is ranked")
        ranked = self._document["finals"].setdefault(self._key, listed)
        late = "handed in after the final ranking, which is made once"
        return {
            team: late if team in listed else _not_listed(team)
            for team, answers in handed.items()
            if team not in listed or ranked.get(team) != answers
        }

    def save(self) -> None:
        """Write the ledger down, whole or not at all, readable by its owner alone."""
        write_text(self._path, pretty_json(self._document), 0o600)

    def show(self, report: Mapping[str, Any], team: str, ladder: Ladder) -> dict[str, Any]:
        """Return a redacted report with the team's figure so far, or a note why it has none."""
        entries = self._teams.get(team, [])
        figure = entries[-1]["figure"] if entries else None
        why = self.no_figures_reason(ladder)
        if not why and team not in self._listed:
            why = f"no figure: {_not_listed(team)}"
        elif not why and figure is None and self.is_closed:
            why = "no figure: the final ranking was made, and no new figure is shown after it"
        if why:
            return {**report, "notices": with_notice(report["notices"], why)}
        if figure is None:
            return dict(report)
        return with_figure(report, figure, ladder.interval(figure), ladder.step)

    def no_figures_reason(self, ladder: Ladder) -> str:
        """Return why no team is shown a figure of the exam: it is a part or a sum of exams, or too
        small; empty where figures are shown."""
        if not self._is_whole:
            return "no figure: only whole exams have one (--exam NAME, no --track)"
        return ladder.too_small_reason

    def teams(self, ladder: Ladder) -> list[dict[str, Any]]:
        """Return a row for each team, by name: its submissions and figures as text such as
        ``"2/100"`` (out of how many), and its best figure, ``points``, or None."""
        rows = []
        for team, entries in sorted(self._teams.items()):
            figures = {entry["figure"] for entry in entries} - {None}
            submissions, shown = f"{len(entries)}/{SUBMISSIONS}", f"{len(figures)}/{ladder.figures}"
            best = max(figures, default=None)
            rows.append(
                {"team": team, "submissions": submissions, "figures": shown, "points": best}
            )
        return rows


def _not_listed(team: str) -> str:
    return f"the maintainer has not listed team {clip(team)} ({TEAMS})"


def _read_teams(path: Path) -> frozenset[str]:
    """Return the teams that may be shown figures, a line each; none without the file."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error}); list a team a line in UTF-8") from None
    for number, line in enumerate(lines, start=1):
        if team_of(line) != line:
            raise UsageError(
                f"{path}, line {number}: {clip(line)} is a submission; list {clip(team_of(line))}"
            )
    return frozenset(filter(None, lines))


def _read(path: Path) -> dict[str, Any]:
    """Read a ledger, or return an empty one; raises ``UsageError`` for a file that is none."""
    if not path.exists():
        return {"format": FORMAT, "exams": {}, "finals": {}}
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
        teams = [entries for exam in document["exams"].values() for entries in exam.values()]
        entries = [(entry["answers"], entry["figure"]) for own in teams for entry in own]
        for ranked in document["finals"].values():
            entries += [(answers, None) for answers in ranked.values()]
        typed = all(isinstance(a, str) and isinstance(f, float | int | None) for a, f in entries)
        if typed and document["format"] == FORMAT:
            return document
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass
    raise UsageError(
        f"{path}: is not a ledger of format {FORMAT}; move it away, or give another --ledger"
    )
