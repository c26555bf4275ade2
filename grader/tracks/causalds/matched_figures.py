"""Figures 9 and 10 of CausalDS: the loss of every matched pair, and what their mean is made of."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.draw.charts import WIDTH
from grader.draw.svg import Scale, Svg, element, ink, legend, line, words
from grader.draw.words import number, signed
from grader.show.systems import Part

DRAWN: Final = 24
"""Pairs in a picture; the table has all that a report lists."""
_CELL: Final = 64.0
_ROW: Final = 24.0
_LABEL: Final = 150.0
_BAR: Final = 44.0

Cells = Mapping[str, Mapping[str, tuple[float, str]]]
"""By pair and arm: the capped loss, and what to write in its place or beside it."""


def every_pair(part: Part) -> list[Svg]:
    """Figure 9: a row a pair and a column a view, darker where more was lost; how an answer failed
    stands in its cell. Nothing without matched views."""
    cells = _cells(part)
    if not cells:
        return []
    arms = list(dict.fromkeys(arm for row in cells.values() for arm in row))
    shown = list(cells.items())[:DRAWN]
    parts = [
        words(_LABEL + _CELL * (k + 0.5), 14, arm, "axis", "middle", room=_CELL)
        for k, arm in enumerate(arms)
    ]
    for place, (name, row) in enumerate(shown):
        y = 20 + _ROW * place
        parts.append(words(4, y + 16, name, "label", room=_LABEL - 10, size=12))
        for k, arm in enumerate(arms):
            if arm in row:
                parts.append(_cell(_LABEL + _CELL * k, y, *row[arm]))
    width = max(WIDTH, _LABEL + _CELL * len(arms) + 6)
    caption = f"Figure 9: {part['system']}"
    return [Svg(caption, width, 24 + _ROW * len(shown), parts, caption=caption)]


def _cells(part: Part) -> Cells:
    found: dict[str, dict[str, tuple[float, str]]] = {}
    contrasts = (part.get("matched") or {}).get("contrasts", ())
    reference = contrasts[0]["reference"] if contrasts else ""
    for row in (part.get("matched") or {}).get("pairs", ()):
        of_pair = found.setdefault(row["bundle"], {})
        of_pair[reference] = _told(row, "reference_")
        of_pair[row["arm"]] = _told(row, "")
    return found


def _told(row: Mapping[str, Any], side: str) -> tuple[float, str]:
    """The loss of one side of a pair, and the cause where it has no valid answer."""
    loss, mark = row[f"{side}loss"], row[f"{side}mark"]
    if row[f"{side}valid"]:
        return loss, number(loss, 2) + ("*" if mark else "")
    return loss, mark or "none"


def _cell(x: float, y: float, loss: float, told: str) -> str:
    box = {"x": x + 1, "y": y + 1, "width": _CELL - 2, "height": _ROW - 2, "rx": 3}
    shade = f"{0.06 + 0.94 * min(1.0, max(0.0, loss)):.2f}"
    drawn = element("rect", "", f"loss {number(loss)}", kind="heat", fill_opacity=shade, **box)
    kind = "cell on" if loss > 0.55 else "cell off"
    return drawn + words(x + _CELL / 2, y + 16, told, kind, "middle", room=_CELL - 4, size=12)


def decomposed(parts: Sequence[Part]) -> list[Svg]:
    """Figure 10: the mean paired difference of each contrast as a bar of its parts."""
    rows = [
        (f"{part['system']}: {one['arm']} − {one['reference']}", one)
        for part in parts
        for one in (part.get("matched") or {}).get("contrasts", ())
    ]
    if not rows:
        return []
    kinds = list(rows[0][1]["parts"])
    ends = [_ends([one["parts"][kind]["contribution"] for kind in kinds]) for _, one in rows]
    low, high = min(0.0, *(a for a, _ in ends)), max(0.1, *(b for _, b in ends))
    x = Scale(low, high, 10, WIDTH - 10)
    height = 10 + _BAR * len(rows)
    drawn = [line((x(0), 6), (x(0), height), kind="grid")]
    for place, (name, one) in enumerate(rows):
        y = 10 + _BAR * place
        drawn.append(words(4, y + 12, name, "label", room=WIDTH - 70, size=12))
        drawn.append(words(WIDTH - 4, y + 12, signed(one["mean"], 2), "value", "end"))
        right = left = 0.0
        for k, kind in enumerate(kinds):
            found = one["parts"][kind]
            size = found["contribution"]
            start = right if size >= 0 else left + size
            right, left = right + max(0.0, size), left + min(0.0, size)
            hover = f"{kind}: {found['pairs']} pairs, {signed(size, 3)}"
            drawn.append(element("rect", "", hover, x=x(start), y=y + 18, height=16,
                                 width=max(0.0, x(start + abs(size)) - x(start)),
                                 style=f"fill:{ink(k)};fill-opacity:.8"))  # fmt: skip
    marks, bottom = legend([f"pairs {kind}" for kind in kinds], 14, height + 14, WIDTH - 40)
    caption = "Figure 10: the mean difference of the capped loss, by its parts"
    return [Svg(caption, WIDTH, bottom, [*drawn, *marks], caption=caption)]


def _ends(sizes: Sequence[float]) -> tuple[float, float]:
    return sum(min(0.0, size) for size in sizes), sum(max(0.0, size) for size in sizes)
