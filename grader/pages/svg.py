"""A small kit for pictures: elements, measured words, scales, axes, marks and legends.

Coordinates are pixels of the picture's own box, y downwards; the box scales with the page. Every
function returns markup, with what it was given as text escaped.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from grader.pages.words import safe

_HUES: Final = (280, 45, 330, 190, 95, 0, 255)
INKS: Final = (
    "var(--mark)",
    "var(--other)",
    "var(--third)",
    *(f"hsl({hue} 62% 52%)" for hue in _HUES),
)
"""One per series, from the start again after ten; its mark has a shape as well."""

_LARGE: Final = 420
_GROWTH: Final = 1.2
"""How much larger than its size a picture is drawn that is no wider than a telephone."""

_NARROW: Final = frozenset("ijltfrI.,:;'|!()[]·- ")
_WIDE: Final = frozenset("mwMW@%…")


@dataclass(frozen=True, slots=True)
class Svg:
    """A picture, from ``top`` down; pictures stand side by side where there is room.

    ``inline`` ones are never drawn larger than they are. A ``caption`` stands above it.
    """

    title: str
    width: float
    height: float
    parts: Sequence[str]
    inline: bool = False
    top: float = 0
    caption: str = ""

    def with_caption(self, caption: str) -> "Svg":
        """The picture under a caption."""
        return replace(self, caption=caption)

    def markup(self) -> str:
        """The whole element, which shrinks with the page and grows a little beyond its size."""
        widest = self.width if self.inline or self.width > _LARGE else _GROWTH * self.width
        title = safe(self.title)
        box = f"0 {self.top:.0f} {self.width:.0f} {self.height:.0f}"
        style = f"max-width:{widest:.0f}px"
        picture = (
            f'<svg viewBox="{box}" style="{style}" role="img" '
            f'aria-label="{title}" xmlns="http://www.w3.org/2000/svg"><title>{title}</title>'
            f"{''.join(self.parts)}</svg>"
        )
        if not self.caption:
            return picture
        told = f"<figcaption>{safe(self.caption)}</figcaption>"
        return f'<figure style="{style}">{told}{picture}</figure>'


def element(tag: str, inside: str = "", hover: str = "", /, **attributes: str | float) -> str:
    """One element around finished markup; ``kind`` is its class, ``_`` in a name means ``-``."""
    named = "".join(
        f' {"class" if name == "kind" else name.replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
    )
    told = f"<title>{safe(hover)}</title>" if hover else ""
    return f"<{tag}{named}>{told}{inside}</{tag}>"


def _value(value: str | float) -> str:
    return safe(value, 100_000) if isinstance(value, str) else f"{value:.1f}"


def line(
    start: tuple[float, float], end: tuple[float, float], hover: str = "", /, **style: str | float
) -> str:
    """A straight line."""
    (x1, y1), (x2, y2) = start, end
    return element("line", "", hover, x1=x1, y1=y1, x2=x2, y2=y2, **style)


def arrow(
    start: tuple[float, float], end: tuple[float, float], hover: str = "", size: float = 7,
    bend: tuple[float, float] | None = None, /, **style: str | float,
) -> str:  # fmt: skip
    """A line with a head at its end, in one group that has the style.

    With ``bend`` it is a curve, which starts towards that point and comes from it.
    """
    (x1, y1), (x2, y2) = bend or start, end
    length = math.hypot(x2 - x1, y2 - y1) or 1
    along, beside = size * (x2 - x1) / length, size * (y2 - y1) / length
    x, y = x2 - along, y2 - beside
    head = (
        f"M{x2:.1f} {y2:.1f}L{x - beside / 2:.1f} {y + along / 2:.1f}"
        f"L{x + beside / 2:.1f} {y - along / 2:.1f}z"
    )
    shaft = line(start, (x, y))
    if bend is not None:
        points = (f"{a:.1f} {b:.1f}" for a, b in (start, bend, (x, y)))
        shaft = element("path", d="M{} Q{} {}".format(*points), style="fill:none")
    return element("g", shaft + element("path", d=head, kind="head"), hover, **style)


def words(
    x: float, y: float, value: str, kind: str = "", anchor: str = "start", room: float = 0,
    size: float = 13, **more: str,
) -> str:  # fmt: skip
    """Text at its baseline; where it has no ``room``, it is cut and the whole shows on hovering."""
    cut = fit(value, room, size) if room else value
    if size != 13:
        more["style"] = f"font-size:{size:g}px"
    if kind:
        more["kind"] = kind
    hover = value if cut != value else ""
    return element("text", safe(cut, 400), hover, x=x, y=y, text_anchor=anchor, **more)


def width_of(value: str, size: float = 13) -> float:
    """About how wide text is in the page's font, which nobody can ask without a browser."""
    units = (
        0.36 if c in _NARROW else 0.95 if c in _WIDE else 0.7 if c.isupper() else 0.6
        for c in value
    )  # fmt: skip
    return size * sum(units)


