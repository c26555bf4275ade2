"""What a prompt shows is true: its examples are read as they stand, and a shift's size is told."""

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from lab_tasks import task_and_truth
from lab_worlds import worlds

from builder.tracks.causalab.ask import write_prompt
from builder.tracks.causalab.episode import EpisodeParts
from builder.tracks.causalab.suites import SUITES
from causal_exams.laboratory.session import Session
from grader.laboratory.episode import Episode
from grader.laboratory.model import Mode
from grader.laboratory.session import Laboratory
from grader.scoring.model import RawAnswer
from grader.scoring.score import check, score_answer

NAME = "lab-0000000000000000"
KINDS = ("main-3", "main-7", "quad-hard", "hidden-range-50", "freqparent-6", "golden-4", "5o0i-6")


def prompts(name: str, mode: Mode = "shift") -> Iterator[tuple[EpisodeParts, str]]:
    for setting in SUITES[name.removesuffix("-disclosed")].settings:
        for parts in worlds(name, setting, 2, mode, seed="prompt"):
            yield parts, write_prompt(parts.public, NAME, f"{NAME}.jsonl")


def shown_lines(text: str) -> list[str]:
    """The lines of the prompt's examples."""
    return [
        line for block in text.split("```")[1::2] for line in block.splitlines() if line.strip()
    ]


@pytest.mark.parametrize("name", KINDS)
def test_the_laboratory_takes_every_line_of_the_example(name: str) -> None:
    for parts, text in prompts(name):
        session = Laboratory(Episode.load(NAME, parts.public, parts.private))
        requests: list[dict[str, Any]] = [json.loads(line) for line in shown_lines(text)]
        for request in requests:
            match request.get("op"):
                case "intervene":
                    session.intervene(request["name"], request["value"])
                case "hypothesis":
                    session.hypothesise(request["record"])
                case "reactor":
                    session.open_reactor()
                case "predict":
                    session.predict(request["value"], request["hypothesis"])
        assert session.phase == "closed" and len(session.hypotheses) == 2
        assert {"predict", "hypothesis"} <= {request.get("op") for request in requests}
        assert ("intervene" in str(requests)) == bool(parts.public["budget"])


@pytest.mark.parametrize("name", ["golden-4", "golden-6", "12o0i-4", "20o0i-6"])
def test_the_example_of_the_one_line_form_passes(name: str) -> None:
    """Read whole by the grader's own check; the number in it is no task's answer."""
    for parts, text in prompts(name):
        row = {"task_id": NAME, "public": parts.public, "private": parts.private}
        task, truth = task_and_truth(row)
        (line,) = [line for line in shown_lines(text) if "op" not in json.loads(line)]
        raw = RawAnswer(task.answer_file, line.encode())
        checked = check(task, raw)
        assert (checked.status, checked.message) == ("scored", "")
        assert checked.answer.hypothesis.edges and checked.answer.hypothesis.terms
        assert not json.loads(score_answer(task, truth, raw).extra_json)["accurate"]


def test_where_something_can_be_set_no_one_line_form_is_offered() -> None:
    for parts, text in prompts("main-4"):
        assert parts.public["budget"]
        assert all("op" in json.loads(line) for line in shown_lines(text))


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hidden-range-0.5", "-0.5, 0 or 0.5"),
        ("hidden-frequency-2", "-5, 0 or 5"),
        ("hidden-range-50", "-50, 0 or 50"),
    ],
)
def test_a_disclosed_influence_is_told_with_its_size(name: str, says: str, mode: Mode) -> None:
    for parts, text in prompts(f"{name}-disclosed", mode):
        assert f"a hidden influence adds a number, {says}, drawn anew each time" in text
        assert "what it adds to others is computed from the shifted value" in text
        assert ("A property that is held does not feel it" in text) == (mode == "do")
        assert parts.public["shifts"] == parts.private["disturbance"]["values"]


@pytest.mark.parametrize("name", ["hidden-count-3", "hidden-range-50", "hidden-frequency-2"])
def test_an_undisclosed_influence_is_told_neither_by_prompt_nor_by_session(name: str) -> None:
    """Matched with the disclosed one, and in the very words of the main suite, graph for graph:
    nothing says that there is no influence either."""
    for (parts, text), (disclosed, _), (main, said) in zip(
        prompts(name), prompts(f"{name}-disclosed"), prompts("main-4"), strict=False
    ):
        assert parts.private == disclosed.private and parts.private["disturbance"]
        assert {**disclosed.public, "shifts": None} == parts.public
        assert re.sub(r"[\d.-]+", "", text) == re.sub(r"[\d.-]+", "", said)
        shown = Session(Episode.load(NAME, parts.public, parts.private)).greeting()["episode"]
        assert shown.keys() == main.public.keys() - {"shifts"}


@pytest.mark.parametrize("name", KINDS)
def test_the_rules_of_a_hypothesis_are_told(name: str) -> None:
    for parts, text in prompts(name):
        assert re.search(r"Edges make no circle(, and none leaves frequency)?\. A cause of", text)
        acts = parts.public["frequency_may_be_parent"]
        assert ("none leaves frequency" in text) == (not acts)
        assert ("c2_" in text) == (parts.public["family"] == "quadratic")
