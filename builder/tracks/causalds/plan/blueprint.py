"""Compose a split: how many scenes of which structure, by largest remainder.

Quotas count *true* verdicts: a scene counts as not identifiable when its graph is. Motifs come
first. Planted structures take their share out of confounding's, injected latent confounders out of
the motifs that they make unidentifiable, and grafts go to motifs that can carry them. At last
harmless latent variables are added until enough of the scenes with an unmeasured variable are
identifiable (``docs/causalds-scenes.md``).
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from pydantic import AfterValidator, Field

from builder.graphs.identification import is_identifiable
from builder.graphs.motifs import (
    AUXILIARY,
    HOSTS,
    MOTIFS,
    PLANTED,
    Motif,
    add_confounder,
    confounding_spoils,
    harmless_latent,
    random_graft,
)
from builder.splits.settings import (
    Fault,
    Share,
    TomlModel,
    Weight,
    check_keys,
    check_positive,
    weights_of,
)
from builder.tracks.causalds.design.shares import count_of, largest_remainder

PLANTED_FROM: Final = "confounding"
"""The motif whose quota the planted structures are taken from."""

CATALOGUE: Final = {**MOTIFS, **PLANTED}


def _check_planted(shares: dict[str, float]) -> dict[str, float]:
    """Return the positive shares in the order of ``PLANTED``, or raise :class:`Fault`."""
    check_keys(shares, PLANTED)
    if sum(shares.values()) > 1.0:
        raise Fault("the shares add up to more than 1; lower them")
    return {name: shares[name] for name in PLANTED if shares.get(name)}


class Composition(TomlModel):
    """Requested shares. ``motifs``, ``auxiliary`` and ``planted`` map names to weights or shares.
    ``grafts`` are the shares of scenes with 0, 1, 2 ... grafts. ``confounded`` is the share of all
    scenes that get a latent confounder which makes them unidentifiable. ``harmless`` is the
    smallest share of identifiable scenes among those with an unmeasured variable."""

    motifs: Annotated[dict[str, Weight], weights_of(MOTIFS, ordered=True)] = Field(
        description="a table of weights such as { chain = 1 }"
    )
    grafts: Annotated[tuple[Weight, ...], AfterValidator(check_positive)] = Field(
        min_length=1,
        max_length=4,
        description="a list of the shares of scenes with 0, 1, 2 ... grafts, at most 4 of them, "
        "such as [0.7, 0.2, 0.1]",
    )
    auxiliary: Annotated[dict[str, Weight], weights_of(AUXILIARY, ordered=True)]
    confounded: Share = 0.0
    planted: Annotated[dict[str, Share], AfterValidator(_check_planted)] = Field(
        default={}, description="a table of shares such as { napkin = 0.02 }"
    )
    harmless: Share = 0.0


def motif_counts(composition: Composition, scenes: int) -> dict[str, int]:
    """Return the number of scenes by motif and planted structure. Planted ones are taken from those
    of ``PLANTED_FROM``. Raises :class:`Fault` where that has too few."""
    counts, planted = largest_remainder(composition.motifs, scenes), composition.planted
    if not planted:
        return counts
    if PLANTED_FROM not in counts:
        raise Fault(
            f"planted structures take the place of scenes of motif '{PLANTED_FROM}', which has no "
            "weight; give it one, or plant nothing: planted = {}",
            "planted",
        )
    rest = max(0.0, 1.0 - sum(planted.values()))
    wanted = largest_remainder({**planted, "": rest}, scenes)
    taken, there = sum(wanted[name] for name in planted), counts[PLANTED_FROM]
    if taken > there:
        raise Fault(
            f"{taken} scenes are wanted out of the {there} of motif '{PLANTED_FROM}'; give that "
            "motif a larger weight, or plant fewer",
            "planted",
        )
    return {**counts, PLANTED_FROM: there - taken, **{name: wanted[name] for name in planted}}


def check_quotas(composition: Composition, scenes: int) -> None:
    """Raise :class:`Fault` where the motifs leave too few scenes for the planted structures, the
    grafts or the confounders. All is worked out from counts alone."""
    counts = motif_counts(composition, scenes)
    wanted = _graft_counts(composition, scenes)
    hosts = sum(n for name, n in counts.items() if name in HOSTS)
    grafted = sum(wanted[1:])
    if grafted > hosts:
        raise Fault(
            f"{grafted} scenes with grafts are wanted, but only {hosts} have a motif that can "
            f"carry one ({', '.join(HOSTS)}); ask for fewer, or for more of these motifs",
            "grafts",
        )
    spoiled = count_of(composition.confounded, scenes)
    able = {name for name, motif in MOTIFS.items() if confounding_spoils(motif)}
    there = sum(n for name, n in counts.items() if name in able)
    if spoiled > there:
        raise Fault(
            f"{spoiled} scenes are to become unidentifiable by a latent confounder, but only "
            f"{there} have a motif that one makes so ({', '.join(sorted(able))}); lower the share, "
            "or ask for more of these motifs",
            "confounded",
        )


def draw_motifs(
    composition: Composition, scenes: int, rng: np.random.Generator
) -> list[tuple[Motif, str]]:
    """Return the grown motif of each scene and its label (motif or ``grafted_<k>``), sorted by
    motif, then label. Raises :class:`Fault` where a quota cannot be met."""
    check_quotas(composition, scenes)
    counts = motif_counts(composition, scenes)
    found = [CATALOGUE[name] for name, n in counts.items() for _ in range(n)]
    labels = [motif.name for motif in found]
    hosts = [i for i, motif in enumerate(found) if motif.name in HOSTS]
    numbers = [k for k, n in enumerate(_graft_counts(composition, scenes)) if k for _ in range(n)]
    chosen = _spread_evenly(rng, hosts, len(numbers))
    for place, turn in zip(chosen, rng.permutation(len(numbers)).tolist(), strict=True):
        for number in range(1, numbers[turn] + 1):
            found[place] = random_graft(rng, found[place], composition.auxiliary, number)
        labels[place] = f"grafted_{numbers[turn]}"
    # Confounders only where they make the ATE unidentifiable.
    able = [i for i, one in enumerate(found) if one.name in MOTIFS and confounding_spoils(one)]
    for place in _spread_evenly(rng, able, count_of(composition.confounded, scenes)):
        found[place] = add_confounder(found[place])
    _add_harmless(composition, rng, found)
    order = list(CATALOGUE)
    rows = zip(found, labels, strict=True)
    return sorted(rows, key=lambda row: (order.index(row[0].name), row[1]))


def _graft_counts(composition: Composition, scenes: int) -> list[int]:
    shares = {str(k): share for k, share in enumerate(composition.grafts)}
    return list(largest_remainder(shares, scenes).values())


def _spread_evenly(rng: np.random.Generator, places: Sequence[int], count: int) -> list[int]:
    """Return ``count`` of ``places`` (at most all), evenly spaced from a random start."""
    if not count:
        return []
    start = int(rng.integers(len(places)))
    turned = [*places[start:], *places[:start]]
    return [turned[(i * len(turned)) // count] for i in range(count)]


def _add_harmless(composition: Composition, rng: np.random.Generator, found: list[Motif]) -> None:
    """Add harmless latent variables until the share is met, or raise :class:`Fault`."""
    unmeasured = [motif for motif in found if motif.graph.latent]
    spoiled = sum(not is_identifiable(*motif.effect, "ate") for motif in unmeasured)
    fine = len(unmeasured) - spoiled
    if composition.harmless <= 0.0 or not spoiled:
        return
    share = composition.harmless
    if share >= 1.0:
        raise Fault("must be less than 1 while some scenes are not identifiable", "harmless")
    wanted = math.ceil(share * spoiled / (1.0 - share) - 1e-9) - fine
    able = [
        i
        for i, motif in enumerate(found)
        if motif.name in MOTIFS and not motif.graph.latent and is_identifiable(*motif.effect, "ate")
    ]
    if wanted > len(able):
        raise Fault(
            f"{wanted} scenes without an unmeasured variable are needed to meet it, there are "
            f"{len(able)}; ask for less, or for fewer scenes that are not identifiable",
            "harmless",
        )
    for place in _spread_evenly(rng, able, max(0, wanted)):
        grown = harmless_latent(rng, found[place])
        if grown is None:
            raise Fault(f"no harmless place in a scene of {found[place].name}", "harmless")
        found[place] = grown
