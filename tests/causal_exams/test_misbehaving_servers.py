"""Whatever an endpoint sends: one task is left for later, unmarked, and the run goes on."""

import gzip
import json
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai", reason="needs the extra run")

from chat_server import Reply, serve  # noqa: E402
from sitting import lines, sit, start, tasks  # noqa: E402

DEEP = b'{"choices": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
GOOD = Reply('```json\n{"value": 0.5}\n```')


def body(content: bytes, usage: bytes = b"null") -> bytes:
    """A completion whose content and usage are this JSON text, however odd."""
    return b'{"choices": [{"message": {"content": %s}}], "usage": %s}' % (content, usage)


BROKEN = {
    "503 with escapes": Reply("\x1b]0;owned\x07\x1b[2J\u202e", status=503),  # is shown: the first
    "500": Reply("scripted", status=500),
    "401": Reply("who are you", status=401),
    "429": Reply("slow down", status=429),
    "429 with Retry-After": Reply("slow down", status=429, headers={"Retry-After": "1"}),
    "cut": Reply("x" * 5000, cut=100),
    "a byte every half second": Reply(body=b" " * 10_000, pause=0.5),
    "deep": Reply(body=DEEP),
    "garbage": Reply(body=bytes(range(256)) * 100),
    "nothing": Reply(body=b""),
    "HTML": Reply(body=b"<html>Bad gateway</html>"),
    "huge": Reply(body=b" " * (1 << 20), repeat=100),
    "compressed": Reply(body=gzip.compress(bytes(1 << 26)), headers={"Content-Encoding": "gzip"}),
    "no choices": Reply(body=b'{"choices": []}'),
    "content is a number": Reply(body=body(b"1e999")),
    "content is a list": Reply(body=body(b"[1]")),
    "usage is no count": Reply(body=body(b'"x"', b'{"prompt_tokens": "many"}')),
}
ODD = {
    "null content": Reply(None),
    "a tool that is not offered": Reply(None, calls=(("rm", {"path": "/"}),)),
    "arguments that are no JSON": Reply(None, calls=(("bash", "{not json"),)),
}


def test_what_an_endpoint_sends_ends_one_task_at_most(mini_release, tmp_path, capfd):
    """An infrastructure's failure is no answer; a model's empty reply is one without an answer."""
    sent, out = {**BROKEN, **ODD, "good": GOOD, "good too": GOOD}, tmp_path / "run"
    asked = sorted(task.task_id for task in tasks(mini_release, "ccr"))[: len(sent)]
    names = dict(zip(asked, sent, strict=True))

    def script(messages: list[dict[str, Any]]) -> Reply:
        prompt = json.dumps(messages)
        return sent[next(name for task_id, name in names.items() if task_id in prompt)]

    begun = time.monotonic()
    options = ("--setting", "closed", "--max-retries", "1", "--attempt-timeout", "5")
    chosen = ("--track", "ccr", "--sample-id", ",".join(asked))
    with serve(script) as server:
        assert sit(mini_release, out, server, *chosen, *options) == 1
    assert time.monotonic() - begun < 120
    told = {names[line["task_id"]]: line["ending"] for line in lines(out / "usage.jsonl")}
    assert told == dict.fromkeys(ODD, "no answer") | {"good": "answered", "good too": "answered"}
    answered = {names[file.stem] for file in (out / "answers").glob("ccr-*")}
    assert answered == {"good", "good too"}
    ours = [
        line
        for line in capfd.readouterr().err.split("\n")
        if line.startswith((str(out), f"{len(BROKEN)} ended"))
    ]
    assert len(ours) == 2 and all(line.isprintable() for line in ours)
    partial = json.loads((out / "answers" / "run.json").read_text())["partial"]
    assert f"{len(BROKEN)} ended in errors that are not the model's" in partial


