"""Transcripts as evidence: honest ones verify, every other is refused by its line."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from laboratories import (
    CHAIN,
    KEY,
    chain_episode,
    grade,
    make_row,
    random_episode,
    resealed,
    task_and_truth,
    verify,
)

from grader.io.jsonio import canonical_json
from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory, RefusedRequest
from grader.laboratory.transcript import TranscriptError, content_of, write_line
from grader.tracks.causalab.shapes import true_hypothesis

Line = dict[str, Any]


def honest(episode: Episode, key: bytes | None = None) -> Laboratory:
    """A session with everything in it that a session can have."""
    session = Laboratory(episode, "team", key)
    session.hypothesise({"edges": [], "freq_equation": "base", "coefficients": {"base": None}})
    session.intervene("density", 30.5)
    with pytest.raises(RefusedRequest):
        session.intervene("density", 300)
    with pytest.raises(RefusedRequest):
        session.hypothesise({"edges": []})
    session.note_resumption()
    session.intervene("moisture", 70)
    session.predict(episode.frequency, true_hypothesis(episode))
    return session


def plain(lines: Sequence[Line]) -> bytes:
    return "".join(write_line(line) for line in lines).encode()


def test_an_honest_transcript_verifies_and_gives_the_session_back() -> None:
    episode = chain_episode()
    session = honest(episode)
    again = verify(episode, session.transcript_text().encode())
    assert again.transcript == session.transcript
    assert again.readings == session.readings
    assert again.hypotheses == session.hypotheses
    assert again.prediction == session.prediction


@pytest.mark.parametrize("mode", ["shift", "pin", "do"])
@pytest.mark.parametrize("seed", range(5))
def test_sessions_verify_in_every_mode_with_a_disturbance_too(mode: str, seed: int) -> None:
    disturbance = {"nodes": ["density", "frequency"], "values": [-5.0, 0.0, 5.0]}
    episode = random_episode(seed, 5, mode=mode, disturbance=disturbance)
    session = Laboratory(episode)
    for k, name in enumerate(episode.names * 2):
        session.intervene(name, 7.77 * k)
    session.predict(1)
    assert verify(episode, session.transcript_text().encode()).readings == session.readings


@pytest.mark.parametrize("position", range(10))
def test_one_digit_changed_anywhere_is_found_in_its_line(position: int) -> None:
    episode = chain_episode()
    rows = honest(episode).transcript_text().splitlines(keepends=True)
    row = rows[position]
    for match in re.finditer(r"\d", row):
        other = str((int(match.group()) + 1) % 10)
        changed = row[: match.start()] + other + row[match.end() :]
        text = "".join([*rows[:position], changed, *rows[position + 1 :]])
        with pytest.raises(TranscriptError) as error:
            verify(episode, text.encode())
        assert error.value.line in (position + 1, position + 2), changed
        assert str(error.value).startswith(f"line {error.value.line}: ")


Change = Callable[[list[Line]], None]


def _set(index: int, path: Sequence[str], value: object) -> Change:
    def change(lines: list[Line]) -> None:
        place: Any = lines[index]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def _swap(first: int, second: int) -> Change:
    def change(lines: list[Line]) -> None:
        lines[first], lines[second] = lines[second], lines[first]

    return change


CHANGES: dict[str, tuple[Change, int]] = {
    "a reading": (_set(2, ["reading", "moisture"], 1.0), 3),
    "a reading by a hundredth": (_set(6, ["reading", "frequency"], 272.01), 7),
    "the value that was set": (_set(2, ["set", "value"], 31.5), 3),
    "the property that was set": (_set(2, ["set", "name"], "moisture"), 3),
    "the remaining budget": (_set(2, ["remaining"], 8), 3),
    "the budget": (_set(0, ["budget"], 80), 1),
    "the episode's hash": (_set(0, ["episode"], "0" * 64), 1),
    "the task": (_set(0, ["task_id"], "lab-0000000000000002"), 1),
    "the mode": (_set(0, ["mode"], "pin"), 1),
    "the opening reading": (_set(0, ["opening", "density"], 1.0), 1),
    "the engine": (_set(0, ["engine"], "2"), 1),
    "the reactor": (_set(8, ["properties", "density"], 1.0), 9),
    "a hypothesis that does not parse": (_set(7, ["record"], {"edges": []}), 8),
    "the step of a hypothesis": (_set(7, ["step"], 1), 8),
    "an attempt that was not made": (_set(4, ["attempt"], 2), 5),
    "the order of two readings": (_swap(2, 6), 3),
    "a reading after the reactor": (lambda lines: lines.insert(9, dict(lines[6])), 10),
    "the prediction before the reactor": (_swap(8, 9), 9),
    "the prediction after the end": (_swap(9, 10), 10),
    "a dropped reading": (lambda lines: lines.pop(2) and None, 4),
    "a dropped opening": (lambda lines: lines.pop(0) and None, 1),
    "a dropped reactor": (lambda lines: lines.pop(8) and None, 9),
    "a dropped end": (lambda lines: lines.pop(10) and None, 10),
    "an added reading": (lambda lines: lines.insert(3, dict(lines[2])), 4),
    "a second prediction": (lambda lines: lines.insert(10, dict(lines[9])), 11),
    "an unknown event": (lambda lines: lines.insert(3, {"event": "wish"}), 4),
    "a member more": (_set(2, ["note"], "x"), 3),
    "a prediction that is no number": (_set(9, ["value"], "x"), 10),
    "a reading beyond the budget": (lambda lines: lines.insert(7, dict(lines[6])), 8),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_replay_contradicts_is_refused_even_with_a_new_chain(name: str) -> None:
    change, line = CHANGES[name]
    episode = chain_episode(budget=2)
    lines = [json.loads(canonical_json(entry)) for entry in honest(episode).transcript]
    change(lines)
    with pytest.raises(TranscriptError) as error:
        verify(episode, resealed(lines))
    assert error.value.line == line, error.value
    with pytest.raises(TranscriptError):
        verify(episode, plain(lines))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines.pop(3),  # a refusal that happened is left out
        lambda lines: lines.pop(1),  # a hypothesis that turned out badly
        _set(9, ["value"], 1.5),  # another prediction
        _set(0, ["submission"], "another"),
        _set(3, ["error"], "nothing of the kind"),
    ],
)
def test_what_replay_cannot_contradict_only_a_host_key_finds(change: Change) -> None:
    """A possible session is not proof that it took place; that is what the key is for."""
    episode = chain_episode()
    signed = honest(episode, KEY)
    verify(episode, signed.transcript_text().encode(), KEY)
    lines = [json.loads(canonical_json(entry)) for entry in signed.transcript]
    change(lines)
    verify(episode, resealed(lines))
    without = [{**json.loads(line), "mac": None} for line in resealed(lines).splitlines()]
    for forged in (resealed(lines), resealed(lines, b"another key altogether"), plain(without)):
        with pytest.raises(TranscriptError, match="not signed"):
            verify(episode, forged, KEY)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"\n", "line 1: "),
        (b"[]\n", "line 1: not an object"),
        (b'{"a": 1}\n', "line 1: not as the laboratory writes it"),
        (b'{"index":0}\n', "line 1: its digest"),
        (b'{"index":1}\n', "line 1: its index"),
        (b"\xff\n", "line 1: "),
        (b'{"a":' + b"1" * 70_000 + b"}\n", "line 1: over 64 KiB"),
        (b"{}\n" * 20_001, "no session is that long"),
        (b'{"x":NaN}\n', "line 1: "),
        (b"[" * 5000 + b"\n", "line 1: "),
    ],
)
def test_what_is_no_transcript_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(TranscriptError) as error:
        verify(chain_episode(), data)
    assert says in str(error.value) and "\n" not in str(error.value)


def test_every_truncation_is_refused() -> None:
    episode = chain_episode(budget=1)
    session = Laboratory(episode)
    session.intervene("density", 1)
    session.predict(1)
    data = session.transcript_text().encode()
    for end in range(len(data) - 1):
        with pytest.raises(TranscriptError):
            verify(episode, data[:end])
    verify(episode, data[:-1])


def test_lines_of_another_shape_never_break_the_grader() -> None:
    """A forger may put anything where the laboratory puts text, numbers or objects."""
    episode = chain_episode()
    lines = [json.loads(canonical_json(entry)) for entry in honest(episode).transcript]
    for index, line in enumerate(lines):
        for member in content_of(line):
            for value in (None, 7, -1, 1e300, "x", [], {}, {"x": [None]}, True):
                if member == "index" or line[member] == value:
                    continue
                changed = [dict(entry) for entry in lines]
                changed[index][member] = value
                try:
                    verify(episode, resealed(changed))
                except TranscriptError as error:
                    assert "\n" not in str(error)


def test_the_grader_calls_a_tampered_or_unsigned_transcript_invalid_and_says_why() -> None:
    row = make_row({"moisture": [("density", 2.0)], "frequency": [("moisture", 3.0)]})
    task, truth = task_and_truth(row)
    episode = Episode.load(**row)
    session = honest(episode)
    good = grade(task, truth, session.transcript_text())
    assert (good.status, good.points) == ("scored", 1.0)
    lines = [json.loads(canonical_json(entry)) for entry in session.transcript]
    edited = grade(task, truth, plain([{**lines[0], "budget": 9}, *lines[1:]]).decode())
    assert (edited.status, edited.reason, edited.points) == ("invalid", "transcript", 0.0)
    assert "line 1" in edited.message
    lines[2]["reading"]["moisture"] += 1
    forged = grade(task, truth, resealed(lines).decode())
    assert (forged.status, forged.reason, forged.points) == ("invalid", "replay", 0.0)
    assert "line 3: the readings differ" in forged.message and forged.loss == 1.0
    signed = honest(episode, KEY).transcript_text()
    assert grade(task, truth, signed, KEY).points == 1.0
    assert json.loads(grade(task, truth, signed, KEY).extra_json)["signed"] == 1
    assert json.loads(grade(task, truth, signed).extra_json)["signed"] == 0
    refused = grade(task, truth, session.transcript_text(), KEY)
    assert (refused.status, refused.reason) == ("invalid", "signature")
    assert "line 1: not signed" in refused.message


ROW = make_row(CHAIN)


def signed(episode: Episode, team: str = "team", value: float = 40) -> list[str]:
    """The lines of a finished session that the host signed."""
    session = Laboratory(episode, team, KEY)
    session.intervene("density", value)
    session.intervene("density", value + 1)
    session.predict(episode.frequency)
    return session.transcript_text().splitlines(keepends=True)


def test_the_session_of_one_episode_is_no_answer_to_another() -> None:
    """Of another task, and of a task of the same name in another release."""
    honest = "".join(signed(Episode.load(**ROW)))
    assert grade(*task_and_truth(ROW), honest, KEY).status == "scored"
    other = make_row(CHAIN, seed=9)
    renamed = json.loads(json.dumps(ROW)) | {"task_id": "lab-0000000000000002"}
    for row in (other, renamed):
        refused = grade(*task_and_truth(row), honest, KEY)
        assert (refused.status, refused.points) == ("invalid", 0.0)


def test_lines_of_several_signed_sessions_make_none() -> None:
    episode = chain_episode()
    lines, other = signed(episode), signed(episode, "other")
    again = signed(episode, value=7)
    assert verify(episode, "".join(lines).encode(), KEY)
    forged = {
        "cut at the end": lines[:-1],
        "cut at the front": lines[1:],
        "cut inside": [*lines[:1], *lines[2:]],
        "doubled line": [*lines[:2], lines[1], *lines[2:]],
        "doubled session": lines + lines,
        "reordered": [lines[0], lines[2], lines[1], *lines[3:]],
        "opened by another team": [other[0], *lines[1:]],
        "ended by another team": [*lines[:-2], *other[-2:]],
        "a reading of another attempt": [lines[0], again[1], *lines[2:]],
        "the prediction of another attempt": [*lines[:-2], *again[-2:]],
    }
    for what, rows in forged.items():
        with pytest.raises(TranscriptError):
            verify(episode, "".join(rows).encode(), KEY)
            pytest.fail(what)
