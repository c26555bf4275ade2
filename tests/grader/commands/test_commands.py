"""The commands end to end on the small release."""

import hashlib
import json
import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from grading import Runner, only_changed, put, read_rows
from malformations import malformations
from small_release import NAMES, OUTSIDE_EXAM, TASKS, answer_file, task_id, variant_of
from test_case_tables import TABLES

from grader.errors import UsageError
from grader.io.schemas import first_problem, schema
from grader.opening import open_release
from grader.pages.words import plain_json, question_of
from grader.pipeline import grade
from grader.release.exam import Exam
from grader.release.release import select_exam
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks import TRACKS, VARIANTS

DEV = ("--split", "dev")


def test_gold_scores_exactly_100(runner: Runner, gold: Path) -> None:
    """A gold answer below 100 is the first thing users of a benchmark report."""
    run = runner.grade(gold)
    assert run.report["points"] == 100.0 and run.report["points_interval"] == [100.0, 100.0]
    for reading in run.report["tracks"]["causalds"]["readings"].values():
        assert reading["pass_rate"] == 1.0
        assert reading["causalds_score"] == reading["med_nrel_err"] == reading["s_nr"] == 0.0
    assert {row["loss"] for row in run.rows.values()} == {0.0}
    assert {row["paper_loss"] for row in run.rows.values()} == {0.0}


def test_the_same_answers_give_the_same_bytes(runner: Runner, gold: Path) -> None:
    """Neither the order of files, nor their dates, nor a second run may show."""
    put(gold, "ate", '{"ate": 1.25}')
    outputs = ("json", "csv", "parquet", "html")
    hashes = set()
    for turn in range(3):
        files = {kind: runner.place / f"out.{kind}" for kind in outputs}
        runner.run(
            "grade", gold, *runner.dev,
            *(word for kind, file in files.items() for word in (f"--{kind}", file)),
        )  # fmt: skip
        hashes.add(tuple(hashlib.sha256(f.read_bytes()).hexdigest() for f in files.values()))
        names = sorted(os.listdir(gold))
        random.Random(turn).shuffle(names)
        contents = {name: (gold / name).read_bytes() for name in names}
        shutil.rmtree(gold)
        gold.mkdir()
        for name, content in contents.items():
            (gold / name).write_bytes(content)
            os.utime(gold / name, (turn * 1e8, turn * 1e8))
    assert len(hashes) == 1


def test_validate_and_grade_agree_on_every_case(runner: Runner, dev: Exam, tmp_path: Path) -> None:
    """A validator that reads answers differently from the grader is worse than none."""
    cases = [case for table in TABLES.values() for case in table if case["answer"] is not None]
    rounds: list[dict[str, str | bytes]] = []
    # One case of each kind and outcome per task: the parser is the same, the plumbing is tested.
    kinds = {(case["task"], case["reason"], case["kind"]): case for case in cases}
    for case in kinds.values():
        for chosen in rounds:
            if case["task"] not in chosen:
                chosen[case["task"]] = case["answer"]
                break
        else:
            rounds.append({case["task"]: case["answer"]})
    right = {case["task"]: case["answer"] for case in cases if case["kind"] == "right"}
    failing = sorted(name for name, answer in right.items() if answer.startswith("{"))
    rounds.append({})
    for k, name in enumerate(failing):  # each with another malformation
        told = [data for reason, data in malformations(right[name], ".json").values() if reason]
        rounds[-1][name] = told[k % len(told)]
    for number, chosen in enumerate(rounds):
        folder = tmp_path / f"round{number}"
        folder.mkdir()
        for name, answer in chosen.items():
            put(folder, name, answer)
        graded = grade(dev, folder, slice_intervals=False, tables=False)
        shown = runner.run("validate", folder, *runner.dev, "--exam", "all", "--strict")
        listed = {
            tuple(line.split()[:2]) for line in shown.out.splitlines() if line.startswith("cds-")
        }
        invalid = {(s.task_id, s.reason) for s in graded.scores if s.status == "invalid"}
        unknown = {(s.task_id, "remark") for s in graded.scores if "count as wrong" in s.message}
        assert listed == invalid | unknown
        assert shown.code == int(bool(invalid))
        census = graded.report["census"]
        assert f"{census['scored']} valid" in shown.out
        assert f"{census['invalid']} invalid, {census['missing']} missing" in shown.out


