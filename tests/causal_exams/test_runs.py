"""A run from the command to its record: what it leaves, and what a person may get wrong."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason="needs the extra run")

from chat_server import Reply, replies, serve  # noqa: E402
from hostile_text import EVIL, check_files  # noqa: E402
from sitting import NEEDS_BWRAP, lines, sit, tasks  # noqa: E402

from causal_exams.attempts import samples  # noqa: E402
from causal_exams.cli import main  # noqa: E402
from grader.opening import open_release  # noqa: E402
from grader.release.exam import choose_exam  # noqa: E402

OPEN = ("--sandbox", "bubblewrap")
CLOSED = ("--split", "dev", "--setting", "closed")


@NEEDS_BWRAP
def test_an_agent_works_in_a_sandbox_and_all_of_it_is_on_record(mini_release, tmp_path):
    """The open setting: tools, a complaint about an invalid file, the answer."""
    task = next(t for t in tasks(mini_release, "causalds") if t.shape.name == "ate")
    look = "import pandas, os; print(sorted(os.listdir()))"
    wrong = f'echo \'{{"ate": "x"}}\' > answers/{task.answer_file}'
    steps = [
        Reply("I look.", calls=(("python", {"code": look}),)),
        Reply("There is none yet."),
        Reply(None, calls=(("bash", {"command": wrong}),)),
        Reply("Done."),
        Reply(None, calls=(("bash", {"command": wrong.replace('"x"', "1.5")}),)),
        Reply("Done <script>now</script>."),
    ]
    out = tmp_path / "run"
    with serve(lambda messages: steps[replies(messages)]) as server:
        chosen = ("--track", "causalds", "--sample-id", task.task_id)
        assert sit(mini_release, out, server, *chosen, *OPEN) == 0
    told = json.dumps(server.requests[-1]["messages"])
    assert "data.parquet" in told and f"no file answers/{task.answer_file}" in told
    assert "not valid" in told
    assert json.loads((out / "answers" / task.answer_file).read_text()) == {"ate": 1.5}
    assert task.task_id in (out / "report.html").read_text(encoding="utf-8")
    (usage,) = lines(out / "usage.jsonl")
    assert usage["tool_calls"] == 3 and usage["ending"] == "answered"
    card = json.loads((out / "run.json").read_text())
    assert card["settings"]["setting"] == "open" and card["partial"].startswith("1 of ")


@pytest.mark.parametrize(
    ("options", "reply", "ending"),
    [
        (("--token-limit", "12"), Reply("x", delay=0), "token limit"),
        (("--time-limit", "1"), Reply("x", delay=3), "time limit"),
        ((), Reply(body=json.dumps({
            "choices": [{"index": 0, "finish_reason": "content_filter",
                         "message": {"role": "assistant", "content": "no"}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            "id": "x", "object": "chat.completion", "created": 0, "model": "m",
        }).encode()), "refused"),
        ((), Reply("I do not know."), "no answer"),
    ],
    ids=["tokens", "time", "refused", "no answer"],
)  # fmt: skip
def test_why_a_task_ended_is_told_and_counted(options, reply, ending, mini_release, tmp_path):
    (task, *_), out = tasks(mini_release, "ccr"), tmp_path / "run"

    def script(messages: list[dict[str, Any]]) -> Reply:
        return reply if task.task_id in json.dumps(messages) else Reply("ready")

    with serve(script) as server:
        chosen = ("--track", "ccr", "--sample-id", task.task_id, "--setting", "closed")
        assert sit(mini_release, out, server, *chosen, *options) == 0
    assert [line["ending"] for line in lines(out / "usage.jsonl")] == [ending]
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["endings"] == {ending: 1}
    assert any("a partial run" in notice for notice in report["notices"])
    assert report["census"]["tasks"] == 1  # what was asked, not an exam that was failed


def test_what_a_local_model_costs_is_counted_and_can_be_limited(small, tmp_path):
    """Prices of a model that no list knows; 10 and 5 tokens are 20 dollars here."""
    price = {"input": 1e6, "output": 2e6, "input_cache_write": 0, "input_cache_read": 0}
    (tmp_path / "prices.json").write_text(json.dumps({"openai-api/local/m": price}))
    prices = ("--model-cost-config", str(tmp_path / "prices.json"))
    chosen = ("--split", "dev", "--setting", "closed", "--limit", "1")
    with serve(lambda messages: Reply("x")) as server:
        for limit, ending in (("19", "cost limit"), ("21", "no answer")):
            out = tmp_path / limit
            assert sit(small, out, server, *chosen, *prices, "--cost-limit", limit) == 0
            (usage,) = lines(out / "usage.jsonl")
            assert usage["cost_usd"] == 20 and usage["ending"] == ending


def test_logs_hold_no_truth(mini_release: Path, tmp_path: Path) -> None:
    """Target and metadata are empty of it; the scorer reads it when it scores."""
    exam = choose_exam(open_release(mini_release), None, "mini")
    out = tmp_path / "run"
    assert sit(mini_release, out, None, "--setting", "closed") == 0
    logs = "".join(
        archive.read(name).decode("utf-8", "replace")
        for log in (out / "logs").glob("*.eval")
        for archive in [zipfile.ZipFile(log)]
        for name in archive.namelist()
    )
    assert len(logs) > 1_000_000
    golds = {task.task_id: task.shape.gold(task, exam.truths[task.task_id]) for task in exam.tasks}
    long = {i: gold.strip() for i, gold in golds.items() if len(gold) > 60}
    assert len(long) > 50
    for task_id, gold in long.items():
        assert gold not in logs and json.dumps(gold)[1:-1] not in logs, task_id
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert set(report["tracks"]) == {"causalds", "replayscm", "ccr", "causalab"}
    assert report["census"]["tasks"] == len(exam.tasks)
    assert report["endings"] == {"no answer": len(exam.tasks)}
    assert report["tracks"]["causalab"]["attempted"] == 0
    card = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert card["settings"]["sandbox"] is None  # nothing ran in one


def test_boards_label_systems_by_setting(mini_release, tmp_path, capsys):
    chosen = ("--track", "ccr", "--limit", "2")
    runs = {"closed": ("--setting", "closed"), "told": ("--preset", "ccr-paper")}
    for name, options in runs.items():
        assert sit(mini_release, tmp_path / name, None, *chosen, *options) == 0
        shutil.copytree(tmp_path / name / "answers", tmp_path / "board" / name)
    other = tmp_path / "board" / "told" / "run.json"
    card = json.loads(other.read_text())
    card["settings"]["setting"] = "open"
    other.write_text(json.dumps(card))
    capsys.readouterr()
    words = ["leaderboard", str(tmp_path / "board"), "--release", str(mini_release)]
    words += ["--exam", "mini", "--track", "ccr", "--workers", "1"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "· closed" in out and "· open" in out


def test_a_task_of_the_registry_is_evaluated_and_its_answers_are_taken(installed, small, tmp_path):
    """By ``inspect eval`` with epochs, where neither checkout nor test is on the path, then by
    ``eval-set`` twice: the second asks nothing more."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "LOCAL_API_KEY": "none"}

    def inspect(*words: str) -> None:
        command = [sys.executable, "-c", "from inspect_ai._cli.main import main; main()", *words]
        command += ["causal_exams/causalds", "-T", f"release={small}", "-T", "split=dev", "-T"]
        command += ["exam=mini", "-T", "setting=closed", "--limit", "2", "--display", "plain"]
        command += ["--model", "openai-api/local/m", "--model-base-url", server.url]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr

    with serve(lambda messages: Reply('```json\n{"value": 0.5}\n```')) as server:
        inspect("eval", "--epochs", "2", "--log-dir", str(tmp_path / "logs"))
        assert len(server.requests) == 4
        for _ in range(2):
            inspect("eval-set", "--log-dir", str(tmp_path / "set"))
            assert len(server.requests) == 6
    for sample in samples(tmp_path / "logs"):
        assert sample.target == "" and "truth" not in str(sample.metadata)
    words = ["answers-from", "inspect", str(tmp_path / "logs"), "--release", str(small)]
    words += ["--split", "dev", "--exam", "mini", "--out", str(tmp_path / "answers")]
    assert main(words) == 0
    for attempt in ("attempt-1", "attempt-2"):
        assert len(list((tmp_path / "answers" / attempt).glob("cds-*.json"))) == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            ("--model", "nonsense"),
            "--model nonsense: Model name 'nonsense' should be in the format",
        ),
        (("--model", "openai-api/nobody/m"), "No NOBODY_API_KEY defined"),
        (("-G", "nonsense=3"), "Unknown GenerateConfig field(s): nonsense"),
        (("-G", "top_k=many"), "top_k Input should be a valid integer"),
        (("--sample-id", "cds-0"), "--sample-id cds-0: no task of exam mini"),
        (("--exam", "maxi"), "--exam maxi: no such exam"),
        (("--limit", "0"), "no task of the exam can be asked"),
        (("--setting", "open", "--sandbox", "podman"), "choose from docker, bubblewrap"),
    ],
    ids=["model", "key", "option", "value", "task", "exam", "limit", "sandbox"],
)
def test_one_line_says_what_to_do_and_the_folder_can_be_used(more, says, small, tmp_path, capfd):
    out = tmp_path / "run"
    assert sit(small, out, None, *CLOSED, *more) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("error")]
    assert says in line and "[bold]" not in line
    assert not (out / "run.json").exists()
    assert sit(small, out, None, *CLOSED, "--limit", "1") == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "No such file"),
        ("{", "under each model's name"),
        ("[1]", "valid dictionary"),
        ("mockllm/modle: 3", "mockllm/modle Input should be"),
        ("mockllm/model: {input: 1}", "mockllm/model.output Field required"),
        (
            "a/b: {input: 1, output: 1, input_cache_write: 1, input_cache_read: 1}",
            "has no price of mockllm/model",
        ),
    ],
)
def test_prices_that_are_none_are_one_line(text, says, small, tmp_path, capfd):
    file = tmp_path / "prices.yaml"
    if text is not None:
        file.write_text(text)
    more = ("--cost-limit", "1", "--model-cost-config", str(file))
    assert sit(small, tmp_path / "run", None, *CLOSED, *more) == 2
    assert says in capfd.readouterr().err and not (tmp_path / "run").exists()