@pytest.mark.parametrize("what", ["nobody listens", "silence"])
def test_a_dead_endpoint_leaves_every_task_for_later(what, mini_release, tmp_path, capfd):
    """87 tasks were once marked as failed for good because an endpoint was down."""
    options = ("--setting", "closed", "--track", "ccr", "--limit", "3", "--max-retries", "0")
    out = tmp_path / "run"
    with serve(lambda messages: Reply("late", delay=120)) as server:
        if what == "nobody listens":
            server.url = "http://127.0.0.1:9/v1"
        assert sit(mini_release, out, server, *options, "--attempt-timeout", "2") == 1
    assert "3 ended in errors that are not the model's" in capfd.readouterr().err
    assert not list((out / "answers").glob("ccr-*")) and lines(out / "usage.jsonl") == []


def test_what_failed_is_asked_again_and_nothing_else(mini_release: Path, tmp_path: Path) -> None:
    """Resuming after an outage: answers stay, errors are retried, the run becomes whole."""
    down, out = {"now": True}, tmp_path / "run"
    asked = tasks(mini_release, "ccr")[:6]

    def script(messages: list[dict[str, Any]]) -> Reply:
        late = any(task.task_id in json.dumps(messages) for task in asked[3:])
        return Reply("gone", status=500) if late and down["now"] else GOOD

    options = ("--track", "ccr", "--limit", "6", "--setting", "closed", "--max-retries", "0")
    with serve(script) as server:
        assert sit(mini_release, out, server, *options) == 1
        answered = {path.name for path in (out / "answers").glob("ccr-*")}
        assert answered == {task.answer_file for task in asked[:3]}
        down["now"], before = False, len(server.requests)
        assert sit(mini_release, out, server, *options) == 0
        assert len(server.requests) - before == 3  # what had failed
        assert len(list((out / "answers").glob("ccr-*"))) == 6
        before = len(server.requests)
        assert sit(mini_release, out, server, *options) == 0
        assert len(server.requests) == before
        wider = [word.replace("6", "8") for word in options]
        assert sit(mini_release, out, server, *wider) == 0
        assert len(server.requests) - before == 2


def test_kill_9_at_four_moments_loses_nothing_and_asks_nothing_twice(mini_release, tmp_path):
    """What a log holds as answered is never asked again, whenever the run is killed, and why it
    ended is not forgotten: a limit that was met is not called "no answer" later."""
    from causal_exams.attempts import samples

    out, total = tmp_path / "run", 30
    options = ("--track", "ccr", "--limit", str(total), "--setting", "closed")
    options += ("--token-limit", "100")
    asked = [task.task_id for task in tasks(mini_release, "ccr")[:total]]
    long = Reply("x").payload().replace(b": 10,", b": 200,").replace(b": 15}", b": 205}")
    kinds = {
        "answered": Reply(GOOD.text, delay=0.4), "no answer": Reply("x", delay=0.4),
        "token limit": Reply(body=long, delay=0.4),
    }  # fmt: skip
    endings = dict(zip(asked, cycle(kinds), strict=False))

    def script(messages: list[dict[str, Any]]) -> Reply:
        text = json.dumps(messages)
        return kinds[next(endings[task_id] for task_id in asked if task_id in text)]

    with serve(script) as server:
        for moment in (1, 3, 6, 10):
            done = answered(out / "logs", samples)
            before = len(server.requests)
            process = start(mini_release, out, server, *options, "--max-connections", "4")
            while process.poll() is None and len(server.requests) - before < moment:
                time.sleep(0.02)
            time.sleep(0.07 * moment)
            process.kill()
            process.wait()
            now = json.dumps(server.requests[before:])
            assert not [task_id for task_id in done if task_id in now], "asked twice"
            assert done <= answered(out / "logs", samples), "lost"
        done, before = answered(out / "logs", samples), len(server.requests)
        assert done
        assert sit(mini_release, out, server, *options) == 0
        assert not [t for t in done if t in json.dumps(server.requests[before:])]
    assert {line["task_id"]: line["ending"] for line in lines(out / "usage.jsonl")} == endings
    assert {path.stem for path in (out / "answers").glob("ccr-*")} == {*asked[::3]}


def answered(logs: Path, samples: Any) -> set[str]:
    """The tasks that logs hold as answered, those that Inspect would recover besides."""
    from inspect_ai.log import list_eval_logs

    if not logs.exists() or not list_eval_logs(str(logs)):
        return set()
    return {str(sample.id) for sample in samples(logs) if sample.error is None}
