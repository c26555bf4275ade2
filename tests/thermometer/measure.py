"""The papers' figures of stored answers to a stored release, by the grader as it stands.

    python tests/thermometer/measure.py        writes figures.json anew

Figures may join or go (where what no paper defines is deleted); the command refuses to write one
that has changed, unless ``--changed`` says that its definition did, and the number of the track's
rules (``Track.rules``) was raised: floors that were graded before would still count.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from grader.io.schemas import first_problem
from grader.opening import open_release
from grader.pipeline import grade
from grader.release.exam import Exam, Split
from grader.tracks import TRACKS

HERE: Final = Path(__file__).parent
STORED: Final = HERE / "figures.json"

EXAMS: Final = ("papers", "realistic", "hard", "observation-layer", "verbalisation-swap")
GRADINGS: Final = (
    *((system, exam, None) for system in ("gold", "informed", "naive") for exam in EXAMS),
    ("symbolic", "papers", "replayscm"),
    ("symbolic", "all", "replayscm"),
    ("naive", "all", "replayscm"),
    ("solver", "papers", "causalab"),
    ("ccr-perfect", "papers", "ccr"),
)
"""System, exam and the only track, or ``None`` for every track of the exam."""

_LEFT_OUT: Final = frozenset({
    "skill", "skill_interval", "skill_detectable", "floor", "usage",
    "interval", "intervals", "intervals_determined", "intervals_open", "points_interval",
    "causalds_score_interval", "coverage_interval", "detectable",
})  # fmt: skip
"""Members of a report that no paper defines or that come from resampling."""

Figures = dict[str, Any]
"""A number, text or truth value by its path, ``system/exam/track/member/…``."""


def measure() -> Figures:
    """Grade every answer file and return what its reports say, without nulls."""
    split = Split.open(open_release(HERE / "release"))  # once: checking it is most of the work

    @cache
    def chosen(exam: str, track: str | None) -> Exam:
        return replace(split, exam=exam, track=track).choose_exam_for()

    found: Figures = {f"rules/{name}/number": track.rules for name, track in TRACKS.items()}
    for system, exam, track in GRADINGS:
        graded = grade(chosen(exam, track), HERE / "answers" / f"{system}.parquet")
        assert first_problem("report", graded.report) is None, (system, exam)
        found |= _leaves(graded.report["tracks"], f"{system}/{exam}")
    return found


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The path and value of each figure in a part of a report."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _LEFT_OUT:
                yield from _leaves(item, f"{path}/{key}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}/{place}")
    elif value is not None:
        yield path, value


def read() -> Figures:
    found: Figures = {}
    for prefix, members in json.loads(STORED.read_text(encoding="utf-8")).items():
        found |= {f"{prefix}/{name}": value for name, value in members.items()}
    return found


def changed(before: Figures, now: Figures, allowed: bool = False) -> list[str]:
    """Return a line for every figure of both that differs in its last digit or more; of those that
    may (``allowed``), for every one of a track whose rules have the number that they had."""
    paths = [path for path in sorted(before.keys() & now.keys()) if before[path] != now[path]]
    raised = {path.split("/")[1] for path in paths if path.startswith("rules/")}
    return [
        f"{path}: {before[path]!r} before, now {now[path]!r}"
        for path in paths
        if not path.startswith("rules/") and not (allowed and path.split("/")[2] in raised)
    ]


def main() -> None:
    """Write ``figures.json``, one line for the figures that stand side by side in a report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--changed", action="store_true", help="write changed figures too")
    allowed = parser.parse_args().changed
    before, now = read() if STORED.exists() else {}, measure()
    if lines := changed(before, now, allowed):
        told = f"{len(lines)} figures changed; nothing written (raise the track's `rules`)"
        raise SystemExit("\n".join([*lines, told]))
    groups: dict[str, dict[str, Any]] = {}
    for path, value in now.items():
        prefix, _, name = path.rpartition("/")
        groups.setdefault(prefix, {})[name] = value
    told = (f"{json.dumps(key)}: {json.dumps(groups[key], sort_keys=True)}" for key in groups)
    STORED.write_text("{\n" + ",\n".join(sorted(told)) + "\n}\n", encoding="utf-8")
    print(f"{len(now.keys() - before.keys())} new, {len(before.keys() - now.keys())} gone")


if __name__ == "__main__":
    main()
