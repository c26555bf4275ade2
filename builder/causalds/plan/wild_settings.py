"""The ``wild`` table of a split: scenes on graphs that no one recognises at a glance."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from builder.causal.strata import STRATA
from builder.implied.choose import SHARES as UNNAMED
from builder.settings import NO_FLOOR, TomlTable
from builder.words.regions import Sizes

_MOST: Final = 100_000
_KEYS: Final = (
    "scenes", "strata", "measured", "latent", "degree", "rows", "reversed", "misled", "indirect",
    "flipped", "opposed", "implied", "motifs",
)  # fmt: skip

SHARES: Final[Mapping[str, float]] = {
    "several_controls": 0.12,
    "hidden_cause": 0.12,
    "m_bias": 0.12,
    "front_door": 0.10,
    "components": 0.10,
    "hedge_elsewhere": 0.11,
    "natural_lost": 0.13,
    "natural_kept": 0.15,
    "harmless": 0.05,
}
"""Strata by share, where a split says nothing else: about a quarter of the average effects are not
identifiable, and the verdicts of ATE and NDE differ in a third of the scenes."""

MISLED: Final = 0.9
"""Share of the questions on total effects whose equations are made so that plain estimates miss:
more than the four of five in which each of these is to miss, since adjusting for everything rarely
misses by itself, and not every question has equations that can be made so."""


@dataclass(frozen=True, slots=True)
class WildSettings:
    """How many scenes have wild graphs, of what strata and sizes, and what their equations do.

    ``scenes`` come on top of a split's others, with public truth, and with them ``motifs`` of the
    split's composition, told alike, which only frontier exams ask; with private truth an exam says
    how many it asks of either. ``rows`` are the fewest and most training rows, an eighth as many
    again held out. The rest are shares: of scenes in which effect and association have different
    signs (``reversed``), plain estimates mislead (``misled``), the indirect effect is the larger
    (``indirect``), and, of questions on changes, those in which the sign changes (``flipped``), of
    questions on signs with private truth those in which careless adjustment gives the wrong one
    (``opposed``). ``implied`` are the least and the largest share of edges that a story leaves to
    be worked out; without it stories are told as the split's others are.
    """

    scenes: int = 0
    strata: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    sizes: Sizes = field(default_factory=Sizes)
    rows: tuple[int, int] = (1000, 4000)
    reversed: float = 0.5
    misled: float = MISLED
    indirect: float = 0.5
    flipped: float = 0.5
    opposed: float = field(default=0.5, metadata=NO_FLOOR)
    implied: tuple[float, float] | None = None
    motifs: int = 0


def wild_settings(table: TomlTable) -> WildSettings:
    """The checked table. Raises ``UsageError`` naming the key and the fix."""
    table.only(*_KEYS)
    usual = WildSettings()
    strata = table.weights("strata", tuple(STRATA)) if "strata" in table else dict(usual.strata)
    sizes = Sizes(
        table.whole_range("measured", 3, 12, usual.sizes.measured),
        table.whole_range("latent", 1, 4, usual.sizes.latent),
        table.number_range("degree", 1.0, 4.5, usual.sizes.degree),
    )
    return WildSettings(
        scenes=table.whole("scenes", 0, _MOST, usual.scenes),
        strata={name: strata[name] for name in STRATA if strata.get(name)},
        sizes=sizes,
        rows=table.whole_range("rows", 50, 1_000_000, usual.rows),
        reversed=table.share("reversed", usual.reversed),
        misled=table.share("misled", usual.misled),
        indirect=table.share("indirect", usual.indirect),
        flipped=table.share("flipped", usual.flipped),
        opposed=table.share("opposed", usual.opposed),
        implied=table.number_range("implied", *UNNAMED) if "implied" in table else None,
        motifs=table.whole("motifs", 0, _MOST, usual.motifs),
    )
