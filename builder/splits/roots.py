"""The root of a split: its stated seed, or the maintainer's secret.

A secret is an HMAC key, never printed or written. A release shows a salted commitment to it.
"""

import hashlib
import os
import string
from dataclasses import dataclass, field
from typing import Final

from builder.splits.config import ReleaseConfig, SplitConfig
from builder.splits.seeds import hmac_key
from grader.errors import UsageError

MIN_SECRET_BITS: Final = 128
MAX_SECRET_DIGITS: Final = 4096


@dataclass(frozen=True, slots=True)
class Root:
    """The root of one split (``key``: seed or secret), and the salts of commitments that are HMACs
    of it, so that they do not give it away."""

    split: str
    private: bool
    key: bytes = field(repr=False)

    @property
    def row_salts(self) -> bytes:
        """The key of the row salts: HMAC-SHA256(root, "<split>/row-salts")."""
        return hmac_key(self.key, f"{self.split}/row-salts")

    @property
    def seed_salt(self) -> bytes:
        """The salt of the seed commitment: HMAC-SHA256(root, "<split>/seed-salt")."""
        return hmac_key(self.key, f"{self.split}/seed-salt")

    @property
    def commitment(self) -> str:
        """SHA-256(seed salt || root), hex: binds the maintainer to one root."""
        return hashlib.sha256(self.seed_salt + self.key).hexdigest()


def read_roots(config: ReleaseConfig, *, secrets: bool = True) -> dict[str, Root]:
    """Return the root of every split, by name. Without ``secrets`` a fixed text stands for each,
    good for counting only.

    Raises ``UsageError`` when a secret is absent, too short, not hexadecimal or not random.
    """
    roots = {}
    for split in config.splits:
        seed = split.seed if secrets else split.seed or "plan"
        key = _secret(config, split) if seed is None else seed.encode("utf-8")
        roots[split.name] = Root(split.name, split.private, key)
    return roots


def _secret(config: ReleaseConfig, split: SplitConfig) -> bytes:
    """Return the bytes of a split's secret. Raises ``UsageError``, which shows nothing of it."""
    assert split.secret_env is not None
    digits = os.environ.get(split.secret_env, "").strip()
    if not digits:
        problem = "the secret is absent; set this variable"
    elif len(digits) > MAX_SECRET_DIGITS:
        problem = f"it holds more than {MAX_SECRET_DIGITS} characters"
    elif not set(digits) <= set(string.hexdigits) or len(digits) % 2:
        problem = "it must hold an even number of hexadecimal digits and nothing else"
    elif (bits := 4 * len(digits)) < MIN_SECRET_BITS:
        problem = f"it holds {bits} bits; at least {MIN_SECRET_BITS} random bits are needed"
    elif len(set(key := bytes.fromhex(digits))) < len(key) // 4:
        problem = "the secret repeats itself and is not random"
    else:
        return key
    raise UsageError(
        f"{config.path}: splits.{split.name}.secret_env: {split.secret_env}: {problem}; "
        "python build_dataset.py new-secret makes one"
    )
