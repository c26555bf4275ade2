"""What a run leaves: endings, boards, and no truth in any log."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason="needs the extra run")

from chat_server import Reply, replies, serve  # noqa: E402
from sitting import lines, sit, tasks  # noqa: E402

from causal_exams.cli import main  # noqa: E402
from grader.opening import open_release  # noqa: E402
from grader.release.exam import choose_exam  # noqa: E402

NEEDS_BWRAP = pytest.mark.skipif(not shutil.which("bwrap"), reason="bwrap is not installed")
OPEN = ("--sandbox", "bubblewrap")


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


def test_boards_label_and_filter_by_setting(mini_release, tmp_path, capsys):
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
    out, err = capsys.readouterr()
    assert "· closed" in out and "· open" in out
    assert "several settings on one board (closed 1, open 1)" in err
    assert main([*words, "--setting", "closed"]) == 0
    out, err = capsys.readouterr()
    assert "· closed" in out and "· open" not in out and "1 of another setting" in err
