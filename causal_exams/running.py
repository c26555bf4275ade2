"""One run of an exam: the count of tasks, Inspect, the record."""

import fcntl
import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from inspect_ai import Task, eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import list_eval_logs
from inspect_ai.model import ModelCost, get_model

from causal_exams import run_card
from causal_exams.lab_session import MAX_SUBMISSION
from causal_exams.models import check_config, model_settings, one_line
from causal_exams.prices import prices
from causal_exams.record import Outcome, record
from causal_exams.settings import MIXED, preset_of
from causal_exams.tasks import Sitting, exam_task
from grader.draw.words import printable
from grader.errors import UsageError
from grader.exam import Exam
from grader.names import did_you_mean
from grader.pipeline import Graded
from grader.show.report import costliest
from grader.show.terminal import console, first_screen

CHARACTERS: Final = 4
"""Characters of English that are about one token."""
_BEFORE: Final = {".lock", "host.key", "logs"}
"""What a folder holds where a run ended before the first task."""
_TOLD: Final = 300


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that a run depends on, as the command's options say it."""

    release: Path
    out: Path
    model: str
    system: str
    exam: str | None = None
    split: str | None = None
    private: Path | None = None
    track: str | None = None
    limit: int | None = None
    sample_ids: list[str] | None = None
    epochs: int | None = None
    setting: str
    preset: str | None = None
    sandbox: str = "docker"
    keep_scratch: bool = False
    model_base_url: str | None = None
    model_args: dict[str, Any] = field(default_factory=dict)
    model_roles: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    model_cost_config: str | None = None
    retry_on_error: int | None = None
    max_sandboxes: int | None = None

    @property
    def key(self) -> Path:
        """The host's key, which signs transcripts; never in the answers folder."""
        return self.out / "host.key"

    @property
    def settings(self) -> dict[str, Any]:
        """What ``run.json`` keeps of it."""
        told = asdict(self)
        for name in ("release", "out", "private", "system"):
            del told[name]
        return told

    @property
    def sitting(self) -> Sitting:
        """The parameters of its tasks."""
        return Sitting(
            release=str(self.release.absolute()),
            exam=self.exam,
            split=self.split,
            private=None if self.private is None else str(self.private.absolute()),
            setting=self.setting,
            preset=self.preset,
            sandbox=self.sandbox,
            submission=_plain(self.system),
            sessions=str((self.out / "sessions").absolute()),
            key=str(self.key.absolute()),
            scratch=str((self.out / "scratch").absolute()) if self.keep_scratch else None,
        )


def _plain(system: str) -> str:
    """A system's name as that of a folder."""
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in system)
    return name.strip("-")[:MAX_SUBMISSION].rstrip("-") or "anonymous"


def sit(run: Run) -> int:
    """Sit the exam, or go on with it; returns 0 if nothing is left to do, else 1.

    Raises ``UsageError`` for what can be known before a model is asked.
    """
    if run.sample_ids is not None and run.limit is not None:
        raise UsageError("--sample-id and --limit: choose one")
    check_config(run.config)
    costs = None
    if run.model_cost_config is not None:
        costs = prices(run.model_cost_config, frozenset({run.model, *run.model_roles.values()}))
    exam = run.sitting.opened(run.track)
    wanted = _wanted(run, exam)
    tracks = list(dict.fromkeys(t.track for t in exam.tasks if t.task_id in wanted))
    settings = [run.sitting.protocol(track)[0] for track in tracks]
    if run.sandbox.partition(":")[0] == "local":
        _say("warning: --sandbox local has no walls: commands run as you, and read what you can")
    setting = settings[0] if len(set(settings)) == 1 else MIXED
    card = run_card.card({**run.settings, "setting": setting}, exam, run.system)
    with _only_one(run.out):
        run_card.check_same(run.out / "run.json", card)
        epochs = _epochs(run, tracks)
        _estimate(exam, wanted, epochs)
        model = model_settings(run.model, run.model_base_url, run.model_args)
        if not run.key.exists():
            descriptor = os.open(run.key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(descriptor, secrets.token_bytes(32))
            os.close(descriptor)
        run_card.write(run.out / "run.json", {**card, "partial": "it has not ended yet"})
        try:
            _ask(run, model, [exam_task(track, run.sitting) for track in tracks], costs)
        except BaseException:
            if list_eval_logs(str(run.out / "logs")):  # it was stopped: what is there is kept
                record(run.out, exam, card, epochs, wanted)
            else:  # nothing was asked: another setting may be tried in this folder
                (run.out / "run.json").unlink()
            raise
        outcome = record(run.out, exam, card, epochs, wanted)
    _tell(run, outcome)
    return int(outcome.left > 0)


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Hold the run's folder; raises ``UsageError`` where another process does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "run.json").is_file() and set(os.listdir(folder)) - _BEFORE:
            raise UsageError(f"--out {folder}: is there and holds no run; name a new folder")
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"--out {folder}: cannot be used ({error.strerror})") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(f"--out {folder}: another run is at work in it") from None
    else:
        yield
    finally:
        os.close(lock)


