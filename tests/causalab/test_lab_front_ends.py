"""The laboratory behind JSON lines: sessions survive anything, and nothing hidden gets out."""

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hostile_text import EVIL, check_characters
from hypothesis import given, settings
from hypothesis import strategies as st
from laboratories import CHAIN, KEY, TARGET, chain_episode, make_row, random_episode, verify

from causal_exams.cli import main
from causal_exams.commands.lab import MAX_REQUEST, serve
from causal_exams.laboratory.session import Session, session_path
from grader.errors import UsageError
from grader.io.jsonio import canonical_json
from grader.laboratory.episode import Episode
from grader.laboratory.transcript import read_lines
from grader.tracks.causalab.shapes import true_hypothesis


def talk(session: Session, *requests: object) -> list[dict[str, Any]]:
    """The greeting and the replies to some requests, over the wire format."""
    sent = b"".join(
        (r if isinstance(r, bytes) else canonical_json(r).encode()) + b"\n" for r in requests
    )
    replies = io.BytesIO()
    serve(session, io.BytesIO(sent), replies)
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def test_a_whole_session_over_json_lines_verifies(tmp_path: Path) -> None:
    episode, path = chain_episode(), tmp_path / "t.jsonl"
    session = Session(episode, path, "team")
    replies = talk(
        session,
        {"op": "intervene", "name": "Density", "value": 40},
        {"op": "hypothesis", "record": true_hypothesis(episode)},
        {"op": "status"},
        {"op": "reactor"},
        {"op": "predict", "value": 5},
        {"op": "predict", "value": episode.frequency},
        b"nonsense",
    )
    session.close()
    greeting, reading, hypothesis, status, reactor, predicted, again, _ = replies
    assert greeting["episode"] == episode.public and greeting["remaining"] == 8
    assert reading == {
        "ok": True, "remaining": 7,
        "reading": {"density": 40.0, "moisture": 112.0, TARGET: 396.0},
    }  # fmt: skip
    assert hypothesis == {"ok": True}
    assert status["history"][0]["set"] == {"name": "density", "value": 40.0}
    assert reactor["reactor"] == episode.public["reactor"]
    assert predicted == {"ok": True, "closed": True}
    assert not again["ok"] and "over" in again["error"]
    assert verify(episode, path.read_bytes()).prediction == 5.0


def test_no_word_of_an_episode_acts_on_a_terminal() -> None:
    """Replies on standard output held C1 controls and bidirectional marks as they came."""
    row = make_row(CHAIN)
    row["public"]["variables"][0]["display"] = EVIL
    replies = io.BytesIO()
    requests = [{"op": "status"}, {"op": EVIL}, {"op": "intervene", "name": EVIL, "value": 1}]
    sent = "\n".join(map(canonical_json, requests)).encode()
    serve(Session(Episode.load(**row)), io.BytesIO(sent), replies)
    text = replies.getvalue().decode()
    assert json.loads(text.splitlines()[0])["episode"] == row["public"]
    check_characters(text, "replies")


BAD = [
    (b"nonsense", "not JSON"),
    (b"[1]", 'send one object {"op"'),
    (b'{"op": 7}', "op is one of intervene"),
    (b'{"op": "intervne", "name": "density", "value": 1}', "did you mean 'intervene'"),
    (b'{"op": "intervene", "value": 1}', "intervene needs name; its members are op, name, value"),
    (b'{"op": "intervene", "name": "density", "value": 1, "x": 1}', "has no member"),
    (b'{"op": "intervene", "name": "density", "value": 101}', "from 0 to 100"),
    (b'{"op": "intervene", "name": "density", "value": NaN}', "not JSON"),
    (b'{"op": "intervene", "name": "nobody", "value": 1}', "set one of moisture, density"),
    (b'{"op": "hypothesis", "record": {}}', "absent"),
    (b'{"op": "predict"}', "predict needs value"),
    (b'{"a": ' + b"[" * 5000 + b"}", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"x" * (5 * MAX_REQUEST), "over 64 KiB"),
]


@pytest.mark.parametrize(("line", "says"), BAD, ids=range(len(BAD)))
def test_a_bad_line_gets_one_line_back_is_logged_and_costs_nothing(tmp_path, line, says):
    path = tmp_path / "t.jsonl"
    session = Session(chain_episode(), path)
    _, refused, status = talk(session, line, {"op": "status"})
    session.close()
    assert refused["ok"] is False and says in refused["error"]
    assert "\n" not in refused["error"] and len(refused["error"]) < 400
    assert status["remaining"] == 8 and status["phase"] == "experiments"
    logged = read_lines(path.read_bytes())[-1]
    assert logged["event"] in ("refused", "reprompt") and logged["error"] == refused["error"]


def test_blank_lines_are_skipped_and_a_missing_line_feed_is_forgiven() -> None:
    session = Session(chain_episode())
    replies = io.BytesIO()
    serve(session, io.BytesIO(b'\n  \r\n{"op":"status"}'), replies)
    assert len(replies.getvalue().splitlines()) == 2


