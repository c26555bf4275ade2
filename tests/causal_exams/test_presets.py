"""The papers' protocols, point by point, as the conversations show them."""

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason="needs the extra run")

from chat_server import Reply, Server, replies, serve  # noqa: E402
from sitting import NEEDS_BWRAP, lines, sit, tasks  # noqa: E402

from causal_exams.tracks import PRESETS  # noqa: E402
from grader.scoring.shape import Task  # noqa: E402


def play(
    release: Path, out: Path, preset: str, task_id: str, script: Any, *more: str
) -> tuple[Server, dict[str, Any]]:
    """Play a preset with one task; returns what the server saw, and the first line of usage."""
    track = next(track for track, presets in PRESETS.items() if preset in presets)
    with serve(script) as server:
        options = ("--preset", preset, "--sample-id", task_id, "--sandbox", "bubblewrap", *more)
        assert sit(release, out, server, "--track", track, *options) == 0
    return server, lines(out / "usage.jsonl")[0]


@NEEDS_BWRAP
def test_causalds_paper(mini_release: Path, tmp_path: Path) -> None:
    """A.15, A.16.2: one bash call a reply, DONE submits, then the file is checked."""
    task = next(
        t
        for t in tasks(mini_release, "causalds")
        if t.input_mode == "data" and t.answer_file.endswith(".json")
    )
    steps = [
        Reply("I think."),
        Reply("Two.", calls=(("bash", {"command": "ls"}), ("bash", {"command": "pwd"}))),
        Reply("Look.", calls=(("bash", {"command": "ls; echo kept > note; seq 1 20000"}),)),
        Reply(
            None, calls=(("bash", {"command": f"cat note; cp note answers/{task.answer_file}"}),)
        ),
        Reply("Submit.", calls=(("bash", {"command": "ls answers && echo DONE"}),)),
        Reply("never asked"),
    ]
    server, usage = play(
        mini_release, tmp_path / "run", "causalds-paper", task.task_id,
        lambda messages: steps[replies(messages)],
    )  # fmt: skip
    assert len(server.requests) == 5
    system, user, *rest = server.requests[-1]["messages"]
    assert system["role"] == "system" and "exactly one call" in system["content"]
    assert user["content"].startswith("# Task")
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["bash"]
    told = [m["content"] for m in rest if m["role"] in ("user", "tool")]
    assert "this one held 0" in told[0] and "this one held 2" in told[1] == told[2]
    assert "head, tail or grep" in told[3] and len(told[3]) < 10_400
    assert told[4].startswith("kept")
    assert usage["ending"] == "missing after submit"  # "kept" is no JSON; nothing is repaired
    assert usage["tool_calls"] == 5


@NEEDS_BWRAP
def test_causalds_paper_answers(mini_release: Path, tmp_path: Path) -> None:
    task = next(t for t in tasks(mini_release, "causalds") if t.shape.name == "ate")
    write = f"echo '{{\"ate\": 1}}' > answers/{task.answer_file}; echo DONE"
    script = lambda messages: Reply("So.", calls=(("bash", {"command": write}),))  # noqa: E731
    _, usage = play(mini_release, tmp_path / "run", "causalds-paper", task.task_id, script)
    assert usage["ending"] == "answered"
    answer = (tmp_path / "run" / "answers" / task.answer_file).read_text()
    assert json.loads(answer) == {"ate": 1}


def test_replayscm_direct(mini_release: Path, tmp_path: Path) -> None:
    """A.2, Table A.3: the prompt alone, one reply, its raw text stored and not edited."""
    task = tasks(mini_release, "replayscm")[0]
    text = 'Thinking {"mechanisms": 1} … \n```json\n{"mechanisms": {"X9": "(not X1)"}}\n``` done'
    server, usage = play(
        mini_release, tmp_path / "run", "replayscm-direct", task.task_id, lambda m: Reply(text)
    )
    (request,) = server.requests
    assert [message["role"] for message in request["messages"]] == ["user"]
    assert request["messages"][0]["content"].startswith("# Task") and "tools" not in request
    assert (tmp_path / "run" / "answers" / task.answer_file).read_text() == text
    assert usage["ending"] == "answered"


def fewest_cases(release: Path) -> Task:
    pairs = [t for t in tasks(release, "ccr") if t.spec.key == "simulation.pair"]
    return min(pairs, key=lambda t: t.inputs["units"])


