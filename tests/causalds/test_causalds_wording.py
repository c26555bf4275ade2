"""What prompts say of the world they ask about is so, and none of their words can mislead."""

import json
import re
from itertools import permutations
from pathlib import Path

import networkx as nx
from causalds_scenes import every_task, has_binary, part, public, rows, world

from builder.stories.story import NO_DIRECTION
from builder.stories.verbalise import LETTERS
from builder.tracks.causalds.check.graph import Graph, graph_of
from grader.opening import open_release
from grader.scoring.model import RawAnswer
from grader.scoring.score import score_answer
from grader.tracks import TRACKS

FILLED = {
    "<number>": "1.5", "<whole number>": "1", "<true or false>": "true", "<label>": "+",
}  # fmt: skip
"""What may stand in a blank that is no text already."""


def _examples(prompt: str) -> list[str]:
    return re.findall(r"```(?:json|csv)\n(.*?)\n```", prompt, re.S)


def test_every_story_says_that_it_tells_no_direction() -> None:
    """'Retries leave their lines' sounds like a sign, and half of the worlds have the other."""
    for built in public():
        story = rows(built, "_scenes")[0]["story"]
        assert sum(story.count(text) for text in NO_DIRECTION) == 1


def test_an_association_of_nothing_is_0_and_unknown_says_the_same() -> None:
    """Elsewhere "unknown" means not identifiable; the reference has no other word for zero."""
    zeros = 0
    for key, task, truth, _ in every_task():
        if key.startswith(("association.sign", "collider_phenomenon.induced_association_sign")):
            answer = part(task["prompt"], "Answer") + part(task["prompt"], "Question")
            assert '"0"' in answer and "unknown" not in answer
            for label in json.loads(truth["target_json"]).values():
                assert label in (["+"], ["-"], ["0", "unknown"])
                zeros += len(label) == 2
    assert zeros > 5


def test_whoever_reads_effects_off_a_story_learns_how_binary_variables_act() -> None:
    """'Reaches 12 kilograms' might act through the kilograms."""
    told = set()
    for _, task, _, built in every_task():
        reads = "tells every direct effect" in task["prompt"]
        says = "affects others only through its value, 0 or 1" in task["prompt"]
        assert says == (reads and has_binary(world(built)))
        told.add((reads, says))
    assert {(True, True), (True, False)} <= told


def test_identifiability_states_what_may_be_assumed() -> None:
    """A verdict hangs on these: positivity, errors across worlds, proxies that tell enough. 'If X
    has no direct effect on Y, the NDE must be 0' would read like an answer."""
    for key, task, _, _ in every_task():
        prompt, inputs = task["prompt"], json.loads(task["inputs_json"])
        assert "must be 0" not in prompt
        if "*Identifiable*" not in prompt:
            assert "identif" not in prompt.replace('"identifiable"', "")
            continue
        assert "An effect that the background makes 0 is identifiable." in prompt
        assert "(positivity)" in prompt and "proxies or negative controls" in prompt
        natural = inputs.get("estimand") in ("NDE", "NIE") or key.endswith("dominance")
        assert ("independent of the errors" in prompt) == natural


def test_an_association_is_zero_only_where_the_background_d_separates() -> None:
    """Prompts promise it: r and s - r if and only if, s only if the graph does."""
    seen = set()
    for _, _, _, built in every_task():
        record = world(built)
        graph, told = graph_of(record["world"]["edges"], record["variables"]), record["quantities"]
        x, y = record["treatment"], record["outcome"]

        def apart(a: str, b: str, *given: str, graph: Graph = graph) -> bool:
            return nx.is_d_separator(graph, {a}, {b}, set(given))

        assert (told["association"]["source"] == "structural_zero") == apart(x, y)
        for z in told["partial"]:
            partial, change = (
                told[k][z]["source"] == "structural_zero" for k in ("partial", "change")
            )
            alone = [apart(a, b) and apart(a, c) for a, b, c in permutations((x, y, z))]
            assert change == any(alone) and partial <= apart(x, y, z)
            seen.add((partial, apart(x, y, z)))
    assert seen == {(True, True), (False, True), (False, False)}


def test_the_text_beside_every_task_says_each_rule_in_full() -> None:
    """Prompts say them in a line each."""
    reading = TRACKS["causalds"].reading
    text = str(reading and reading.read_text(encoding="utf-8")).replace("\n", " ")
    for word in ("positivity", "never reversed", "simple random sample", "collider bias", "NIE ="):
        assert word in text


def test_nothing_is_demanded_that_is_not_scored() -> None:
    """The conditioning variable was to be copied from the question."""
    for key, task, _, _ in every_task():
        demanded = "conditioning_var" in part(task["prompt"], "Answer")
        assert demanded == (key == "association.argmax_change")
        assert "collider" not in json.loads(task["inputs_json"])


def test_example_answers_are_never_right(mini_release: Path) -> None:
    """An example that may be right is an answer; one that is right half of the time is a hint."""
    release = open_release(mini_release)
    tasks = [task for task in release.tasks("dev") if task.track == "causalds"]
    truths, seen = release.truths("dev", tasks), set()
    for task in tasks:
        for example in _examples(task.prompt):
            raw = RawAnswer("example", example.encode())
            assert score_answer(task, truths[task.task_id], raw).points == 0, task.task_id
            seen.add(task.spec.key)
    assert seen == {task.spec.key for task in tasks}
    assert len(seen) > 30


def test_examples_fit_the_schema_once_filled_in_and_hold_nothing_that_might_be_an_answer(root):
    """A form that would be refused is worse than none."""
    from jsonschema import Draft202012Validator

    for key, task, _, _ in every_task():
        (example,) = _examples(task["prompt"])
        if key.startswith("prediction"):
            continue
        rest = re.sub(r'"?<[a-z ]+>"?', "", example)
        assert re.fullmatch(r'[\w\s{}\[\]:,"]*', rest), example
        for blank, content in FILLED.items():
            example = example.replace(blank, content)
        schema = json.loads((root / f"schemas/answers/{task['answer_schema']}.json").read_text())
        Draft202012Validator(schema).validate(json.loads(example))


def test_letters_for_names_stand_for_nothing_else() -> None:
    """A variable R beside 'let r be the correlation' cannot be told from it."""
    for key, task, _, built in every_task():
        text = task["prompt"].replace(part(task["prompt"], "Background"), "")
        for variable in world(built)["variables"].values():
            for told in (variable["name"], *(variable["states"] or ())):
                text = text.replace(told, "")
        used = {letter.upper() for letter in re.findall(r"(?<![\w])[A-Za-z](?![\w]|-sep)", text)}
        used |= {symbol[0].upper() for symbol in re.findall(r"\b[A-Za-z]\d\b", text)}
        assert not used & set(LETTERS), (key, used & set(LETTERS))
