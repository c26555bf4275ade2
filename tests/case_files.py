"""The file of tests of each variant of a scene: ``tests/grader/cases/<family>.<variant>.json``.

``tasks``
    By short name, the tasks of the small hand-made release that ask the variant, in every form it
    can take: ``scene``, ``inputs``, and the truth (``target``, ``value``, ``abstain``).
``prompt``
    Words that every prompt of the variant holds: its labels, its rules, its margins.
``cases``
    Answers to those tasks, and what both readings must make of each.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grader.tracks import VARIANTS

FOLDER: Final = Path(__file__).parent / "grader" / "cases"
MEMBERS: Final = {"tasks", "prompt", "cases"}


def read(file: Path) -> dict[str, Any]:
    """One file; raises ``LookupError`` where a member is absent or none."""
    where = f"tests/grader/cases/{file.name}"
    if not file.is_file():
        raise LookupError(f"{file.stem} has no cases: {where} is absent (docs/adding-a-variant.md)")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if found.keys() != MEMBERS or not all(found.values()):
        raise LookupError(f"{file.stem}: {where} needs {', '.join(sorted(MEMBERS))}, none empty")
    return found


def tasks_by_name(files: Mapping[str, dict[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Key of the variant and task, by the short name. Two files with one name are refused."""
    found: dict[str, tuple[str, Any]] = {}
    for key, file in files.items():
        for name, task in file["tasks"].items():
            if name in found:
                raise LookupError(
                    f"tests/grader/cases/{key}.json: {found[name][0]}.json too has a task called "
                    f"{name}; choose another name"
                )
            found[name] = key, task
    return found


_KEYS = {spec.key for spec in VARIANTS if spec.track == "causalds"}
CASE_FILES: Final = {
    key: read(FOLDER / f"{key}.json") for key in sorted(_KEYS | {f.stem for f in FOLDER.iterdir()})
}
"""By ``family.variant``: of every variant of causalds, and whatever else lies in the folder."""