def _epochs(run: Run, tracks: list[str]) -> dict[str, int]:
    """Attempts at each task, by track."""
    if run.epochs is not None:
        return dict.fromkeys(tracks, run.epochs)
    if run.preset is None:
        return dict.fromkeys(tracks, 1)
    return {track: preset_of(run.preset, track)[1].epochs for track in tracks}


def _wanted(run: Run, exam: Exam) -> frozenset[str]:
    """The tasks that are asked, as Inspect chooses them; raises ``UsageError`` where none is.

    A laboratory needs its episode's hidden part, so that only its host can let it be sat.
    """
    known = {task.task_id for task in exam.tasks}
    for task_id in run.sample_ids or ():
        if task_id not in known:
            raise UsageError(
                f"--sample-id {task_id}: no task of exam {exam.name}{did_you_mean(task_id, known)}"
            )
    found, counted = [], Counter[str]()
    release, split = exam.split.release, exam.split.name
    hosted = release.has_public_truth(split) or release.private is not None
    if left := [] if hosted else [task for task in exam.tasks if task.shape.kind == "session"]:
        _say(f"{len(left)} laboratories are left out: their host sits them, with --private")
    for task in exam.tasks:
        if not hosted and task.shape.kind == "session":
            continue
        counted[task.track] += 1
        named = not run.sample_ids or task.task_id in run.sample_ids
        if named and (run.limit is None or counted[task.track] <= run.limit):
            found.append(task.task_id)
    if not found:
        raise UsageError("no task of the exam is left to be asked")
    return frozenset(found)


def _estimate(exam: Exam, wanted: frozenset[str], epochs: dict[str, int]) -> None:
    """Say how much is asked, before it is."""
    asked = [task for task in exam.tasks if task.task_id in wanted]
    prompted = exam.split.release.with_prompts(exam.split.name, asked)
    counted = Counter(task.track for task in asked)
    tokens = sum(epochs[task.track] * len(task.prompt) for task in prompted) // CHARACTERS
    per = ", ".join(
        f"{track} {count}" + (f" × {epochs[track]}" if epochs[track] > 1 else "")
        for track, count in counted.items()
    )
    _say(
        f"{exam.split.release.name}, exam {exam.name}: {len(asked):,} of {len(exam.tasks):,} "
        f"tasks ({per})"
    )
    _say(
        f"prompts alone: about {tokens:,} input tokens, each sent once; conversations of several "
        "turns, and questions asked one by one, send them again"
    )


def _ask(
    run: Run, model: dict[str, Any], tasks: list[Task], costs: dict[str, ModelCost] | None
) -> None:
    """Let Inspect ask what is not answered yet."""
    roles = {name: get_model(to) for name, to in run.model_roles.items()}
    try:
        eval_set(
            tasks,
            log_dir=str(run.out / "logs"),
            retry_attempts=0,
            retry_immediate=False,
            model_roles=roles or None,
            limit=run.limit,
            sample_id=run.sample_ids,
            epochs=run.epochs,
            # An error leaves its task for later and stops no other; the log counts as failed, so
            # that those tasks are asked again when the run goes on.
            fail_on_error=True,
            continue_on_fail=True,
            retry_on_error=run.retry_on_error,
            max_sandboxes=run.max_sandboxes,
            model_cost_config=costs,
            log_buffer=1,
            log_dir_allow_dirty=True,
            display="rich" if sys.stderr.isatty() else "plain",
            **model,
            **run.limits,
            **run.config,
        )
    except PrerequisiteError as error:
        words = one_line(error)
        hint = "; --sandbox bubblewrap needs none" if "Docker" in words else ""
        raise UsageError(f"{words}{hint}") from None
    except ValueError as error:
        if "SandboxEnvironment type" not in str(error):
            raise
        raise UsageError(
            f"--sandbox {run.sandbox}: no such sandbox; choose from docker, bubblewrap, local, or "
            "one of a package of Inspect's that is installed"
        ) from None


def _tell(run: Run, outcome: Outcome) -> None:
    """The run in a few lines."""
    endings = ", ".join(f"{name} {count}" for name, count in outcome.endings.items())
    _say(f"{run.out}: {outcome.taken:,} of {outcome.wanted:,} attempts taken ({endings or 'none'})")
    if outcome.errors:
        _say(
            f"{outcome.errors:,} ended in errors that are not the model's, and are not marked; the "
            "first: " + printable(outcome.first_error)[:_TOLD]
        )
    if outcome.left:
        _say("run the same command again to go on; what was answered is not asked again")
    if outcome.graded is None:
        _say(f"graded by who keeps the truth: hand in {run.out / 'answers'} (pack, submit)")
    else:
        console().print(first_screen(outcome.graded.report, _next_steps(run, outcome.graded)))


def _next_steps(run: Run, graded: Graded) -> list[str]:
    """What there is to look at."""
    answered = [score for score in graded.scores if score.status != "missing"]
    return [
        *(f"explain {cost.score.task_id} --run {run.out}" for cost in costliest(answered, 1)),
        f"{run.out / 'report.html'}: every task",
        f"inspect view --log-dir {run.out / 'logs'}",
    ]


def _say(text: str) -> None:
    print(text, file=sys.stderr)
