"""Small built instances for the tests: rows of the real track, as tasks and truths."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from built_tasks import pairs_of

from builder.splits.track import BuiltInstance
from builder.tracks.replayscm.plan import ProgramSettings
from builder.tracks.replayscm.track import TRACK
from grader.scoring.model import CheckedAnswer, RawAnswer, Score, Truth
from grader.scoring.score import check, score
from grader.scoring.shape import Task

ROOT = b"tests of replayscm"


@dataclass(frozen=True)
class Item:
    task: Task
    truth: Truth

    @property
    def pool(self) -> str:
        return str(self.truth.target["pool"])

    @property
    def names(self) -> list[str]:
        return list(self.task.inputs["variables"])

    def grade(self, answer: Any) -> Score:
        """The score of an answer given as JSON value, text or bytes."""
        return grade(self, answer)[1]


def grade(item: Item, answer: Any) -> tuple[CheckedAnswer, Score]:
    data = answer if isinstance(answer, bytes) else (
        answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
    )  # fmt: skip
    checked = check(item.task, RawAnswer(item.task.answer_file, data))
    return checked, score(item.task, item.truth, checked)


def extra(result: Score) -> dict[str, Any]:
    return dict(json.loads(result.extra_json))


FULL, MATCHED = 4, 3
DESIGN = ProgramSettings(full=FULL, matched=MATCHED)


def built(config: ProgramSettings = DESIGN) -> tuple[BuiltInstance, ...]:
    return _built(config.model_dump_json(exclude_defaults=True))


@cache
def _built(config: str) -> tuple[BuiltInstance, ...]:
    settings = ProgramSettings.model_validate_json(config)
    return tuple(TRACK.build(spec) for spec in TRACK.plan(settings, "dev", ROOT, False))


def items(config: ProgramSettings = DESIGN) -> tuple[Item, ...]:
    return _items(config.model_dump_json(exclude_defaults=True))


@cache
def _items(config: str) -> tuple[Item, ...]:
    return tuple(item for instance in _built(config) for item in items_of(instance))


def items_of(instance: BuiltInstance) -> list[Item]:
    return [Item(*pair) for pair in pairs_of(instance, "replayscm")]


def of_pool(label: str) -> list[Item]:
    return [item for item in items() if item.pool == label]
