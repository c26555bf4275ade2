"""Properties: no omission, malformation or abstention beats an answer, and none spills over."""

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from grading import put
from hypothesis import given, settings
from hypothesis import strategies as st
from small_release import TASKS, answer_file, task_id, variant_of
from test_case_tables import TABLES

from grader.found import Found
from grader.gold import gold_answer
from grader.model import RawAnswer, Score
from grader.pipeline import Session
from grader.report import build_report
from grader.score import score
from grader.validate import REASONS, check

CASES: dict[str, list[dict[str, Any]]] = {name: [] for name in TASKS}
for _table in TABLES.values():
    for _case in _table:
        CASES[_case["task"]].append(_case)
CASES = {name: cases for name, cases in CASES.items() if cases}
NAMES = sorted(CASES)


def graded(dev: Session, chosen: dict[str, bytes | None]) -> list[Score]:
    """Score rows of ``dev`` with these answers; tasks not named are missing."""
    scores = []
    for task in dev.all_tasks:
        (name,) = [name for name in TASKS if task_id(name) == task.task_id]
        data = chosen.get(name)
        raw = None if data is None else RawAnswer(task.answer_file, data)
        scores.append(score(task, dev.truths([task])[task.task_id], check(task, raw)))
    return scores


def report(dev: Session, scores: list[Score]) -> dict[str, Any]:
    return build_report(dev.select(), Found(Path("x")), scores)


def test_no_omission_malformation_or_unwarranted_abstention_beats_an_answer(dev: Session) -> None:
    """Otherwise the best advice to a weak system is to hand in less."""
    for name, cases in CASES.items():
        if TASKS[name].abstain:
            continue
        valid = [c for c in cases if c["status"] == "scored" and not c["kind"].startswith("abst")]
        valid = [c for c in valid if c["kind"] != "null_equivalent"]
        others = [c for c in cases if c not in valid]
        assert valid and others
        assert max(c["points"] for c in others) == 0.0
        assert min(c["loss"] for c in others) >= max(c["loss"] for c in valid), name


def test_on_an_unidentifiable_target_only_an_abstention_pays(dev: Session) -> None:
    """Silence and malformed files are no abstentions."""
    for name, cases in CASES.items():
        if TASKS[name].abstain:
            for case in cases:
                right = case["kind"] in ("abstain_due", "null_equivalent")
                assert (case["points"], case["loss"]) == ((1.0, 0.0) if right else (0.0, 1.0))


ANSWERS = st.fixed_dictionaries({name: st.integers(0, len(CASES[name]) - 1) for name in NAMES}).map(
    lambda picks: {name: CASES[name][k]["answer"] for name, k in picks.items()}
)


@settings(max_examples=15, deadline=None)
@given(ANSWERS, st.sets(st.sampled_from(NAMES), min_size=1, max_size=8))
def test_dropping_answers_never_improves_points_or_the_fixed_score(
    dev: Session, chosen: dict[str, str | None], dropped: set[str]
) -> None:
    """Errored items silently leaving the denominator is what inspect_ai #3707 was about."""
    whole = {name: text.encode() for name, text in chosen.items() if text is not None}
    part = {name: data for name, data in whole.items() if name not in dropped}
    before, after = report(dev, graded(dev, whole)), report(dev, graded(dev, part))
    assert after["points"] <= before["points"] + 1e-9
    fixed = [r["tracks"]["causalds"]["readings"]["fixed"] for r in (before, after)]
    assert fixed[1]["causalds_score"] >= fixed[0]["causalds_score"] - 1e-9
    for pool in ("n_pass", "n_nrel", "n_f1"):
        assert fixed[0][pool] == fixed[1][pool], "the truth alone fixes the pools"


@settings(max_examples=6, deadline=None)
@given(ANSWERS)
def test_the_report_is_what_its_rows_say(dev: Session, chosen: dict[str, str | None]) -> None:
    """Headline, census and interval recomputed from the rows by other means."""
    scores = graded(dev, {n: text.encode() for n, text in chosen.items() if text is not None})
    got = report(dev, scores)
    assert got["points"] == pytest.approx(100 * statistics.fmean(s.points for s in scores))
    low, high = got["points_interval"]
    assert 0 <= low <= got["points"] + 1e-9 and got["points"] - 1e-9 <= high <= 100
    census = got["census"]
    for status in ("scored", "missing", "invalid"):
        assert census[status] == sum(s.status == status for s in scores)
    metrics = got["tracks"]["causalds"]["metrics"]
    due = [s.points for s in scores if s.should_abstain]
    assert metrics["abstention_pass_rate"] == pytest.approx(statistics.fmean(due))


