"""Readings with errors: drawn by the episode's key from the whole history, verified by replay."""

import json
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from causalab_episodes import TARGET
from lab_tasks import grade
from lab_verification import verify
from noisy_episodes import noisy_episode, noisy_row

from grader.laboratory.episode import Episode, EpisodeError
from grader.laboratory.equation import BadHypothesis
from grader.laboratory.hypothesis import parse_hypothesis
from grader.laboratory.noise import Noise
from grader.laboratory.replay import replay
from grader.laboratory.session import Laboratory, Refused
from grader.laboratory.transcript import TranscriptError, content_of, read_lines, seal, write_line
from grader.model import Truth
from grader.shape import Task
from grader.tracks import variant
from grader.tracks.causalab.gold import true_hypothesis
from harness.lab_lines import reply_to
from harness.lab_session import Session

HOST = b"0123456789abcdef0123456789abcdef"


def readings(episode: Episode, *settings: tuple[str, float]) -> list[dict[str, float]]:
    laboratory = Laboratory(episode)
    return [laboratory.intervene(name, value) for name, value in settings]


def calm(episode: Episode, *settings: tuple[str, float]) -> list[dict[str, float]]:
    crystal, found = episode.manipulator(), []
    for name, value in settings:
        crystal.set(name, value)
        found.append(crystal.read())
    return found


def test_errors_are_a_bell_curve_of_the_stated_width() -> None:
    """A tolerance, and all that is called decided, stands on it."""
    noise = Noise(2.0, bytes(32))
    zeros = dict.fromkeys(map(str, range(50)), 0.0)
    errors = [e for k in range(200) for e in noise.of_record(k, zeros).values()]
    assert abs(statistics.mean(errors)) < 4 * 2.0 / len(errors) ** 0.5
    assert statistics.stdev(errors) == pytest.approx(2.0, rel=0.03)
    assert sum(abs(e) < 1.96 * 2.0 for e in errors) / len(errors) == pytest.approx(0.95, abs=0.01)


def test_the_whole_history_draws_the_errors() -> None:
    """Otherwise two sessions, or two settings, could be subtracted and the errors cancelled."""
    episode = noisy_episode()
    here = ("density", 40), ("moisture", 10), ("moisture", 10)
    first, again = readings(episode, *here), readings(episode, *here)
    assert first == again
    errors = [
        {node: round(seen[node] - true[node], 2) for node in seen}
        for seen, true in zip(first, calm(episode, *here), strict=True)
    ]
    assert errors[1] != errors[2]  # set again to the same: read anew
    other = readings(episode, ("density", 40.01), *here[1:])
    assert all(a != b for a, b in zip(other, first, strict=True))
    moved = readings(episode, here[1], here[0])
    exact = calm(episode, here[1], here[0])
    assert exact[1] == calm(episode, *here)[1] and moved[1] != first[1]
    assert all(len(set(one.values())) == 3 for one in errors)  # each value has its own


def test_the_unmeasured_cause_stays_whatever_is_set() -> None:
    """In a crystal it is one number; a setting replaces the base alone."""
    (seen,) = calm(noisy_episode(), ("density", 40))
    assert seen["density"] == 40 + 0.5 * 30
    start = noisy_row()["private"]["manipulator"]["moisture"]
    assert seen["moisture"] == start - 30 + 2 * seen["density"]
    d, m = seen["density"], seen["moisture"]
    assert seen[TARGET] == pytest.approx(20 + 3 * m + d + 0.01 * d * d + 0.02 * d * m, abs=0.006)


def spoil_record(row: dict[str, Any]) -> None:
    row["public"]["records"][1]["density"] += 0.01


def spoil_opening(row: dict[str, Any]) -> None:
    row["public"]["opening"][TARGET] -= 0.01


def short_key(row: dict[str, Any]) -> None:
    row["private"]["noise_key"] = "00"


def another_key(row: dict[str, Any]) -> None:
    row["private"]["noise_key"] = "ff" * 32