def test_the_exam_defaults_to_the_one_that_was_answered(runner, gold, monkeypatch):
    """``mini`` is the only exam; ``all`` has one task more. The release is that of ``--release``,
    then of the environment, then ./release."""
    options = (*runner.dev, "--quiet")
    assert f"scored {len(TASKS) - 1} " in runner.run("grade", gold, *options).out
    assert f"scored {len(TASKS)} " in runner.run("grade", gold, *options, "--exam", "all").out
    assert runner.run(gold, *options).code == 0, "a folder alone is graded"
    monkeypatch.setenv("CAUSAL_EXAMS_RELEASE", str(runner.release))
    assert runner.run(gold, *DEV, "--quiet").code == 0
    monkeypatch.delenv("CAUSAL_EXAMS_RELEASE")
    monkeypatch.chdir(runner.release.parent)
    assert runner.run(gold, *DEV, "--quiet").code == 0


def test_a_workspace_holds_what_the_test_taker_needs(runner: Runner, tmp_path: Path) -> None:
    """Read back as an agent would: with its columns, in row order, without the outcome."""
    out = tmp_path / "work"
    options = (*runner.dev, "--exam", "all")
    run = runner.run("workspace", *options, "--out", out)
    assert run.code == 0, run.err
    assert sorted(os.listdir(out)) == sorted(map(task_id, TASKS))
    for name, task in TASKS.items():
        place = out / task_id(name)
        spec = variant_of(task.key)
        files = {"prompt.md", "story.md", "answer.schema.json"}
        if spec.shape.input_mode == "data":
            files |= {"data.parquet", "columns.json"}
        if spec.family == "prediction":
            files.add("test_features.parquet")
        assert set(os.listdir(place)) == files
        assert answer_file(name) in (place / "prompt.md").read_text("utf-8")
        document = json.loads((place / "answer.schema.json").read_text("utf-8"))
        assert document == schema(f"answers/{spec.shape.name}")
    place = out / task_id("predict")
    columns = json.loads((place / "columns.json").read_text("utf-8"))
    assert [column["name"] for column in columns] == list(NAMES[:3])
    connection = duckdb.connect()
    for file, names in (("data", NAMES[:3]), ("test_features", (NAMES[0], NAMES[2]))):
        cursor = connection.execute("FROM read_parquet(?)", [str(place / f"{file}.parquet")])
        assert [c[0] for c in cursor.description or ()] == list(names)
        assert cursor.fetchall() == [(v,) * len(names) for v in (0.5, 1.5, -2.0, 0.25)]
    assert "exists already" in runner.fails("workspace", *options, "--out", out)


def test_a_packed_submission_grades_like_its_folder(runner: Runner, tmp_path: Path) -> None:
    """Whoever submits must see the numbers they saw at home, whatever is wrong with the answers."""
    folder = tmp_path / "subs" / "mine"
    folder.mkdir(parents=True)
    for number, table in enumerate(TABLES.values()):
        answered = [case for case in table if case["answer"] is not None]
        case = answered[3 * number % len(answered)]
        put(folder, case["task"], case["answer"])
    (folder / answer_file("sign_zero")).mkdir()
    put(folder, "correlation", b"\xff\x00")
    put(folder, "ate_sign", "```json\n{}\n```")
    card = {"system": "Mine [1.0]", "notes": "née"}
    (folder / "run.json").write_text(json.dumps(card), encoding="utf-8")
    usage = {"task_id": task_id("ate"), "input_tokens": 3}
    (folder / "usage.jsonl").write_text(json.dumps(usage), encoding="utf-8")
    packed = tmp_path / "subs" / "packed.parquet"
    run = runner.run("pack", folder, "--name", "Mine [1.0]", "--out", packed, *runner.dev)
    assert run.code == 0, run.err
    board = tmp_path / "board.json"
    run = runner.run("leaderboard", tmp_path / "subs", *runner.dev, "--json", board)
    assert run.code == 0 and "Mine [1.0]" in run.out
    first, second = [entry["report"] for entry in json.loads(board.read_text("utf-8"))]
    for key in ("points", "points_interval", "tracks", "exam", "split"):
        assert first[key] == second[key]
    for key in ("scored", "invalid", "missing"):
        assert first["census"][key] == second["census"][key]
    (tmp_path / "none").mkdir()
    words = ("pack", tmp_path / "none", "--name", "N", "--out", packed, *runner.dev)
    assert runner.run(*words).code == 0
    run = runner.grade(packed)
    assert run.report["submission"]["system"] == "N" and run.report["points"] == 0.0


