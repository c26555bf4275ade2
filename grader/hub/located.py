"""What was typed as a path, as a folder that is here: an address on the Hub is fetched."""

from pathlib import Path
from typing import Final

from grader.hub.address import Address

_SCHEME: Final = "hf:"


def is_remote(path: Path) -> bool:
    """Whether what was typed as a path is an address (``Path`` makes one slash of two)."""
    return path.parts[:1] == (_SCHEME,)


def local(path: Path) -> Path:
    """``path`` itself, or the folder to which its address is fetched; raises ``UsageError``."""
    if not is_remote(path):
        return path
    from grader.hub.fetch import fetch

    return fetch(Address.of(str(path)))


def told_address(path: Path | None) -> str:
    """The address that was typed for a release, if it was one."""
    return str(Address.of(str(path))) if path is not None and is_remote(path) else ""
