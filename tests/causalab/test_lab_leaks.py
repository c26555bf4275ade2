"""Nothing hidden reaches an agent, before the prediction or after it."""

import json
from typing import Any

from causalab_episodes import TARGET, make_row, random_episode
from hypothesis import given, settings
from hypothesis import strategies as st

from causal_exams.laboratory.session import Session
from grader.io.jsonio import canonical_json
from grader.laboratory.episode import Episode

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


def _twin(seed: int, **options: Any) -> tuple[Episode, Episode]:
    """Two episodes that differ in their hidden suite, regime and setting."""
    disturbance = {"nodes": ["ph"], "values": [-5.0, 0.0, 5.0]}
    episode = random_episode(seed, 5, records=0, disturbance=disturbance, **options)
    private = json.loads(canonical_json(episode.private))
    private["suite"], private["regime"], private["setting"] = "other", "0o0i", "wide"
    return episode, Episode.load(episode.task_id, episode.public, private)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 5), requests=st.lists(REQUESTS, max_size=14))
def test_what_an_agent_sees_does_not_depend_on_the_hidden_labels(
    seed: int, requests: list[dict[str, Any]]
) -> None:
    one, other = (Session(episode) for episode in _twin(seed))
    assert one.greeting() == other.greeting()
    for request in requests:
        assert one.request(request) == other.request(request)
    assert one.laboratory.transcript == other.laboratory.transcript


@settings(max_examples=30, deadline=None)
@given(requests=st.lists(REQUESTS, max_size=14))
def test_no_reply_depends_on_the_reactors_frequency_or_on_what_was_not_yet_drawn(
    requests: list[dict[str, Any]],
) -> None:
    """The mechanism of a reactor-only variable differs, and the tail of the disturbances.

    ``frequency`` of these twins reads ``ph`` through a square root of nothing: the readings of
    the manipulator agree as long as ``radiation`` is 0 there, which it always is.
    """
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
def test_a_disturbance_shows_only_in_the_readings_made_so_far(
    values: list[float], cut: int
) -> None:
    """Two sequences that agree up to ``cut`` are told apart by no earlier reply."""
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
