"""Patterns of JSON Schemas read what strangers send, too: no work on an answer is super-linear."""

import json
import re
from typing import Any

import pytest
from small_release import TASKS, answer_file, task_id
from test_linear_work import ROOT, grows_linearly

from grader.release.exam import Exam
from grader.scoring.model import RawAnswer
from grader.scoring.score import check


def patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern of a schema; the library searches with them."""
    found: dict[str, re.Pattern[str]] = {}
    for file in sorted((ROOT / "schemas").rglob("*.json")):
        waiting: list[Any] = [json.loads(file.read_text(encoding="utf-8"))]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                if isinstance(node.get("pattern"), str):
                    found.setdefault(node["pattern"], re.compile(node["pattern"]))
                waiting += node.values()
            elif isinstance(node, list):
                waiting += node
    return found


PATTERNS = patterns()


@pytest.mark.parametrize("text", PATTERNS)
def test_no_pattern_of_a_schema_backtracks_over_and_over(text: str) -> None:
    """``^\\s*(…)?\\s*$`` took 0.7 s for 16,000 blanks and an x: a mebibyte, most of an hour."""
    for unit in (" ", "none ", "0", "a", "/"):
        for end in ("", "x"):
            grows_linearly(lambda n, u=unit, e=end: PATTERNS[text].search(u * n + e))


@pytest.mark.parametrize("name", [name for name in TASKS if answer_file(name).endswith(".json")])
def test_a_word_among_much_white_space_is_refused_in_linear_work(dev: Exam, name: str) -> None:
    """The whole way of an answer through its check."""
    (task,) = (task for task in dev.split.tasks if task.task_id == task_id(name))

    def read(n: int) -> None:
        text = json.dumps({task.shape.field: " " * n + "x"})
        check(task, RawAnswer("x", text.encode()))

    grows_linearly(read, 4_000)
