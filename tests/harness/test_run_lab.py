"""Laboratory tasks in a run: a scripted model experiments, and the grader replays what it did."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted import Reply, Script, Server, serve

from grader import pipeline
from grader.cli import main as grade
from grader.exam import choose_exam
from grader.io.release import Release
from grader.laboratory.episode import Episode, EpisodeError
from grader.model import Score
from grader.shape import Task
from harness.cli import main


def block(*requests: object) -> Reply:
    text = "\n".join(json.dumps(request) for request in requests)
    return Reply(f"Let me see.\n```json\n{text}\n```\n")


PREDICT = block({"op": "predict", "value": 100})


@pytest.fixture(scope="module")
def task(mini_release: Path) -> Task:
    """A laboratory with a budget, in which something can be set."""
    tasks = Release.open(mini_release).tasks("dev")
    return next(t for t in tasks if t.track == "causalab" and t.inputs["budget"] >= 4)


@pytest.fixture
def folder(mini_release: Path, task: Task, tmp_path: Path) -> Path:
    """Where ``work/`` holds the task's workspace."""
    arguments = ["--release", str(mini_release), "--task", task.task_id]
    assert grade(["workspace", *arguments, "--out", str(tmp_path / "work")]) == 0
    return tmp_path


@contextmanager
def taken(
    folder: Path, release: Path, script: list[Reply] | Script, *extra: str
) -> Iterator[Server]:
    """The server after a run of everything in ``work/``."""
    with serve(script) as server:
        places = ["--workspaces", str(folder / "work"), "--answers", str(folder / "answers")]
        options = ["--base-url", server.url, "--model", "scripted", "--max-retries", "0"]
        assert main(["run", *options, *places, "--release", str(release), *extra]) == 0
        yield server


def row(release: Path, folder: Path, task: Task) -> Score:
    exam = choose_exam(Release.open(release), "dev", "all", "causalab")
    graded = pipeline.grade(exam, folder / "answers")
    return next(score for score in graded.scores if score.task_id == task.task_id)


