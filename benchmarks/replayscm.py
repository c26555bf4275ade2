"""``python -m benchmarks.replayscm``: building, auditing, solving and grading replayscm.

Stage shares of 250 hidden-order programs, then grading 1,500 answers, and the packed replay
against a plain dictionary interpreter of the same replay in the same run. Read the ratios.
"""

import json
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from rich.console import Console
from rich.table import Table

from baselines.replayscm.symbolic import symbolic
from builder.replayscm.check.interpreter import exact_worlds, read
from builder.replayscm.make.synthesis import smallest_formulas
from builder.replayscm.plan.config import Config
from builder.replayscm.track import TRACK
from builder.track import Built, InstanceSpec
from grader.io.jsonio import canonical
from grader.model import RawAnswer, Task, Truth
from grader.score import score_answer
from grader.tracks.replayscm.problem import make_program, pack, parse_map
from grader.tracks.replayscm.replay import replay

SEED = b"benchmark of replayscm"
PROGRAMS = 250
RECORDS = 1500
ROUNDS = 5


def main() -> int:
    """Build, solve, grade, and print the table."""
    console = Console(highlight=False)
    table = Table(title="replayscm: seconds, and the targets of the specification")
    for column in ("what", "seconds", "target", "note"):
        table.add_column(column)
    instances, seconds, stages = build()
    table.add_row(f"{PROGRAMS} hidden-order programs with audits, 2 processes", f"{seconds:.1f}",
                  "< 60", _shares(stages))  # fmt: skip
    pairs = [pair for instance in instances for pair in tasks_of(instance)]
    answers = []
    start = time.perf_counter()
    for task, _ in pairs:
        answers.append(canonical(symbolic(task)).encode())
    table.add_row(f"symbolic on {len(pairs)} tasks", f"{time.perf_counter() - start:.1f}", "", "")
    table.add_row(f"check and score {RECORDS} answers", f"{grade(pairs, answers):.2f}", "< 3",
                  f"median of {ROUNDS}")  # fmt: skip
    ours, theirs = replays(pairs)
    table.add_row("replay of one record, packed", f"{ours * 1e6:.0f} µs", "",
                  f"{theirs / ours:.0f} times the speed of dictionaries "
                  f"({theirs * 1e6:.0f} µs)")  # fmt: skip
    console.print(table)
    return 0


def build() -> tuple[list[Built], float, Counter[str]]:
    """Hidden-order instances in two processes; seconds of each stage over both."""
    specs = TRACK.plan(Config(PROGRAMS, 0, 0), "dev", SEED, False)
    hidden = [spec for spec in specs if "Hid-Full" in spec.config_json]
    with ProcessPoolExecutor(2, initializer=smallest_formulas) as pool:
        list(pool.map(_nothing, range(4)))
        start = time.perf_counter()
        instances = list(pool.map(_build, hidden, chunksize=5))
        seconds = time.perf_counter() - start
    stages: Counter[str] = Counter()
    for instance in instances:
        for stage, spent in instance.seconds:
            stages[stage] += spent  # type: ignore[assignment]
    return instances, seconds, stages


def _build(spec: InstanceSpec) -> Built:
    return TRACK.build(spec)


def _nothing(_: int) -> None:
    time.sleep(0.05)


def _shares(stages: Counter[str]) -> str:
    total = sum(stages.values())
    return ", ".join(f"{stage} {spent / total:.0%}" for stage, spent in stages.most_common())


def tasks_of(instance: Built, track: str = "replayscm") -> list[tuple[Task, Truth]]:
    """The tasks of a built instance with their truths."""
    truths = {row["task_id"]: row for row in instance.rows[f"{track}_truth"]}
    found = []
    for row in instance.rows[track]:
        values: dict[str, Any] = dict(row)
        inputs = json.loads(values.pop("inputs_json"))
        truth: dict[str, Any] = dict(truths[row["task_id"]])
        kept = ("task_id", "instance_id", "should_abstain", "structure", "value", "value_se")
        target = json.loads(truth["target_json"])
        found.append(
            (Task(inputs=inputs, **values), Truth(target=target, **{k: truth[k] for k in kept}))
        )
    return found


def grade(pairs: list[tuple[Task, Truth]], answers: list[bytes]) -> float:
    """Seconds to check and score 1,500 answers: the records repeated as often as needed."""
    jobs = [
        (*pairs[k % len(pairs)], RawAnswer("answer", answers[k % len(pairs)]))
        for k in range(RECORDS)
    ]
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for task, truth, raw in jobs:
            score_answer(task, truth, raw)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def replays(pairs: list[tuple[Task, Truth]], count: int = 60) -> tuple[float, float]:
    """Seconds per record of the packed replay and of dictionaries, both from parsed formulas."""
    jobs = []
    for task, truth in pairs[:count]:
        names = tuple(task.inputs["variables"])
        worlds = [*task.inputs["worlds"], *truth.target["heldout"]]
        program = make_program(truth.target["roots"], parse_map(truth.target["gold"]))
        trees = {name: read(text) for name, text in truth.target["gold"].items()}
        jobs.append((program, pack(names, worlds), trees, names, worlds))
    ours, theirs = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        packed = [replay(program, table).exact for program, table, *_ in jobs]
        ours.append((time.perf_counter() - start) / len(jobs))
        start = time.perf_counter()
        plain = [all(exact_worlds(trees, names, worlds)) for *_, trees, names, worlds in jobs]
        theirs.append((time.perf_counter() - start) / len(jobs))
        if packed != plain:
            raise AssertionError("the two replays disagree")
    return statistics.median(ours), statistics.median(theirs)


if __name__ == "__main__":
    sys.exit(main())
