"""Composite Rank: systems compared by their places in three columns (CausalDS 3.7)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb

from grader.report.table import sql

COLUMNS: Final = ("pass_rate", "s_nr", "f1_loss")
"""The columns ranked: the three components of CausalDSScore."""

_Reading = Mapping[str, Any]


def composite_ranks(systems: Sequence[_Reading]) -> list[float | None]:
    """The Composite Rank of each system, 0 best and 1 worst, in the order given.

    Each item holds :data:`COLUMNS` (``None`` where a system has no number). ``None`` for a single
    system, and where no column has a number (``sql/composite_rank.sql``).
    """
    with duckdb.connect(config={"threads": 1, "enable_external_access": "false"}) as connection:
        types = ", ".join(f"{column} DOUBLE" for column in COLUMNS)
        connection.execute(f"CREATE TABLE systems (system INTEGER, {types})")
        for place, reading in enumerate(systems):
            row = [place, *(reading.get(column) for column in COLUMNS)]
            connection.execute("INSERT INTO systems VALUES (?, ?, ?, ?)", row)
        found = dict(connection.execute(sql("causalds/composite_rank")).fetchall())
    return [found.get(place) for place in range(len(systems))]


def leaderboard_ranks(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, float | None]]:
    """Composite Rank of each report by reading; systems that answer no causalds task have none."""
    ranks: list[dict[str, float | None]] = [{} for _ in reports]
    tracks = [report["tracks"].get("causalds", {}) for report in reports]
    places = [place for place, track in enumerate(tracks) if track.get("attempted")]
    for reading in ("fixed", "paper"):
        columns = [tracks[place]["readings"].get(reading, {}) for place in places]
        for place, rank in zip(places, composite_ranks(columns), strict=True):
            ranks[place][reading] = rank
    return ranks


def board_members(reports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What ``leaderboard --json`` says of each report."""
    return [{"composite_rank": ranks} for ranks in leaderboard_ranks(reports)]


def axis_ranks(
    tracks: Sequence[Mapping[str, Any]], axis: str, reading: str
) -> dict[str, list[float | None]]:
    """Composite Rank inside every level of one axis (Table 14), by level in the tracks' order."""
    slices = [track["slices"].get(axis, {}) for track in tracks]
    levels = dict.fromkeys(level for found in slices for level in found)
    return {
        level: composite_ranks(
            [found.get(level, {}).get("readings", {}).get(reading, {}) for found in slices]
        )
        for level in levels
    }
