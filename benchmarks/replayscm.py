"""``python -m benchmarks.replayscm``: building, auditing, solving and grading replayscm.

Stage shares of 250 hidden-order programs, then grading 1,500 answers, and the packed replay
against a plain dictionary interpreter of the same replay in the same run. Read the ratios.
"""

import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from rich.console import Console
from rich.table import Table

from baselines.replayscm.symbolic import symbolic
from benchmarks.built import Pairs, grading_seconds, pairs_of
from benchmarks.timing import median_seconds
from builder.replayscm.check.interpreter import Program, exact_worlds
from builder.replayscm.make.synthesis import smallest_formulas
from builder.replayscm.plan.config import Config
from builder.replayscm.track import TRACK
from builder.track import Built
from grader.io.jsonio import canonical
from grader.io.pipe import exit_with
from grader.tracks.replayscm.problem import make_program, pack, parse_map
from grader.tracks.replayscm.replay import replay

SEED = b"benchmark of replayscm"
PROGRAMS = 250
RECORDS = 1500
ROUNDS = 5


def main() -> int:
    """Build, solve, grade, and print the table."""
    console = Console(highlight=False)
    title = "replayscm: seconds, and the targets of the specification"
    table = Table("what", "seconds", "target", "note", title=title)
    instances, seconds, stages = build()
    total = sum(stages.values())
    shares = ", ".join(f"{stage} {spent / total:.0%}" for stage, spent in stages.most_common())
    table.add_row(f"{PROGRAMS} hidden-order programs with audits, 2 processes", f"{seconds:.1f}",
                  "< 60", shares)  # fmt: skip
    pairs = [pair for instance in instances for pair in pairs_of(instance, "replayscm")]
    start = time.perf_counter()
    answers = [canonical(symbolic(task)).encode() for task, _ in pairs]
    table.add_row(f"symbolic on {len(pairs)} tasks", f"{time.perf_counter() - start:.1f}", "", "")
    graded = grading_seconds(pairs, answers, RECORDS, ROUNDS)
    note = f"median of {ROUNDS}"
    table.add_row(f"check and score {RECORDS} answers", f"{graded:.2f}", "< 3", note)
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
        list(pool.map(time.sleep, [0.05] * 4))
        start = time.perf_counter()
        instances = list(pool.map(TRACK.build, hidden, chunksize=5))
        seconds = time.perf_counter() - start
    stages: Counter[str] = Counter()
    for instance in instances:
        for stage, spent in instance.seconds.items():
            stages[stage] += spent  # type: ignore[assignment]
    return instances, seconds, stages


def replays(pairs: Pairs, count: int = 60) -> tuple[float, float]:
    """Seconds per record of the packed replay and of dictionaries, both from parsed formulas."""
    jobs = []
    for task, truth in pairs[:count]:
        names = tuple(task.inputs["variables"])
        worlds = [*task.inputs["worlds"], *truth.target["heldout"]]
        program = make_program(truth.target["roots"], parse_map(truth.target["gold"]))
        read = Program.read(truth.target["gold"])
        jobs.append((program, pack(names, worlds), read, names, worlds))

    def packed() -> list[bool]:
        return [replay(program, table).exact for program, table, *_ in jobs]

    def plain() -> list[bool]:
        return [all(exact_worlds(read, names, worlds)) for *_, read, names, worlds in jobs]

    if packed() != plain():
        raise AssertionError("the two replays disagree")
    ours, theirs = median_seconds(packed, ROUNDS), median_seconds(plain, ROUNDS)
    return ours / len(jobs), theirs / len(jobs)


if __name__ == "__main__":
    exit_with(main)
