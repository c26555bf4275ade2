"""How an exam is sat: the two settings, and the protocols of the papers as presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from grader.errors import UsageError
from grader.names import did_you_mean

CLOSED, OPEN = "closed", "open"
SETTINGS: Final = (CLOSED, OPEN)
"""``closed``: the prompt alone, one reply. ``open``: commands in a sandbox, and the laboratory."""
MIXED: Final = "mixed"
"""What a run is labelled whose tracks are sat under different settings."""
PAPER: Final = "paper"
"""Stands for the preset of each track's own paper."""


@dataclass(frozen=True, slots=True)
class Preset:
    """The protocol of a paper: for which track, under which setting, and what it fixes.

    ``solver`` is the module in ``causal_exams.solvers`` that plays it. ``epochs`` are the replies
    to each question that the paper asks for. ``sandbox`` says whether commands are run.
    ``variant`` is a condition of the same protocol, such as worked examples before a question.
    """

    track: str
    setting: str
    solver: str
    epochs: int = 1
    sandbox: bool = False
    variant: str = ""


PRESETS: Final[Mapping[str, Preset]] = {
    "causalds-paper": Preset("causalds", OPEN, "causalds_paper", sandbox=True),
    "replayscm-direct": Preset("replayscm", CLOSED, "replayscm_direct"),
    "ccr-paper": Preset("ccr", CLOSED, "ccr_paper", epochs=5),
    "ccr-paper-examples": Preset("ccr", CLOSED, "ccr_paper", epochs=5, variant="examples"),
    "causalab-react": Preset("causalab", OPEN, "causalab_react"),
    "causalab-react-verify": Preset("causalab", OPEN, "causalab_react", variant="verify"),
}


def preset_of(name: str, track: str) -> tuple[str, Preset]:
    """The preset that ``name`` means in a track; raises ``UsageError`` where there is none."""
    if name == PAPER:
        name = next(key for key, preset in PRESETS.items() if preset.track == track)
    if name not in PRESETS:
        raise UsageError(f"--preset {name}: no such preset{did_you_mean(name, [*PRESETS, PAPER])}")
    if PRESETS[name].track != track:
        raise UsageError(
            f"--preset {name}: is for track {PRESETS[name].track}, not {track}; take one track "
            f"with --track, or each with its own by --preset {PAPER}"
        )
    return name, PRESETS[name]
