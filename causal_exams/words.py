"""What a test taker is told besides the prompt (``words.toml``)."""

import tomllib
from functools import cache
from pathlib import Path
from string import Template
from typing import Any


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def told(path: str, **values: object) -> str:
    """The text at ``path`` (``table.name``) with its slots filled; raises ``KeyError``."""
    found: Any = _texts()
    for key in path.split("."):
        found = found[key]
    return Template(found).substitute(values).strip()