@pytest.mark.parametrize("preset", ["ccr-paper", "ccr-paper-examples"])
def test_ccr_paper(preset: str, mini_release: Path, tmp_path: Path) -> None:
    """G.1, G.3: a call for each question, five replies each, yes or no by what a reply means."""
    task = fewest_cases(mini_release)
    cases = task.inputs["units"]

    def script(messages: list[dict[str, Any]]) -> Reply:
        supposed = "Suppose" in messages[-1]["content"].rpartition("QUESTION:")[2]
        return Reply("Therefore, no, it does not." if supposed else "Yes, so it is.")

    server, usage = play(mini_release, tmp_path / "run", preset, task.task_id, script)
    assert len(server.requests) == 5 * 3 * cases
    for request in server.requests:
        (message,) = request["messages"]
        text, examples = message["content"], "examples" in preset
        assert text.count("QUESTION:") == (3 if examples else 0)
        assert ("Therefore, yes, Coral is lit" in text) == examples
        asked = text.removesuffix("\n\nANSWER:").rpartition("? ")[2]
        assert asked == "Be as concise as possible."
    for attempt in range(1, 6):
        file = tmp_path / "run" / "answers" / f"attempt-{attempt}" / task.answer_file
        answer = json.loads(file.read_text())
        assert answer["factual"] == [True] * cases and answer["do_true"] == [False] * cases
    assert usage["ending"] == "answered"
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert len(report["attempts"]["runs"]) == 5


def test_ccr_extractor(mini_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """G.1: a model reads the Boolean, at temperature 0. A limit of messages is of one question."""
    task = fewest_cases(mini_release)

    def script(messages: list[dict[str, Any]]) -> Reply:
        reads = "Reply with one word" in messages[-1]["content"]
        return Reply("FALSE" if reads else "Hard to put it in a word.")

    more = ("--epochs", "1", "--model-role", "extractor=openai-api/local/reader")
    more += ("--message-limit", "4")  # cost the answer, as questions were counted together
    more += ("--preset", "ccr-paper", "--sample-id", task.task_id, "--track", "ccr")
    with serve(script) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        assert sit(mini_release, tmp_path / "run", server, *more) == 0
    read = [request for request in server.requests if request["model"] == "reader"]
    assert len(read) == 3 * task.inputs["units"]
    assert all(request["temperature"] == 0 for request in read)
    answer = json.loads((tmp_path / "run" / "answers" / task.answer_file).read_text())
    assert set(answer["factual"]) == {False}


@pytest.mark.parametrize("preset", ["causalab-react", "causalab-react-verify"])
def test_causalab_react(preset: str, mini_release: Path, tmp_path: Path) -> None:
    """§4, A.5: five fields before every experiment, two re-prompts; §5.5: one verification."""
    task = next(t for t in tasks(mini_release, "causalab") if t.inputs["budget"] >= 4)
    name = next(v["name"] for v in task.inputs["variables"] if v["controllable"])
    good = {"edges": [], "freq_equation": "base", "coefficients": {"base": 20}}
    bad = {"edges": [["a", "b"]], "freq_equation": "nonsense(", "coefficients": {}}

    def intervene(hypothesis: Any, value: float) -> Reply:
        record = {"memory": "m", "thought": "t", "past_data": [], "experiment": {}}
        given = {"record": record | {"hypothesis": hypothesis}, "name": name, "value": value}
        return Reply("Next.", calls=(("intervene", given),))

    final = Reply("Commit.", calls=(("predict", {"value": 100, "hypothesis": good}),))
    steps = [
        Reply("No tool."), intervene(bad, 10), intervene(bad, 10), intervene(good, 10),
        intervene(bad, 20), intervene(bad, 20), intervene(bad, 20),
        Reply(None, calls=(("intervene", {"name": name, "value": 30}),)),
        Reply(None, calls=(("open_reactor", {}),)), final, final,
    ]  # fmt: skip
    server, usage = play(
        mini_release, tmp_path / "run", preset, task.task_id,
        lambda messages: steps[replies(messages)],
    )  # fmt: skip
    verified = preset.endswith("verify")
    assert len(server.requests) == len(steps) - (not verified)
    transcript = lines(tmp_path / "run" / "answers" / task.answer_file)
    events = [line["event"] for line in transcript if line["event"] != "refused"]
    assert events == [
        "opened", "reprompt", "reprompt", "hypothesis", "reading", "reprompt", "reprompt",
        "parse_failure", "reading", "reactor", "hypothesis", "prediction", "closed",
    ]  # fmt: skip
    assert all("mac" in line for line in transcript)  # signed by the host
    refused = [m for m in server.requests[8]["messages"] if m["role"] == "tool"][-1]
    assert "record" in refused["content"]  # no experiment without one
    asked = json.dumps(server.requests[-1]["messages"])
    assert ("verify your hypothesis" in asked) == verified
    assert "five members" in asked or "members:" in asked
    assert usage["ending"] == "answered"
    status = json.loads((tmp_path / "run" / "report.json").read_text())["census"]
    assert status["invalid"] == 0 and status["scored"] == 1
