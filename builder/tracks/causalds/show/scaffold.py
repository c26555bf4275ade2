"""Write what a new variant begins with: the pieces of every file that it needs, each with its
place."""

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any, Final

from builder.tracks.causalds.ask.wording import REGISTERED
from builder.tracks.causalds.design import eligibility
from builder.tracks.causalds.design.eligibility import ELIGIBILITY, ENDS
from grader.errors import UsageError
from grader.io.names import did_you_mean
from grader.tracks.causalds.shapes import CAUSALDS

_PARTS: Final = Path(__file__).with_suffix(".toml")
_CASES: Final = Path(__file__).parents[4] / "tests" / "grader" / "cases"
"""The tables of cases. That of a variant with the shape is the example."""
_LINES: Final = ",\n    "
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
    like = alike.get((family, shape), shapes[shape])
    sibling = alike.get((family, shape), families[family]).key
    ask = REGISTERED[sibling]
    module = getattr(ask, "func", ask).__module__
    lacking = [line for used, line in _IMPORTS.items() if used not in vars(sys.modules[module])]
    tasks, cases = _example_cases(like.key, key.replace(".", "_"))
    task, names = next(iter(tasks.values())), ELIGIBILITY[like.key].inputs
    constants = (name for name, value in vars(eligibility).items() if value == names)
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
        "inputs": _inputs_text(task["inputs"]),
        "names": next(constants, f"frozenset({sorted(names)})"),
        "target": "" if "value" in task else f"    target = {task['target']!r}\n",
        "truth": "quantity=scene.truths.ate" if "value" in task else "target",
        "tasks": _LINES.join(f"{_json(name)}: {_json(own)}" for name, own in tasks.items()),
        "cases": _LINES.join(map(_json, cases)),
        "rung": families[family].rung,
        "rank": sum(variant.family == family for variant in CAUSALDS),
    }
    written = []
    for part in tomllib.loads(_PARTS.read_text(encoding="utf-8"))["part"]:
        file = folder / part["file"]
        file.write_text(Template(part["text"]).substitute(slots).lstrip("\n"), encoding="utf-8")
        written.append((file, Template(part["place"]).substitute(slots)))
    return written


def _example_cases(example: str, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return tasks under new names, and one case of each sort, of a variant with the shape."""
    file = json.loads((_CASES / f"{example}.json").read_text(encoding="utf-8"))
    first: dict[tuple[object, ...], dict[str, Any]] = {}
    for case in file["cases"]:
        abstains = file["tasks"][case["task"]].get("abstain", False)
        what = case["kind"], case["status"], case["reason"]
        first.setdefault((*what, abstains, case["points"] < 0.5), case)
    olds = dict.fromkeys(case["task"] for case in first.values())
    names = {old: f"{name}_{n}" if n > 1 else name for n, old in enumerate(olds, start=1)}
    cases = [
        {**case, "task": names[case["task"]], "why": f"TODO: {case['why']}"}
        for case in first.values()
    ]
    return {new: file["tasks"][old] for old, new in names.items()}, cases


def _inputs_text(inputs: Mapping[str, object]) -> str:
    """Return the expression of an asker's inputs; ``...`` stands for each that its author gives."""
    has_ends = inputs.keys() >= ENDS
    others = [f'"{name}": ...' for name in inputs if not has_ends or name not in ENDS]
    if has_ends and not others:
        return "ends(scene)"
    return f"{{{', '.join(['**ends(scene)'] * has_ends + others)}}}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
