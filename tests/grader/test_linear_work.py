"""No super-linear work on what a stranger sends: long input ends far below the bound."""

import ast
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from jsonschema.exceptions import ValidationError
from small_release import TASKS, answer_file, task_id

from causal_exams.extraction import blocks, yes_or_no
from grader.answers.check import read_predictions
from grader.errors import Invalid
from grader.io import schemas
from grader.io.jsonio import BadJson
from grader.io.names import known_name, normal_name
from grader.laboratory.episode import plain
from grader.laboratory.hypothesis import BadHypothesis, read_equation
from grader.laboratory.transcript import TranscriptError, read_lines
from grader.scoring.model import RawAnswer
from grader.scoring.score import check
from grader.tracks.replayscm.boolean import FormulaError, parse
from grader.tracks.replayscm.submission import candidates

ROOT = Path(__file__).parents[2]
IMPORTS_RE = re.compile(r"^\s*(import re$|from re import)", re.MULTILINE)
MATCHING = ("match", "fullmatch", "search", "sub", "findall", "finditer", "split")
UNITS = (
    "9", "1.", ".", "a", "A_", "_A", "-", "-1", "1o", " ", "\t", "\n", "(", ")", "()", "( ", "[a]",
    '"', "\\", '"\\', "{", "```json\n", "```\n", '"task_id"', '"task_id" : "', "attempt-1", "yes ",
)  # fmt: skip
"""What hostile strings repeat; the characters that a pattern names are added to them."""
AROUND = (("", ""), ("", "x"), ("", "!\n"), ("", " )x"), ("-[", "x"))
"""What stands before and after what is repeated."""
LONG = 16_000
"""Repeats: linear work on them takes some milliseconds, quadratic work most of a second or more."""
BOUND = 0.2
"""Seconds of the processor, far from either: a busy machine changes nothing."""
PLAIN_CODE = 10 * BOUND
"""For readers, which do more with each character than a pattern."""


def calls() -> Iterator[tuple[str, str, ast.Call, ast.AST]]:
    """(file, target, call, module) of every call of ``re`` or of a pattern kept in a module."""
    for package in ("grader", "causal_exams"):
        for file in sorted((ROOT / package).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            module = ast.parse(text if IMPORTS_RE.search(text) else "")
            for node in ast.walk(module):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    target = ast.unparse(node.func.value)
                    yield str(file.relative_to(ROOT)), target, node, module


def literal(node: ast.expr) -> str:
    """A pattern as it stands in the code; what an f-string puts in is taken for an x."""
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "x" for p in node.values]
        return "".join(str(part) for part in parts)
    assert isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value


def patterns() -> dict[str, tuple["re.Pattern[str]", set[str]]]:
    """Every pattern of the code by place, with the ways in which it is used."""
    found: dict[str, tuple[re.Pattern[str], set[str]]] = {}
    for file, target, call, module in calls():
        assert isinstance(call.func, ast.Attribute)
        method = call.func.attr
        if target != "re" or method == "escape":
            continue
        if method != "compile":
            text = literal(call.args[0])
            found[f"{file}: {text}"] = (re.compile(text), {method})
            continue
        holders = {
            ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
            for node in ast.walk(module)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is call
        }
        assert holders, f"{file}: a pattern without a name: {ast.unparse(call)}"
        own = import_module(file.removesuffix(".py").replace("/", "."))
        pattern = getattr(own, next(iter(holders)), None) or re.compile(literal(call.args[0]))
        used = {
            node.attr
            for node in ast.walk(module)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in holders
        }
        assert used and used <= set(MATCHING), f"{file}: {pattern.pattern} is used by {used}"
        text = pattern.pattern
        if isinstance(text, bytes):
            text = text.decode("ascii")
        found[f"{file}: {text}"] = (re.compile(text, pattern.flags & ~re.UNICODE), used)
    return found


PATTERNS = patterns()


def test_every_module_that_imports_re_is_looked_at() -> None:
    """A pattern that the walk does not see is not tested below."""
    importing = {
        str(file.relative_to(ROOT))
        for package in ("grader", "causal_exams")
        for file in (ROOT / package).rglob("*.py")
        if IMPORTS_RE.search(file.read_text("utf-8"))
    }
    assert importing == {place.split(":")[0] for place in PATTERNS}


def ends_soon(work: Callable[[], object], bound: float = BOUND) -> None:
    """The work on a long input takes less of the processor's time than anything quadratic."""
    start = time.process_time()
    work()
    assert time.process_time() - start < bound


def use(pattern: "re.Pattern[str]", method: str, text: str) -> None:
    match method:
        case "sub":
            pattern.sub("", text)
        case "finditer":
            for _ in pattern.finditer(text):
                pass
        case _:
            getattr(pattern, method)(text)