def untold(row: dict[str, Any]) -> None:
    row["public"]["common_cause"] = False


def exact(row: dict[str, Any]) -> None:
    row["public"]["noise"] = 0.0


def linear(row: dict[str, Any]) -> None:
    row["public"]["family"] = "quadratic"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_record, "records"),
        (spoil_opening, "opening"),
        (short_key, "noise_key"),
        (another_key, "not what the equations give"),
        (untold, "common_cause"),
        (exact, "noise"),
        (linear, "family"),
    ],
)
def test_an_episode_that_contradicts_itself_is_none(
    spoil: Callable[[dict[str, Any]], None], said: str
) -> None:
    row = noisy_row()
    spoil(row)
    with pytest.raises(EpisodeError, match=said):
        Episode.load(row)


def session(episode: Episode, key: bytes | None = None) -> Laboratory:
    laboratory = Laboratory(episode, "team", key)
    laboratory.intervene("density", 40)
    laboratory.intervene("density", 40)
    laboratory.predict(episode.frequency, true_hypothesis(episode))
    return laboratory


@pytest.mark.parametrize("key", [None, HOST])
def test_transcripts_of_noisy_sessions_verify(key: bytes | None) -> None:
    """Whoever holds the truth can make every reading again, signed or not."""
    episode = noisy_episode()
    text = session(episode, key).transcript_text().encode()
    assert verify(episode, text, key).prediction == episode.frequency
    other = replace(episode, noise=Noise(2.0, b"another key of sufficient length"))
    with pytest.raises(TranscriptError, match="readings differ"):
        replay(other, read_lines(text))


def test_a_changed_error_is_found() -> None:
    """Digests made anew do not help: the errors are not the agent's to choose."""
    episode = noisy_episode()
    lines = [content_of(line) for line in session(episode).transcript]
    reading = next(line for line in lines if line["event"] == "reading")
    reading["reading"]["moisture"] += 0.01
    text, digest = "", ""
    for line in lines:
        sealed = seal(line, digest, None)
        digest = sealed["digest"]
        text += write_line(sealed)
    with pytest.raises(TranscriptError, match="line 2: the readings differ"):
        verify(episode, text.encode())


def test_a_session_resumed_goes_on_with_the_same_errors(tmp_path: Path) -> None:
    """A kill must not be a way to draw again."""
    episode, path = noisy_episode(), tmp_path / "t.jsonl"
    request = b'{"op": "intervene", "name": "density", "value": %d}'
    first = Session(episode, path, "team", HOST)
    one = reply_to(first, request % 40)
    first.close()
    second = Session(episode, path, "team", HOST)
    two = reply_to(second, request % 50)
    second.close()
    straight = Session(episode)
    assert [reply_to(straight, request % value) for value in (40, 50)] == [one, two]


def test_a_session_is_graded_over_decided_pairs() -> None:
    row = noisy_row()
    row["private"]["undecided"] = [["density", TARGET]]
    episode = Episode.load(row)
    task = Task(
        row["task_id"], "instance", variant("causalab", "frontier.tight"), "2o8i", "prompt", "",
        "laboratory_jsonl", "a.jsonl", row["public"],
    )  # fmt: skip
    truth = Truth(row["task_id"], "instance", False, "tight", episode.frequency, 0.0,
                  row["private"])  # fmt: skip
    full = grade(task, truth, session(episode).transcript_text())
    told = json.loads(full.extra_json)
    assert (full.points, told["coefficient_f1"], told["consistency"]) == (1, 1, 1)
    assert told["graph_consistent"] is told["premature"] is None
    laboratory = Laboratory(episode)
    stated = {
        "edges": [["density", "moisture"], ["moisture", TARGET]],
        "freq_equation": "base + c_moisture*moisture",
        "coefficients": {"base": 20, "c_moisture": 3.2},
    }
    laboratory.predict(episode.frequency + episode.tolerance + 1, stated)
    half = grade(task, truth, laboratory.transcript_text())
    told = json.loads(half.extra_json)
    assert (half.points, told["edge_f1_full"]) == (0.5, pytest.approx(0.8))
    # 3.2 for 3 is near enough where readings have errors; the square and the product are missing.
    assert told["coefficient_f1"] == pytest.approx(2 * 1 / (1 + 4))


