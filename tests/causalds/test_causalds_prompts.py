"""Prompts carry every part and state every rule and label; stories read as their graphs.

The gate's reader of stories knows no frame, so it finds a frame that says the reverse.
"""

import json
import re
from collections import Counter
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from case_files import CASE_FILES
from causalds_scenes import every_task, rows, specs, world

from builder.equations.quantities import EFFECT_MARGIN, Quantity
from builder.gate.exams import HeldExam, borrowed_answers
from builder.graphs.motifs import MOTIFS
from builder.release.attempts import Rejection
from builder.splits.seeds import attempt_key
from builder.splits.track import StoryReading
from builder.stories import story
from builder.stories.story import tell
from builder.stories.types import Facts, Kind, Telling
from builder.stories.verbalise import LLM, invent_scene
from builder.tracks import TRACKS
from builder.tracks.causalds.check.audit import read_scene_story
from builder.tracks.causalds.check.equations import DRAWS, Population
from builder.tracks.causalds.check.graph import graph_of, mediators
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.make.scene import sample_hidden_world
from grader.release.rows import task_of, truth_of
from grader.tracks import TRACKS as GRADED
from grader.tracks import VARIANTS

LABELS: dict[str, list[str]] = {key: file["prompt"] for key, file in CASE_FILES.items()}


def test_prompts_state_every_label_and_rule() -> None:
    """A variant without words in its file of tests would not be checked."""
    assert set(LABELS) == {v.key for v in VARIANTS if v.track == "causalds"}
    assert {key for key, *_ in every_task()} == set(LABELS)
    for key, task, _, _ in every_task():
        for text in LABELS[key]:
            assert text in task["prompt"], (key, text)


def test_prompts_have_their_parts_in_order_and_name_exactly_the_files_that_are_there() -> None:
    """Parts of paper A.16.2; story tasks have no data parts. The workspace writer makes these files
    and no others."""
    for _, task, _, built in every_task():
        prompt, data = task["prompt"], task["input_mode"] == "data"
        shown = ["Data", "Scale"] if data else []
        parts = ["Files", "Background", *shown, "Question", "Answer", "Answer file"]
        assert re.findall(r"^## (.+)$", prompt, re.M) == parts
        assert rows(built, "_scenes")[0]["story"] in prompt
        assert f"`{task['answer_file']}`" in prompt and "story.md" not in prompt
        assert "`reading.md`" in prompt and "`answer.schema.json`" in prompt
        assert ("data.parquet" in prompt) == ("columns.json" in prompt) == data
        assert ("test_features.parquet" in prompt) == (task["family"] == "prediction")


def test_prompts_leak_no_id_and_no_structure() -> None:
    """Roles, motif names or world keys in a prompt would be the answer."""
    for _, task, truth, built in every_task():
        motif = truth["structure"]
        prompt = task["prompt"].replace('"frontdoor"', "")
        assert motif not in prompt.lower() or motif in ("chain", "iv", "collider", "fork")
        for node in world(built)["variables"]:
            if node not in ("X", "Y", "A", "Z", "M"):  # used as symbols
                assert not re.search(rf"\b{node}\b", prompt), node
        assert rows(built, "_worlds")[0]["world_key"] not in prompt


def test_lists_in_prompts_are_those_of_the_inputs_and_in_no_graph_order() -> None:
    firsts = []
    for key, task, _, _ in every_task():
        inputs = json.loads(task["inputs_json"])
        if key == "identification.method_label":
            names = inputs["observed"]
            assert "\n".join(f"- {name}" for name in names) in task["prompt"]
            firsts.append(names[0] == inputs["treatment"])
        if key == "identification.all_minimal_adjustment_sets":
            names = inputs["available"]
            assert not {inputs["treatment"], inputs["outcome"]} & set(names)
            assert "\n".join(f"- {name}" for name in names) in task["prompt"]
    assert 0.1 < sum(firsts) / len(firsts) < 0.6


