"""Paths from names that strangers chose, made by :func:`path_inside` alone.

A release, a packed file, an episode and a workspace name tasks, answer files, exams and splits. A
name that is no plain file name could lead anywhere: ``../../evil``, ``/etc/evil``, ``a\\b``.
"""

import re
from pathlib import Path
from typing import Final

from grader.errors import UsageError
from grader.io.jsonio import clip

MAX_NAME: Final = 80
GRAMMAR: Final = (
    f"letters, digits, '.', '_' and '-', at most {MAX_NAME}, a letter or digit first, no '.' last, "
    "and no device of Windows such as nul"
)
_PLAIN: Final = re.compile(rf"[A-Za-z0-9](?:[A-Za-z0-9._-]{{0,{MAX_NAME - 2}}}[A-Za-z0-9_-])?")
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{k}" for port in ("com", "lpt") for k in range(10)}
)


def is_plain(name: object) -> bool:
    """Whether ``name`` is text of the form that :data:`GRAMMAR` says: a file name on every system,
    which leads into no other folder."""
    return (
        isinstance(name, str)
        and _PLAIN.fullmatch(name) is not None
        and name.partition(".")[0].lower() not in _DEVICES
    )


def check_plain(name: object, what: str) -> str:
    """Return ``name``; raises ``UsageError``, which ``what`` begins, where it is not plain."""
    if not is_plain(name):
        raise UsageError(f"{what} {clip(name)} is not a plain name; use {GRAMMAR}")
    return str(name)


def path_inside(folder: Path, name: str, ending: str = "") -> Path:
    """Return ``folder / (name + ending)`` for a name that a stranger chose.

    ``ending`` is of the code, such as ``.json``, or checked by it. Raises ``UsageError``
    for a name that is not plain, so that nothing outside ``folder`` is ever meant.
    """
    assert len(ending) <= len(".parquet")
    return folder / f"{check_plain(name, f'{folder}:')}{ending}"
