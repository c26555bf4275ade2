"""Points of stored answers change only with the number of their track's rules."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import stored_points
from stored_points import main, problem, read, renewed

from grader.tracks import TRACKS


@pytest.mark.parametrize("track", sorted(TRACKS))
def test_points_do_not_change_without_raising_rules(track: str) -> None:
    """Floors that were measured before would still count, and skills would be wrong in silence."""
    stored = read(track)
    assert stored["rules"] == TRACKS[track].rules, (
        f"the rules of {track} were raised: run python tests/stored_points.py"
    )
    told = problem(track, stored)
    assert told is None, told


@pytest.mark.parametrize("track", sorted(TRACKS))
def test_every_shape_of_a_track_has_answers_of_different_worth(track: str) -> None:
    """Of an answer that nobody stored no change is seen."""
    items = read(track)["items"]
    lacking = {variant.shape.name for variant in TRACKS[track].variants}
    lacking -= {item["task"]["answer_schema"] for item in items}
    assert not lacking, (
        f"no stored answer in {sorted(lacking)}: run python tests/stored_points.py --release DIR "
        "ANSWERS… with a release that asks for it, and some folders of answers to it"
    )
    for item in items:
        earned = {points for _, points in item["answers"]}
        assert {0.0, 1.0} <= earned, item["task"]["answer_schema"]


def test_changed_points_are_stored_under_raised_rules_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that makes the tests pass again must not be the way around them."""
    track, *_ = TRACKS
    right = read(track)
    monkeypatch.setattr(stored_points, "FOLDER", tmp_path)
    monkeypatch.setattr(stored_points, "TRACKS", {track: TRACKS[track]})
    wrong = json.loads(json.dumps(right))
    wrong["items"][0]["answers"][0][1] -= 0.25
    file = tmp_path / f"{track}.json"
    file.write_text(json.dumps(wrong), encoding="utf-8")
    assert main([]) == 2
    said = capsys.readouterr().err
    assert "0.75 points before, now 1.0" in said and "raise `rules`" in said
    assert json.loads(file.read_text(encoding="utf-8")) == wrong
    raised = replace(TRACKS[track], rules=TRACKS[track].rules + 1)
    monkeypatch.setattr(stored_points, "TRACKS", {track: raised})
    assert main([]) == 0
    assert read(track) == {**right, "rules": raised.rules}
    assert problem(track, read(track)) is None and renewed(track, read(track)) == read(track)
