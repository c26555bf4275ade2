"""A system answers an exam: from the release to a folder of answers."""

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from baselines.release import open_exam
from baselines.systems import answers, find_system
from baselines.writing import prepare, write_answer


@dataclass(frozen=True, slots=True)
class Choice:
    """Which exam is answered; what is absent is found as ``open_exam`` finds it."""

    release: Path | None = None
    split: str | None = None
    exam: str | None = None
    private: Path | None = None


def answer_in_its_folder(choice: Choice, out: Path, name: str) -> str:
    """As ``answer_exam``, in the folder of ``out`` that has the system's name."""
    return answer_exam(choice, out / name, name)


def answer_exam(choice: Choice, folder: Path, name: str, *, shown: bool = False) -> str:
    """Writes the answers of the system called ``name``, and its progress to a terminal where that
    is to be ``shown``; returns a line about it. Raises ``UsageError``."""
    start = time.perf_counter()
    system = find_system(name)
    exam = open_exam(choice.release, choice.split, choice.exam, choice.private)
    settings = {"release": exam.release.name, "split": exam.split, "exam": exam.name}
    prepare(folder, name, settings, system.note)
    written = 0
    console = Console(stderr=True)
    answered = track(
        answers(system, exam),
        name,
        len(exam.tasks),
        console=console,
        disable=not (shown and console.is_terminal),
    )
    for task, answer in answered:
        write_answer(folder, task, answer)
        written += 1
    seconds = time.perf_counter() - start
    return (
        f"{folder}: {written} answers to the {len(exam.tasks)} tasks of "
        f"{exam.name} ({exam.split}) by {name} in {seconds:.1f} s"
    )
