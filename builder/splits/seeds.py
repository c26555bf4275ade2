"""Keys, ids, random streams and the specs of instances: everything seeded in a release.

Each instance and each stage has a stream of its own, keyed by HMAC-SHA256 (RFC 2104, FIPS 198-1)
of the split's root: the text of a public seed, or the secret of ``roots.py``, which makes the ids
of a private split unguessable. One published key therefore opens one instance and nothing else,
and an instance can be rebuilt alone, in any order, by any worker. The bit generator is
Philox4x64-10 (Salmon et al. 2011), keyed with 128 bits of the stage key.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Self, TypeVar

import numpy as np
from pydantic import TypeAdapter

from builder.splits.track import InstanceSpec, TaskPlan

T = TypeVar("T")


def hmac_key(key: bytes, message: str) -> bytes:
    """Return HMAC-SHA256 of the UTF-8 bytes of ``message`` under ``key``: 32 bytes."""
    return hmac.digest(key, message.encode("utf-8"), hashlib.sha256)


def instance_key(root: bytes, track: str, split: str, index: int, stage: str = "instance") -> bytes:
    """Return the key of instance ``index`` of a track in a split: 32 bytes.

    Another ``stage`` gives a key for another purpose, such as ids.
    """
    return hmac_key(root, f"{track}/{split}/{index}/{stage}")


def attempt_key(key: bytes, attempt: int) -> bytes:
    """Return the key of try ``attempt`` (0, 1, ...) at an instance: 32 bytes."""
    return hmac_key(key, f"attempt/{attempt}")


def public_id(prefix: str, key: bytes, label: str) -> str:
    """Return ``prefix-`` and 16 hex digits of HMAC(``key``, ``label``): a million ids collide with
    probability 3e-8. ``key`` is an id key; task ids use the variant's key as label."""
    return f"{prefix}-{hmac_key(key, label).hex()[:16]}"


def stream(key: bytes, stage: str) -> np.random.Generator:
    """Return a new random generator for one stage (``"world"``, ``"data"``, ...) under ``key``."""
    seed = int.from_bytes(hmac_key(key, stage)[:16], "big")
    return np.random.Generator(np.random.Philox(key=seed))


def pick(rng: np.random.Generator, items: Sequence[T]) -> T:
    """Return one of the items, each as likely as the others."""
    return items[int(rng.integers(len(items)))]


def random_order(rng: np.random.Generator, items: Sequence[T]) -> list[T]:
    """Return the items in a random order."""
    return [items[int(place)] for place in rng.permutation(len(items))]


class InstancePlan:
    """The base of each track's plan of an instance: what is decided before anything is sampled."""

    __slots__ = ()

    @property
    def task_plan(self) -> TaskPlan:
        """The least and most tasks of the plan, its exam, and its levels: all that the release
        machinery reads of a plan. Each track's plan defines it."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the plan as JSON, the ``config_json`` of an instance's spec."""
        return _adapter_of(type(self)).dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the plan that :meth:`to_json` wrote."""
        plan: Self = _adapter_of(cls).validate_json(text)
        return plan


_adapter_of: Callable[[type], TypeAdapter[Any]] = cache(TypeAdapter)
"""The reader and writer of one class of plans."""


def plan_stream(count_root: bytes, track: str, split: str, purpose: str) -> np.random.Generator:
    """Return a random generator for planning a split; each ``purpose`` has its own stream."""
    return stream(hmac_key(count_root, f"{track}/{split}/plan"), purpose)


def keyed_specs(
    plans: Iterable[InstancePlan],
    place: tuple[str, str],
    naming: tuple[str, str],
    count_root: bytes,
    private: bool,
) -> list[InstanceSpec]:
    """Return the specs of ``plans``, in their order, at ``place`` (track, split).

    The caller gives plans in random order, so that the index carries no information about the plan.
    ``naming`` holds the prefix of the public ids and the kind of thing they name.
    """
    (track, split), (prefix, kind) = place, naming
    specs = []
    for index, plan in enumerate(plans):
        # A key of their own, so that ids say nothing about the hidden world.
        ids = instance_key(count_root, track, split, index, "id")
        specs.append(
            InstanceSpec(
                track=track,
                split=split,
                index=index,
                key=instance_key(count_root, track, split, index),
                instance_id=public_id(prefix, ids, kind),
                private=private,
                id_key=ids,
                config_json=plan.to_json(),
                task_plan=plan.task_plan,
            )
        )
    return specs
