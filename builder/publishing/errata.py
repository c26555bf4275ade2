"""Tasks that turned out wrong: listed by a new version, told in ``ERRATA.md``; rows stay."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from builder.release.manifest import read_manifest
from builder.release.papers import write_papers
from builder.release.reader import public_side
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.names import did_you_mean
from grader.io.paths import check_plain
from grader.io.printing import printable
from grader.opening import open_release

ERRATA: Final = "ERRATA.md"
_HEAD: Final = (
    "# Errata\n\nTasks that turned out wrong. They count no more; their rows are as they were.\n"
)
_LONGEST: Final = 500
_DOTTED: Final = re.compile(r"[0-9]+(\.[0-9]+)*")


def deprecate(
    release: Path, split: str | None, tasks: Sequence[str], why: str, version: str
) -> int:
    """List tasks as deprecated under a new version; return how many the split now has of them.

    ``ERRATA.md`` gets the reason ``why``, and manifest and papers of both sides are written again.
    ``split`` may be None where there is only one. Raises ``UsageError`` for a task that is not
    there or is listed already, and for a version that is no plain name, is the present one or, as
    dotted numbers, below it.
    """
    public = public_side(release)
    manifest = read_manifest(public)
    opened = open_release(release)
    split = opened.choose_split(split)
    why = printable(" ".join(why.split()))
    if not 0 < len(why) <= _LONGEST:
        raise UsageError(f"--why: say why, in 1 to {_LONGEST} characters")
    if check_plain(version, "--version") == manifest["version"]:
        raise UsageError(f"--version {version}: is the present one; an erratum needs another")
    both = (version, manifest["version"])
    if all(_DOTTED.fullmatch(text) for text in both):
        new, present = ([int(number) for number in text.split(".")] for text in both)
        if new < present:
            raise UsageError(f"--version {version}: is below {both[1]}; give a higher one")
    known = {task.task_id: task for task in opened.tasks(split, prompts=False)}
    before = opened.deprecated_tasks(split)
    for task_id in tasks:
        if task_id not in known:
            raise UsageError(f"{task_id}: no task of {split}{did_you_mean(task_id, known)}")
        if task_id in before:
            raise UsageError(f"{task_id}: is deprecated already ({before[task_id]})")
    lines = [f"- `{name}` ({split}, {known[name].spec.key}): {why}" for name in tasks]
    file = public / ERRATA
    errata = file.read_text(encoding="utf-8") if file.is_file() else _HEAD
    write_text(file, errata + f"\n## {version}\n\n" + "\n".join(lines) + "\n")
    listed = {**before, **dict.fromkeys(tasks, why)}
    for side in (public, release / "private"):
        if side.is_dir():
            manifest = read_manifest(side) | {"version": version}
            manifest.setdefault("deprecated", {})[split] = dict(sorted(listed.items()))
            write_papers(manifest, side)
    return len(listed)