def _json_mutations(text: str) -> dict[str, bytes]:
    """What can go wrong with a JSON file, whatever the variant."""
    data, document = text.encode(), json.loads(text)
    (field, value), *_ = document.items()
    key = json.dumps(field).encode()
    out = {f"cut at {k}/8": data.strip()[: max(1, len(data.strip()) * k // 8)] for k in range(1, 8)}
    out |= {
        f"field is {v!r}": b"{" + key + b": " + v + b"}"
        for v in (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1" * 30, b"1" * 5000,
                  b"true", b"{}", b"{\"a\": 1}", b"[[[[]]]]", b"[null]", b"[NaN]", b"'x'", b"0x1",
                  b"1_0", b"01", b"+1", b".5", b"\"\xff\"", b"\"\\ud800\"", b"[" * 99, b"\"a\nb\"",
                  b"\"certainly\"", b"", b"undefined", b"1,", b"\"1.5\"")
    }  # fmt: skip
    out |= {
        "other case": json.dumps({field.upper(): value}).encode(),
        "nested": json.dumps({"answer": document}).encode(),
        "listed": json.dumps([document]).encode(),
        "text": json.dumps(text).encode(),
        "twice": data + data,
        "twice the key": b"{" + key + b": 1, " + key + b": 1}",
        "fenced": b"```json\n" + data + b"```",
        "prose": b"The answer is " + data,
        "mark": b"\xef\xbb\xbf" + data,
        "utf-16": text.encode("utf-16"),
        "nul": data + b"\x00",
        "deep": b"[" * 100_000,
        "blank": b"\n",
        "nothing": b"",
        "huge": data + b" " * (1 << 20),
    }
    return out


def _csv_mutations(text: str) -> dict[str, bytes]:
    """What can go wrong with a prediction file."""
    header, *rows = text.splitlines()
    rest = ",".join(rows[0].split(",")[1:])

    def cell(value: str) -> bytes:
        first = value + ("," + rest if rest else "")
        return "\n".join([header, first, *rows[1:]]).encode()

    out = {
        f"cell is {value!r}": cell(value)
        for value in ("nan", "inf", "-inf", "1e999", "1_0", "0x1", '"1,5"', "1.2.3", "--1", "1e",
                      "e1", "true", "null", "NA", '""', " ", "1 2", "$1", "1%", "１", "٣", "½",
                      "\x00", "1\x00", "=1", '"1', "1e12345", "9" * 200_000, "∞")
    }  # fmt: skip
    out |= {f"{k} rows": "\n".join([header, *(rows * 3)[:k]]).encode() for k in (0, 1, 3, 5, 12)}
    out |= {
        "no header": "\n".join(rows).encode(),
        "upper header": "\n".join([header.upper(), *rows]).encode(),
        "header twice": "\n".join([f"{header},{header}", *rows]).encode(),
        "semicolons": text.replace(",", ";").replace("prediction", "prediction;x").encode(),
        "tabs": text.replace(",", "\t").replace("prediction", "prediction\tx").encode(),
        "utf-16": text.encode("utf-16"),
        "latin-1": b"\xe9" + text.encode(),
        "json": json.dumps({"prediction": [1]}).encode(),
        "blank": b"\n\n",
        "nothing": b"",
        "mark": b"\xef\xbb\xbf",
        "huge": text.encode() + b" " * (16 << 20),
    }
    return out


@pytest.mark.parametrize("name", NAMES)
def test_at_least_40_malformations_are_each_a_reason(dev: Session, name: str) -> None:
    """Every variant, every form: invalid, worthless, named, and never an exception."""
    (task,) = [task for task in dev.all_tasks if task.task_id == task_id(name)]
    truth = dev.truths([task])[task.task_id]
    text = gold_answer(task, truth)
    mutate: Callable[[str], dict[str, bytes]] = (
        _json_mutations if variant_of(TASKS[name].key).suffix == ".json" else _csv_mutations
    )
    count = 0
    for what, data in mutate(text).items():
        raw = RawAnswer(answer_file(name), data)
        if len(data) > (1 << 20 if task.spec.suffix == ".json" else 16 << 20):
            raw = RawAnswer(answer_file(name), None, "too_large", "over")
        checked = check(task, raw)
        if checked.status == "scored":
            # A quirk that is no fault for this variant, such as [] for a list of edges.
            assert what.startswith("field is"), (what, data[:80])
            continue
        count += 1
        result = score(task, truth, checked)
        assert checked.reason in REASONS and checked.reason != "no_answer"
        assert answer_file(name) in checked.message and "\n" not in checked.message
        assert checked.message.isprintable() and len(checked.message) < 500, what
        assert result.points == 0.0
        assert result.loss == (10.0 if result.pool.startswith("nrel") else 1.0)
    assert count >= 40


def test_all_malformations_at_once_leave_the_other_tasks_alone(
    dev: Session, gold: Path, tmp_path: Path
) -> None:
    """Each round breaks a third of the folder; the rest keeps its full points."""
    for turn in range(3):
        broken = set(NAMES[turn::3])
        for k, name in enumerate(NAMES):
            (task,) = [task for task in dev.all_tasks if task.task_id == task_id(name)]
            text = gold_answer(task, dev.truths([task])[task.task_id])
            if name in broken:
                mutate = _json_mutations if task.spec.suffix == ".json" else _csv_mutations
                mutations = [
                    data
                    for data in mutate(text).values()
                    if check(task, RawAnswer("x", data)).status == "invalid"
                ]
                put(gold, name, mutations[(7 * turn + k) % len(mutations)])
            else:
                put(gold, name, text)
        result = dev.grade(gold)
        census = result.report["census"]
        assert census["invalid"] == len(broken)
        assert census["scored"] == len(TASKS) - len(broken)
        ids = {task_id(name) for name in broken}
        assert {s.points for s in result.scores if s.task_id not in ids} == {1.0}
        assert {s.points for s in result.scores if s.task_id in ids} == {0.0}
