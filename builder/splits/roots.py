"""The root of a split: its stated seed, or the maintainer's secret.

A secret is read, used as an HMAC key, and never printed or written; what a release shows of it is
a salted commitment.
"""

import hashlib
import os
import stat
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from builder.splits.config import ReleaseConfig, SplitConfig
from builder.splits.seeds import hmac_key
from grader.errors import UsageError

MIN_SECRET_BITS: Final = 128
MAX_SECRET_DIGITS: Final = 4096
_HOW_TO: Final = "python build_dataset.py new-secret makes one"


@dataclass(frozen=True, slots=True)
class Root:
    """The root of one split (``key``: seed or secret), and what is derived from it for commitments.

    ``row_salts`` keys the salts of private rows. ``seed_salt`` is the salt of the seed commitment.
    Both are HMACs of the root, so neither gives the root away.
    """

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


def read_roots(
    config: ReleaseConfig, environment: Mapping[str, str] = os.environ
) -> tuple[dict[str, Root], list[str]]:
    """Return the root of every split, by name, and warnings about how secrets are kept.

    Raises ``UsageError`` when a secret is absent, too short, not hexadecimal or not random.
    """
    roots: dict[str, Root] = {}
    warnings: list[str] = []
    for split in config.splits:
        if split.seed is not None:
            key = split.seed.encode("utf-8")
        else:
            key = _secret(config, split, environment, warnings)
        roots[split.name] = Root(split.name, split.private, key)
    return roots, warnings


def placeholder_roots(config: ReleaseConfig) -> dict[str, Root]:
    """Return roots by split in which a fixed text stands for each secret: good for counting only,
    so that a plan needs no secret."""
    return {
        split.name: Root(split.name, split.private, (split.seed or "plan").encode("utf-8"))
        for split in config.splits
    }


def _secret(
    config: ReleaseConfig, split: SplitConfig, environment: Mapping[str, str], warnings: list[str]
) -> bytes:
    """Return the bytes of a split's secret. What is unsafe about its file is added to ``warnings``.

    Raises ``UsageError`` for a secret that is absent or cannot be used.
    """
    where = f"{config.path}: splits.{split.name}"
    if split.secret_env is not None:
        source = f"the variable {split.secret_env}"
        text = environment.get(split.secret_env, "")
        if not text.strip():
            raise UsageError(
                f"{where}.secret_env: the secret is absent; set {split.secret_env} or name a "
                f"secret_file; {_HOW_TO}"
            )
    else:
        assert split.secret_file is not None
        source = str(split.secret_file)
        text = _read_key_file(split.secret_file, where, warnings)
    key = _decode(text, f"{where}: {source}")
    if len(set(key)) < len(key) // 4:
        raise UsageError(
            f"{where}: {source}: the secret repeats itself and is not random; {_HOW_TO}"
        )
    return key


def _read_key_file(file: Path, where: str, warnings: list[str]) -> str:
    """Return the text of a key file. A warning is added to ``warnings`` if others can read it.

    ``where`` begins the message of a ``UsageError``.
    """
    try:
        with file.open("rb") as handle:
            mode = os.fstat(handle.fileno()).st_mode
            data = handle.read(MAX_SECRET_DIGITS + 1)
    except FileNotFoundError:
        raise UsageError(
            f"{where}.secret_file: {file} is absent; put the secret there, readable by you alone; "
            f"{_HOW_TO}"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{where}.secret_file: {file} cannot be read ({reason})") from None
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        warnings.append(f"{file}: others can read this key file; run chmod 600 on it")
    return data.decode("ascii", errors="replace")


def _decode(text: str, where: str) -> bytes:
    """Return the bytes of a secret in hexadecimal. Raises ``UsageError``, which shows nothing of
    it."""
    digits = text.strip()
    if not digits:
        raise UsageError(f"{where} is empty; {_HOW_TO}")
    if len(digits) > MAX_SECRET_DIGITS:
        raise UsageError(f"{where} holds more than {MAX_SECRET_DIGITS} characters; {_HOW_TO}")
    if any(character not in string.hexdigits for character in digits) or len(digits) % 2:
        raise UsageError(
            f"{where} must hold an even number of hexadecimal digits and nothing else; {_HOW_TO}"
        )
    key = bytes.fromhex(digits)
    if len(key) * 8 < MIN_SECRET_BITS:
        raise UsageError(
            f"{where} holds {len(key) * 8} bits; at least {MIN_SECRET_BITS} random bits are "
            f"needed; {_HOW_TO}"
        )
    return key