def read(equation: str, **coefficients: float | None) -> dict[str, Any]:
    row = noisy_row()
    episode = Episode.load(row)
    document = {
        "edges": [["density", TARGET], ["moisture", TARGET]],
        "freq_equation": equation,
        "coefficients": {"base": 20, **coefficients},
    }
    found = parse_hypothesis(document, episode.public, episode.spellings)
    return {"terms": found.terms, "products": found.products, "hypothesis": found}


def test_products_are_read_and_predicted() -> None:
    found = read(
        "20 + c_density*density + cx_moisture_density*density*moisture",
        c_density=2, cx_moisture_density=0.5,
    )  # fmt: skip
    assert found["terms"] == {"density": (2, 0), "moisture": (0, 0)}
    assert found["products"] == {"density*moisture": 0.5}
    assert found["hypothesis"].predict({"density": 2, "moisture": 10}) == 20 + 4 + 10


@pytest.mark.parametrize(
    ("equation", "coefficients", "said"),
    [
        ("base + cx_density_density*density*density", {"cx_density_density": 1}, "names no term"),
        ("base + 2*density*density", {}, "two different variables"),
        ("base + 2*density^2*moisture", {}, "two different variables"),
        ("base + c_density*density*moisture", {"c_density": 1}, "another variable"),
        ("base + cx_density_moisture*density", {"cx_density_moisture": 1}, "another variable"),
        ("base + density*moisture", {"cx_density_moisture": 0}, "1 in freq_equation"),
        ("base + cx_density_moisture*density*moisture", {"cx_density_moisture": 0}, "adds 0"),
        ("base + 2*density*moisture*density", {}, "two different variables"),
    ],
)
def test_what_is_no_product_is_refused(
    equation: str, coefficients: dict[str, float], said: str
) -> None:
    with pytest.raises(BadHypothesis, match=said):
        read(equation, **coefficients)


@pytest.mark.parametrize(
    "edges",
    [
        [
            [a, b]
            for a in ("density", "moisture")
            for b in ("density", "moisture", TARGET)
            if a != b
        ],
        [["density", "moisture"], ["moisture", "density"]],
        [["density", "moisture"], [TARGET, "density"]],
    ],
)
def test_a_circle_earns_what_an_empty_hypothesis_earns(edges: list[list[str]]) -> None:
    """All pairs both ways have every true edge: refused, they are no hypothesis at all."""
    row = noisy_row()
    episode = Episode.load(row)
    causes = sorted(a for a, b in edges if b == TARGET)
    stated = {
        "edges": edges,
        "freq_equation": " + ".join(["base", *(f"c_{name}*{name}" for name in causes)]),
        "coefficients": {"base": 1, **{f"c_{name}": 1 for name in causes}},
    }
    points = []
    for hypothesis in (stated, {"edges": [], "freq_equation": "base", "coefficients": {"base": 1}}):
        laboratory = Laboratory(episode)
        if hypothesis is stated:
            with pytest.raises(Refused, match=r"circle|acts on nothing"):
                laboratory.hypothesise(hypothesis)
            laboratory.predict(0)
        else:
            laboratory.predict(0, hypothesis)
        task = Task(
            row["task_id"], "instance", variant("causalab", "frontier.tight"), "2o8i", "prompt", "",
            "laboratory_jsonl", "a.jsonl", row["public"],
        )  # fmt: skip
        truth = Truth(row["task_id"], "instance", False, "tight", episode.frequency, 0.0,
                      row["private"])  # fmt: skip
        points.append(grade(task, truth, laboratory.transcript_text()).points)
    assert points[0] <= points[1]
