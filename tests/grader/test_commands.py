"""The commands end to end on the small release."""

import hashlib
import json
import os
import random
import shutil
from pathlib import Path

import duckdb
import pytest
from grading import Runner, only_changed, put, read_rows
from small_release import (
    NAMES,
    SECRET_TASKS,
    TASKS,
    answer_file,
    shard_entry,
    task_id,
    variant_of,
    write_manifest,
    write_shard,
)
from test_case_tables import TABLES

from grader.cli import COMMANDS, main
from grader.model import Task, Truth
from grader.schemas import first_problem, schema
from grader.score import SCORERS
from grader.spec import VARIANTS

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


def test_an_empty_folder_scores_zero(runner: Runner, tmp_path: Path) -> None:
    """A benchmark that rewards doing nothing measures nothing."""
    (tmp_path / "empty").mkdir()
    run = runner.grade(tmp_path / "empty")
    assert run.report["points"] == 0.0
    fixed = run.report["tracks"]["causalds"]["readings"]["fixed"]
    assert fixed["pass_rate"] == 0.0 and fixed["s_nr"] == 10.0 and fixed["med_f1_loss"] == 1.0
    assert run.report["census"]["missing"] == len(TASKS)


def test_the_same_answers_give_the_same_bytes(runner: Runner, gold: Path) -> None:
    """Neither the order of files, nor their dates, nor a second run may show."""
    put(gold, "ate", '{"ate": 1.25}')
    outputs = ("json", "csv", "parquet", "html")
    hashes = set()
    for turn in range(3):
        files = {kind: runner.place / f"out.{kind}" for kind in outputs}
        runner.run(
            "grade", gold, "--release", runner.release, *DEV,
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


def test_validate_and_grade_agree_on_every_case(runner: Runner, tmp_path: Path) -> None:
    """A validator that reads answers differently from the grader is worse than none."""
    cases = [case for table in TABLES.values() for case in table if case["answer"] is not None]
    rounds: list[dict[str, str]] = []
    # One case of each kind and outcome per task: the parser is the same, the plumbing is tested.
    kinds = {(case["task"], case["reason"], case["kind"]): case for case in cases}
    for case in kinds.values():
        for chosen in rounds:
            if case["task"] not in chosen:
                chosen[case["task"]] = case["answer"]
                break
        else:
            rounds.append({case["task"]: case["answer"]})
    for number, chosen in enumerate(rounds):
        folder = tmp_path / f"round{number}"
        folder.mkdir()
        for name, answer in chosen.items():
            put(folder, name, answer)
        run = runner.grade(folder)
        shown = runner.run(
            "validate", folder, "--release", runner.release, *DEV, "--exam", "all", "--strict"
        )
        listed = {
            tuple(line.split()[:2]) for line in shown.out.splitlines() if line.startswith("cds-")
        }
        invalid = {
            (task_id(name), row["reason"])
            for name, row in run.rows.items()
            if row["status"] == "invalid"
        }
        assert listed == invalid
        assert shown.code == int(bool(invalid))
        census = run.report["census"]
        assert f"{census['scored']} valid" in shown.out
        assert f"{census['invalid']} invalid, {census['missing']} missing" in shown.out


def test_strict_and_fail_under_decide_the_exit_code(runner: Runner, gold: Path) -> None:
    """Continuous integration reads exit codes, not tables."""
    assert runner.grade(gold, "--strict", "--fail-under", "100").code == 0
    put(gold, "ate", "{")
    assert runner.grade(gold).code == 0
    assert runner.grade(gold, "--strict").code == 1
    assert runner.grade(gold, "--fail-under", "99").code == 1
    assert runner.grade(gold, "--fail-under", "50").code == 0


def test_quiet_is_one_line(runner: Runner, gold: Path) -> None:
    """For shell scripts."""
    run = runner.grade(gold, "--quiet")
    assert run.out == f"points 100.0 scored {len(TASKS)} missing 0 invalid 0\n"


def test_the_exam_defaults_to_the_one_that_was_answered(runner: Runner, gold: Path) -> None:
    """``mini`` is the only exam; ``all`` has one task more."""
    options = ("--release", runner.release, *DEV, "--quiet")
    assert f"scored {len(TASKS) - 1} " in runner.run("grade", gold, *options).out
    assert f"scored {len(TASKS)} " in runner.run("grade", gold, *options, "--exam", "all").out
    assert runner.run(gold, *options).code == 0, "a folder alone is graded"


def test_a_workspace_holds_what_the_test_taker_needs(runner: Runner, tmp_path: Path) -> None:
    """Read back as an agent would: with its columns, in row order, without the outcome."""
    out = tmp_path / "work"
    options = ("--release", runner.release, *DEV, "--exam", "all")
    run = runner.run("workspace", *options, "--out", out)
    assert run.code == 0, run.err
    assert sorted(os.listdir(out)) == sorted(map(task_id, TASKS))
    for name, task in TASKS.items():
        place = out / task_id(name)
        spec = variant_of(task.key)
        files = {"prompt.md", "story.md", "answer.schema.json"}
        if spec.input_mode == "data":
            files |= {"data.parquet", "columns.json"}
        if spec.family == "prediction":
            files.add("test_features.parquet")
        assert set(os.listdir(place)) == files
        assert answer_file(name) in (place / "prompt.md").read_text("utf-8")
        document = json.loads((place / "answer.schema.json").read_text("utf-8"))
        assert document == schema(f"answers/{spec.shape}")
    place = out / task_id("predict")
    columns = json.loads((place / "columns.json").read_text("utf-8"))
    assert [column["name"] for column in columns] == list(NAMES[:3])
    connection = duckdb.connect()
    for file, names in (("data", NAMES[:3]), ("test_features", (NAMES[0], NAMES[2]))):
        cursor = connection.execute("FROM read_parquet(?)", [str(place / f"{file}.parquet")])
        assert [c[0] for c in cursor.description or ()] == list(names)
        assert cursor.fetchall() == [(v,) * len(names) for v in (0.5, 1.5, -2.0, 0.25)]
    assert "exists already" in runner.fails("workspace", *options, "--out", out)


def test_one_workspace_of_a_private_split_needs_no_truth(runner: Runner, tmp_path: Path) -> None:
    """The public repository alone must suffice to sit the exam."""
    public = shutil.copytree(runner.release / "public", tmp_path / "public")
    options = ("--release", public, "--split", "test", "--task", task_id("sketch", "test"))
    run = runner.run("workspace", *options, "--out", tmp_path / "w")
    assert run.code == 0 and "1 workspaces" in run.out
    message = runner.fails("workspace", "--release", public, "--split", "test", "--task",
                           "cds-nothing", "--out", tmp_path / "v")  # fmt: skip
    assert "no such task" in message
    assert not (tmp_path / "v").exists()


def test_a_private_split_is_graded_with_its_private_side(runner: Runner, tmp_path: Path) -> None:
    """And refused without, naming the way out."""
    public = shutil.copytree(runner.release / "public", tmp_path / "apart" / "public")
    private = shutil.copytree(runner.release / "private", tmp_path / "safe")
    options = ("--release", public.parent, "--split", "test")
    out = tmp_path / "gold"
    words = ("gold", *options, "--private", private, "--out", out)
    assert "--reveal" in runner.fails(*words)
    assert runner.run(*words, "--reveal").code == 0
    run = runner.run("grade", out, *options, "--private", private, "--quiet")
    assert run.out == f"points 100.0 scored {len(SECRET_TASKS)} missing 0 invalid 0\n"
    message = runner.fails("grade", out, *options)
    assert "its truth is private" in message and "--private" in message
    assert runner.run("validate", out, *options).code == 0


def test_a_packed_submission_grades_like_its_folder(runner: Runner, tmp_path: Path) -> None:
    """Whoever submits must see the numbers they saw at home, whatever is wrong with the answers."""
    folder = tmp_path / "subs" / "mine"
    folder.mkdir(parents=True)
    for number, table in enumerate(TABLES.values()):
        case = [case for case in table if case["answer"] is not None][3 * number % 20]
        put(folder, case["task"], case["answer"])
    (folder / answer_file("sign_zero")).mkdir()
    put(folder, "correlation", b"\xff\x00")
    card = {"system": "Mine [1.0]", "notes": "née"}
    (folder / "run.json").write_text(json.dumps(card), encoding="utf-8")
    usage = {"task_id": task_id("ate"), "input_tokens": 3}
    (folder / "usage.jsonl").write_text(json.dumps(usage), encoding="utf-8")
    packed = tmp_path / "subs" / "packed.parquet"
    options = ("--release", runner.release, *DEV)
    run = runner.run("pack", folder, "--name", "Mine [1.0]", "--out", packed, *options)
    assert run.code == 0, run.err
    board = tmp_path / "board.json"
    page = tmp_path / "board.html"
    run = runner.run(
        "leaderboard", tmp_path / "subs", *options, "--json", board, "--html", page
    )  # fmt: skip
    assert run.code == 0 and "Mine [1.0]" in run.out
    first, second = [entry["report"] for entry in json.loads(board.read_text("utf-8"))]
    for key in ("points", "points_interval", "tracks", "exam", "split"):
        assert first[key] == second[key]
    for key in ("scored", "invalid", "missing"):
        assert first["census"][key] == second["census"][key]
    html = page.read_text("utf-8")
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in html and html.count("Mine [1.0]") >= 2


def test_an_empty_folder_packs_and_unpacks(runner: Runner, tmp_path: Path) -> None:
    """The name of an empty submission must survive, and its zero."""
    (tmp_path / "none").mkdir()
    packed = tmp_path / "none.parquet"
    options = ("--release", runner.release, *DEV)
    assert runner.run("pack", tmp_path / "none", "--name", "N", "--out", packed, *options).code == 0
    run = runner.grade(packed)
    assert run.report["submission"]["system"] == "N" and run.report["points"] == 0.0


def test_a_leaderboard_leaves_out_what_it_cannot_read(
    runner: Runner, gold: Path, tmp_path: Path
) -> None:
    """One broken submission must not cost the others their places."""
    board = tmp_path / "board"
    board.mkdir()
    shutil.copytree(gold, board / "a")
    shutil.copytree(gold, board / "b")
    put(board / "b", "ate", '{"ate": null}')
    (board / "broken.parquet").write_bytes(b"PAR1 not at all")
    (board / "link.parquet").symlink_to("broken.parquet")
    (board / "notes.txt").write_text("hello", encoding="utf-8")
    os.mkfifo(board / "pipe.parquet")
    for name in ("a", "b"):
        (board / name / "run.json").unlink()
    out = tmp_path / "board.json"
    run = runner.run("leaderboard", board, "--release", runner.release, *DEV, "--json", out)
    assert run.code == 0
    ranked = json.loads(out.read_text("utf-8"))
    assert [(e["rank"], e["report"]["submission"]["system"]) for e in ranked] == [
        (1, "a"),
        (2, "b"),
    ]
    assert "broken.parquet" in run.err and "pipe.parquet" in run.err


def test_ties_share_a_place(runner: Runner, gold: Path, tmp_path: Path) -> None:
    """Order among equals must not look like merit."""
    board = tmp_path / "board"
    for name in ("b", "a"):
        shutil.copytree(gold, board / name)
    (board / "c").mkdir()
    (board / "c" / "run.json").write_text('{"system": "c"}', "utf-8")
    (board / "junk").mkdir()
    out = tmp_path / "o.json"
    run = runner.run("leaderboard", board, "--release", runner.release, *DEV, "--json", out)
    assert "left out" in run.err and "junk" in run.err
    assert [entry["rank"] for entry in json.loads(out.read_text("utf-8"))] == [1, 1, 3]


@pytest.mark.parametrize("reveal", [False, True])
def test_explain_shows_the_truth_only_when_asked(
    runner: Runner, gold: Path, own_release: Path, reveal: bool
) -> None:
    """A per-task report is where a truth would slip out."""
    put(gold, "ett", '{"value": -2}')
    runner.release = own_release
    words = ["explain", task_id("ett"), "--release", own_release, *DEV, "--answers", gold]
    run = runner.run(*words, "--prompt", *(["--reveal"] if reveal else []))
    assert run.code == 0
    for text in ("counterfactual_effect.effect_point", "NRelErr", "0.800 of 1", '{"value": -2}',
                 "Question ett.\n"):  # fmt: skip
        assert text in run.out
    assert ("-3.0" in run.out) == reveal and ("value_se" in run.out) == reveal


def test_explain_says_why_an_answer_is_invalid(runner: Runner, gold: Path) -> None:
    """Reason code, file and field in one place."""
    put(gold, "ate_interval", '{"ate": 1, "ci_lower": 2, "ci_upper": 1}')
    options = ("--release", runner.release, *DEV, "--answers", gold)
    run = runner.run("explain", task_id("ate_interval"), *options)
    assert "invalid (bounds_reversed: a lower bound above its upper bound)" in run.out
    assert f"{answer_file('ate_interval')}: at /ci_lower" in run.out
    put(gold, "ate_interval", b'{"ate": "\x1b[31m\xff')
    assert "\x1b" not in runner.run("explain", task_id("ate_interval"), *options).out
    message = runner.fails("explain", task_id("ate")[:-1], "--release", runner.release, *DEV)
    assert f"did you mean '{task_id('ate')}'" in message


def test_the_rows_hold_the_truth_only_when_asked(runner: Runner, gold: Path) -> None:
    """``--reveal`` is one switch for every per-task output."""
    assert "truth_json" not in runner.grade(gold).rows["ett"]
    row = runner.grade(gold, "--reveal").rows["ett"]
    assert json.loads(row["truth_json"])["value"] == -3.0
    table = runner.place / "rows.csv"
    runner.grade(gold, "--reveal", "--csv", table)
    assert "truth_json" in table.read_text("utf-8").splitlines()[0]


def test_a_private_split_tells_no_task_its_score_unless_asked(
    runner: Runner, tmp_path: Path
) -> None:
    """An absolute error beside one's own answer is the truth, give or take a sign."""
    private = ("--release", runner.release, "--split", "test")
    gold = tmp_path / "gold"
    assert runner.run("gold", *private, "--out", gold, "--reveal").code == 0
    table = tmp_path / "rows.csv"
    assert "--reveal" in runner.fails("grade", gold, *private, "--csv", table)
    assert not table.exists()
    assert runner.run("grade", gold, *private, "--csv", table, "--reveal").code == 0
    task = next(iter(sorted(gold.glob("cds-*")))).stem
    asked = ("explain", task, *private, "--answers", gold)
    assert "--reveal" in runner.fails(*asked)
    assert "1.000 of 1" in runner.run(*asked, "--reveal").out


def test_a_private_report_is_redacted_unless_revealed(runner: Runner, tmp_path: Path) -> None:
    """A submission with one answer read the hidden structure of its task off the slices."""
    private = ("--release", runner.release, "--split", "test")
    gold, file = tmp_path / "gold", tmp_path / "report.json"
    assert runner.run("gold", *private, "--out", gold, "--reveal").code == 0
    assert runner.run("grade", gold, *private, "--json", file).code == 0
    report = json.loads(file.read_text("utf-8"))
    assert first_problem("report", report) is None and report["redacted"]
    track = report["tracks"]["causalds"]
    assert "structure" not in track["slices"] and "variant" in track["slices"]
    assert all(reading["n_pass"] is None for reading in track["readings"].values())
    rows = [row for axis in track["slices"].values() for row in axis.values()]
    assert all(row["points"] is None for row in rows if row["tasks"] < 5)
    numbers = [row["points"] for row in rows if row["points"] is not None]
    assert numbers and all(round(number, 1) == number for number in [*numbers, report["points"]])
    page = tmp_path / "page.html"
    assert runner.run("leaderboard", tmp_path, *private, "--html", page).code == 0
    assert runner.run("grade", gold, *private, "--json", file, "--reveal").code == 0
    revealed = json.loads(file.read_text("utf-8"))
    assert "redacted" not in revealed and "structure" in revealed["tracks"]["causalds"]["slices"]


def test_outputs_replace_neither_each_other_nor_an_answer(runner: Runner, gold: Path) -> None:
    """``--json`` aimed at an answer's name used to destroy the answer."""
    place = runner.place / "one"
    words = ("grade", gold, "--release", runner.release, *DEV)
    assert "--csv" in runner.fails(*words, "--json", place, "--csv", place)
    answer = next(iter(sorted(gold.glob("cds-*.json"))))
    before = answer.read_bytes()
    assert "inside the answers folder" in runner.fails(*words, "--json", answer)
    assert answer.read_bytes() == before


def test_answers_meant_for_another_exam_are_remarked_on(
    runner: Runner, gold: Path, tmp_path: Path
) -> None:
    """Zero points without a word sends people looking for a bug in their agent."""
    words = ("--release", runner.release, "--split", "test", "--exam", "all", "--quiet")
    run = runner.run("grade", gold, *words)
    assert "none of the answers is to a task of split test" in run.err
    packed = tmp_path / "packed.parquet"
    dev = ("--release", runner.release, *DEV)
    runner.run("pack", gold, *dev, "--exam", "all", "--name", "x", "--out", packed)
    report = tmp_path / "report.json"
    other = sorted(runner_exams(runner))[0]
    runner.run("grade", packed, *dev, "--exam", other, "--json", report)
    assert any("packed for exam" in note for note in json.loads(report.read_text())["notices"])


def runner_exams(runner: Runner) -> list[str]:
    """The exams of ``dev``."""
    from grader.release import Release

    return list(Release.open(runner.release).exams("dev"))


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


def test_verify_accepts_the_release_and_its_public_half(runner: Runner, tmp_path: Path) -> None:
    """Anyone may check the public side; the maintainer checks both."""
    run = runner.run("verify", runner.release)
    assert run.code == 0 and "private rows are what was committed to" in run.out
    public = shutil.copytree(runner.release / "public", tmp_path / "public")
    run = runner.run("verify", public)
    assert run.code == 0 and "not checked" in run.out


def test_verify_sees_one_flipped_byte_in_any_shard(runner: Runner, own_release: Path) -> None:
    """And grading refuses the shard."""
    for file in sorted(own_release.glob("*/*/*.parquet"))[::3]:
        data = file.read_bytes()
        middle = len(data) // 2
        file.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
        run = runner.run("verify", own_release)
        assert run.code == 1 and file.name in run.out, file
        file.write_bytes(data)
    assert runner.run("verify", own_release).code == 0


def test_grading_refuses_a_shard_that_differs_from_its_hash(
    runner: Runner, own_release: Path, gold: Path
) -> None:
    """A truth edited after the fact must not grade anyone."""
    for config in ("causalds", "causalds_exams", "causalds_truth", "causalds_labels"):
        file = own_release / "public" / config / "dev-00000-of-00001.parquet"
        data = file.read_bytes()
        file.write_bytes(data + b"\0")
        message = runner.fails("grade", gold, "--release", own_release, *DEV)
        assert str(file) in message and "SHA-256" in message and "fetch" in message
        file.unlink()
        assert str(file) in runner.fails("grade", gold, "--release", own_release, *DEV)
        file.write_bytes(data)


def test_verify_sees_a_private_row_changed_with_its_hash(runner: Runner, own_release: Path) -> None:
    """The manifest can be fixed up to fit a changed truth; the commitment cannot."""
    side = own_release / "private"
    name = "causalds_truth/test-00000-of-00001.parquet"
    connection = duckdb.connect()
    cursor = connection.execute("FROM read_parquet(?)", [str(side / name)])
    columns = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(columns, values, strict=True)) for values in cursor.fetchall()]
    (row,) = [row for row in rows if row["task_id"] == task_id("ett", "test")]
    row["value"] = -3.0000001
    write_shard(connection, side / name, "causalds_truth", rows)
    manifest = json.loads((side / "manifest.json").read_text("utf-8"))
    manifest["shards"][name] = shard_entry(side / name, rows)
    write_manifest(side, manifest)
    run = runner.run("verify", own_release)
    assert run.code == 1
    assert f"row {task_id('ett', 'test')} is not what was committed to" in run.out