def fit(value: str, room: float, size: float = 13) -> str:
    """As much of ``value`` as fits into ``room``, with dots where something is left out."""
    if width_of(value, size) <= room:
        return value
    kept = value
    while kept and width_of(f"{kept}…", size) > room:
        kept = kept[:-1]
    return f"{kept}…"


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = (math.log10(bound) for bound in (low, high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)


_ROUNDING: Final = 1e-9


def rounded_up(value: float) -> float:
    """Return the least of 1, 2, 4 or 8 times a power of ten, from a hundredth, that is no less.

    1 for what only rounding keeps from 0.
    """
    if value <= _ROUNDING:
        return 1.0
    base = 10.0 ** max(-2, math.floor(math.log10(value)))
    return next(factor * base for factor in (1, 2, 4, 8, 10) if factor * base >= value)


Ticks = Iterable[tuple[float, str]]


def quarters(low: float, high: float) -> list[tuple[float, str]]:
    """Five ticks from one end of an axis to the other."""
    values = [low + (high - low) * share for share in (0, 0.25, 0.5, 0.75, 1)]
    return [(value, f"{value:g}") for value in values]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of clouds: its name, its ends, and its ticks."""

    name: str
    low: float = 0.0
    high: float = 1.0
    ticks: Sequence[tuple[float, str]] = tuple(quarters(0, 1))
    log: bool = False

    @staticmethod
    def round(name: str, values: Sequence[float]) -> "Axis":
        """The axis from 0, or a round number below all values, to one above them."""
        low = -rounded_up(-min(values)) if min(values) < 0 else 0.0
        high = rounded_up(max(values))
        return Axis(name, low, high, quarters(low, high))

    @staticmethod
    def powers(name: str, values: Sequence[float]) -> "Axis":
        """The logarithmic axis between powers of ten; all values are positive."""
        low = math.floor(math.log10(min(values)))
        high = max(math.ceil(math.log10(max(values))), low + 1)
        step = max(1, math.ceil((high - low) / 5))
        ticks = [(10.0**power, _power(power)) for power in range(low, high + 1, step)]
        return Axis(name, 10.0**low, 10.0**high, ticks, log=True)


def _power(power: int) -> str:
    """10 to a power as a short number."""
    for size, unit in ((9, "G"), (6, "M"), (3, "k")):
        if power >= size:
            return f"{10 ** (power - size):,}{unit}"
    return f"{10**power:g}"


def axes(
    x: Scale, y: Scale, across: Ticks, upwards: Ticks, title: str = "", upright: bool = False,
    room: float = 0,
) -> list[str]:  # fmt: skip
    """Level lines at the ticks ``upwards``, names at those ``across``, a title below.

    With ``upright`` there are upright lines too. Where names need more ``room`` than they have,
    they are written smaller, on two lines by turns.
    """
    parts = []
    for value, name in upwards:
        at = y(value)
        parts.append(line((x.start, at), (x.end, at), kind="grid"))
        parts.append(words(x.start - 8, at + 4, name, "axis", "end"))
    ticks = list(across)
    size = 12.0
    if room:
        widest = max((width_of(name, size) for _, name in ticks), default=0)
        size = max(9.0, min(12.0, 12 * room / (widest or 1)))
    crowded = bool(room) and any(width_of(name, size) > room for _, name in ticks)
    for place, (value, name) in enumerate(ticks):
        at = x(value)
        if upright:
            parts.append(line((at, y.start), (at, y.end), kind="grid"))
        down = 16 + 12 * (place % 2 if crowded else 0)
        space = 2 * room if crowded else 0
        parts.append(words(at, y.start + down, name, "axis", "middle", space, size))
    if title:
        parts.append(words((x.start + x.end) / 2, y.start + 40, title, "axis", "middle"))
    return parts


def ink(series: int) -> str:
    """The colour of a series."""
    return INKS[series % len(INKS)]


def mark(series: int, x: float, y: float, hover: str = "") -> str:
    """Circle, diamond or square: colour is never the only carrier."""
    fill = f"fill:{ink(series)}"
    if series % 3 == 0:
        return element("circle", "", hover, cx=x, cy=y, r=5, style=fill)
    if series % 3 == 1:
        shape = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"
        return element("path", "", hover, d=shape, style=fill)
    return element("rect", "", hover, x=x - 4.5, y=y - 4.5, width=9, height=9, style=fill)


def legend(
    names: Sequence[str], x: float, top: float, room: float = 250
) -> tuple[list[str], float]:
    """The marks of all series below each other, each with its name; and where they end."""
    height = 20
    parts = [
        mark(series, x, top + height * series)
        + words(x + 14, top + 4 + height * series, name, room=room)
        for series, name in enumerate(names)
    ]
    return parts, top + height * len(names)