def test_a_leaderboard_leaves_out_what_it_cannot_read(runner, gold, tmp_path):
    board = tmp_path / "board"
    board.mkdir()
    for name in ("a", "b"):
        shutil.copytree(gold, board / name)
        (board / name / "run.json").unlink()
    put(board / "b", "ate", '{"ate": null}')
    (board / "broken.parquet").write_bytes(b"PAR1 not at all")
    (board / "notes.txt").write_text("hello", encoding="utf-8")
    for name in ("c", "junk"):
        (board / name).mkdir()
    (board / "c" / "run.json").write_text('{"system": "c"}', "utf-8")
    out = tmp_path / "board.json"
    run = runner.run("leaderboard", board, *runner.dev, "--json", out)
    assert run.code == 0
    ranked = json.loads(out.read_text("utf-8"))
    assert [(e["rank"], e["report"]["submission"]["system"]) for e in ranked[:3]] == [
        (1, "a"),
        (1, "b"),  # one wrong of so many: the intervals meet
        (3, "c"),  # it has a card, and no answer
    ]
    failed = [(e["rank"], e["file"]) for e in ranked[3:]]
    assert failed == [(None, "broken.parquet"), (None, "junk")]
    assert run.out.count("│ broken.parquet") == run.out.count("│ junk") == 1
    assert "failed: " not in run.err, "the board says it"


def test_explain_says_why_an_answer_is_invalid(runner: Runner, gold: Path) -> None:
    put(gold, "ate_interval", '{"ate": 1, "ci_lower": 2, "ci_upper": 1}')
    options = (*runner.dev, "--answers", gold)
    run = runner.run("explain", task_id("ate_interval"), *options)
    assert "invalid (bounds_reversed: a lower bound above its upper bound)" in run.out
    assert f"{answer_file('ate_interval')}: at /ci_lower" in run.out
    put(gold, "ate_interval", b'{"ate": "\x1b[31m\xff')
    assert "\x1b" not in runner.run("explain", task_id("ate_interval"), *options).out
    message = runner.fails("explain", task_id("ate")[:-1], *runner.dev)
    assert f"did you mean '{task_id('ate')}'" in message


def test_explain_lists_the_edges_that_differ_beside_the_truth_only(runner, gold):
    """A figure of 0.57 says nothing of which effects were misread."""
    a, b, c, d = NAMES
    edges = [{"from": x, "to": y} for x, y in ((b, a), (c, a), (d, b), (d, "Moon"))]
    put(gold, "sketch", json.dumps({"edges": edges}))
    words = ("explain", task_id("sketch"), *runner.dev, "--answers", gold, "--prompt")
    shown, plain = (" ".join(runner.run(*words, *more).out.split()) for more in (["--reveal"], []))
    for text in ("causal_sketch.edges_only", "50.0 of 100", f"{d} → Moon", "Question sketch of "):
        assert text in shown and text in plain
    assert f"edges missing {c} → {b}; extra {d} → moon; to be reversed {b} → {a}" in shown
    assert f"truth edges: {a} → {b}, {c} → {a}, {c} → {b}, {d} → {b}" in shown
    assert "missing" not in plain and "truth edges" not in plain and plain.count(" status ") == 1
    put(gold, "sketch", json.dumps({"edges": edges[:3]}))
    assert "why members are missing or extra" in " ".join(runner.run(*words).out.split())
    assert plain_json({"adjust": [], "k": {"x": [[]]}}) == "adjust: (empty); k (x: {(empty)})"
    prompt = "# Task\n\n## Background\nB\n\n## Question\nQ\n\n## Answer\nA"
    assert question_of(prompt, "Background") == "B\n\n## Question\nQ" and question_of(prompt) == "Q"


def test_answers_meant_for_something_else_are_remarked_on(runner, gold, tmp_path):
    """Zero points without a word sends people looking for a bug in their agent."""
    run = runner.run("grade", gold, *runner.test, "--exam", "all", "--quiet")
    assert "none of the answers is to a task of split test" in run.err
    packed = tmp_path / "packed.parquet"
    runner.run("pack", gold, *runner.dev, "--exam", "all", "--name", "x", "--out", packed)
    notices = runner.grade(packed, exam="mini").report["notices"]
    assert any("was packed for exam" in note for note in notices)
    own = open_release(runner.release).content_hashes("dev")
    for hashes, remarked in ((own, False), ({**own, next(iter(own)): "0" * 64}, True)):
        (gold / "run.json").write_text(json.dumps({"hashes": {"release": hashes}}))
        notices = runner.grade(gold).report["notices"]
        assert any("sat another build" in note for note in notices) == remarked
    (tmp_path / "one").mkdir()
    put(tmp_path / "one", OUTSIDE_EXAM, '{"value": 1.0}')
    run = runner.grade(tmp_path / "one", exam="mini")
    (notice,) = run.report["notices"]
    assert run.report["census"]["scored"] == 0
    assert task_id(OUTSIDE_EXAM) in notice and "--exam all" in notice


