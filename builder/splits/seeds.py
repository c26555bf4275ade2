"""Keys, ids and random streams: everything seeded in a release comes from here.

Each instance and each stage has a stream of its own, keyed by HMAC-SHA256 (RFC 2104, FIPS 198-1)
of the split's root. One published key therefore opens one instance and nothing else, and an
instance can be rebuilt alone, in any order, by any worker. The bit generator is Philox4x64-10
(Salmon et al. 2011), keyed with 128 bits of the stage key.
"""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np

T = TypeVar("T")

ID_DIGITS: Final = 16
"""Hex digits in a public id: 64 bits, so that a million ids collide with probability 3e-8."""


def hmac_key(key: bytes, message: str) -> bytes:
    """Return HMAC-SHA256 of the UTF-8 bytes of ``message`` under ``key``: 32 bytes."""
    return hmac.digest(key, message.encode("utf-8"), hashlib.sha256)


def instance_key(root: bytes, track: str, split: str, index: int, stage: str = "instance") -> bytes:
    """Return the key of instance ``index`` of a track in a split: 32 bytes."""
    return hmac_key(root, f"{track}/{split}/{index}/{stage}")


def id_key(root: bytes, track: str, split: str, index: int) -> bytes:
    """Return the key under which the public ids of one instance are derived: 32 bytes.

    It is separate from the instance key, so that ids say nothing about the hidden world.
    """
    return instance_key(root, track, split, index, "id")


def attempt_key(key: bytes, attempt: int) -> bytes:
    """Return the key of try ``attempt`` (0, 1, ...) at an instance: 32 bytes.

    A rejected instance is replaced by its next attempt, by rule and without looking elsewhere.
    """
    return hmac_key(key, f"attempt/{attempt}")


def public_id(prefix: str, key: bytes, label: str) -> str:
    """Return ``prefix-`` and 64 bits (hex) of HMAC(``key``, ``label``); ``key`` is an id key.

    Task ids use prefix ``cds`` and the variant's key as label, scene ids prefix and label
    ``scene``.
    """
    return f"{prefix}-{hmac_key(key, label).hex()[:ID_DIGITS]}"


def stream(key: bytes, stage: str) -> np.random.Generator:
    """Return the random generator of one stage (``"world"``, ``"data"``, ...) under ``key``."""
    seed = int.from_bytes(hmac_key(key, stage)[:16], "big")
    return np.random.Generator(np.random.Philox(key=seed))


def pick(rng: np.random.Generator, items: Sequence[T]) -> T:
    """Return one of the items, each as likely as the others."""
    return items[int(rng.integers(len(items)))]


def random_order(rng: np.random.Generator, items: Sequence[T]) -> list[T]:
    """Return the items in a random order."""
    return [items[int(place)] for place in rng.permutation(len(items))]