def ledger(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / "answers" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def settings(task: Task) -> dict[str, Any]:
    prompt = next(line for line in task.prompt.splitlines() if '"op": "intervene"' in line)
    return dict(json.loads(prompt))


def test_a_model_experiments_and_its_transcript_is_the_answer(
    mini_release: Path, folder: Path, task: Task
) -> None:
    """What the model sent as blocks must be what the grader replays."""
    script = [block({"op": "status"}, settings(task)), block({"op": "reactor"}), PREDICT]
    with taken(folder, mini_release, script) as server:
        said = [request["messages"][-1]["content"] for request in server.requests]
    assert task.prompt in said[0] and '"remaining"' in said[0]
    replies = [json.loads(line) for line in said[1].splitlines()]
    assert [reply["ok"] for reply in replies] == [True, True] and "reading" in replies[1]
    found = row(mini_release, folder, task)
    assert found.status == "scored"
    assert ledger(folder, "usage")[-1]["tool_calls"] == 4
    assert ledger(folder, "failures") == []


def test_an_object_over_several_lines_is_one_request_and_nonsense_costs_nothing(
    mini_release: Path, folder: Path, task: Task
) -> None:
    """Models print JSON prettily, forget the block, and misspell."""
    pretty = "```json\n" + json.dumps({"op": "predict", "value": 7}, indent=2) + "\n```\n"
    script = [Reply("I think."), Reply("```json\n{broken\n```\n"), block({"op": "preditc"}),
              Reply(pretty)]  # fmt: skip
    with taken(folder, mini_release, script) as server:
        said = [request["messages"][-1]["content"] for request in server.requests]
    assert "There was no ```json block" in said[1]
    assert "not JSON" in said[2] and "predict" in said[3]
    assert row(mini_release, folder, task).status == "scored"


def test_an_interrupted_session_goes_on_with_what_is_left_of_its_budget(
    mini_release: Path, folder: Path, task: Task
) -> None:
    """A crash must neither lose a session nor give its budget back."""
    with taken(folder, mini_release, [block(settings(task)), Reply(status=500)]):
        pass
    assert "500" in ledger(folder, "failures")[0]["error"]
    with taken(folder, mini_release, [PREDICT], "--retry-failed") as server:
        greeting = server.requests[0]["messages"][-1]["content"].splitlines()[-1]
    told = json.loads(greeting)
    assert told["remaining"] == task.inputs["budget"] - 1 and len(told["history"]) == 1
    assert row(mini_release, folder, task).status == "scored"
    with taken(folder, mini_release, [], "--retry-failed") as server:
        assert server.requests == [], "a closed session is done"


def test_a_session_without_a_prediction_is_closed_and_cannot_be_had_again(
    mini_release: Path, folder: Path, task: Task
) -> None:
    """Else a model could try the budget twice."""
    idle = lambda messages: block({"op": "status"})  # noqa: E731
    with taken(folder, mini_release, idle, "--max-steps", "2") as server:
        assert len(server.requests) == 2 + task.inputs["budget"]
    assert "without a prediction" in ledger(folder, "failures")[0]["error"]
    with taken(folder, mini_release, [], "--retry-failed") as server:
        assert server.requests == []
    assert row(mini_release, folder, task).points == 0


def test_laboratories_without_their_hidden_part_wait_and_the_rest_is_taken(
    mini_release: Path,
    folder: Path,
    task: Task,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """A mistyped release is no failure for good: the same command, mended, goes on."""
    other = folder / "work" / "cds-000000000000000a"
    other.mkdir()
    (other / "prompt.md").write_text("Estimate.")
    schema = '{"$id": "https://x/answers/ate.json"}'
    (other / "answer.schema.json").write_text(schema)
    reply = Reply('```json\n{"ate": 1.5}\n```\n')
    with taken(folder, tmp_path / "nowhere", [reply]):
        pass
    said = capsys.readouterr().err
    assert "1 laboratory tasks are left for another run" in said
    assert "nowhere: no release there" in said
    assert (folder / "answers" / "cds-000000000000000a.json").exists()
    assert ledger(folder, "failures") == []
    with taken(folder, mini_release, [PREDICT]):
        pass
    assert row(mini_release, folder, task).status == "scored"


def test_a_shell_never_meets_the_release(
    mini_release: Path, folder: Path, task: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command could print every truth there is."""
    places = ["--workspaces", str(folder / "work"), "--answers", str(folder / "answers")]
    options = ["run", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--shell", *places]
    assert main([*options, "--release", str(mini_release)]) == 2
    assert "could read the truth" in capsys.readouterr().err
    assert main(options) == 0
    assert "take them without --shell" in capsys.readouterr().err


@pytest.fixture
def still(mini_release: Path, tmp_path: Path) -> Task:
    """A laboratory in which nothing can be set, its workspace in ``work/``."""
    tasks = Release.open(mini_release).tasks("dev")
    found = next(t for t in tasks if t.track == "causalab" and not t.inputs["budget"])
    arguments = ["--release", str(mini_release), "--task", found.task_id]
    assert grade(["workspace", *arguments, "--out", str(tmp_path / "work")]) == 0
    return found


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"prediction": 100}\n```\n',
        '```jsonl\n{"prediction": 100, "hypothesis": null}\n```\n',
        'So:\r\n\r\n   ``` JSON \r\n{"op": "predict",\r\n "value": 100}\r\n   ```\r\n',
    ],
)
def test_the_answer_that_the_prompt_offers_is_a_prediction(
    mini_release: Path, tmp_path: Path, still: Task, reply: str
) -> None:
    """Where nothing can be set one line is an answer, and a model will send just that."""
    assert '{"prediction": ' in still.prompt
    with taken(tmp_path, mini_release, [Reply(reply)]) as server:
        assert len(server.requests) == 1
    assert row(mini_release, tmp_path, still).status == "scored"


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_answer_that_is_there_is_left_alone(
    mini_release: Path, tmp_path: Path, still: Task, end: str
) -> None:
    """A short answer is no transcript, and no reason to open one over it."""
    file = tmp_path / "answers" / still.answer_file
    file.parent.mkdir()
    file.write_text('{"prediction": 100}' + end)
    with taken(tmp_path, mini_release, []) as server:
        assert server.requests == []
    assert file.read_text() == '{"prediction": 100}' + end


@pytest.mark.parametrize("text", ["notes to myself", "[" * 200_000, '{"prediction": "x"}', "\n\n"])
def test_a_file_that_is_no_transcript_is_neither_erased_nor_the_end_of_the_run(
    mini_release: Path, folder: Path, task: Task, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is somebody's work, whatever it is."""
    file = folder / "answers" / task.answer_file
    file.parent.mkdir()
    file.write_text(text)
    with taken(folder, mini_release, []) as server:
        assert server.requests == []
    assert file.read_text() == text
    assert "move the file away" in capsys.readouterr().err
    assert ledger(folder, "failures") == []


def test_a_flood_of_requests_is_read_in_part(mini_release: Path, folder: Path, task: Task) -> None:
    """All the refusals of a flood would come back as the model's next message."""
    flood = Reply("```json\n" + "{\n" * 5000 + "```\n")
    with taken(folder, mini_release, [flood, PREDICT]) as server:
        said = server.requests[1]["messages"][-1]["content"]
    assert "4950 more requests were not read" in said and said.count("\n") == 50
    assert row(mini_release, folder, task).status == "scored"


def test_a_damaged_episode_fails_alone(
    mini_release: Path, folder: Path, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line about one task, not a traceback and the end of all others."""

    def damaged(*_: object) -> Episode:
        raise EpisodeError("private.base: absent")

    monkeypatch.setattr("harness.lab_episodes.episode_of", damaged)
    with taken(folder, mini_release, []) as server:
        assert server.requests == []
    assert not (folder / "answers" / task.answer_file).exists()