def test_the_gap_between_public_and_private_truth_is_for_the_maintainer(runner, gold, secret):
    """A system that knows ``dev`` by heart is better there; the gap tells what ``test`` holds."""
    for file in sorted(secret.glob("*"))[::2]:
        file.unlink()
    shutil.copytree(gold, secret, dirs_exist_ok=True)
    reports = {}
    for options in ((), ("--reveal",)):
        out = runner.place / "both.json"
        words = ("grade", secret, *runner.test, "--exam", "all", "--json", out, *options)
        assert runner.run(*words).code == 0
        reports[bool(options)] = json.loads(out.read_text(encoding="utf-8"))
        assert first_problem("report", reports[bool(options)]) is None
    assert "gap" not in reports[False] and "gap" not in runner.grade(secret).report
    gap, skill = reports[True]["gap"], reports[True]["skill"]
    assert (gap["split"], gap["skill"], gap["missing"]) == ("dev", 100.0, 0)
    assert gap["difference"] == pytest.approx(100 - skill) and skill < 90
    assert 0 < gap["interval"][0] < gap["difference"] < gap["interval"][1]
    assert any("skill on dev" in note for note in reports[True]["notices"])


def test_usage_figures_are_means_over_the_tasks_that_have_them(runner: Runner, gold: Path) -> None:
    """Half-filled, hostile and repeated figures must not make a system look cheap or crash."""
    lines = [
        {"task_id": task_id("ate"), "input_tokens": 1000, "output_tokens": 200, "cost_usd": None},
        {"task_id": task_id("ett"), "input_tokens": 3000, "tool_calls": True, "seconds": -4},
        {"task_id": "cds-unknown", "input_tokens": 10**9},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (gold / "usage.jsonl").write_text(text, "utf-8")
    usage = runner.grade(gold).report["usage"]
    assert usage == {
        "tasks": 2, "input_tokens": 2000.0, "output_tokens": 200.0,
        "tool_calls": None, "seconds": None, "cost_usd": None,
    }  # fmt: skip


def test_our_own_bug_exits_3_and_names_the_task(runner, gold, monkeypatch):
    """Turning every exception into an invalid answer would hide our faults in their scores."""

    def broken(task: Task, truth: Truth, answer: object) -> None:
        raise RuntimeError("scorer is broken")

    track = TRACKS["causalds"]
    variants = tuple(
        replace(spec, shape=replace(spec.shape, score=broken)) if spec.name == "ate_point" else spec
        for spec in track.variants
    )
    monkeypatch.setitem(TRACKS, "causalds", replace(track, variants=variants))
    report = runner.place / "r.json"
    run = runner.run("grade", gold, *runner.dev, "--json", report)
    assert run.code == 3
    assert task_id("ate") in run.err and "effect_estimate.ate_point" in run.err
    assert "scorer is broken" in run.err and "our fault" in run.err
    assert not report.exists()


def test_rows_are_written_alike_as_csv_and_parquet(runner: Runner, gold: Path) -> None:
    put(gold, "ate", '{"ate": "\\"x\\",\\n1"}')
    table = runner.place / "rows.csv"
    rows = runner.grade(gold, "--csv", table).rows
    cursor = duckdb.connect().execute("FROM read_csv(?, header=true)", [str(table)])
    names = [column[0] for column in cursor.description or ()]
    assert names == list(rows["ate"])
    assert {line[0] for line in cursor.fetchall()} == {task_id(name) for name in TASKS}
    assert read_rows(runner.place / "rows.parquet") == rows
    only_changed(runner.grade(gold), {"ate"})
    words = ("grade", gold, *runner.dev, "--quiet")
    assert runner.run(*words).code == 0 and runner.run(*words, "--strict").code == 1


def test_of_several_exams_the_release_s_own_is_the_default() -> None:
    exams: dict[str, list[str]] = {"other": [], "mini": []}
    assert select_exam(exams, [], None, own="mini")[0] == "mini"
    assert select_exam(exams, [], "other", own="mini")[0] == "other"
    with pytest.raises(UsageError, match="several exams fit"):
        select_exam(exams, [], None, own="third")
    apart = {"other": ["a"], "mini": ["b"]}
    spec = VARIANTS[0]
    tasks = [Task(name, name, spec, "", "data", "", "", "", {}) for name in ("a", "b")]
    both = frozenset({"a", "b"})
    assert select_exam(apart, tasks, None, both, own="mini")[0] == "mini"
    assert select_exam(apart, tasks, None, frozenset({"a"}), own="mini")[0] == "other"
