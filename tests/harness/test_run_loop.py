"""The example run loop against a scripted endpoint: what it saves, survives and refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from scripted import Reply, Server, serve

from grader.io.schemas import schema
from harness.cli import main

IDS = ["cds-000000000000000a", "cds-000000000000000b"]
GOOD = Reply('The effect is clear.\n```json\n{"ate": 1.5}\n```\n')


def workspaces(folder: Path, ids: list[str] = IDS[:1], shape: str = "ate") -> Path:
    for task_id in ids:
        place = folder / "work" / task_id
        place.mkdir(parents=True)
        (place / "prompt.md").write_text(f"Task {task_id}: estimate the effect.")
        (place / "story.md").write_text("A story.")
        (place / "answer.schema.json").write_text(json.dumps(schema(f"answers/{shape}")))
        if shape.startswith("prediction"):
            with duckdb.connect() as connection:
                connection.execute(
                    f"COPY (SELECT range AS x FROM range(3)) TO '{place}/test_features.parquet'"
                )
    return folder / "work"


def take(server: Server, folder: Path, *extra: str) -> int:
    options = ["--base-url", server.url, "--model", "scripted", "--max-retries", "2"]
    places = ["--workspaces", str(folder / "work"), "--answers", str(folder / "answers")]
    return main(["run", *options, *places, *extra])


def answer(folder: Path, task_id: str = IDS[0]) -> Any:
    return json.loads((folder / "answers" / f"{task_id}.json").read_text())


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / "answers" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_json_block_becomes_the_answer_file(tmp_path: Path) -> None:
    """Otherwise the simplest model of all could not take an exam."""
    workspaces(tmp_path)
    with serve([GOOD]) as server:
        assert take(server, tmp_path) == 0
    assert answer(tmp_path) == {"ate": 1.5}
    assert json.loads((tmp_path / "answers/run.json").read_text())["system"] == "scripted"
    assert "estimate the effect" in server.requests[0]["messages"][1]["content"]


def test_usage_adds_up_over_the_replies_of_a_task(tmp_path: Path) -> None:
    """Efficiency columns would count only the last reply, or none."""
    workspaces(tmp_path)
    with serve([Reply("Let me think."), GOOD]) as server:
        take(server, tmp_path)
    (usage,) = lines(tmp_path, "usage")
    assert usage.pop("seconds") > 0
    assert usage == {
        "task_id": IDS[0],
        "input_tokens": 20,
        "output_tokens": 10,
        "tool_calls": 0,
        "cost_usd": None,
    }


def test_an_invalid_block_is_sent_back_with_the_graders_own_complaint(tmp_path: Path) -> None:
    """A model that slips once would lose the task to a formality."""
    workspaces(tmp_path)
    bad = Reply('```json\n{"ate": "about one"}\n```')
    with serve([bad, GOOD]) as server:
        take(server, tmp_path)
    assert answer(tmp_path) == {"ate": 1.5}
    assert "not valid" in server.requests[1]["messages"][-1]["content"]


def test_a_csv_block_needs_one_row_per_held_out_row(tmp_path: Path) -> None:
    """Predictions of the wrong length would be saved and graded invalid."""
    workspaces(tmp_path, shape="prediction_csv")
    short, right = (Reply(f"```csv\nprediction\n{rows}```") for rows in ("1\n2\n", "1\n2\n3\n"))
    with serve([short, right]) as server:
        take(server, tmp_path)
    assert (tmp_path / f"answers/{IDS[0]}.csv").read_text() == "prediction\n1\n2\n3\n"


def test_a_bash_step_runs_in_a_scratch_copy_and_its_output_comes_back(tmp_path: Path) -> None:
    """The model could not look at its data, or would spoil the workspace for the next run."""
    work = workspaces(tmp_path)
    step = Reply("```bash\ncat story.md; rm story.md; touch made\n```")
    with serve([step, GOOD]) as server:
        take(server, tmp_path, "--shell")
    assert "A story." in server.requests[1]["messages"][-1]["content"]
    assert sorted(p.name for p in (work / IDS[0]).iterdir()) == [
        "answer.schema.json",
        "prompt.md",
        "story.md",
    ]
    assert lines(tmp_path, "usage")[0]["tool_calls"] == 1


def test_an_answer_file_left_in_the_folder_is_taken(tmp_path: Path) -> None:
    """Agents write files; asking them to repeat a long CSV in chat would fail them."""
    workspaces(tmp_path)
    step = Reply(f"```bash\necho '{{\"ate\": 2}}' > {IDS[0]}.json\n```")
    with serve([step, Reply("Done, see the file.")]) as server:
        take(server, tmp_path, "--shell")
    assert answer(tmp_path) == {"ate": 2}


def test_a_link_left_as_answer_is_not_followed(tmp_path: Path) -> None:
    """A model could make the harness read any file of the user's into its answers."""
    workspaces(tmp_path)
    (tmp_path / "secret").write_text('{"ate": 3}')
    step = Reply(f"```bash\nln -s {tmp_path}/secret {IDS[0]}.json\n```")
    with serve([step, Reply("Done."), GOOD]) as server:
        take(server, tmp_path, "--shell")
    assert answer(tmp_path) == {"ate": 1.5}


