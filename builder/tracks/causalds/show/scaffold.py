"""Write what a new variant begins with: the pieces of every file that it needs, each with its
place."""

import json
import re
import sys
import tomllib
from pathlib import Path
from string import Template
from typing import Final

from builder.tracks.causalds.ask.wording import REGISTERED
from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.tracks.causalds.shapes import CAUSALDS

_PARTS: Final = Path(__file__).with_suffix(".toml")
_CASES: Final = Path(__file__).parents[4] / "tests" / "grader" / "cases"
"""The tables of cases. The first of a variant with the shape is the example of a truth."""
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
    shapes = {variant.shape.name: variant for variant in CAUSALDS}
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
    alike = {(variant.family, variant.shape.name): variant for variant in CAUSALDS}
    sibling = alike.get((family, shape), families[family]).key
    ask = REGISTERED[sibling]
    module = getattr(ask, "func", ask).__module__
    lacking = [line for used, line in _IMPORTS.items() if used not in vars(sys.modules[module])]
    like = shapes[shape]
    example = json.loads((_CASES / f"{like.key}.json").read_text(encoding="utf-8"))
    case = {**example["cases"][0], "task": key.replace(".", "_"), "why": "TODO: the reason"}
    task = example["tasks"][example["cases"][0]["task"]]
    slots = {
        "key": key,
        "family": family,
        "name": name,
        "function": key.replace(".", "_"),
        "sibling": sibling,
        "asker": module.replace(".", "/") + ".py",
        "imports": "".join(f"{line}\n" for line in lacking) + "\n\n" * bool(lacking),
        "shape": shape,
        "field": like.shape.field,
        "truth": "quantity=scene.truths.ate" if "value" in task else repr(task["target"]),
        "task": json.dumps(task, ensure_ascii=False),
        "case": json.dumps(case, ensure_ascii=False),
        "rung": families[family].rung,
        "rank": sum(variant.family == family for variant in CAUSALDS),
    }
    written = []
    for part in tomllib.loads(_PARTS.read_text(encoding="utf-8"))["part"]:
        file = folder / part["file"]
        file.write_text(Template(part["text"]).substitute(slots).lstrip("\n"), encoding="utf-8")
        written.append((file, Template(part["place"]).substitute(slots)))
    return written
