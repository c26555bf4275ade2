"""Answers out of other harnesses' records, whatever state these are in."""

import json
from pathlib import Path
from typing import Any

import pytest

from causal_exams.attempts import Attempt, from_harbor, from_mini_swe, write_answers
from grader.errors import UsageError
from grader.scoring.shape import Task
from grader.tracks.causalds import TRACK as GRADER

IDS = ("cds-0123456789abcdef", "cds-fedcba9876543210")


def task(task_id: str) -> Task:
    spec = GRADER.variant("effect_estimate.ate_point")
    shape, file = spec.shape.name, f"{task_id}.json"
    return Task(task_id, "i", spec, "clean", "data", "", shape, file, {"rows": 0})


TASKS = {task_id: task(task_id) for task_id in IDS}


def trial(job: Path, name: str, task_id: str, answer: str | None, **members: Any) -> None:
    """A trial's folder as Harbor leaves it."""
    folder = job / name
    (folder / "verifier" / "answer").mkdir(parents=True)
    if answer is not None:
        (folder / "verifier" / "answer" / f"{task_id}.json").write_text(answer)
    result = {"task_name": f"causal-exams/{task_id}", "exception_info": None, **members}
    (folder / "result.json").write_text(json.dumps(result))


def test_a_job_of_harbor(tmp_path: Path) -> None:
    """Trials of one task are its attempts; a timeout is the model's, another error nobody's."""
    hour = "2026-11-22T10:"
    spent = {
        "agent_result": {"n_input_tokens": 7, "n_output_tokens": 2, "cost_usd": 0.5},
        "agent_execution": {"started_at": f"{hour}00:00Z", "finished_at": f"{hour}01:00Z"},
    }
    trial(tmp_path, "a__1", IDS[0], '{"ate": 1}', **spent)
    trial(tmp_path, "a__2", IDS[0], None, exception_info={"exception_type": "AgentTimeoutError"})
    trial(tmp_path, "b__1", IDS[1], None, exception_info={"exception_type": "DockerError"})
    trial(tmp_path, "c__1", "another", "{}")
    (tmp_path / "result.json").write_text(json.dumps({"n_total_trials": 3}))
    (tmp_path / "a__1" / "agent").mkdir()
    (tmp_path / "a__1" / "agent" / "result.json").write_text("{broken")
    found = list(from_harbor(tmp_path, TASKS))
    assert [(one.task_id, one.number, one.usage["ending"]) for one in found] == [
        (IDS[0], 1, "answered"), (IDS[0], 2, "time limit"), (IDS[1], 1, "error"),
    ]  # fmt: skip
    assert found[0].answer == b'{"ate": 1}'
    assert found[0].usage["seconds"] == 60 and found[0].usage["input_tokens"] == 7
    with pytest.raises(UsageError, match="no trial"):
        list(from_harbor(tmp_path / "c__1", TASKS))


def trajectory(folder: Path, task_id: str, status: str, **members: Any) -> None:
    """A trajectory as mini-swe-agent writes it."""
    usage = {"prompt_tokens": 10, "completion_tokens": 3}
    messages = [
        {"role": "user", "content": "…"},
        {"role": "assistant", "content": "…", "extra": {"response": {"usage": usage}}},
        {"role": "assistant", "content": "…", "extra": {"response": {"usage": usage}}},
    ]
    info = {"exit_status": status, "model_stats": {"api_calls": 2, "instance_cost": 0.25}}
    place = folder / task_id
    place.mkdir(parents=True)
    document = {"info": {**info, **members}, "messages": messages}
    (place / f"{task_id}.traj.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("status", "members", "ending"),
    [
        ("Submitted", {"submission": '{"ate": 2}'}, "answered"),
        ("Submitted", {"submission": " "}, "missing after submit"),
        ("LimitsExceeded", {"config": {"agent": {"step_limit": 2}}}, "step limit"),
        ("LimitsExceeded", {"config": {"agent": {"step_limit": 100}}}, "cost limit"),
        ("ContextWindowExceededError", {}, "context limit"),
        ("APIConnectionError", {}, "error"),
    ],
)
def test_a_trajectory_of_mini_swe_agent(status, members, ending, tmp_path):
    trajectory(tmp_path, IDS[0], status, **members)
    trajectory(tmp_path, "another", status)
    (found,) = from_mini_swe(tmp_path, TASKS)
    assert found.usage == {
        "tool_calls": 2, "cost_usd": 0.25, "input_tokens": 20, "output_tokens": 6, "ending": ending,
    }  # fmt: skip
    assert (found.answer is not None) == (ending == "answered")


@pytest.mark.parametrize("place", ["answers", f"{IDS[0]}/answers"])
def test_an_answer_file_counts_more_than_what_was_submitted(place: str, tmp_path: Path) -> None:
    """It stands in one folder for all, or in that in which the agent worked at the task."""
    trajectory(tmp_path, IDS[0], "Submitted", submission="DONE")
    (tmp_path / place).mkdir()
    (tmp_path / place / f"{IDS[0]}.json").write_text('{"ate": 3}')
    (found,) = from_mini_swe(tmp_path, TASKS)
    assert found.answer == b'{"ate": 3}'


@pytest.mark.parametrize("text", ["", "[]", '{"info": 1, "messages": []}', '{"messages": []}'])
def test_what_is_no_trajectory_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / f"{IDS[0]}.traj.json").write_text(text)
    with pytest.raises(UsageError, match="no trajectory of mini-swe-agent"):
        list(from_mini_swe(tmp_path, TASKS))


def test_a_folder_of_answers_holds_no_name_of_a_stranger(tmp_path: Path) -> None:
    """A log names tasks as it likes; only known ones are written."""
    taken = [
        Attempt(IDS[0], 1, b"{}", {"ending": "answered"}), Attempt("../../evil", 1, b"x"),
        Attempt(IDS[0], 2, None, {"ending": "no answer"}),
    ]  # fmt: skip
    told = write_answers(tmp_path / "a", taken, TASKS, {"system": "s"}, most=2)
    assert [line["attempt"] for line in told] == [1, 2]
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.*")) == [
        f"a/attempt-1/{IDS[0]}.json", "a/attempt-1/usage.jsonl", "a/attempt-2/usage.jsonl",
        "a/run.json",
    ]  # fmt: skip
