"""What a test taker is told besides the prompt (``words.toml``), and of which packages."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any, Final

DOCKER: Final = Path(__file__).parent / "docker"
"""The recipe of the sandbox's image."""
_TEXTS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def told(path: str, **values: object) -> str:
    """Return the text at ``path`` (``table.name``) with its slots filled; raises ``KeyError``."""
    found: Any = _TEXTS
    for key in path.split("."):
        found = found[key]
    return Template(found).substitute(values).strip()


def pinned() -> dict[str, str]:
    """Return package to version, of the image (CausalDS A.15)."""
    text = (DOCKER / "requirements.txt").read_text(encoding="utf-8")
    pins = (line.partition("==") for line in text.splitlines())
    return {name: number for name, _, number in pins}


def packages(versions: Mapping[str, str | None]) -> str:
    """Return the packages as a list in words; those that are absent are left out."""
    return ", ".join(f"{name} {number}" for name, number in versions.items() if number)