def test_a_folder_with_other_things_in_it_stays_as_it_is(small, tmp_path, capfd):
    """`--out .` beside a folder `answers` would once have replaced what was in there."""
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "mine.json").write_text("{}")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    assert sit(small, tmp_path, None, *CLOSED) == 2
    assert "exists and holds no run" in capfd.readouterr().err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    (tmp_path / "answers" / "run.json").write_text('{"system": "mine"}')
    assert sit(small, tmp_path / "answers", None, *CLOSED) == 2
    assert "is not the card of a run" in capfd.readouterr().err
    assert (tmp_path / "answers" / "mine.json").exists()


@pytest.mark.parametrize("name", ["report.json", "run.json", "host.key", ".lock", "logs"])
def test_a_run_writes_through_no_link(name, small, tmp_path, capfd):
    """The folder of a run may be a stranger's; a link in it led to any file of who goes on."""
    out, mine = tmp_path / "run", tmp_path / "mine"
    out.mkdir()
    (out / "run.json").write_text("{}")
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(mine)
    if name != ".lock":  # was made where the link led to
        mine.write_text("{}")
    assert sit(small, out, None, *CLOSED) == 2
    assert f"{name}: is a symbolic link" in capfd.readouterr().err
    assert not mine.exists() if name == ".lock" else mine.read_text() == "{}"


def test_no_word_of_a_model_or_an_endpoint_acts_on_a_terminal(small, tmp_path, capfd):
    """Replies, errors and the system's name, in all that a run prints and writes."""
    sent = iter(
        [Reply(EVIL, status=400), Reply(EVIL), Reply(f"```json\n{json.dumps({EVIL: EVIL})}\n```")]
        * 9
    )
    out, options = tmp_path / "run", ("--setting", "closed", "--max-retries", "0", "--limit", "3")
    with serve(lambda messages: next(sent)) as server:
        assert sit(small, out, server, "--split", "dev", "--system", EVIL, *options) == 1
    told = capfd.readouterr()
    for text in (told.out, told.err):
        assert all(c.isprintable() or c == "\n" for c in text), text
    check_files(out)