def test_a_closed_pipe_ends_the_service_quietly(tmp_path: Path) -> None:
    class Gone(io.BytesIO):
        def flush(self) -> None:
            if self.getvalue().count(b"\n") > 1:
                raise BrokenPipeError

    path = tmp_path / "t.jsonl"
    session = Session(chain_episode(), path)
    line = b'{"op":"intervene","name":"density","value":1}\n'
    serve(session, io.BytesIO(line * 3), Gone())
    session.close()
    events = [entry["event"] for entry in read_lines(path.read_bytes())]
    assert events == ["opened", "reading"], "the reading is on disk although nobody read it"


def test_reconnecting_never_restores_budget(tmp_path: Path) -> None:
    episode, path = chain_episode(budget=3), tmp_path / "t.jsonl"
    for spent in range(3):
        session = Session(episode, path, "team", KEY)
        assert session.greeting()["remaining"] == 3 - spent
        assert len(session.greeting()["history"]) == spent
        assert session.request({"op": "intervene", "name": "density", "value": 7 * spent})["ok"]
        session.close()
    session = Session(episode, path, "team", KEY)
    refused = session.request({"op": "intervene", "name": "density", "value": 1})
    assert not refused["ok"] and refused["remaining"] == 0
    session.request({"op": "predict", "value": 1})
    session.close()
    verify(episode, path.read_bytes(), KEY)
    after = Session(episode, path, "team", KEY)
    assert after.greeting()["phase"] == "closed"
    assert not after.request({"op": "predict", "value": 2})["ok"]
    after.close()


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_line_torn_by_a_kill_is_dropped_on_resuming(tmp_path: Path, cut: int) -> None:
    episode, path = chain_episode(), tmp_path / "t.jsonl"
    session = Session(episode, path)
    session.request({"op": "intervene", "name": "density", "value": 1})
    session.request({"op": "intervene", "name": "density", "value": 2})
    session.close()
    os.truncate(path, path.stat().st_size - cut)
    resumed = Session(episode, path)
    assert len(resumed.laboratory.readings) == 1
    resumed.request({"op": "predict", "value": 1})
    resumed.close()
    assert len(verify(episode, path.read_bytes()).readings) == 1


def test_what_cannot_be_written_is_not_answered_and_costs_nothing(tmp_path, monkeypatch):
    """A full disk, half a line in: the reading is never seen, and its budget is still there."""
    episode, path = chain_episode(), tmp_path / "t.jsonl"
    session = Session(episode, path)
    write = os.write
    calls: list[int] = []

    def full(file: int, data: bytes) -> int:
        calls.append(file)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(file, data[:30])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(UsageError, match="No space left"):
            session.request({"op": "intervene", "name": "density", "value": 1})
    with pytest.raises(UsageError, match="run again to resume"):
        session.request({"op": "status"})
    session.close()
    again = Session(episode, path)
    assert again.greeting()["remaining"] == 8
    again.request({"op": "predict", "value": 1})
    again.close()
    verify(episode, path.read_bytes())


def test_a_session_is_not_two_at_once_nor_anyone_elses(tmp_path: Path) -> None:
    episode, path = chain_episode(), tmp_path / "t.jsonl"
    session = Session(episode, path, "team")
    with pytest.raises(UsageError, match="in use"):
        Session(episode, path, "team")
    session.close()
    with pytest.raises(UsageError, match="a session of"):
        Session(episode, path, "other")
    with pytest.raises(UsageError, match="not signed"):
        Session(episode, path, "team", KEY)
    other = Episode.load(**make_row(CHAIN, seed=9))
    with pytest.raises(UsageError, match="its episode differs"):
        Session(other, path, "team")
    path.write_bytes(path.read_bytes().replace(b'"budget":8', b'"budget":9'))
    with pytest.raises(UsageError, match="line 1"):
        Session(episode, path, "team")


def test_a_transcript_is_never_written_through_a_link_or_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", ".", "pipe"):
        with pytest.raises(UsageError):
            Session(chain_episode(), tmp_path / name)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", ".hidden", "x" * 65, "a b", "a\n", "@2", "a@", "a@0", "a@x", "a@2@3"]
)
def test_a_submissions_name_is_a_plain_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="--submission"):
        session_path(tmp_path, name, chain_episode())


def test_each_submission_of_a_team_has_a_session_of_its_own(tmp_path, episode_file, monkeypatch):
    """A host took no name but `acme-2`, which the ledger of an exam counted as another team."""
    request = b'{"op":"intervene","name":"density","value":3}\n'
    for name, remaining in (("acme", 7), ("acme@2", 7), ("acme@2", 6)):
        replies = io.BytesIO()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(request)))
        options = ("--sessions", str(tmp_path / "kept"), "--submission", name)
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", SimpleNamespace(buffer=replies))
            assert main(["lab", str(episode_file), *options]) == 0
        assert json.loads(replies.getvalue().splitlines()[-1])["remaining"] == remaining
    first, second = (
        tmp_path / "kept" / name / "lab-0000000000000001.jsonl" for name in ("acme", "acme@2")
    )
    assert {*(tmp_path / "kept").glob("*/*")} == {first, second}