_ANSWERS = re.compile(r"\((\S+)\) answers \S+ \((\S+)\)")


def test_the_gate_finds_prompts_that_list_the_mediators() -> None:
    """Such a list is the whole answer where nothing else is affected by what lies between."""
    telling = []
    for _, row, _, built in every_task():
        task, hidden = task_of(row, GRADED), world(built)
        if "natural" in task.prompt:
            graph = graph_of(hidden["world"]["edges"], hidden["variables"])
            between = mediators(graph, hidden["treatment"], hidden["outcome"])
            names = "".join(f"\n- {hidden['variables'][node]['name']}" for node in between)
            task = replace(
                task, prompt=task.prompt.replace("\n\n## Answer", f"\n{names}\n\n## Answer", 1)
            )
        telling.append(task)
    truths = {truth["task_id"]: truth_of(truth) for _, _, truth, _ in every_task()}
    exam = HeldExam("all", telling, {}, matched=False)
    problems = filter(None, borrowed_answers(exam, TRACKS, truths))
    found = {match.groups() for text in problems if (match := _ANSWERS.search(text))}
    assert {asked for _, asked in found} == {"bias_diagnostic.forbidden_controls_list"}
    assert {shown.partition(".")[0] for shown, _ in found} == {
        "counterfactual_identification", "mediation_effect",
    }  # fmt: skip


def test_no_variant_has_a_constant_truth() -> None:
    """A constant answer would score without reading."""
    truths: dict[str, list[object]] = {key: [] for key in LABELS}
    for key, _, truth, _ in every_task():
        truths[key].append((truth["should_abstain"], truth["value"], truth["target_json"]))
    for key, found in truths.items():
        assert len(set(found)) > 1 or len(found) < 8, f"{key}: too few scenes to tell"


def _room(effect: Quantity, sd: Quantity) -> float:
    """How far an effect is beyond its margin, in combined standard errors."""
    combined = (effect.se**2 + (EFFECT_MARGIN * sd.se) ** 2) ** 0.5
    room = abs(effect.value) - EFFECT_MARGIN * sd.value
    return room / combined if combined else room * float("inf")


def test_no_effect_is_zero_by_accident() -> None:
    """A gate that notices no step between the printed levels makes an identified effect exactly 0,
    though the story tells of one: such worlds are drawn again, the others keep the margin."""
    (spec, *_) = specs(scenes=4, motifs={"confounding": 1}, words="fictional")
    plan = ScenePlan.from_json(spec.config_json)
    # Its gates may have their thresholds beyond both treatment levels.
    structure = replace(plan.structure, treatment_kind="continuous", outcome_kind="binary")
    gates = replace(plan.equations, binary="noisy_and")
    plan, reasons, kept = replace(plan, structure=structure, equations=gates), Counter[str](), []
    for number in range(16):
        try:
            kept.append(sample_hidden_world(plan, attempt_key(b"k" * 32, number))[1])
        except Rejection as rejected:
            reasons[str(rejected)] += 1
    assert reasons["effect too close to zero"] >= 2 and len(kept) >= 2
    for truths in kept:
        for effect in (truths.ate, truths.ett, truths.nde, truths.nie):
            assert effect is not None  # one observed common cause: everything is identifiable
            assert effect.source == "structural_zero" or _room(effect, truths.outcome_sd) >= 4


def test_the_sd_of_a_fair_coin_is_not_known_to_seven_digits() -> None:
    """Where a binary outcome is as often 0 as 1 its sd is at its peak."""
    flips = np.random.default_rng(1).permutation(DRAWS) % 2
    found = Population.sd(SimpleNamespace(factual={"y": flips.astype(float)}, draws=DRAWS), "y")  # type: ignore[arg-type]
    assert found.value == 0.5 and 5 * found.se > 0.5 - 0.499994


GROUPS = {"chain": "ab bc", "fork": "ab ac", "join": "ac bc", "apart": "ab cd"}
"""Two effects by what they share."""
SWAPS = (("{cause}", "{effect}"), ("{second_cause}", "{second_effect}"))


