"""Signed sessions handed in where they do not belong, or not as they were."""

import json

import pytest
from causalab_episodes import CHAIN, chain_episode, make_row
from lab_tasks import grade, task_and_truth
from lab_verification import verify

from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory
from grader.laboratory.transcript import TranscriptError

KEY = b"0123456789abcdef0123456789abcdef"
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
    """Every line here has the host's signature, but not in this place."""
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


def test_a_signature_of_another_host_or_of_none_is_refused() -> None:
    episode = chain_episode()
    text = "".join(signed(episode)).encode()
    with pytest.raises(TranscriptError, match="not signed"):
        verify(episode, text, b"f" * 32)
    bare = [json.loads(line) for line in text.splitlines()]
    for line in bare:
        line["mac"] = None
    plain = "".join(json.dumps(x, sort_keys=True, separators=(",", ":")) + "\n" for x in bare)
    with pytest.raises(TranscriptError, match="not signed"):
        verify(episode, plain.encode(), KEY)
