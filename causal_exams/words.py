"""The texts that a test taker gets besides the prompt (``words.toml``), and pinned packages."""

import tomllib
from pathlib import Path
from string import Template
from typing import Any, Final

DOCKER: Final = Path(__file__).parent / "docker"
"""The folder of the recipe of the sandbox's image."""
OUTPUT: Final = 10_000
"""Characters of one command's output that a model is shown by default, half of them from the end
(CausalDS A.15)."""
_TEXTS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def wording(path: str, **values: object) -> str:
    """Return the text at ``path`` (``table.name``) of ``words.toml``, its slots filled by name.

    Raises ``KeyError`` for a text that is not there, or a slot without a value.
    """
    found: Any = _TEXTS
    for key in path.split("."):
        found = found[key]
    return Template(found).substitute(values).strip()


def pinned_versions() -> dict[str, str]:
    """Return the version of each package in the sandbox's image (CausalDS A.15)."""
    text = (DOCKER / "requirements.txt").read_text(encoding="utf-8")
    pins = (line.partition("==") for line in text.splitlines())
    return {name: number for name, _, number in pins}
