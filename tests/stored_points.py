"""What stored answers earn, and the number of the rules (``Track.rules``) by which they earn it.

``tests/points/<track>.json`` holds tasks with their truths, as rows of a release, and answers with
their points. Points that change under the same number are a change of scoring that nobody was told
of: floors that were graded before would still count.

    python tests/stored_points.py                       after a change of scoring
    python tests/stored_points.py --release DIR ANSWERS…  adds tasks of shapes that have none

The second takes gold and what each of the folders of answers says.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from built_tasks import task_row

from grader.exam import Split
from grader.io.release import Release
from grader.io.rows import task_of
from grader.model import RawAnswer, Truth
from grader.score import score_answer
from grader.shape import Task
from grader.tracks import TRACKS

FOLDER: Final = Path(__file__).parent / "points"
LONGEST: Final = 60_000
"""Characters of a stored item: whoever needs more is a poor example."""
Stored = dict[str, Any]


def read(track: str) -> Stored:
    """What is stored of a track; nothing where it is new."""
    file = FOLDER / f"{track}.json"
    if not file.exists():
        return {"rules": TRACKS[track].rules, "items": []}
    found: Stored = json.loads(file.read_text(encoding="utf-8"))
    return found


def points(item: Stored, answer: str | None) -> float:
    """What an answer to a stored task earns now."""
    stated = dict(item["truth"])
    found = Truth(target=json.loads(stated.pop("target_json")), **stated)
    task = task_of(item["task"])
    raw = None if answer is None else RawAnswer(task.answer_file, answer.encode())
    return score_answer(task, found, raw).points


def changes(track: str, stored: Stored) -> list[str]:
    """A line for every answer whose points are no longer those that are stored."""
    lines = []
    for item in stored["items"]:
        for k, (answer, before) in enumerate(item["answers"]):
            now = points(item, answer)
            if abs(now - before) > 1e-9:
                key = f"{item['task']['family']}.{item['task']['variant']}"
                lines.append(f"{track} {key}, answer {k}: {before} points before, now {now}")
    return lines


def problem(track: str, stored: Stored) -> str | None:
    """Why the points of a track cannot stand as they are, with what to do."""
    found = changes(track, stored)
    if not found or stored["rules"] != TRACKS[track].rules:
        return None
    advice = (
        f"points of {track} changed, and its rules are still number {stored['rules']}: if that is "
        "meant, raise `rules` in its Track, say in the "
        "CHANGELOG that scores are not comparable, then run python tests/stored_points.py"
    )
    return "\n".join([*found, advice])


def renewed(track: str, stored: Stored) -> Stored:
    """The same answers with what they earn now, under the number that the rules now have."""
    items = [
        {**item, "answers": [[answer, points(item, answer)] for answer, _ in item["answers"]]}
        for item in stored["items"]
    ]
    return {"rules": TRACKS[track].rules, "items": items}


def added(track: str, stored: Stored, release: Release, folders: Sequence[Path]) -> Stored:
    """With a task of each shape that has none, and one of each that is to be abstained from."""
    have = {(i["task"]["answer_schema"], i["truth"]["should_abstain"]) for i in stored["items"]}
    best: dict[tuple[str, bool], Stored] = {}
    for name in filter(release.has_public_truth, release.splits):
        tasks = [task for task in Split.open(release, name).tasks if task.track == track]
        for task_id, truth in release.truths(name, tasks).items():
            (task,) = (task for task in tasks if task.task_id == task_id)
            key = (task.answer_schema, truth.should_abstain)
            item = _item(task, truth, folders)
            if key not in have and len(json.dumps(item)) < LONGEST:
                best[key] = min(item, best.get(key, item), key=_told_apart)
    return {"rules": stored["rules"], "items": [*stored["items"], *best.values()]}


def _told_apart(item: Stored) -> tuple[int, int, int]:
    """First what earns the most different points, then what has most answers, then the short."""
    answers = item["answers"]
    return -len({earned for _, earned in answers}), -len(answers), len(json.dumps(item))


def _item(task: Task, truth: Truth, folders: Sequence[Path]) -> Stored:
    answers: list[str | None] = [task.shape.gold(task, truth), None, "", "{}"]
    files = [folder / task.answer_file for folder in folders]
    answers += [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    row = asdict(truth)
    row["target_json"] = json.dumps(row.pop("target"), sort_keys=True)
    item = {"task": {**task_row(task), "prompt": ""}, "truth": row}
    return {**item, "answers": [[a, points(item, a)] for a in dict.fromkeys(answers)]}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--release", type=Path)
    parser.add_argument("answers", type=Path, nargs="*")
    options = parser.parse_args(arguments)
    problems = [found for track in TRACKS if (found := problem(track, read(track)))]
    if problems:
        print("error: " + "\n".join(problems), file=sys.stderr)
        return 2
    for track in TRACKS:
        stored = renewed(track, read(track))
        if options.release is not None:
            stored = added(track, stored, Release.open(options.release), options.answers)
        lines = ",\n".join(json.dumps(item, sort_keys=True) for item in stored["items"])
        text = f'{{"rules": {stored["rules"]}, "items": [\n{lines}\n]}}\n'
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{track}.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
