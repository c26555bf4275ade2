"""The pools: which question is asked of which evidence (ReplaySCM Table A.1, and ours)."""

from dataclasses import dataclass
from typing import Final, Literal

from builder.replayscm.make.determinacy import Disclosure

Level = Literal["original", "extra", "cex", "certified"]


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool: its short label, the variant that asks it, its disclosure and evidence level."""

    label: str
    variant: str
    disclosure: Disclosure
    level: Level

    @property
    def alternative(self) -> bool:
        """Whether the task supplies a reference and asks for another program."""
        return self.variant.startswith("alternative.")


POOLS: Final[dict[str, Pool]] = {
    pool.label: pool
    for pool in (
        Pool("Ord-Full", "induction.ordered", "ordered", "original"),
        Pool("Hid-Full", "induction.hidden", "hidden", "original"),
        Pool("Block", "induction.block", "block", "original"),
        Pool("Hid-Roots", "induction.hidden_roots", "hidden_roots", "original"),
        Pool("Alt-Ord", "alternative.alternative_ordered", "ordered", "original"),
        Pool("Alt-Hid", "alternative.alternative_hidden", "hidden", "original"),
        Pool("Ord-Ext", "induction.ordered", "ordered", "extra"),
        Pool("Hid-Ext", "induction.hidden", "hidden", "extra"),
        Pool("Ord-CEx", "induction.ordered", "ordered", "cex"),
        Pool("Hid-CEx", "induction.hidden", "hidden", "cex"),
        Pool("Ord-Cert", "induction.ordered", "ordered", "certified"),
        Pool("Hid-Cert", "induction.hidden", "hidden", "certified"),
    )
}
"""The paper's pools and Certified."""

BASE: Final = (
    Pool("Ord-Base", "induction.ordered", "ordered", "original"),
    Pool("Hid-Base", "induction.hidden", "hidden", "original"),
)
"""Programs of another cohort, with which the other pools are compared (Tables F.1 to F.5)."""

EVERY_POOL: Final[dict[str, Pool]] = POOLS | {pool.label: pool for pool in BASE}
