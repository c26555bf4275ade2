"""Five ways of telling a Boolean context: what its variables, bits and cases are called.

A theme supplies words only; :mod:`builder.ccr.ask.text` puts them into sentences. The threshold
that a story prints is ten times the probability of meeting it (as in the
reference, so that prompts are comparable); nothing says that amounts are spread evenly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

_NAMES: Final = """
Aino Amara Anselm Arlo Asha Basil Beatriz Bela Bodil Caius Carys Chidi Cosima Dara
Delphine Dov Edda Eloise Emre Enzo Farida Fenna Finlay Gaia Gideon Greta Hakan Hedda Hiro
Idris Imani Ines Isolde Jaro Jelena Joss Kaito Keziah Klara Lazlo Leda Linnea Lucan Maeve
Malik Marit Mina Nadia Nico Noor Odile Olga Oscar Paloma Petra Quentin Rafi Renske
Rosalind Sami Selma Signe Soren Tamar Teo Thora Ulla Umar Vera Viggo Wanda Wim Xenia Yara
Yusuf Zelda Zoran
""".split()  # noqa: SIM905 (a list literal would fill a page)

MAX_NODES: Final = len(_NAMES)
"""Variables that every theme has names for."""

PALETTE: Final = {
    "red": ("crimson", "scarlet", "ruby", "vermilion"),
    "blue": ("azure", "cobalt", "navy", "indigo"),
    "yellow": ("amber", "lemon", "saffron", "canary"),
    "white": ("ivory", "pearl", "chalk", "snow"),
}
"""Colours and their shades, printed in every FlowerGarden prompt."""

_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_VARIETY: Final = 12
"""Wordings prepared for each value of a bit."""


@dataclass(frozen=True, slots=True)
class Words:
    """How one context is told. Tuples are aligned with its nodes.

    ``items[v]`` are the ways in which a case says that the bit of node v is zero, and one;
    ``extras`` are further items that mean nothing, each with its wordings.
    """

    theme: str
    names: tuple[str, ...]
    states: tuple[str, ...]
    negations: tuple[str, ...]
    questions: tuple[str, ...]
    owns: tuple[str, ...]
    items: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    extras: tuple[tuple[str, ...], ...]
    intro: str
    case_note: str
    regardless: str


Theme = Callable[[Sequence[int], np.random.Generator], Words]
"""From ten times each bit's probability to the words of a context."""


