"""Prompts carry every part and state every rule and label."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from case_files import CASE_FILES
from causalds_scenes import every_task, rows, specs, world

from builder.equations.margins import EFFECT_MARGIN
from builder.equations.quantities import Quantity
from builder.gate.exams import HeldExam, borrowed_answers
from builder.release.attempts import Rejection
from builder.splits.seeds import attempt_key
from builder.tracks import TRACKS
from builder.tracks.causalds.check.equations import DRAWS, Population
from builder.tracks.causalds.check.graph import graph_of, mediators
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.make.scene import Truths, sample_hidden_world
from grader.release.rows import task_of, truth_of
from grader.scoring.shape import Task
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


def _answering(tasks: Sequence[Task]) -> set[tuple[str, str]]:
    """Variants of which one's prompt answers the other, were all the tasks in one exam."""
    truths = {truth["task_id"]: truth_of(truth) for _, _, truth, _ in every_task()}
    exam = HeldExam("all", tasks, {}, matched=False)
    problems = filter(None, borrowed_answers(exam, TRACKS, truths))
    return {match.groups() for text in problems if (match := _ANSWERS.search(text))}


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
    found = _answering(telling)
    assert {asked for _, asked in found} == {"bias_diagnostic.forbidden_controls_list"}
    assert {shown.partition(".")[0] for shown, _ in found} == {
        "counterfactual_identification", "mediation_effect",
    }  # fmt: skip


@pytest.mark.parametrize("key", sorted(LABELS))
def test_no_variant_has_a_constant_truth(key: str) -> None:
    """A constant answer would score without reading."""
    truths = [
        (truth["should_abstain"], truth["value"], truth["target_json"])
        for found, _, truth, _ in every_task()
        if found == key
    ]
    assert len(set(truths)) > 1 or len(truths) < 8, "too few scenes to tell"


CLOSE = "effect too close to zero"


def _plan(motif: str) -> ScenePlan:
    """A scene of a motif whose gates may have their thresholds beyond both treatment levels."""
    (spec, *_) = specs(scenes=4, motifs={motif: 1}, words="fictional")
    plan = ScenePlan.from_json(spec.config_json)
    return replace(
        plan,
        structure=replace(plan.structure, treatment_kind="continuous", outcome_kind="binary"),
        equations=replace(plan.equations, binary="noisy_and"),
    )


def _room(effect: Quantity, sd: Quantity) -> float:
    """How far an effect is beyond its margin, in combined standard errors."""
    combined = (effect.se**2 + (EFFECT_MARGIN * sd.se) ** 2) ** 0.5
    room = abs(effect.value) - EFFECT_MARGIN * sd.value
    return room / combined if combined else room * float("inf")


def test_no_effect_is_zero_by_accident() -> None:
    """A gate that notices no step between the printed levels makes an identified effect exactly 0,
    though the story tells of one: such worlds are drawn again, the others keep the margin."""
    plan, reasons, kept = _plan("confounding"), Counter[str](), list[Truths]()
    for number in range(16):
        try:
            kept.append(sample_hidden_world(plan, attempt_key(b"k" * 32, number))[1])
        except Rejection as rejected:
            reasons[str(rejected)] += 1
    assert reasons[CLOSE] >= 2 and len(kept) >= 2
    for truths in kept:
        for effect in (truths.ate, truths.ett, truths.nde, truths.nie):
            assert effect is not None  # one observed common cause: everything is identifiable
            assert effect.source == "structural_zero" or _room(effect, truths.outcome_sd) >= 4


def test_a_zero_that_the_graph_makes_is_kept() -> None:
    """Without a directed path an effect is 0, and asked about."""
    plan = _plan("fork")
    truths = sample_hidden_world(plan, attempt_key(b"k" * 32, 0))[1]
    assert truths.ate is not None and truths.ate.source == "structural_zero"


def test_the_sd_of_a_fair_coin_is_not_known_to_seven_digits() -> None:
    """Where a binary outcome is as often 0 as 1 its sd is at its peak: the error of first order is
    0, and a world with a mean of 0.5025 was refused for an sd of 0.499994."""
    flips = np.random.default_rng(1).permutation(DRAWS) % 2
    found = Population.sd(SimpleNamespace(factual={"y": flips.astype(float)}, draws=DRAWS), "y")  # type: ignore[arg-type]
    assert found.value == 0.5 and 5 * found.se > 0.5 - 0.499994
