"""The packages that a sandbox's Python has, as test takers are told of them."""

from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "sandboxes"


@cache
def pinned() -> dict[str, str]:
    """Package to version, of the image (CausalDS A.15)."""
    text = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    pins = (line.partition("==") for line in text.splitlines())
    return {name: number for name, _, number in pins}


def packages(versions: dict[str, str | None]) -> str:
    """The packages as a list in words; those that are absent are left out."""
    return ", ".join(f"{name} {number}" for name, number in versions.items() if number)