def test_the_command_explains_wrong_use(tmp_path, episode_file, capsys):
    kept = str(tmp_path / "t.jsonl")
    (tmp_path / "short.key").write_bytes(b"short")
    (tmp_path / "bad.json").write_text('{"task_id": "x"}', encoding="utf-8")
    signed = [str(episode_file), "--transcript", kept, "--key"]
    for options, says in (
        ([str(episode_file)], "--transcript FILE or --sessions DIR"),
        ([str(episode_file), "--sessions", kept], "--submission NAME"),
        ([*signed, str(tmp_path / "no")], "cannot be read"),
        ([*signed, str(tmp_path / "short.key")], "at least"),
        ([str(tmp_path / "none.json"), "--transcript", kept], "cannot be read"),
        ([str(tmp_path / "bad.json"), "--transcript", kept], "task_id, public and private"),
        (["lab-1", "--transcript", kept, "--release", str(tmp_path / "none")], "no release"),
    ):
        assert main(["lab", *options]) == 2, options
        error = capsys.readouterr().err
        assert says in error and error.count("\n") == 1, error


NAMES = ["density", "moisture", "ph", "temperatureC", TARGET, "nobody", ""]
REQUESTS = st.one_of(
    st.builds(
        lambda name, value: {"op": "intervene", "name": name, "value": value},
        st.sampled_from(NAMES),
        st.one_of(st.floats(-10, 110), st.none(), st.text(max_size=3)),
    ),
    st.builds(lambda value: {"op": "predict", "value": value}, st.floats(-1e6, 1e6)),
    st.sampled_from([{"op": op} for op in ("reactor", "status", "stop", "intervene", "wish")]),
    st.builds(lambda record: {"op": "hypothesis", "record": record}, st.integers()),
)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 5), requests=st.lists(REQUESTS, max_size=14))
def test_what_an_agent_sees_does_not_depend_on_the_hidden_labels(seed, requests):
    disturbance = {"nodes": ["ph"], "values": [-5.0, 0.0, 5.0]}
    episode = random_episode(seed, 5, records=0, disturbance=disturbance)
    private = {**episode.private, "suite": "other", "regime": "0o0i", "setting": "wide"}
    twin = Episode.load(episode.task_id, episode.public, private)
    one, other = Session(episode), Session(twin)
    assert one.greeting() == other.greeting()
    for request in requests:
        assert one.request(request) == other.request(request)
    assert one.laboratory.transcript == other.laboratory.transcript


@settings(max_examples=30, deadline=None)
@given(requests=st.lists(REQUESTS, max_size=14))
def test_no_reply_depends_on_the_reactors_frequency_or_on_what_was_not_yet_drawn(requests):
    """The mechanism of a reactor-only variable differs, and the tail of the disturbances."""
    equations = {"density": [("moisture", 2.0)], TARGET: [("density", 1.0), ("radiation", 2.0)]}
    rows = []
    for weight in (2.0, 7.0):
        changed = {**equations, TARGET: [("density", 1.0), ("radiation", weight)]}
        row = make_row(
            changed, records=0, uncontrollable=["radiation"],
            manipulator={"density": 3.0, "moisture": 4.0, "radiation": 0.0},
        )  # fmt: skip
        rows.append(row)
    assert rows[0]["private"]["frequency"] != rows[1]["private"]["frequency"]
    one, other = (Session(Episode.load(**row)) for row in rows)
    assert one.greeting() == other.greeting()
    for request in requests:
        assert one.request(request) == other.request(request)
    assert one.laboratory.transcript_text() == other.laboratory.transcript_text()


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(st.floats(0, 100), min_size=1, max_size=8), cut=st.integers(0, 7),
)  # fmt: skip
def test_a_disturbance_shows_only_in_the_readings_made_so_far(values, cut):
    cut = min(cut, len(values))
    sessions = []
    for tail in (5.0, -5.0):
        sequence = [5.0] * cut + [tail] * (8 - cut)
        disturbance = {"nodes": ["density"], "values": [-5.0, 5.0], "sequence": sequence}
        equations = {TARGET: [("density", 1.0), ("ph", 2.0)]}
        row = make_row(equations, disturbance=disturbance, budget=8)
        sessions.append(Session(Episode.load(**row)))
    for value in values[:cut]:
        request = {"op": "intervene", "name": "ph", "value": value}
        replies = [session.request(request) for session in sessions]
        assert replies[0] == replies[1]
    assert sessions[0].laboratory.transcript == sessions[1].laboratory.transcript


def test_right_and_wrong_predictions_get_the_same_reply() -> None:
    episode = random_episode(1, 4)
    replies = [
        Session(episode).request({"op": "predict", "value": value})
        for value in (episode.frequency, episode.frequency + 3, 1.0)
    ]
    assert replies[0] == replies[1] == replies[2]
