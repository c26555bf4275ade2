"""The record of a run: its card, and what follows from Inspect's logs.

``run.json`` has every setting, the versions, and the hashes of what was asked.
"""

import datetime
import hashlib
import json
import platform
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from causal_exams.attempts import Attempt, attempt_of, samples, write_answers
from grader.commands.common import read_key
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import canonical_json, pretty_json
from grader.pages.report_page import report_page
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.reports.build import GradedSubmission
from grader.reports.table import ENDINGS
from grader.tracks import TRACKS
from grader.version import __version__

_SECRET: Final = ("key", "token", "secret", "password", "header")
FREE: Final = frozenset({
    "max_connections", "max_retries", "timeout", "attempt_timeout", "max_sandboxes",
    "limit", "sample_id",
})  # fmt: skip
"""Settings that may differ when a run goes on: they change which tasks are asked, no answer."""


def card_of(settings: Mapping[str, Any], exam: Exam, system: str) -> dict[str, Any]:
    """Return the card of a run that begins, the content of ``run.json``; it holds no secret."""
    release, ids = exam.split.release, "\n".join(task.task_id for task in exam.tasks)
    return {
        "system": system,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "release": release.name,
        "split": exam.split.name,
        "exam": exam.name,
        "settings": without_secrets(settings),
        "hashes": {
            "release": release.content_hashes(exam.split.name),
            "exam": hashlib.sha256(ids.encode("ascii")).hexdigest(),
        },
        "versions": {
            "causal-exams": __version__,
            "inspect-ai": version("inspect-ai"),
            "python": platform.python_version(),
        },
    }


def image_digest(sandbox: str) -> str | None:
    """Return the id of our image that commands ran in, once a task has built it.

    None where ``sandbox`` is not ``docker``, or without Docker or the image.
    """
    if sandbox != "docker":
        return None
    command = ["docker", "image", "inspect", "--format", "{{.Id}}", "causal-exams-sandbox"]
    with suppress(OSError, subprocess.SubprocessError):
        printed = subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True, timeout=20)
        return printed.strip() or None
    return None


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the model's address cut to its host, and arguments of the model
    that are named like a secret replaced."""
    arguments = {
        name: "(not kept)" if any(word in name.lower() for word in _SECRET) else value
        for name, value in settings["model_args"].items()
    }
    url = settings["model_base_url"]
    host = urlsplit(url).hostname if url else url
    return {**settings, "model_base_url": host, "model_args": arguments}


def check_same(path: Path, new: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` where the file ``path`` is no card, or has other settings than ``new``.

    Settings in ``FREE`` may differ, and the file may be absent.
    """
    if not path.exists():
        return

    def settings_of(card: bytes | str) -> dict[str, Any]:
        stated = json.loads(card)
        flat = {name: value for name, value in stated["settings"].items() if name not in FREE}
        hashes = {f"{name}_sha256": stated["hashes"][name] for name in ("exam", "release")}
        return {**flat, **hashes, "system": stated["system"]}

    try:
        before, after = settings_of(path.read_bytes()), settings_of(pretty_json(new))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise UsageError(f"{path}: is not the card of a run; choose another --out") from None
    # A setting decides on others, such as the sandbox, so it is named first.
    for name in sorted(before.keys() | after.keys(), key=lambda key: (key != "setting", key)):
        if before.get(name) != after.get(name):
            raise UsageError(
                f"{path}: this run had {name} {before.get(name)!r}, not {after.get(name)!r}; go on "
                "with its own settings, or choose another --out"
            )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state of a run; all counts are of attempts.

    ``taken`` are those without an error, over all tasks, counted in ``endings`` by why they ended.
    ``asked`` are those that this command asked for, ``remaining`` those of them that are not taken.
    ``errors`` are the messages of others, ``stopped`` says that Ctrl-C ended some, and ``graded``
    is None where the truth is private.
    """

    taken: int
    asked: int
    remaining: int
    errors: Sequence[str]
    endings: Mapping[str, int]
    stopped: bool
    graded: GradedSubmission | None


def record(
    out: Path,
    exam: Exam,
    card: Mapping[str, Any],
    epochs: Mapping[str, int],
    asked: Collection[str],
) -> Outcome:
    """Write what follows from the logs in ``out/logs`` anew; return the run's state.

    That is answers, usage, ``card`` as both ``run.json`` and, for a public truth, the reports.
    ``epochs`` are the attempts at a task by track, ``asked`` the ids of the tasks asked for.
    """
    attempts = {task.task_id: epochs.get(task.track, 1) for task in exam.tasks}
    taken: list[Attempt] = []
    errors: list[str] = []
    stopped = False
    for sample in samples(out / "logs"):
        one = attempt_of(sample)
        if one.number > attempts.get(one.task_id, 0):
            continue
        if sample.error is None:
            taken.append(one)
        elif sample.error.message.startswith("CancelledError"):
            stopped = True
        else:
            errors.append(sample.error.message)
    tasks, whole = {task.task_id: task for task in exam.tasks}, sum(attempts.values())
    card = {**card, "image": image_digest(card["settings"]["sandbox"])}
    if len(taken) < whole:
        words = f"; {len(errors)} ended in errors that are not the model's" if errors else ""
        card["partial"] = f"{len(taken):,} of {whole:,} attempts were taken{words}"
    lines = write_answers(out / "answers", taken, tasks, card, max(epochs.values()))
    write_text(out / "run.json", pretty_json(card))
    write_text(out / "usage.jsonl", "".join(canonical_json(line) + "\n" for line in lines))
    endings = [line["ending"] for line in lines]
    count = sum(attempts[task_id] for task_id in asked)
    return Outcome(
        taken=len(taken),
        asked=count,
        remaining=count - sum(one.task_id in asked for one in taken),
        errors=errors,
        endings={name: endings.count(name) for name in ENDINGS if name in endings},
        stopped=stopped,
        graded=_report(out, exam, {*asked, *(one.task_id for one in taken)}),
    )


def _report(out: Path, exam: Exam, asked: Collection[str]) -> GradedSubmission | None:
    """Grade the answers in ``out`` to what was ``asked``, and write both reports there.

    A run of three tasks is no exam failed. None where the truth is private.
    """
    if not exam.split.release.has_public_truth(exam.split.name):
        return None
    key = out / "host.key"
    split = replace(exam.split, transcript_key=read_key(key) if key.exists() else None)
    tasks = tuple(task for task in exam.tasks if task.task_id in asked)
    graded = grade(replace(exam, split=split, tasks=tasks), out / "answers")
    write_text(out / "report.json", pretty_json(graded.report))
    write_text(out / "report.html", report_page(graded.report, TRACKS, graded.scores))
    return graded
