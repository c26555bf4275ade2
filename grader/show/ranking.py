"""Who is ahead: systems by skill, or by points where the exam has no floors."""

from typing import Any

from grader.show.systems import measured


def rank(reports: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Best skill first, or best points where the exam has no floors.

    Systems share a place where intervals do not tell them apart: a group ends where an interval
    lies wholly below that of the group's first. Whoever has no overall figure comes last.
    """
    counts = "skill" if measured(reports) else "points"

    def key(report: dict[str, Any]) -> tuple[bool, float]:
        value = report[counts]
        return value is None, -(value or 0.0)

    ordered = sorted(reports, key=lambda report: (key(report), report["submission"]["system"]))
    places: list[tuple[int, dict[str, Any]]] = []
    first: dict[str, Any] | None = None
    for position, report in enumerate(ordered, start=1):
        tied = first is not None and not _told_apart(first, report, counts)
        if not tied:
            first = report
        places.append((places[-1][0] if tied else position, report))
    return places


def _told_apart(better: dict[str, Any], worse: dict[str, Any], counts: str) -> bool:
    """Whether an interval lies wholly below another; without intervals, whether values differ."""
    high, low = (report.get(f"{counts}_interval") for report in (better, worse))
    if high is None or low is None:
        return bool(better[counts] != worse[counts])
    return bool(low[1] < high[0])
