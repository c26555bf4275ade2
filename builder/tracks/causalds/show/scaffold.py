"""Write what a new variant begins with: the pieces of every file that it needs, each with its
place."""

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from types import SimpleNamespace
from typing import Final, cast

from builder.tracks.causalds.ask.wording import REGISTERED
from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.scoring.model import Truth
from grader.scoring.shape import Shape, Task
from grader.tracks.causalds.shapes import CAUSALDS

_PARTS: Final = Path(__file__).with_suffix(".toml")
_KEY: Final = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
_IMPORTS: Final = {
    "Iterator": "from collections.abc import Iterator",
    "np": "import numpy as np",
    "ends": "from builder.tracks.causalds.ask.wording import Question, Truth, asks, ends",
    "Scene": "from builder.tracks.causalds.make.scene import Scene",
}
"""By name: the import that the asker needs where its module lacks that name."""


def write_scaffold(key: str, shape: str, folder: Path) -> list[tuple[Path, str]]:
    """Write the pieces of a variant ``family.name`` into ``folder``; return (path, where it goes).
    Raises ``UsageError`` for a key that is none, taken or of no family, an unknown shape, and a
    folder that is not empty."""
    if not _KEY.fullmatch(key):
        raise UsageError(f"{key}: not a key of a variant; write family.name in lower case")
    families = {variant.family: variant for variant in CAUSALDS}
    shapes = {variant.shape.name: variant.shape for variant in CAUSALDS}
    family, name = key.split(".")
    if any(variant.key == key for variant in CAUSALDS):
        raise UsageError(f"{key}: exists already; choose another name")
    if family not in families:
        raise UsageError(f"{key}: no such family{did_you_mean(family, families)}")
    if shape not in shapes:
        raise UsageError(f"--shape {shape}: no such shape{did_you_mean(shape, shapes)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--out {folder}: not an empty folder; choose another")
    folder.mkdir(parents=True, exist_ok=True)
    sibling = families[family].key
    ask = REGISTERED[sibling]
    module = getattr(ask, "func", ask).__module__
    lacking = [line for used, line in _IMPORTS.items() if used not in vars(sys.modules[module])]
    parts = tomllib.loads(_PARTS.read_text(encoding="utf-8"))
    slots = {
        **_example(shapes[shape], parts["target"]),
        "key": key,
        "family": family,
        "name": name,
        "function": key.replace(".", "_"),
        "sibling": sibling,
        "asker": module.replace(".", "/") + ".py",
        "imports": "".join(f"{line}\n" for line in lacking) + "\n\n" * bool(lacking),
        "rung": families[family].rung,
        "rank": sum(variant.family == family for variant in CAUSALDS),
    }
    written = []
    for part in parts["part"]:
        file = folder / part["file"]
        file.write_text(Template(part["text"]).substitute(slots).lstrip("\n"), encoding="utf-8")
        written.append((file, Template(part["place"]).substitute(slots)))
    return written


def _example(shape: Shape, targets: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """Return the slots that depend on the shape: an example of a truth with its right answer.
    ``targets`` are examples by kind."""
    number = shape.kind in ("number", "interval")
    target = targets.get(shape.kind, {} if number else {"accepted": [*shape.labels[:1]]})
    value = 1.0 if number else None
    labels = (0.0, 0.0, 2.0, 2.0)  # the outcomes of the scene "lake" in tests/grader/small_tasks.py
    truth = Truth("", "", False, "", value, None, target, labels)
    answer = shape.gold(cast(Task, SimpleNamespace(shape=shape)), truth)
    literal = json.dumps(target).replace("true", "True")
    return {
        "shape": shape.name,
        "field": shape.field,
        "pool": shape.pool,
        "form": "CSV file with the column"
        if shape.suffix == ".csv"
        else "JSON object with the field",
        "truth": "quantity=scene.truths.ate" if number else literal,
        "target": f'"value": {value}' if number else f'"target": {json.dumps(target)}',
        "answer": json.dumps(answer),
    }