def _people(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(_NAMES[k] for k in rng.permutation(len(_NAMES))[:count])


def _codes(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Distinct codes of two letters and two digits."""
    found: dict[str, None] = {}
    while len(found) < count:
        letters = "".join(_LETTERS[k] for k in rng.integers(0, len(_LETTERS), 2))
        found[f"{letters}{int(rng.integers(10, 100))}"] = None
    return tuple(found)


def _amounts(threshold: int, met: bool, rng: np.random.Generator) -> list[int]:
    low, high = (threshold, 10) if met else (1, threshold - 1)
    return [int(n) for n in rng.integers(low, high + 1, _VARIETY)]


def candy_party(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    """Guests, candies, and who is happy because of whom."""
    names = _people(len(tenths), rng)
    return Words(
        "CandyParty",
        names,
        tuple(f"{name} is happy" for name in names),
        tuple(f"{name} is not happy" for name in names),
        tuple(f"Is {name} happy?" for name in names),
        tuple(f"{name} gets at least {t} candies" for name, t in zip(names, tenths, strict=True)),
        tuple(
            (
                tuple(f"{name} {n}" for n in _amounts(t, False, rng)),
                tuple(f"{name} {n}" for n in _amounts(t, True, rng)),
            )
            for name, t in zip(names, tenths, strict=True)
        ),
        (),
        "A tray of candies goes around at a birthday party. Whether a guest is happy depends on "
        "the guest's own share and, for some guests, on whether certain others are happy. The "
        "music, the cake and the weather change nobody's mood.",
        "A case lists how many candies each guest gets.",
        "however the candies are handed out and however anybody else feels",
    )


def flower_garden(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    """Gardeners, cut flowers of many shades, and who is delighted because of whom."""
    names = _people(len(tenths), rng)
    colours = [list(PALETTE)[k] for k in rng.integers(0, len(PALETTE), len(tenths))]
    shades = ", ".join(f"{colour} ({', '.join(PALETTE[colour])})" for colour in PALETTE)
    other = [[s for c in PALETTE if c != colour for s in PALETTE[c]] for colour in colours]
    return Words(
        "FlowerGarden",
        names,
        tuple(f"{name} is delighted" for name in names),
        tuple(f"{name} is not delighted" for name in names),
        tuple(f"Is {name} delighted?" for name in names),
        tuple(f"{name} is given a {c} flower" for name, c in zip(names, colours, strict=True)),
        tuple(
            (
                tuple(f"{name} {shade}" for shade in shaded),
                tuple(f"{name} {shade}" for shade in PALETTE[colour]),
            )
            for name, shaded, colour in zip(names, other, colours, strict=True)
        ),
        (),
        "The members of an allotment society each take home one cut flower. Whether a member is "
        "delighted depends on the flower's colour and, for some, on whether certain other members "
        f"are delighted. The shades of each colour are: {shades}. Scent and stem length do not "
        "matter to anyone.",
        "A case lists the shade of the flower each member is given.",
        "whichever flowers are given out and however the other members feel",
    )


def flu_vaccine(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    """Colleagues who get a flu shot after days of high fever or because others got theirs."""
    names = _people(len(tenths), rng)

    def told(name: str, high: int) -> str:
        parts = [f"high fever {high}"]
        others = rng.integers(1, 10, 2).tolist()
        parts += [f"low fever {others[0]}", f"cough {others[1]}"]
        return f"{name}: " + ", ".join(parts[k] for k in rng.permutation(3))

    return Words(
        "FluVaccine",
        names,
        tuple(f"{name} gets the flu shot" for name in names),
        tuple(f"{name} does not get the flu shot" for name in names),
        tuple(f"Does {name} get the flu shot?" for name in names),
        tuple(
            f"{name} has had at least {t} days of high fever"
            for name, t in zip(names, tenths, strict=True)
        ),
        tuple(
            (
                tuple(told(name, n) for n in _amounts(t, False, rng)),
                tuple(told(name, n) for n in _amounts(t, True, rng)),
            )
            for name, t in zip(names, tenths, strict=True)
        ),
        (),
        "An office nurse offers flu shots after a hard winter. Whether a colleague gets one "
        "depends on that colleague's days of high fever and, for some, on whether certain "
        "colleagues get theirs. Low fever and cough are noted, but decide nothing.",
        "A case lists, for each colleague, the days of high fever, of low fever and of cough.",
        "whatever the fevers were and whatever the other colleagues do",
    )


def clinical_notes(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    """Laboratory markers raised by inherited alleles and by one another."""
    count = len(tenths)
    codes = _codes(2 * count + 4, rng)
    markers, alleles, others = codes[:count], codes[count : 2 * count], codes[2 * count :]
    return Words(
        "ClinicalNotes",
        markers,
        tuple(f"marker {code} is raised" for code in markers),
        tuple(f"marker {code} is not raised" for code in markers),
        tuple(f"Is marker {code} raised?" for code in markers),
        tuple(f"the patient carries allele {code}" for code in alleles),
        tuple(((f"allele {code} absent",), (f"allele {code} present",)) for code in alleles),
        tuple((f"allele {code} absent", f"allele {code} present") for code in others),
        "A ward keeps notes on a panel of laboratory markers. Whether a marker is raised depends "
        "on one inherited allele and, for some markers, on whether certain other markers are "
        "raised. Alleles that are not mentioned below, age and diet do not matter.",
        "A case lists which alleles were found in one patient.",
        "whatever alleles the patient carries and whatever the other markers show",
    )


def abstract(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    """Variables and switches, no story."""
    count = len(tenths)
    numbers = (rng.permutation(90) + 10).tolist()
    switches = (rng.permutation(90) + 10).tolist()[:count]
    names = tuple(f"V{n}" for n in numbers[:count])
    return Words(
        "abstract",
        names,
        tuple(f"{name} is true" for name in names),
        tuple(f"{name} is false" for name in names),
        tuple(f"Is {name} true?" for name in names),
        tuple(f"switch {n} is on" for n in switches),
        tuple(((f"switch {n} off",), (f"switch {n} on",)) for n in switches),
        (),
        "Each variable is true or false, as determined by one switch and by other variables.",
        "A case lists the position of every switch.",
        "whatever the switches and the other variables are",
    )


THEMES: Final[dict[str, Theme]] = {
    "CandyParty": candy_party,
    "FlowerGarden": flower_garden,
    "FluVaccine": flu_vaccine,
    "ClinicalNotes": clinical_notes,
    "abstract": abstract,
}
