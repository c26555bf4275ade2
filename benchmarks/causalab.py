"""``python -m benchmarks.causalab``: the laboratory's engine, building, and grading transcripts.

Engine steps a second in every mode, all suites of 50 graphs a size built, and 1,000 transcripts of
the reference solver graded: parsed, verified by replay, scored and diagnosed. Seconds are of CPU
time, so that a busy machine does not count.
"""

from time import process_time as clock
from typing import Final

from rich.console import Console
from rich.table import Table

from baselines.causalab.agents import solver
from baselines.causalab.host import host
from benchmarks.built import grading_seconds, pairs_of
from benchmarks.timing import median_seconds
from builder.causalab.track import TRACK
from builder.settings import TomlTable
from builder.track import Built
from grader.io.pipe import exit_with
from grader.laboratory.episode import Episode
from grader.laboratory.model import MODES, Crystal
from grader.laboratory.session import Laboratory
from grader.tracks.causalab.scoring import episode_of

SEED: Final = b"benchmark of causalab"
GRAPHS: Final = 50
TRANSCRIPTS: Final = 1000
STEPS: Final = 40_000
ROUNDS: Final = 5
REFERENCE_STEP: Final = 0.2
"""Seconds of one environment step of the paper's release, measured on two cores; an intervention
takes two. For orientation only: that environment draws a frame each time."""


def main() -> int:
    """Build, time the engine, grade, and print the table."""
    title = "causalab: rates and seconds, and the targets of the specification"
    table = Table("what", "measured", "target", "note", title=title)
    start = clock()
    built = build()
    spent = clock() - start
    pairs = [pair for instance in built for pair in pairs_of(instance, "causalab")]
    table.add_row(f"all suites at {GRAPHS} graphs, 1 process", f"{spent:.1f} s", "< 30 s",
                  f"{len(pairs)} episodes")  # fmt: skip
    largest = max((episode_of(*pair) for pair in pairs), key=lambda e: len(e.nodes))
    for mode in MODES:
        rate = engine_rate(largest, mode)
        table.add_row(f"engine, {len(largest.nodes)} nodes, {mode}", f"{rate:,.0f} steps/s",
                      "≥ 20,000 steps/s", f"{rate * REFERENCE_STEP:,.0f} steps in the time of one "
                      "environment step of the reference")  # fmt: skip
    rate = session_rate(largest)
    table.add_row("session, with its sealed transcript", f"{rate:,.0f} steps/s", "", "")
    chosen = [pair for pair in pairs if pair[0].inputs["budget"]]
    chosen = chosen[:: max(1, len(chosen) // TRANSCRIPTS)][:TRANSCRIPTS]
    answers = [host(episode_of(*pair), solver, "solver").encode() for pair in chosen]
    table.add_row(f"grading {TRANSCRIPTS} transcripts of the solver",
                  f"{grading_seconds(chosen, answers, TRANSCRIPTS, ROUNDS, clock):.2f} s", "< 5 s",
                  f"median of {ROUNDS}; every suite with interventions")  # fmt: skip
    Console(highlight=False).print(table)
    return 0


def build() -> list[Built]:
    """Every suite in both settings."""
    config = TRACK.parse(TomlTable({"graphs": GRAPHS}, "benchmark."))
    return [TRACK.build(spec) for spec in TRACK.plan(config, "dev", SEED, False)]


def engine_rate(episode: Episode, mode: str) -> float:
    """Engine steps a second: an intervention set and everything recomputed.

    A fresh crystal after every budget, since under ``do`` less and less is left to compute.
    """
    names = episode.names
    bases = episode.private["manipulator"]

    def steps() -> None:
        for step in range(STEPS):
            if step % episode.budget == 0:
                crystal = Crystal(episode.model, bases, mode)  # type: ignore[arg-type]
            crystal.set(names[step % len(names)], float(step % 100), 5.0)

    return STEPS / median_seconds(steps, ROUNDS, clock)


def session_rate(episode: Episode) -> float:
    """Steps a second through :class:`Laboratory`, which checks and writes its transcript."""
    names = episode.controllable
    start, steps = clock(), 0
    while clock() - start < 1:
        session = Laboratory(episode)
        for step in range(episode.budget):
            session.intervene(names[step % len(names)], float(step % 100))
        steps += episode.budget
    return steps / (clock() - start)


if __name__ == "__main__":
    exit_with(main)