def test_without_shell_nothing_is_executed_and_the_model_is_told(tmp_path: Path) -> None:
    """Running a model's commands must be the user's explicit choice."""
    workspaces(tmp_path)
    with serve([Reply(f"```bash\ntouch {tmp_path}/ran\n```"), GOOD]) as server:
        take(server, tmp_path)
    assert not (tmp_path / "ran").exists()
    assert "not run here" in server.requests[1]["messages"][-1]["content"]


def test_a_command_never_sees_the_key_or_our_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key would end up in a transcript, or be used by the model."""
    workspaces(tmp_path)
    monkeypatch.setenv("MY_KEY", "sk-sesame")
    monkeypatch.setenv("CAUSAL_EXAMS_SECRET", "sesame-too")
    with serve([Reply("```bash\nenv\n```"), GOOD]) as server:
        take(server, tmp_path, "--shell", "--api-key-env", "MY_KEY")
    assert server.keys[0] == "Bearer sk-sesame"
    shown = server.requests[1]["messages"][-1]["content"]
    assert "PATH=" in shown and "sesame" not in shown
    assert "sesame" not in "".join(p.read_text() for p in (tmp_path / "answers").iterdir())


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    """A forgotten background process would outlive the exam."""
    workspaces(tmp_path)
    hang = Reply("```bash\n(sleep 60 & echo $! > pid; cat pid; wait)\n```")
    with serve([hang, GOOD]) as server:
        take(server, tmp_path, "--shell", "--command-timeout", "0.3")
    shown = server.requests[1]["messages"][-1]["content"]
    assert "killed after 0.3 s" in shown
    state = Path(f"/proc/{shown.split()[0]}/stat")
    time.sleep(0.05)
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_long_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    """One careless `cat` would fill the model's context."""
    workspaces(tmp_path)
    with serve([Reply("```bash\nseq 100000\n```"), GOOD]) as server:
        take(server, tmp_path, "--shell")
    shown = server.requests[1]["messages"][-1]["content"]
    assert len(shown) < 11_000 and "left out" in shown and "100000" in shown


@pytest.mark.parametrize(
    "trouble",
    [
        Reply("slow down", status=429, headers={"retry-after": "0.05"}),
        Reply("oops", status=500, headers={"retry-after": "0.05"}),
    ],
    ids=["429", "500"],
)
def test_a_busy_or_failing_server_is_asked_again(tmp_path: Path, trouble: Reply) -> None:
    """A long run would lose tasks to every hiccup."""
    workspaces(tmp_path)
    with serve([trouble, trouble, GOOD]) as server:
        take(server, tmp_path)
    assert answer(tmp_path) == {"ate": 1.5} and len(server.requests) == 3


