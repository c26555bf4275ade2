"""How programs of the paper's pools, and the worlds that show them, are drawn."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from builder.settings import STRICT, Fault
from builder.values import Ordered, Share, some_of

OPERATORS: Final = ("not", "and", "or", "xor", "iff")

_Variables = Annotated[int, Field(ge=4, le=10)]
_Size = Annotated[int, Field(ge=2, le=40)]
_Depth = Annotated[int, Field(ge=1, le=20)]
_Rows = Annotated[int, Field(ge=2, le=16)]


def _joining(operators: tuple[str, ...]) -> tuple[str, ...]:
    if operators == ("not",):
        raise Fault("one of and, or, xor and iff must join the parents")
    return operators


@dataclass(frozen=True, slots=True, config=STRICT)
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

    variables: Annotated[tuple[_Variables, _Variables], Ordered] = (6, 10)
    operators: Annotated[tuple[str, ...], some_of(OPERATORS), AfterValidator(_joining)] = OPERATORS
    sizes: Annotated[tuple[_Size, _Size], Ordered] = (3, 14)
    depths: Annotated[tuple[_Depth, _Depth], Ordered] = (2, 6)
    rows: Annotated[tuple[_Rows, _Rows], Ordered] = (10, 12)
    proposals: Annotated[int, Field(ge=8, le=2_000)] = 200
    survivor_reduction: Share = 0.75
    scored_worlds: Annotated[int, Field(ge=1, le=8)] = 3
    scored_cells: Annotated[int, Field(ge=1, le=128)] = 33
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
