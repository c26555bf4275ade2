"""What contradicts itself is refused with a reason; neither half of an answer drags the other."""

import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import permutations
from typing import Any

import pytest
from causalab_episodes import CHAIN, make_row
from lab_tasks import grade, task_and_truth
from lab_worlds import episodes

from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory, RefusedRequest
from grader.scoring.model import Score
from grader.tracks.causalab.shapes import true_hypothesis

EMPTY = {"edges": [], "freq_equation": "base", "coefficients": {"base": 0}}
FREE: dict[str, Any] = {"budget": 0, "opening": False}


def every_pair(episode: Episode) -> dict[str, Any]:
    """All pairs in both directions: everything true is in it."""
    pairs = [{"from": a, "to": b} for a, b in permutations(episode.nodes, 2)]
    if not episode.public["frequency_may_be_parent"]:
        pairs = [pair for pair in pairs if pair["from"] != episode.target]
    causes = [pair["from"] for pair in pairs if pair["to"] == episode.target]
    return {
        "edges": pairs,
        "freq_equation": " + ".join(["base", *(f"c_{cause}*{cause}" for cause in causes)]),
        "coefficients": {"base": 0, **{f"c_{cause}": 1 for cause in causes}},
    }


def stating(episode: Episode, hypothesis: Mapping[str, Any], prediction: float) -> Score:
    """An answer with the hypothesis, as often as the laboratory lets it be sent, and a prediction.

    Where nothing can be set, it is one line.
    """
    row = {"task_id": episode.task_id, "public": episode.public, "private": episode.private}
    task, truth = task_and_truth(row)
    if not episode.budget:
        return grade(task, truth, json.dumps({"prediction": prediction, "hypothesis": hypothesis}))
    session = Laboratory(episode)
    for stated in (*[hypothesis] * 4, None):
        with suppress(RefusedRequest):
            session.predict(prediction, stated)
            break
    return grade(task, truth, session.transcript_text())


@pytest.mark.parametrize(
    "suite", ["main-3", "main-4", "main-6", "freqparent-4", "hidden-count-1", "golden-4", "12o0i-4"]
)
def test_all_pairs_both_ways_earn_no_more_than_an_empty_hypothesis(suite: str) -> None:
    for episode in episodes(suite, count=4, seed="both ways"):
        empty = stating(episode, EMPTY, 100.0)
        both = stating(episode, every_pair(episode), 100.0)
        assert both.status == empty.status == "scored"
        assert both.points == empty.points, both.message
        figures = json.loads(both.extra_json)
        assert (figures["parse_failures"], figures["hypothesised"]) == (1, 0)


def test_a_circle_is_refused_with_its_reason_and_may_be_mended_in_the_session() -> None:
    row = make_row(CHAIN)
    episode = Episode.load(**row)
    session = Laboratory(episode)
    good = true_hypothesis(episode)
    circle = {**good, "edges": [*good["edges"], {"from": "moisture", "to": "density"}]}
    for request in (session.hypothesise, lambda stated: session.predict(1.0, stated)):
        with pytest.raises(
            RefusedRequest, match="edges: a circle from density to moisture to density"
        ):
            request(circle)
    session.predict(episode.frequency, good)
    result = grade(*task_and_truth(row), session.transcript_text())
    assert (result.status, result.points) == ("scored", 1.0)
    events = [line["event"] for line in session.transcript]
    assert events.count("reprompt") == 2 and "parse_failure" not in events


def test_each_half_of_an_answer_stands_for_itself() -> None:
    """In the short form, left out or null, and in a session; without both nothing is earned."""
    row, free = make_row(CHAIN), make_row(CHAIN, **FREE)
    task, truth = task_and_truth(free)
    parts = {"prediction": truth.value, "hypothesis": true_hypothesis(Episode.load(**free))}
    for kept, says, points in (
        ("prediction", "no hypothesis was given", 0.5),
        ("hypothesis", "no prediction was made", 0.5),
        ("", "no prediction was made; no hypothesis was given", 0.0),
    ):
        half = {name: value if name == kept else None for name, value in parts.items()}
        for answer in (half, {kept: parts[kept]}) if kept else ():
            result = grade(task, truth, json.dumps(answer))
            assert (result.status, result.points, result.message) == ("scored", points, says)
        episode = Episode.load(**row)
        session = Laboratory(episode)
        if kept == "hypothesis":
            session.hypothesise(true_hypothesis(episode))
        if kept == "prediction":
            session.predict(episode.frequency)
        else:
            session.stop()
        result = grade(*task_and_truth(row), session.transcript_text())
        early = "; predicted with experiments left, though "
        says += f"{early}other graphs remain equivalent to the true one" * (kept == "prediction")
        assert (result.status, result.points, result.message) == ("scored", points, says)
    session = Laboratory(episode)
    session.intervene("density", 80.0)
    session.predict(episode.frequency, EMPTY)
    result = grade(*task_and_truth(row), session.transcript_text())
    assert result.message.endswith(f"{early}a reading contradicts the hypothesis")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({**EMPTY, "edges": [["density", "moisture"], ["moisture", "density"]]}, "a circle"),
        ({**EMPTY, "edges": [["density", "quark"]]}, '"quark" is not declared'),
        ({"edges": []}, '"freq_equation" is absent'),
        ([], "no object"),
    ],
)
def test_a_hypothesis_that_is_not_read_leaves_the_prediction(broken: object, says: str) -> None:
    task, truth = task_and_truth(make_row(CHAIN, **FREE))
    result = grade(task, truth, json.dumps({"prediction": truth.value, "hypothesis": broken}))
    assert (result.status, result.points) == ("scored", 0.5)
    assert f"{task.answer_file}: the hypothesis is not read: " in result.message
    assert says in result.message and result.message.endswith("no hypothesis was read")
    assert "\n" not in result.message
