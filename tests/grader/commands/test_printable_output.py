"""What strangers write reaches a terminal, or a page, as text alone, in every field and command."""

import json
import shutil
import unicodedata
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from grading import Runner, put
from small_release import task_id

from builder.commands.main import main as build
from grader.commands.main import main
from grader.io.printing import printable

FORGED = "FAIL forged"
EVIL = (
    "e\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e\u2066\u200b\ufeff[red]a"
    + "\u0301" * 30
    + f"\n{FORGED}\r{FORGED}"
)


def check_printable(text: str, what: object) -> None:
    """Nothing in ``text`` acts on a terminal, stands above its line or forges a line."""
    for character in set(text) - set("\n\t"):
        assert unicodedata.category(character) not in ("Cc", "Cf"), (what, character, text)
    for kind, run in groupby(text, lambda c: unicodedata.category(c)[0]):
        assert kind != "M" or len(list(run)) <= 4, (what, text)
    assert not any(line.startswith(FORGED) for line in text.splitlines()), (what, text)


def check_runs(
    capsys: pytest.CaptureFixture[str],
    commands: list[list[object]],
    program: Callable[[list[str]], int] = main,
) -> None:
    """Run commands, whatever comes of them, and check all that they print."""
    for words in commands:
        capsys.readouterr()
        program([str(word) for word in words])
        out, err = capsys.readouterr()
        for text in (out, err):
            check_printable(text, words)
        for page in (word for word in words if str(word).endswith((".html", ".md"))):
            if Path(str(page)).is_file():
                text = Path(str(page)).read_text(encoding="utf-8")
                for character in set(text) - set("\n\t"):
                    assert unicodedata.category(character) not in ("Cc", "Cf"), (words, character)


def test_marks_after_the_fourth_and_what_cannot_be_printed_are_replaced() -> None:
    assert printable("e" + "\u0301" * 6) == "e" + "\u0301" * 4 + "\ufffd" * 2
    assert printable("a\nb\x1b[\u202e") == "a\ufffdb\ufffd[\ufffd"
    assert printable("名前 🎓 é") == "名前 🎓 é"
    check_printable(printable(EVIL), "EVIL")


def test_no_field_of_a_submission_acts_on_a_terminal(
    runner: Runner, gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal answers were noted with the raw name of the system."""
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
    page = tmp_path / "page.html"
    packed = board / "packed.parquet"
    check_runs(capsys, [
        ["grade", evil, *at, "--full", "--html", page],
        ["grade", evil, *at, "--quiet"],
        ["validate", evil, *at],
        ["pack", evil, *at, "--name", EVIL, "--out", packed],
        ["grade", packed, *at],
        ["leaderboard", board, *at, "--full", "--html", page],
        ["compare", evil, board / "same", *at, "--html", page],
        *(["explain", task_id(name), "--answers", evil, *runner.dev]
          for name in ("method", "sketch", "ate")),
        ["explain", EVIL, "--run", evil, *runner.dev],
        ["grade", tmp_path / EVIL, *at],
        ["grade", evil, *at, "--exam", EVIL],
    ])  # fmt: skip


@pytest.mark.parametrize(
    "field",
    ["release", "version", "split", "task_id", "instance_id", "view", "prompt", "family",
     "inputs_json", "exam", "story", "shard"],
)  # fmt: skip
def test_no_field_of_a_release_acts_on_a_terminal(
    runner: Runner, own_release: Path, gold: Path, tmp_path: Path, field: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """`workspace` printed view and instance as the release has them."""
    file = own_release / "public" / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    if field in ("release", "version"):
        manifest[field] = EVIL
    elif field == "split":
        manifest["splits"][EVIL] = manifest["splits"].pop("dev")
    elif field == "shard":
        name = next(iter(manifest["shards"]))
        manifest["shards"][EVIL] = manifest["shards"].pop(name)
    else:
        for shard in sorted((own_release / "public").rglob("*.parquet")):
            table = pq.read_table(shard)
            if field in table.column_names and table.num_rows:
                place = table.column_names.index(field)
                values = [*table[field].to_pylist()]
                values[0] = EVIL
                pq.write_table(table.set_column(place, field, pa.array(values)), shard)
    file.write_text(json.dumps(manifest), encoding="utf-8")
    at: list[object] = ["--release", own_release, "--split", "dev", "--exam", "all"]
    check_runs(capsys, [
        ["verify", own_release],
        ["workspace", *at, "--out", tmp_path / "tasks"],
        ["grade", gold, *at, "--html", tmp_path / "page.html"],
        ["validate", gold, *at],
        ["explain", task_id("ate"), "--prompt", "--reveal", *at[:4]],
        ["gold", *at, "--out", tmp_path / "right"],
        ["browse", *at, "--out", tmp_path / "site"],
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "mini"', "name = EVIL"), ('version = "0.1.0"', "version = EVIL"),
        ('seed = "causal-exams mini 1"', "seed = EVIL"), ('truth = "public"', "truth = EVIL"),
        ("[splits.dev]", "[splits.EVIL]"), ('truth = "public"', "EVIL = 1"),
    ],
)  # fmt: skip
def test_no_field_of_a_split_file_acts_on_a_terminal(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    """Neither where it is refused nor where it is planned."""
    text = (root / "splits" / "mini.toml").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "evil.toml"
    file.write_text(text.replace(old, new.replace("EVIL", json.dumps(EVIL)), 1), encoding="utf-8")
    only: list[object] = ["build", file, "--out", tmp_path / "r", "--only", EVIL]
    check_runs(capsys, [["plan", file], only], build)