def _told(edges: str, seed: int, unmeasured: str = "") -> tuple[Telling, Facts]:
    pairs = tuple((f"n_{a}", f"n_{b}") for a, b in edges.split())
    nodes = sorted({node for pair in pairs for node in pair})
    kinds: dict[str, Kind] = dict.fromkeys(nodes, "continuous") | {nodes[0]: "binary"}
    rng = np.random.default_rng(seed)
    setting, variables = invent_scene(rng, kinds)
    facts = Facts(variables, pairs, frozenset(f"n_{node}" for node in unmeasured))
    return tell(rng, setting, facts), facts


def _reading(
    told: Telling, facts: Facts, text: str | None = None, words: str = "fictional"
) -> StoryReading:
    record: dict[str, Any] = {
        "variables": {node: asdict(one) for node, one in facts.variables.items()},
        "world": {"edges": facts.edges, "latent": sorted(facts.unmeasured)},
        "hows": [],
        "attestations": [asdict(one) for one in told.attestations],
        "plan": {"telling": {"words": words}},
    }
    return read_scene_story({"world_json": json.dumps(record)}, {"story": text or told.story})


def _swapped(text: str, one: str, other: str) -> str:
    return text.replace(one, "{}").replace(other, one).replace("{}", other)


@pytest.mark.parametrize("motif", sorted(MOTIFS))
def test_a_story_reads_as_its_graph(motif: str) -> None:
    """A reader that objects to good stories would be switched off."""
    graph = MOTIFS[motif].graph
    names = dict(zip(graph.nodes, "abcdefgh", strict=False))
    edges = " ".join(names[a] + names[b] for a, b in graph.edges)
    for seed in range(8):
        told = _told(edges, seed, "".join(names[node] for node in graph.latent))
        assert _reading(*told) == StoryReading((), certain=True)


def test_a_variable_told_as_unmeasured_must_be_so() -> None:
    """Whether a common cause was measured decides what can be identified."""
    told, facts = _told("ca cb ab", 2, "c")
    cause = facts.variables["n_c"].name
    expected = (f"{cause} reads as unmeasured, which is not so",)
    assert _reading(told, replace(facts, unmeasured=frozenset())).problems == expected


def test_a_free_text_is_not_held_to_the_reading() -> None:
    """A language model may say an effect in words that the reader does not know."""
    told, facts = _told("ab bc", 3)
    found = _reading(told, facts, "It is a long story.", words=LLM)
    assert found.problems and not found.certain


@pytest.mark.parametrize("frame", story.EFFECTS, ids=lambda frame: frame.text)
def test_every_effect_frame_with_its_slots_swapped_is_noticed(frame, monkeypatch):
    """The verifier does not know what it says."""
    text = _swapped(frame.text, *SWAPS[0])
    wrong = story.Frame(text, frozenset({"cause", "effect"}))
    monkeypatch.setattr(story, "EFFECTS", (wrong,))
    problems = _reading(*_told("ca cb ab", 5)).problems
    assert any("reads the wrong way round" in problem for problem in problems)


@pytest.mark.parametrize(
    ("edges", "text", "swap"),
    [
        (GROUPS[relation], text, swap)
        for relation, texts in story.PAIRS.items()
        for text in texts
        for swap in SWAPS
        if all(slot in text for slot in swap)
    ],
)
def test_every_frame_of_two_effects_with_swapped_slots_is_noticed(edges, text, swap, monkeypatch):
    wrong = (_swapped(text, *swap),)
    monkeypatch.setattr(story, "PAIRS", dict.fromkeys(story.PAIRS, wrong))
    monkeypatch.setattr(story, "_PAIR_RATE", 1.0)
    monkeypatch.setattr(story, "_PAIR_REASON_RATE", 0.0)
    problems = _reading(*_told(edges, 7)).problems
    assert any("reads the wrong way round" in problem for problem in problems)
