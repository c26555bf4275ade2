"""What strangers write reaches a terminal, or a page, as text alone, in every field and command."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from grading import put
from hostile_text import EVIL, TAG, check_printable, check_runs
from small_release import restate, task_id
from some_cases import some_of

from baselines.__main__ import main as baselines
from builder.commands.main import main as build
from builder.gate.report import GateLine, GateReport
from builder.release.papers import title
from causal_exams.cli import main as exams
from grader.io.printing import printable


def test_marks_after_the_fourth_and_what_cannot_be_printed_are_replaced() -> None:
    assert printable("e" + "\u0301" * 6) == "e" + "\u0301" * 4 + "\ufffd" * 2
    assert printable("a\nb\x1b[\u202e") == "a\ufffdb\ufffd[\ufffd"
    assert printable("名前 🎓 é") == "名前 🎓 é"
    check_printable(printable(EVIL), "EVIL")


def test_no_field_of_a_submission_acts_on_a_terminal(runner, few_release, gold, tmp_path, capsys):
    """Equal answers were noted with the raw name of the system."""
    runner.release = few_release
    board = tmp_path / "board"
    evil = board / EVIL
    board.mkdir()
    card = dict.fromkeys(("system", "date", "model", "setting", "url", "notes", EVIL), EVIL)
    (gold / "run.json").write_text(json.dumps(card), encoding="utf-8")
    shutil.copytree(gold, board / "same")
    gold.rename(evil)
    usage = {"task_id": task_id("ate"), "ending": EVIL, EVIL: EVIL, "input_tokens": 3}
    lines = [usage, {"task_id": EVIL}, {EVIL: 1}]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (evil / "usage.jsonl").write_text(text, encoding="utf-8")
    (evil / "answers.jsonl").write_text(text + EVIL, encoding="utf-8")
    for name in (f"{EVIL}.json", f"{task_id('ate')}{EVIL}.json", f"{EVIL}.csv"):
        (evil / name).write_text(EVIL, encoding="utf-8")
    put(evil, "method", json.dumps({"method": EVIL, EVIL: EVIL}, ensure_ascii=False))
    put(evil, "sketch", json.dumps({"edges": [[EVIL, EVIL]], "why": EVIL}))
    put(evil, "ate", EVIL)
    at: list[object] = [*runner.dev, "--exam", "all"]
    written = tmp_path / "written"
    written.mkdir()
    page, document, packed = written / "p.html", written / "d.json", board / "packed.parquet"
    check_runs(capsys, written, [
        ["grade", evil, *at, "--full", "--html", page, "--json", document],
        ["grade", evil, *at, "--quiet"],
        ["validate", evil, *at],
        ["pack", evil, *at, "--name", EVIL, "--out", packed],
        ["grade", packed, *at],
        ["leaderboard", board, *at, "--full", "--html", page, "--json", document],
        ["compare", evil, board / "same", *at, "--html", page, "--json", document],
        ["browse", runner.release, *at[2:], "--answers", evil, "--html", written / "site"],
        *(["explain", task_id(name), "--answers", evil, *runner.dev]
          for name in ("method", "sketch", "ate")),
        ["explain", EVIL, "--answers", evil, *runner.dev],
        ["grade", tmp_path / EVIL, *at],
        ["grade", evil, *at, "--exam", EVIL],
    ])  # fmt: skip


FIELDS = (
    "instance_id view", "exam", "version", "split", "prompt story motif deprecated", "task_id",
    "family", "shard", "inputs_json", "target_json", "release",
)  # fmt: skip


@pytest.mark.parametrize("field", some_of(FIELDS, 2))
def test_no_field_of_a_release_acts_on_a_terminal(
    runner, few_release, gold, tmp_path, field, capsys
):
    """`workspace` printed view and instance as the release has them."""
    side = few_release / "public"
    for shard in sorted(side.rglob("*.parquet")):
        table = pq.read_table(shard)
        for name in {*field.split()} & {*table.column_names} if table.num_rows else ():
            values = pa.array([EVIL, *table[name].to_pylist()[1:]])
            table = table.set_column(table.column_names.index(name), name, values)
        pq.write_table(table, shard)
        restate(side, shard.relative_to(side).as_posix(), table[0].to_pylist())
    file = side / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    if field in ("release", "version"):
        manifest[field] = EVIL
    elif field == "split":
        manifest["splits"][EVIL] = manifest["splits"].pop("dev")
    elif field == "shard":
        name = next(iter(manifest["shards"]))
        manifest["shards"][EVIL] = manifest["shards"].pop(name)
    elif "deprecated" in field:
        manifest["deprecated"] = {"dev": {task_id("ett"): EVIL, EVIL: EVIL}}
    file.write_text(json.dumps(manifest), encoding="utf-8")
    dev: list[object] = ["--release", few_release, "--split", "dev"]
    at, written = [*dev, "--exam", "all"], tmp_path / "written"
    check_runs(capsys, written, [
        ["verify", few_release],
        ["workspace", *at, "--out", written / "tasks"],
        ["grade", gold, *at, "--html", written / "page.html"],
        ["validate", gold, *at],
        ["explain", task_id("ate"), "--prompt", "--reveal", *dev],
        ["gold", *at, "--out", written / "right"],
        ["browse", few_release, *at[2:], "--html", written / "site"],
    ])  # fmt: skip
    check_runs(capsys, written, [
        ["export", "harbor", written / "harbor", *at],
        ["lab", EVIL, *dev, "--transcript", tmp_path / "t.jsonl"],
    ], exams)  # fmt: skip
    check_runs(capsys, written, [["random", *at, "--out", written / "random"]], baselines)
    toml = tmp_path / "evil.toml"
    toml.write_text(f"{json.dumps(EVIL)} = 1", encoding="utf-8")
    check_runs(capsys, written, [
        ["inspect", few_release],
        ["exam", "--from", few_release, "--exam", toml, *dev[2:]],
        ["inspect", few_release, EVIL],
        ["diff", runner.release, few_release],
        ["check", few_release, "--quiet", "--workers", 1],
        ["publish", few_release, "--deprecate", task_id("ate"), "--why", EVIL, "--version", "9",
         *dev[2:]],
    ], build)  # fmt: skip


def test_no_word_of_a_release_acts_on_who_reads_its_papers() -> None:
    """GATE.md held problems, and a card its title, as the release has them."""
    line = GateLine("shards", False, EVIL, (EVIL,))
    gate = GateReport((line,), compositions=((EVIL,),)).markdown
    card = title({"release": "x", "version": "1", "configuration": {"imported": EVIL}})
    check_printable(f"{gate}{card}", "papers")
    assert gate.count(TAG) == gate.count(f"\\{TAG}") == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "mini"', "name = EVIL"), ('version = "0.1.0"', "version = EVIL"),
        ('seed = "causal-exams mini 1"', "seed = EVIL"), ('truth = "public"', "truth = EVIL"),
        ("[splits.dev]", "[splits.EVIL]"), ('truth = "public"', "EVIL = 1"),
        ("[splits.dev.exams.mini]", "[splits.dev.exams.EVIL]"), ("suites = [", "suites = [EVIL,"),
    ],
)  # fmt: skip
def test_no_field_of_a_split_file_acts_on_a_terminal(root, tmp_path, capsys, old, new):
    text = (root / "splits" / "mini.toml").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "evil.toml"
    file.write_text(text.replace(old, new.replace("EVIL", json.dumps(EVIL)), 1), encoding="utf-8")
    only: list[object] = ["build", file, "--out", tmp_path / "r", "--only", EVIL]
    check_runs(capsys, tmp_path / "r", [["plan", file], only], build)
