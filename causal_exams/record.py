"""From Inspect's logs to the record of a run: answers, usage, the report."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from causal_exams import run_card
from causal_exams.endings import ERROR
from causal_exams.importers.inspect_log import samples, taken
from causal_exams.importers.taken import Taken, write_answers
from grader.commands.common import read_key
from grader.exam import Exam
from grader.io.files import write_text
from grader.io.jsonio import canonical, pretty
from grader.pipeline import Graded, grade
from grader.report.table import ENDINGS
from grader.show.pages import report_page


@dataclass(slots=True)
class Outcome:
    """How far a run is.

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
    graded: Graded | None = None

    @property
    def left(self) -> int:
        """Attempts that were asked for and not taken."""
        return self.wanted - self.done

    @property
    def partial(self) -> str:
        """What is not there, in words; empty for a whole run."""
        if self.taken == self.whole:
            return ""
        errors = f"; {self.errors} ended in errors that are not the model's" if self.errors else ""
        return f"{self.taken:,} of {self.whole:,} attempts were taken{errors}"


def record(
    out: Path,
    exam: Exam,
    card: Mapping[str, Any],
    epochs: Mapping[str, int],
    wanted: Collection[str],
) -> Outcome:
    """Write everything that follows from the logs in ``out/logs``, anew; returns how far it is.

    ``epochs`` are the attempts at a task by track, ``wanted`` the ids of the tasks asked for.
    """
    attempts = {task.task_id: epochs.get(task.track, 1) for task in exam.tasks}
    outcome = Outcome(sum(attempts.values()), sum(attempts[task_id] for task_id in wanted))
    tasks = {task.task_id: task for task in exam.tasks}
    lines = write_answers(
        out / "answers", _attempts(out, outcome, attempts, wanted), tasks, card,
        max(epochs.values()),
    )  # fmt: skip
    counted = Counter(str(line["ending"]) for line in lines)
    outcome.endings = {name: counted[name] for name in ENDINGS if counted[name] and name != ERROR}
    told = {**card, "image": run_card.image(card["settings"]["sandbox"])}
    if outcome.partial:
        told["partial"] = outcome.partial
    for folder in (out, out / "answers"):
        run_card.write(folder / "run.json", told)
    write_text(out / "usage.jsonl", "".join(canonical(line) + "\n" for line in lines))
    outcome.graded = _report(out, exam)
    return outcome


def _attempts(
    out: Path,
    outcome: Outcome,
    attempts: Mapping[str, int],
    wanted: Collection[str],
) -> Iterator[Taken]:
    """The attempts that came to an end; the outcome counts each."""
    for sample in samples(out / "logs"):
        one = taken(sample)
        if one.task_id not in attempts or one.attempt > attempts[one.task_id]:
            continue
        if sample.error is not None:
            outcome.errors += 1
            outcome.first_error = outcome.first_error or sample.error.message
            continue
        outcome.taken += 1
        outcome.done += one.task_id in wanted
        yield one


def _report(out: Path, exam: Exam) -> Graded | None:
    """Grade the answers, where the truth is public; a private exam is graded by who keeps it."""
    if not exam.split.release.has_public_truth(exam.split.name):
        return None
    key = out / "host.key"
    split = replace(exam.split, transcript_key=read_key(key) if key.exists() else None)
    graded = grade(replace(exam, split=split), out / "answers")
    write_text(out / "report.json", pretty(graded.report))
    write_text(out / "report.html", report_page(graded.report, graded.scores, {}))
    return graded
