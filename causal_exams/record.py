"""The record of a run: its card, and what follows from Inspect's logs.

``run.json`` has every setting, the versions, and the hashes of what was asked.
"""

import datetime
import hashlib
import json
import platform
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from causal_exams.attempts import ERROR, Attempt, attempt_of, samples, write_answers
from grader.commands.common import read_key
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import canonical, pretty
from grader.pages.report_page import report_page
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.reports.build import GradedSubmission
from grader.reports.table import ENDINGS
from grader.tracks import TRACKS
from grader.version import __version__

IMAGE: Final = "causal-exams-sandbox"
_SECRET: Final = ("key", "token", "secret", "password", "header")
FREE: Final = frozenset({
    "max_connections", "max_retries", "timeout", "attempt_timeout", "max_sandboxes",
    "retry_on_error", "limit", "sample_id",
})  # fmt: skip
"""What may differ when a run goes on: it changes no answer, only which, and how soon."""


def card_of(settings: Mapping[str, Any], exam: Exam, system: str) -> dict[str, Any]:
    """Return the card of a run that begins. ``settings`` are plain values by name."""
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
            "inspect-ai": version("inspect-ai"),
            "python": platform.python_version(),
        },
    }


def image(sandbox: str) -> str | None:
    """Return the digest of the image that commands ran in, None without one or without an engine.

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
    """Return the settings without keys and the like, and of a URL its host alone."""
    kept = dict(settings)
    if url := kept.get("model_base_url"):
        kept["model_base_url"] = urlsplit(url).hostname
    kept["model_args"] = {
        name: "(not kept)" if any(word in name.lower() for word in _SECRET) else value
        for name, value in kept["model_args"].items()
    }
    return kept


def check_same(path: Path, new: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` where the folder holds a run with other settings."""
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
    flat = {**document["settings"], "exam_sha256": document["hashes"]["exam"]}
    flat |= {"release_sha256": document["hashes"]["release"], "system": document["system"]}
    return {name: value for name, value in flat.items() if name not in FREE}


@dataclass(slots=True)
class Outcome:
    """The state of a run.

    ``whole`` are the attempts at all tasks of the exam, ``wanted`` those that the command asked
    for, ``taken`` those that came to an end, ``done`` both at once; ``errors`` ended in something
    that is no fault of the model's. ``graded`` is there where the truth is public.
    """

    whole: int
    wanted: int
    taken: int = 0
    done: int = 0
    errors: int = 0
    first_error: str = ""
    endings: dict[str, int] = field(default_factory=dict)
    graded: GradedSubmission | None = None

    @property
    def left(self) -> int:
        """Attempts that were asked for and not taken."""
        return self.wanted - self.done

    @property
    def partial(self) -> str:
        """Words for what is not there; empty for a whole run."""
        if self.taken == self.whole:
            return ""
        errors = f"; {self.errors} ended in errors that are not the model's" if self.errors else ""
        return f"{self.taken:,} of {self.whole:,} attempts were taken{errors}"


def record(
    out: Path, exam: Exam, card: Mapping[str, Any], epochs: Mapping[str, int],
    wanted: Collection[str],
) -> Outcome:  # fmt: skip
    """Write everything that follows from the logs in ``out/logs``, anew; return how far it is.

    ``epochs`` are the attempts at a task by track, ``wanted`` the ids of the tasks asked for.
    """
    attempts = {task.task_id: epochs.get(task.track, 1) for task in exam.tasks}
    outcome = Outcome(sum(attempts.values()), sum(attempts[task_id] for task_id in wanted))
    tasks = {task.task_id: task for task in exam.tasks}
    ended = _attempts(out, outcome, attempts, wanted)
    lines = write_answers(out / "answers", ended, tasks, card, max(epochs.values()))
    counted = Counter(str(line["ending"]) for line in lines)
    outcome.endings = {name: counted[name] for name in ENDINGS if counted[name] and name != ERROR}
    told = {**card, "image": image(card["settings"]["sandbox"])}
    if outcome.partial:
        told["partial"] = outcome.partial
    for folder in (out, out / "answers"):
        write_text(folder / "run.json", pretty(told))
    write_text(out / "usage.jsonl", "".join(canonical(line) + "\n" for line in lines))
    outcome.graded = _report(out, exam)
    return outcome


def _attempts(
    out: Path, outcome: Outcome, attempts: Mapping[str, int], wanted: Collection[str]
) -> Iterator[Attempt]:
    """Yield the attempts that came to an end; the outcome counts each."""
    for sample in samples(out / "logs"):
        one = attempt_of(sample)
        if one.task_id not in attempts or one.number > attempts[one.task_id]:
            continue
        if sample.error is not None:
            outcome.errors += 1
            outcome.first_error = outcome.first_error or sample.error.message
            continue
        outcome.taken += 1
        outcome.done += one.task_id in wanted
        yield one


def _report(out: Path, exam: Exam) -> GradedSubmission | None:
    """Grade the answers, where the truth is public; a private exam is graded by who keeps it."""
    if not exam.split.release.has_public_truth(exam.split.name):
        return None
    key = out / "host.key"
    split = replace(exam.split, transcript_key=read_key(key) if key.exists() else None)
    graded = grade(replace(exam, split=split), out / "answers")
    write_text(out / "report.json", pretty(graded.report))
    write_text(out / "report.html", report_page(graded.report, TRACKS, graded.scores))
    return graded
