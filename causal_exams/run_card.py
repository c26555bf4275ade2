"""``run.json`` of a run: every setting, the versions, and the hashes of what was asked."""

import datetime
import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from grader.errors import UsageError
from grader.exam import Exam
from grader.io.files import write_text
from grader.io.jsonio import pretty
from grader.version import __version__

IMAGE: Final = "causal-exams-sandbox"
_SECRET: Final = ("key", "token", "secret", "password", "header")
FREE: Final = frozenset({
    "max_connections", "max_retries", "timeout", "attempt_timeout", "max_sandboxes",
    "retry_on_error", "limit", "sample_ids", "keep_scratch",
})  # fmt: skip
"""What may differ when a run goes on: it changes no answer, only which, and how soon."""


def card(settings: Mapping[str, Any], exam: Exam, system: str) -> dict[str, Any]:
    """The card of a run that begins. ``settings`` are plain values by name."""
    release = exam.split.release
    return {
        "system": system,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "release": release.name,
        "split": exam.split.name,
        "exam": exam.name,
        "settings": _without_secrets(settings),
        "hashes": {
            "release": release.content_hashes(exam.split.name),
            "exam": hashlib.sha256(
                "\n".join(task.task_id for task in exam.tasks).encode("ascii")
            ).hexdigest(),
        },
        "versions": {
            "causal-exams": __version__,
            "inspect-ai": _version("inspect-ai"),
            "python": platform.python_version(),
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def image(sandbox: str) -> str | None:
    """The digest of the image that commands ran in, None where there is none or no engine.

    To be asked after the tasks: the first of them builds it.
    """
    if sandbox != "docker":
        return None
    command = ["docker", "image", "inspect", "--format", "{{.Id}}", IMAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without keys and the like, and of a URL its host alone."""
    kept = dict(settings)
    if url := kept.get("model_base_url"):
        kept["model_base_url"] = urlsplit(url).hostname
    kept["model_args"] = {
        name: "(not kept)" if any(word in name.lower() for word in _SECRET) else value
        for name, value in kept["model_args"].items()
    }
    return kept


def check_same(path: Path, new: Mapping[str, Any]) -> None:
    """Raises ``UsageError`` where the folder holds a run with other settings."""
    if not path.exists():
        return
    try:
        old = json.loads(path.read_bytes())
        before, after = _compared(old), _compared(json.loads(pretty(new)))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise UsageError(f"{path}: is no card of a run; choose another --out") from None
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            raise UsageError(
                f"{path}: this run had {name} {before.get(name)!r}, not {after.get(name)!r}; go on "
                "with its own settings, or choose another --out"
            )


def _compared(document: Mapping[str, Any]) -> dict[str, Any]:
    settings = dict(document["settings"])
    flat = {**settings, **settings.pop("config"), "exam_sha256": document["hashes"]["exam"]}
    flat |= {"release_sha256": document["hashes"]["release"], "system": document["system"]}
    return {name: value for name, value in flat.items() if name not in (*FREE, "config")}


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a card."""
    write_text(path, pretty(document))