def test_verify_sees_a_shard_nobody_vouches_for(runner: Runner, own_release: Path) -> None:
    """``load_dataset`` would read it with the others."""
    folder = own_release / "public" / "causalds"
    shutil.copy(folder / "dev-00000-of-00001.parquet", folder / "dev-00001-of-00002.parquet")
    run = runner.run("verify", own_release)
    assert run.code == 1 and "dev-00001-of-00002.parquet is not in the manifest" in run.out


@pytest.mark.parametrize("spec", VARIANTS, ids=lambda spec: spec.key)
def test_schema_prints_the_schema_of_a_variant(
    spec: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """By family.variant, whatever the shape."""
    assert main(["schema", spec.key]) == 0  # type: ignore[attr-defined]
    assert json.loads(capsys.readouterr().out)["title"]


def test_schema_knows_names_and_near_misses(runner: Runner) -> None:
    """A short name suffices where it is unique; a misspelt one is corrected."""
    assert "ate_uq_95" in runner.run("schema").out
    assert json.loads(runner.run("schema", "ate_uq_95").out)["title"]
    assert "did you mean 'effect_estimate.ate_point'" in runner.fails(
        "schema", "effect_estimate.ate_piont"
    )


def test_our_own_bug_exits_3_and_names_the_task(
    runner: Runner, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turning every exception into an invalid answer would hide our faults in their scores."""

    def broken(task: Task, truth: Truth, answer: object) -> None:
        raise RuntimeError("scorer is broken")

    scorers = dict(SCORERS["causalds"]) | {"effect_estimate.ate_point": broken}
    monkeypatch.setitem(SCORERS, "causalds", scorers)  # type: ignore[arg-type]
    report = runner.place / "r.json"
    run = runner.run("grade", gold, "--release", runner.release, *DEV, "--json", report)
    assert run.code == 3
    assert task_id("ate") in run.err and "effect_estimate.ate_point" in run.err
    assert "scorer is broken" in run.err and "our fault" in run.err
    assert not report.exists()


def test_every_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody reads option tables first."""
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        assert f"python -m grader {command}" in capsys.readouterr().out or command == "grade"
    assert main(["--help"]) == 0 and "exit codes" in capsys.readouterr().out
    assert main([]) == 2
    assert main(["--version"]) == 0


def test_grading_reads_the_release_named_by_the_environment(
    runner: Runner, gold: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``--release``, then the variable, then ./release."""
    monkeypatch.setenv("CAUSAL_EXAMS_RELEASE", str(runner.release))
    assert runner.run(gold, *DEV, "--quiet").code == 0
    monkeypatch.delenv("CAUSAL_EXAMS_RELEASE")
    monkeypatch.chdir(runner.release.parent)
    assert runner.run(gold, *DEV, "--quiet").code == 0


def test_rows_are_written_alike_as_csv_and_parquet(runner: Runner, gold: Path) -> None:
    """The same columns and values, whichever tool reads them."""
    put(gold, "ate", '{"ate": "\\"x\\",\\n1"}')
    table = runner.place / "rows.csv"
    rows = runner.grade(gold, "--csv", table).rows
    cursor = duckdb.connect().execute("FROM read_csv(?, header=true)", [str(table)])
    names = [column[0] for column in cursor.description or ()]
    assert names == list(rows["ate"])
    assert {line[0] for line in cursor.fetchall()} == {task_id(name) for name in TASKS}
    assert read_rows(runner.place / "rows.parquet") == rows
    only_changed(runner.grade(gold), {"ate"})
