"""Five ways of telling a Boolean context: what its variables, bits and cases are called.

A theme supplies words only, most of them from ``themes.toml``; :mod:`builder.tracks.ccr.text` puts
them into sentences. The threshold that a story prints is ten times the probability of meeting it
(as in the reference, so that prompts are comparable); nothing says that amounts are spread evenly.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from builder.stories.texts import Texts

_TEXTS: Final = Texts(__file__)
_NAMES: Final = _TEXTS["names"].split()
_PALETTE: Final[dict[str, list[str]]] = _TEXTS["palette"]

MAX_NODES: Final = len(_NAMES)
"""Variables that every theme has names for."""


Items = tuple[tuple[str, ...], tuple[str, ...]]
"""Ways of saying that a bit is zero, and that it is one."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one context. Tuples are aligned with its nodes.

    ``states[v]`` and ``negations[v]`` say that node v is one, and zero. ``questions[v]`` asks
    whether it is one. ``owns[v]`` says that its exogenous bit is one. ``items[v]`` are the ways in
    which a case says that this bit is zero, and one. ``extras`` are further items that mean
    nothing, each with its wordings.
    """

    names: tuple[str, ...]
    states: tuple[str, ...]
    negations: tuple[str, ...]
    questions: tuple[str, ...]
    owns: tuple[str, ...]
    items: tuple[Items, ...]
    extras: tuple[tuple[str, ...], ...]
    intro: str
    case_note: str


Theme = Callable[[Sequence[int], np.random.Generator], Words]
"""From ten times each bit's probability to the words of a context."""


def _people(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(_NAMES[k] for k in rng.permutation(len(_NAMES))[:count])


def _amounts(
    name: str, threshold: int, tell: Callable[[str, int], str], rng: np.random.Generator
) -> Items:
    """Return 12 wordings of random amounts from 1 to ``threshold`` - 1, and 12 of amounts from
    ``threshold`` to 10. ``tell`` words an amount of ``name``."""
    below, met = (
        tuple(tell(name, n) for n in rng.integers(*ends, 12).tolist())
        for ends in ((1, threshold), (threshold, 11))
    )
    return below, met


def _make_words(
    theme: str,
    names: Sequence[str],
    given: Sequence[object],
    items: Iterable[Items],
    extras: tuple[tuple[str, ...], ...] = (),
    **values: object,
) -> Words:
    """Return the words of a theme for nodes called ``names``. ``given[v]`` is what its sentences
    need besides: a threshold, a colour, a code. ``values`` fill its intro."""
    states, negations, questions, owns = (
        tuple(
            _TEXTS(f"{theme}.{sentence}", name=name, given=own)
            for name, own in zip(names, given, strict=True)
        )
        for sentence in ("state", "negation", "question", "own")
    )
    said = tuple(names), states, negations, questions, owns, tuple(items), extras
    return Words(*said, _TEXTS(f"{theme}.intro", **values), _TEXTS[f"{theme}.case_note"])


def _candy_party(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    names = _people(len(tenths), rng)
    people = zip(names, tenths, strict=True)
    items = [_amounts(name, t, lambda name, n: f"{name} {n}", rng) for name, t in people]
    return _make_words("CandyParty", names, tenths, items)


def _flower_garden(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    names = _people(len(tenths), rng)
    colours = [list(_PALETTE)[k] for k in rng.integers(0, len(_PALETTE), len(tenths))]
    items = [
        (
            tuple(f"{name} {s}" for c in _PALETTE if c != colour for s in _PALETTE[c]),
            tuple(f"{name} {s}" for s in _PALETTE[colour]),
        )
        for name, colour in zip(names, colours, strict=True)
    ]
    shades = ", ".join(f"{colour} ({', '.join(_PALETTE[colour])})" for colour in _PALETTE)
    return _make_words("FlowerGarden", names, colours, items, shades=shades)


def _flu_vaccine(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    names = _people(len(tenths), rng)

    def describe(name: str, high: int) -> str:
        low, cough = rng.integers(1, 10, 2).tolist()
        parts = [f"high fever {high}", f"low fever {low}", f"cough {cough}"]
        return f"{name}: " + ", ".join(parts[k] for k in rng.permutation(3))

    items = [_amounts(name, t, describe, rng) for name, t in zip(names, tenths, strict=True)]
    return _make_words("FluVaccine", names, tenths, items)


def _clinical_notes(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    count, letters = len(tenths), "ABCDEFGHJKLMNPQRSTUVWXYZ"
    found: dict[str, None] = {}
    while len(found) < 2 * count + 4:
        pair = "".join(letters[k] for k in rng.integers(0, len(letters), 2))
        found[f"{pair}{int(rng.integers(10, 100))}"] = None
    codes = tuple(found)
    markers, alleles, others = codes[:count], codes[count : 2 * count], codes[2 * count :]
    told = {code: (f"allele {code} absent", f"allele {code} present") for code in codes}
    items = [((absent,), (present,)) for absent, present in map(told.__getitem__, alleles)]
    return _make_words(
        "ClinicalNotes", markers, alleles, items, tuple(told[code] for code in others)
    )


def _abstract(tenths: Sequence[int], rng: np.random.Generator) -> Words:
    count = len(tenths)
    names = [f"V{n}" for n in (rng.permutation(90) + 10).tolist()[:count]]
    switches = (rng.permutation(90) + 10).tolist()[:count]
    items = [((f"switch {n} off",), (f"switch {n} on",)) for n in switches]
    return _make_words("abstract", names, switches, items)


THEMES: Final[dict[str, Theme]] = {
    "CandyParty": _candy_party,
    "FlowerGarden": _flower_garden,
    "FluVaccine": _flu_vaccine,
    "ClinicalNotes": _clinical_notes,
    "abstract": _abstract,
}
