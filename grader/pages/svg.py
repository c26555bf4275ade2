"""A kit for pictures: markup in pixels, y downwards, that escapes what it is given."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grader.pages.words import safe

INKS: Final = (
    "var(--mark)",
    "var(--other)",
    "var(--third)",
    *(f"hsl({hue} 62% 52%)" for hue in (280, 45, 330, 190, 95, 0, 255)),
)
"""A colour for each series, again from the first after ten. Its mark has a shape as well."""

_LARGE: Final = 420
_GROWTH: Final = 1.2
"""How much larger than its size a picture is drawn that is no wider than ``_LARGE``."""

_NARROW: Final = frozenset("ijltfrI.,:;'|!()[]·- ")
_WIDE: Final = frozenset("mwMW@%…")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Svg:
    """A picture: title, size in pixels, elements. An ``inline`` one is never drawn larger."""

    title: str
    width: float
    height: float
    parts: Sequence[str]
    inline: bool = False
    caption: str = ""

    def markup(self) -> str:
        """Return the SVG element, inside a figure where there is a caption."""
        widest = self.width if self.inline or self.width > _LARGE else _GROWTH * self.width
        title, style = safe(self.title), f"max-width:{widest:.0f}px"
        picture = (
            f'<svg viewBox="0 0 {self.width:.0f} {self.height:.0f}" style="{style}" role="img" '
            f'aria-label="{title}" xmlns="http://www.w3.org/2000/svg"><title>{title}</title>'
            f"{''.join(self.parts)}</svg>"
        )
        if not self.caption:
            return picture
        caption = f"<figcaption>{safe(self.caption)}</figcaption>"
        return f'<figure style="{style}">{caption}{picture}</figure>'


def element(tag: str, inside: str = "", hover: str = "", /, **attributes: str | float) -> str:
    """Return an element around finished markup. ``kind`` is its class, ``_`` in names a hyphen."""
    named = "".join(
        f' {"class" if name == "kind" else name.replace("_", "-")}="'
        f'{safe(value, 100_000) if isinstance(value, str) else f"{value:.1f}"}"'
        for name, value in attributes.items()
    )
    title = f"<title>{safe(hover)}</title>" if hover else ""
    return f"<{tag}{named}>{title}{inside}</{tag}>"


def line(start: Point, end: Point, hover: str = "", /, **style: str | float) -> str:
    """Return a straight line."""
    (x1, y1), (x2, y2) = start, end
    return element("line", "", hover, x1=x1, y1=y1, x2=x2, y2=y2, **style)


def arrow(
    start: Point, end: Point, hover: str = "", size: float = 7, bend: Point | None = None, /,
    **style: str | float,
) -> str:  # fmt: skip
    """Return a line with a head at its end, curved towards ``bend`` if given, in one group."""
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
    size: float = 13,
) -> str:  # fmt: skip
    """Return text at its baseline. What does not fit into ``room`` is cut and shows on hovering."""
    cut = fit(value, room, size) if room else value
    more = {"style": f"font-size:{size:g}px"} if size != 13 else {}
    if kind:
        more["kind"] = kind
    hover = value if cut != value else ""
    return element("text", safe(cut, 400), hover, x=x, y=y, text_anchor=anchor, **more)


def width_of(value: str, size: float = 13) -> float:
    """Return about how wide text is in the page's font, which only a browser could measure."""
    return size * sum(
        0.36 if c in _NARROW else 0.95 if c in _WIDE else 0.7 if c.isupper() else 0.6 for c in value
    )


def fit(value: str, room: float, size: float = 13) -> str:
    """Return as much of a text as fits into ``room``, with dots where something is left out."""
    cut = value
    while cut and width_of(cut if cut == value else f"{cut}…", size) > room:
        cut = cut[:-1]
    return cut if cut == value else f"{cut}…"


@dataclass(frozen=True, slots=True)
class Scale:
    """A map of values from ``low`` to ``high`` to pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = (math.log10(bound) for bound in (low, high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)


def ink(series: int) -> str:
    """Return the colour of a series."""
    return INKS[series % len(INKS)]


def mark(series: int, x: float, y: float, hover: str = "") -> str:
    """Return the mark of a series around (x, y): a circle, a diamond or a square, in its colour."""
    fill = f"fill:{ink(series)}"
    if series % 3 == 0:
        return element("circle", "", hover, cx=x, cy=y, r=5, style=fill)
    if series % 3 == 1:
        shape = f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"
        return element("path", "", hover, d=shape, style=fill)
    return element("rect", "", hover, x=x - 4.5, y=y - 4.5, width=9, height=9, style=fill)
