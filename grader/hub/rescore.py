"""After an erratum: what was graded by an older version of a release, graded by the new one.

Files are those that were taken into the dataset of submissions. A row keeps what it said under the
older version; the log gets a line. What is rescored already is left alone, so a run can be killed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grader.board.workers import WorkFailure
from grader.errors import UsageError
from grader.hub.evaluate import EvaluationSetup, exam_of, reports, row_of
from grader.hub.inbox import HandedIn, download, handed_in
from grader.hub.results import GRADED, ResultsDataset, Row
from grader.pages.leaderboard import rank

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_NO_INTERVALS: Final = {"points_interval": None, "skill_interval": None}
Change = dict[str, Any]
"""Of one submission: ``system``, ``team``, and ``before`` and ``after``, with ``place``, ``points``
and ``skill``."""


def rescore(
    api: "HfApi",
    inbox: str,
    results: ResultsDataset,
    desk: EvaluationSetup,
    tell: Callable[[str], None],
) -> list[Change]:
    """Grade again every row of another version of the desk's release; all changes there ever were.

    Raises ``UsageError``.
    """
    stored = {one.id: one for one in handed_in(api, inbox) if one.stored}
    for group in _groups(results.rows.values(), desk):
        split, name = group[0]["split"], group[0]["exam"]
        exam = exam_of(desk, split, name)
        for start in range(0, len(group), desk.workers):
            some = group[start : start + desk.workers]
            files = {}
            for row in some:
                if (one := stored.get(row["id"])) is None:
                    tell(f"{row['id']}  {row['team']}  its file is not in {inbox}; left as it was")
                else:
                    files[download(api, inbox, one, desk.work)] = one
            again = []
            for one, outcome in reports(exam, files, desk):
                old = results.rows[one.id]
                if isinstance(outcome, WorkFailure):
                    raise UsageError(f"{one.path}: {outcome.reason}; it was graded before")
                again.append(_again(old, one, files, desk, outcome))
            if again:
                results.add(again, "rescored")
            for row in again:
                tell(f"{row['id']}  {row['team']}  rescored")
    every = results.rows.values()
    return changes([row for row in every if row["release"]["sha256"] == desk.sha256])


def _groups(rows: Iterable[Row], desk: EvaluationSetup) -> list[list[Row]]:
    """The graded rows of other versions, by split and exam, in the order in which they came."""
    own = desk.release.public.manifest["release"]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["day"], row["pull_request"] or 0, row["id"])):
        same = row["release"]["name"].partition(" ")[0] == own
        if row["status"] == GRADED and same and row["release"]["sha256"] != desk.sha256:
            groups.setdefault((row["split"], row["exam"]), []).append(row)
    return list(groups.values())


def _again(
    old: Row,
    one: HandedIn,
    files: Mapping[Path, HandedIn],
    desk: EvaluationSetup,
    report: dict[str, Any],
) -> Row:
    """The row anew; who handed it in, when and how stay what they were."""
    file = next(path for path, member in files.items() if member is one)
    fresh = row_of(one, file, {}, desk, GRADED, "", report)
    kept = ("day", "pull_request", "team", "system", "setting", "split", "exam")
    figures = {name: old["report"][name] for name in ("points", "skill")}
    before = [*old.get("before", []), {"release": old["release"], **figures}]
    return {**fresh, **{name: old[name] for name in kept}, "before": before}


def changes(rows: Sequence[Row]) -> list[Change]:
    """What an erratum changed, the best of today first: figures and places before and after."""
    found = []
    exams: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.get("before"):
            exams.setdefault((row["split"], row["exam"]), []).append(row)
    for members in exams.values():
        now = [{**row["report"], **_NO_INTERVALS, "id": row["id"]} for row in members]
        then = [
            report | {name: row["before"][-1][name] for name in ("points", "skill")}
            for report, row in zip(now, members, strict=True)
        ]
        # By figures alone: intervals of before are not kept.
        places = [{report["id"]: place for place, report in rank(some)} for some in (then, now)]
        for row in sorted(members, key=lambda row: places[1][row["id"]]):
            told: Change = {"system": row["system"], "team": row["team"], "id": row["id"]}
            for when, report, place in zip(
                ("before", "after"), (row["before"][-1], row["report"]), places, strict=True
            ):
                figures = {name: report[name] for name in ("points", "skill")}
                told[when] = {"place": place[row["id"]], **figures}
            found.append(told)
    return found