@pytest.mark.parametrize(
    ("trouble", "extra"),
    [
        (Reply("no", status=400), ()),
        (Reply(body=b"<html>proxy error"), ()),
        (Reply(body=b'{"choices": [{"mess'), ()),
        (Reply(body=b'{"id": "x", "choices": []}'), ()),
        (Reply(body=b'{"id": "x"}'), ()),
        (Reply("late", delay=0.4), ("--timeout", "0.1", "--max-retries", "0")),
        (Reply("I would rather not."), ("--max-steps", "1")),
    ],
    ids=["400", "html", "torn json", "no choices", "no member", "timeout", "no answer"],
)
def test_an_error_ends_one_task_and_not_the_run(
    tmp_path: Path, trouble: Reply, extra: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The first bad response would cost all tasks after it."""
    workspaces(tmp_path, IDS)

    def script(messages: list[dict[str, Any]]) -> Reply:
        return trouble if IDS[0] in messages[1]["content"] else GOOD

    with serve(script) as server:
        assert take(server, tmp_path, *extra) == 0
    assert answer(tmp_path, IDS[1]) == {"ate": 1.5}
    assert [entry["task_id"] for entry in lines(tmp_path, "failures")] == [IDS[0]]
    assert "1 answered now, 1 failed" in capsys.readouterr().out


def test_a_second_run_skips_what_is_done_and_what_failed_for_good(tmp_path: Path) -> None:
    """Resuming would pay for every task again."""
    workspaces(tmp_path, IDS)
    with serve([Reply("no", status=400), GOOD]) as server:
        take(server, tmp_path)
    with serve([]) as server:
        take(server, tmp_path)
        assert server.requests == []


def test_retry_failed_tries_again_and_keeps_the_earlier_cost(tmp_path: Path) -> None:
    """A retry would hide what the first attempt had spent."""
    workspaces(tmp_path)
    with serve([Reply("Hm.")]) as server:
        take(server, tmp_path, "--max-steps", "1")
    with serve([GOOD]) as server:
        take(server, tmp_path, "--retry-failed")
    assert answer(tmp_path) == {"ate": 1.5}
    assert lines(tmp_path, "usage")[-1]["input_tokens"] == 20


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Ctrl-C would leave a traceback, or a half-written answer that is never repaired."""
    workspaces(tmp_path, IDS)

    def script(messages: list[dict[str, Any]]) -> Reply:
        return Reply(GOOD.text, delay=0.0 if IDS[0] in messages[1]["content"] else 30.0)

    places = ["--workspaces", str(tmp_path / "work"), "--answers", str(tmp_path / "answers")]
    with serve(script) as server:
        command = [sys.executable, "-m", "harness", "run", "--base-url", server.url]
        process = subprocess.Popen(
            [*command, "--model", "scripted", *places],
            stderr=subprocess.PIPE,
            text=True,
            # Children of a background job ignore SIGINT unless told otherwise.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        deadline = time.monotonic() + 15
        while len(server.requests) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130 and "Traceback" not in errors
        server.requests.clear()
    with serve([GOOD]) as server:
        take(server, tmp_path)
        assert len(server.requests) == 1
    assert answer(tmp_path, IDS[1]) == {"ate": 1.5}


def test_the_answers_of_another_model_are_not_mixed_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A leaderboard row would describe two systems."""
    workspaces(tmp_path)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers/run.json").write_text('{"system": "other"}')
    with serve([]) as server:
        assert take(server, tmp_path) == 2
    assert "'other'" in capsys.readouterr().err


def test_an_absent_client_library_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A grader-only installation would greet the user with a traceback."""
    workspaces(tmp_path)
    monkeypatch.setitem(sys.modules, "openai", None)
    assert take(Server("http://127.0.0.1:1/v1"), tmp_path) == 2
    assert "causal-exams[llm]" in capsys.readouterr().err


@pytest.mark.parametrize("make", ["nothing", "empty", "broken schema"])
def test_unusable_workspaces_are_one_line(
    tmp_path: Path, make: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typing error in a path would look like a bug of ours."""
    if make == "empty":
        (tmp_path / "work").mkdir()
    elif make == "broken schema":
        (workspaces(tmp_path) / IDS[0] / "answer.schema.json").write_text("{")
    assert take(Server("http://127.0.0.1:1/v1"), tmp_path) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
