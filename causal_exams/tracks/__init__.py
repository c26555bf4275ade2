"""The protocols of the papers, one module a track: the only list of them."""

from collections.abc import Mapping
from typing import Final

from causal_exams.protocols import Protocol
from causal_exams.tracks import causalab, causalds, ccr, replayscm
from grader.errors import UsageError
from grader.io.names import did_you_mean

PRESETS: Final[Mapping[str, Mapping[str, Protocol]]] = {
    "causalds": causalds.PRESETS,
    "replayscm": replayscm.PRESETS,
    "ccr": ccr.PRESETS,
    "causalab": causalab.PRESETS,
}
"""Track to its presets by name; the first of them is the paper's own."""
PAPER: Final = "paper"
"""Stands for the preset of each track's own paper."""


def preset_of(name: str, track: str) -> tuple[str, Protocol]:
    """Return (name, protocol) of the preset that ``name`` means in a track: ``paper`` the first.

    Raises ``UsageError`` where the track has no such preset.
    """
    own = PRESETS.get(track, {})
    if name == PAPER and own:
        name = next(iter(own))
    if name in own:
        return name, own[name]
    tracks = {preset: key for key, presets in PRESETS.items() for preset in presets}
    near = did_you_mean(name, [*tracks, PAPER])
    whose = f"is for track {tracks[name]}" if name in tracks else f"no such preset{near}"
    raise UsageError(
        f"--preset {name}: {whose}; sat is track {track}: choose one track with --track, or each "
        f"track's own protocol with --preset {PAPER}"
    )
