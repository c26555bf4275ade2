"""Planning: which motif, kinds and (in a private-truth split) variant each scene gets.

Motif counts, and the numbers of binary treatments and outcomes, meet their requested shares by
largest remainder; the kinds are spread evenly over the motifs. Which index receives which of these
plans is a permutation seeded by the split's root, so an index says nothing about its scene.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from builder.causal import MOTIFS
from builder.causalds.ask import ASKERS
from builder.causalds.config import Config
from builder.causalds.types import ScenePlan
from builder.release.types import InstanceSpec
from builder.seeds import hmac_key, id_key, instance_key, public_id, stream
from builder.words import Kind

TRACK_NAME: Final = "causalds"


def plan_scenes(config: Config, split: str, count_root: bytes, private: bool) -> list[InstanceSpec]:
    """The instance specs of a split, in index order."""
    rng = stream(hmac_key(count_root, f"{TRACK_NAME}/{split}/plan"), "plan")
    plans = _with_variants(rng, _plans(config, rng)) if private else _plans(config, rng)
    order = rng.permutation(len(plans))
    return [
        _spec(plans[int(place)], split, index, count_root, private)
        for index, place in enumerate(order)
    ]


def largest_remainder(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole counts that add up to ``total``, in proportion to ``weights`` (Hamilton's method).

    Ties between remainders go to the key that comes first. Raises ``ValueError`` when all weights
    are zero.
    """
    mass = sum(weights.values())
    if mass <= 0:
        raise ValueError("all weights are zero")
    shares = {key: total * weight / mass for key, weight in weights.items()}
    counts = {key: int(share) for key, share in shares.items()}
    keys = list(weights)
    by_remainder = sorted(
        keys, key=lambda key: (-round(shares[key] - counts[key], 9), keys.index(key))
    )
    for key in by_remainder[: total - sum(counts.values())]:
        counts[key] += 1
    return counts


def _plans(config: Config, rng: np.random.Generator) -> list[ScenePlan]:
    """One plan per scene, sorted by motif and kinds."""
    counts = largest_remainder(dict(config.motifs), config.scenes)
    motifs = [name for name, count in counts.items() for _ in range(count)]
    treatments = _spread(rng, config.treatment_binary, config.scenes)
    rank = {name: position for position, name in enumerate(counts)}
    slots = sorted(zip(motifs, treatments, strict=True), key=lambda s: (rank[s[0]], s[1]))
    outcomes = _spread(rng, config.outcome_binary, config.scenes)
    return [
        ScenePlan(motif, _kind(x), _kind(y), None, config.train, config.test)
        for (motif, x), y in zip(slots, outcomes, strict=True)
    ]


def _spread(rng: np.random.Generator, share: float, total: int) -> list[bool]:
    """``total`` flags, the nearest whole number of them true, evenly spaced from a random start."""
    true = largest_remainder({"yes": share, "no": 1.0 - share}, total)["yes"]
    start = int(rng.integers(total))
    return [(i + 1) * true // total > i * true // total for i in _cycle(start, total)]


def _cycle(start: int, total: int) -> list[int]:
    return [(start + i) % total for i in range(total)]


def _kind(binary: bool) -> Kind:
    return "binary" if binary else "continuous"


def _with_variants(rng: np.random.Generator, plans: Sequence[ScenePlan]) -> list[ScenePlan]:
    """One variant for every plan: equal shares by largest remainder, where the plan can host it.

    Variants that few plans can host choose first; what they cannot use goes to the others.
    """
    hosts = {key: [i for i, plan in enumerate(plans) if can_host(key, plan)] for key in ASKERS}
    keys = sorted((key for key in ASKERS if hosts[key]), key=lambda key: len(hosts[key]))
    free = set(range(len(plans)))
    chosen: dict[int, str] = {}
    for position, key in enumerate(keys):
        equal = dict.fromkeys(keys[position:], 1.0)
        wanted = largest_remainder(equal, len(free))[key]
        shuffled = [hosts[key][int(i)] for i in rng.permutation(len(hosts[key]))]
        taken = [i for i in shuffled if i in free][:wanted]
        free.difference_update(taken)
        chosen.update(dict.fromkeys(taken, key))
    for i in sorted(free):  # the last variant could not take them all: any that fits
        fitting = [key for key in keys if can_host(key, plans[i])]
        chosen[i] = fitting[int(rng.integers(len(fitting)))]
    return [replace(plan, variant=chosen[i]) for i, plan in enumerate(plans)]


def can_host(key: str, plan: ScenePlan) -> bool:
    """Whether a scene of this plan can be asked a variant, as far as graph and kinds decide."""
    return ASKERS[key].hosts(MOTIFS[plan.motif], plan.outcome_kind)


def _spec(
    plan: ScenePlan, split: str, index: int, count_root: bytes, private: bool
) -> InstanceSpec:
    ids = id_key(count_root, TRACK_NAME, split, index)
    return InstanceSpec(
        track=TRACK_NAME,
        split=split,
        index=index,
        key=instance_key(count_root, TRACK_NAME, split, index),
        instance_id=public_id("scene", ids, "scene"),
        private=private,
        id_key=ids,
        config_json=plan.to_json(),
    )