@pytest.mark.slow
@pytest.mark.parametrize("place", PATTERNS)
def test_no_pattern_backtracks_over_and_over(place: str) -> None:
    """A cell of 131 kB once kept the grader for a quarter of an hour."""
    pattern, used = PATTERNS[place]
    named = {c for c in pattern.pattern if c.isprintable()}
    units = (*UNITS, *sorted(named - set(UNITS)))
    for unit, (start, end), method in product(units, AROUND, sorted(used)):
        ends_soon(lambda: use(pattern, method, start + unit * LONG + end))  # noqa: B023


def attempt(read: Callable[[], object], *expected: type[Exception]) -> None:
    with suppress(*expected):
        read()


READERS: dict[str, Callable[[str, int], object]] = {
    "cells": lambda unit, n: attempt(
        lambda: read_predictions(f"prediction\n{unit * n}x\n".encode(), ["prediction"], 1), Invalid
    ),
    "names": lambda unit, n: known_name(unit * n, {"a", "some score"}),
    "a laboratory's names": lambda unit, n: plain(unit * n),
    "blocks": lambda unit, n: blocks(unit * n),
    "yes or no": lambda unit, n: yes_or_no(unit * n),
    "formulas": lambda unit, n: attempt(lambda: parse(unit * n), FormulaError),
    "equations": lambda unit, n: attempt(
        lambda: read_equation(unit * n, lambda name: ("variable", (name, 1))), BadHypothesis
    ),
    "objects in text": lambda unit, n: attempt(
        lambda: list(candidates((unit * n).encode())), BadJson
    ),
    "transcripts": lambda unit, n: attempt(
        lambda: read_lines((unit * n).encode()), TranscriptError
    ),
}  # fmt: skip
LONG_UNITS = (
    *UNITS, "9\n", "̖́", "(a) ", "(a", "(a)(", "```json\n{}\n", "```json\n```\n", "(not ", "a+",
    '{"a":', '{"a":[', '{"a":1}', "{}\n", '{"', "{'", "ﷺ", "a score ", "\x00", "\ud7ff",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_every_reader_of_text_grows_linearly(name: str) -> None:
    """Patterns are not the only way: searches inside loops and canonical orders are others."""
    for unit in LONG_UNITS:
        ends_soon(lambda: READERS[name](unit, LONG // 2), PLAIN_CODE)  # noqa: B023


@pytest.mark.parametrize("unit", ["[a]", "([{", "(a) ", "a ", "() ", ")"])
def test_a_name_without_its_remarks_is_what_the_pattern_gave(unit: str) -> None:
    """The reference's own pattern, which is quadratic, on short names."""
    remarks = re.compile(r"(?:\s*[(\[{][^()\[\]{}]*[)\]}])+\s*$")
    for rest in map("".join, product("a ()]{}", repeat=5)):
        text = " ".join((rest + unit).strip().strip("\"'").split())
        assert normal_name(text) == remarks.sub("", text).strip(" .,:;").casefold(), text


def patterns_of_schemas() -> dict[str, re.Pattern[str]]:
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


SCHEMA_PATTERNS = patterns_of_schemas()


@pytest.mark.slow
@pytest.mark.parametrize("text", SCHEMA_PATTERNS)
def test_no_pattern_of_a_schema_backtracks_over_and_over(text: str) -> None:
    """``^\\s*(…)?\\s*$`` took 0.7 s for 16,000 blanks and an x: a mebibyte, most of an hour."""
    for unit in (" ", "none ", "0", "a", "/"):
        for end in ("", "x"):
            ends_soon(lambda: SCHEMA_PATTERNS[text].search(unit * LONG + end))  # noqa: B023


def list_of(text: str, size: int) -> str:
    """A JSON list of at most so many bytes that repeats ``text``."""
    return "[" + ",".join([text] * ((size - 40) // (len(text) + 1))) + "]"


@pytest.mark.parametrize("name", [name for name in TASKS if answer_file(name).endswith(".json")])
def test_a_long_list_of_members_is_refused_in_bounded_work(dev, name, monkeypatch):
    """In an ``anyOf`` the library once collected half a million errors: 28 s and 1.5 GiB.

    Members that fit are not looked at either, where their number alone is too many.
    """
    looks = dict.fromkeys(("errors", "members"), 0)
    make, descend = ValidationError.__init__, schemas._Validator.descend

    def counted(*arguments: Any, **named: Any) -> None:
        looks["errors"] += 1
        make(*arguments, **named)

    def descended(*arguments: Any, **named: Any) -> Any:
        looks["members"] += 1
        return descend(*arguments, **named)

    monkeypatch.setattr(ValidationError, "__init__", counted)
    monkeypatch.setattr(schemas._Validator, "descend", descended)
    (task,) = (task for task in dev.split.tasks if task.task_id == task_id(name))
    for member in ("0", "{}", "[]", '""', '"a"'):
        text = json.dumps({task.shape.field: None}).replace("null", list_of(member, 1 << 15))
        looks |= dict.fromkeys(looks, 0)
        check(task, RawAnswer("x", text.encode()))
        assert looks["errors"] < 100 and looks["members"] < 1_000, (member, looks)
