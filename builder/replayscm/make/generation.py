"""How programs of the paper's pools, and the worlds that show them, are drawn."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

OPERATORS: Final = ("not", "and", "or", "xor", "iff")


@dataclass(frozen=True, slots=True)
class Generation:
    """Settings of one cohort of programs; by default those of the paper's released records.

    ``variables``, ``sizes`` (AST nodes of a mechanism), ``depths`` and ``rows`` (of a world) are
    the least and the most, ``operators`` those that mechanisms are drawn from (ReplaySCM Table
    B.1). ``proposals`` is the number of worlds that shortcuts are ruled out with, eight for none to
    choose from; a program is kept if that rules out a share of ``survivor_reduction`` of them, if
    each computed variable is computed in ``scored_worlds`` worlds and ``scored_cells`` cells, and
    with ``disambiguation`` up to three worlds are added that rule out local alternatives (Table
    B.2).
    """

    variables: tuple[int, int] = (6, 10)
    operators: tuple[str, ...] = OPERATORS
    sizes: tuple[int, int] = (3, 14)
    depths: tuple[int, int] = (2, 6)
    rows: tuple[int, int] = (10, 12)
    proposals: int = 200
    survivor_reduction: float = 0.75
    scored_worlds: int = 3
    scored_cells: int = 33
    disambiguation: bool = True

    def changes(self) -> dict[str, Any]:
        """What differs from the paper's."""
        usual = asdict(PAPER)
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @staticmethod
    def of(changes: Mapping[str, Any]) -> "Generation":
        """The settings of which :meth:`changes` said so."""
        told: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in changes.items()
        }
        return replace(PAPER, **told)


PAPER: Final = Generation()
BASE: Final = Generation(disambiguation=False)
"""The cohort that the paper's Tables F.1 to F.5 compare with."""
