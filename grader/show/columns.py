"""The columns of a leaderboard: those of the tracks that the exam has, and no others."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from grader.show.words import number, tokens
from grader.tracks.causalds.composite import leaderboard_ranks

Report = Mapping[str, Any]
Column = tuple[str, Callable[[int, Report], str]]
"""Heading, and the cell of (place in the list, report)."""

_COMPONENTS: Final = {
    "pass_rate": "PassRate",
    "s_nr": "S_NR ↓",
    "med_f1_loss": "F1 loss ↓",
}


def columns(reports: Sequence[Report]) -> list[Column]:
    """Points by track where there are several, CausalDS figures where it is among them, cost.

    An exam of one track has room for more: the components of CausalDSScore, or the families. A
    track that a submission leaves alone while it attempts others has a dash, as its overall points
    have.
    """
    tracks = list(reports[0]["tracks"])
    found: list[Column] = []
    if len(tracks) > 1:
        found += [(track, _track_points(track)) for track in tracks]
    if "causalds" in tracks:
        ranks = leaderboard_ranks(reports)
        found.append(("CausalDSScore ↓", _reading("causalds_score")))
        found.append(("Comp. Rank ↓", lambda place, _: number(ranks[place].get("fixed"))))
        if len(tracks) == 1:
            found += [(heading, _reading(key)) for key, heading in _COMPONENTS.items()]
    elif len(tracks) == 1:
        families = reports[0]["tracks"][tracks[0]]["slices"].get("family", {})
        found += [(family, _family_points(tracks[0], family)) for family in families]
    found.append(("tok/task", lambda _, report: tokens(report["usage"])))
    return found


def reading(report: Report, name: str = "fixed") -> Mapping[str, Any]:
    """A CausalDS reading; empty where the submission answers no causalds task."""
    track = report["tracks"].get("causalds", {})
    found: Mapping[str, Any] = track.get("readings", {}).get(name, {})
    return found


def skipped(report: Report, track: str) -> bool:
    """Whether a submission answers nothing of ``track``, and something of another."""
    tracks = report["tracks"]
    return not tracks[track]["attempted"] and any(one["attempted"] for one in tracks.values())


def _track_points(track: str) -> Callable[[int, Report], str]:
    def cell(_: int, report: Report) -> str:
        points = None if skipped(report, track) else report["tracks"][track]["points"]
        return number(points, 1)

    return cell


def _family_points(track: str, family: str) -> Callable[[int, Report], str]:
    def cell(_: int, report: Report) -> str:
        row = report["tracks"][track]["slices"]["family"].get(family, {})
        return number(row.get("points"), 1)

    return cell


def _reading(key: str) -> Callable[[int, Report], str]:
    def cell(_: int, report: Report) -> str:
        return number(None if skipped(report, "causalds") else reading(report).get(key))

    return cell
