"""The language-model path against a scripted server: what it asks for and what it repairs."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llm_scene import (
    CONFOUNDING,
    GRAFTED,
    KEY,
    check_told,
    direct,
    last_told,
    lost,
    scene_of,
    settings_for,
    tell,
    twins,
)
from llm_server import Answer, Model

from builder.causal.motifs import MOTIFS
from builder.words.frames import NO_DIRECTION
from builder.words.llm.seeding import Dealer
from builder.words.llm.settings import Budgets, Seed, Settings
from builder.words.narration import NarrationFailed
from builder.words.types import Kind
from builder.words.verbalise import VERBALISERS

pytest.importorskip("openai")


def test_a_good_model_is_asked_once_per_step(model: Model, tmp_path: Path) -> None:
    """Mapper, auditor, writer, verifier: nothing is asked that is not needed."""
    told = tell(model, tmp_path)
    assert model.roles == {"mapper": 1, "auditor": 1, "writer": 1, "verifier": 1}
    assert told.telling.record == told.setting.theme.record == "market day"
    assert sum(told.telling.story.endswith(closing) for closing in NO_DIRECTION) == 1
    text = json.dumps(model.requests)
    assert not any(f'"{node}' in text for node in ('X"', 'Y"', 'Z"', "AUX")), "roles are told"


@pytest.mark.parametrize(("name", "latent"), [("iv", 1), ("double_nc", 1), ("frontdoor", 1)])
def test_unmeasured_variables_are_told_as_such(
    model: Model, tmp_path: Path, name: str, latent: int
) -> None:
    """The prompts of tasks rely on the words 'never measured'."""
    scene = scene_of(MOTIFS[name].graph, settings_for(model, tmp_path))
    told = VERBALISERS["llm"](scene, KEY)
    check_told(scene, told)
    assert told.telling.story.count("never measured") == latent


def test_violations_of_the_auditor_are_repaired(model: Model, tmp_path: Path) -> None:
    """The mapper is told what is wrong, with the auditor's hint."""
    model.script["auditor"] = [direct]
    scene = scene_of(MOTIFS["chain"].graph, settings_for(model, tmp_path))
    check_told(scene, VERBALISERS["llm"](scene, KEY))
    assert model.roles["mapper"] == model.roles["auditor"] == 2
    assert "HINT: rename one." in last_told(model.asked("mapper")[1])


def test_technical_terms_and_odd_names_are_repaired(model: Model, tmp_path: Path) -> None:
    """What is named so would be told so, and printed in every prompt."""

    def spoil(answer: Answer) -> Answer:
        first, second, third = answer["variables"]
        first["name"], second["name"] = "Confounder level", "VPD (kPa)"
        third["meaning"] = "x" * 4000
        for entry in answer["variables"]:
            if entry["states"]:
                entry["states"] = ["is randomized", "is randomized"]
            else:
                entry["unit"] = "per hundred"
        return {**answer, "record": "Row #1"}

    model.script["mapper"] = [spoil]
    tell(model, tmp_path)
    complaint = last_told(model.asked("mapper")[1])
    told = ("'Confounder'", "plain words", "two different states", "plain noun", "does not fit")
    for part in told:
        assert part in complaint


def test_duplicate_names_are_repaired_without_the_auditor(model: Model, tmp_path: Path) -> None:
    """A rule that needs no model needs no call."""
    model.script["mapper"] = [twins]
    told = tell(model, tmp_path)
    assert len({v.name for v in told.variables.values()}) == 3
    assert model.roles["mapper"] == 2 and model.roles["auditor"] == 1
    assert "same or contained" in last_told(model.asked("mapper")[1])


def test_a_kind_or_state_that_was_changed_is_repaired(model: Model, tmp_path: Path) -> None:
    """Data are drawn for the planned kinds, whatever the model would like."""

    def swap(answer: Answer) -> Answer:
        for entry in answer["variables"]:
            entry["kind"] = "binary" if entry["kind"] == "continuous" else "continuous"
            entry["observed"] = False
        return answer

    model.script["mapper"] = [swap]
    tell(model, tmp_path)
    complaint = last_told(model.asked("mapper")[1])
    assert "must be continuous, not binary" in complaint and '\\"observed\\" must be' in complaint


def test_grafts_are_named_stage_by_stage_around_their_anchors(model: Model, tmp_path: Path) -> None:
    """Three fragments, one audit of the whole; names of other fragments are forbidden."""
    scene = scene_of(GRAFTED.graph, settings_for(model, tmp_path))
    check_told(scene, VERBALISERS["llm"](scene, KEY))
    assert model.roles["mapper"] == 3 and model.roles["auditor"] == 4
    second = json.loads(model.asked("mapper")[1][1]["content"])
    assert len(second["fixed"]) == 1 and len(second["forbidden_names"]) == 2
    assert json.loads(model.asked("auditor")[3][1]["content"])["stage"] == "merged"


def _drift(answer: Answer) -> Answer:
    for entry in answer["variables"]:
        entry["name"] = f"{entry['name'].split()[0]} drift"
    return answer


def test_an_anchor_that_drifts_is_put_back(model: Model, tmp_path: Path) -> None:
    """A graft must not rename what the host's story is about."""
    model.script["mapper"] = [lambda good: good, _drift]
    scene = scene_of(GRAFTED.graph, settings_for(model, tmp_path))
    check_told(scene, VERBALISERS["llm"](scene, KEY))
    assert model.roles["mapper"] == 4
    assert "must keep its name" in last_told(model.asked("mapper")[2])


def test_a_name_of_another_fragment_is_refused(model: Model, tmp_path: Path) -> None:
    """Duplicates across fragments would only show in the merged graph."""

    def steal(answer: Answer) -> Answer:
        first = json.loads(model.asked("mapper")[1][1]["content"])
        free = next(v for v in answer["variables"] if v["id"] not in first["fixed"])
        free["name"] = first["forbidden_names"][0]
        return answer

    model.script["mapper"] = [lambda good: good, steal]
    scene = scene_of(GRAFTED.graph, settings_for(model, tmp_path))
    check_told(scene, VERBALISERS["llm"](scene, KEY))
    assert "which is taken" in last_told(model.asked("mapper")[2])


def test_anchors_that_the_auditor_cannot_live_with_end_the_attempt(
    model: Model, tmp_path: Path
) -> None:
    """A violation among settled names alone cannot be repaired (Algorithm 3, line 9)."""
    model.always["auditor"] = lambda good: {
        **good,
        "effects": [{**e, "plausible": False} for e in good["effects"]],
    }
    seeds = (Seed((("X", "Ferry toll"), ("Y", "Salt price")), "trade"),)
    scene = scene_of(CONFOUNDING.graph, settings_for(model, tmp_path, seeds=1), seeds)
    with pytest.raises(NarrationFailed, match="settled names do not fit"):
        VERBALISERS["llm"](scene, KEY)
    assert model.roles["mapper"] == 1


def test_seeds_are_audited_first_and_kept(model: Model, tmp_path: Path) -> None:
    """The first seed that passes the pre-audit names two nodes for good."""
    model.script["pre-audit"] = [
        lambda good: {"feasible": False, "confidence": "high", "reason": "No."}
    ]
    seeds = tuple(Seed((("X", f"Ferry {w}"), ("Y", f"Salt {w}")), "trade") for w in ("toll", "tax"))
    scene = scene_of(CONFOUNDING.graph, settings_for(model, tmp_path, seeds=2), seeds)
    told = VERBALISERS["llm"](scene, KEY)
    shown = json.loads(model.asked("pre-audit")[1][1]["content"])["named"]
    assert {told.variables["X"].name, told.variables["Y"].name} == set(shown.values())
    assert model.roles["pre-audit"] == 2


def test_seeds_can_be_demanded(model: Model, tmp_path: Path) -> None:
    """Algorithm 1, line 5: fail if seeding is mandatory."""
    model.always["pre-audit"] = lambda good: {**good, "feasible": False}
    seeds = (Seed((("X", "Ferry toll"), ("Y", "Salt price")), "trade"),)
    settings = settings_for(model, tmp_path, seeds=1)
    VERBALISERS["llm"](scene_of(CONFOUNDING.graph, settings, seeds), KEY)
    strict = Settings.from_json({**asdict(settings), "seeding_required": True})
    with pytest.raises(NarrationFailed, match="no seed passed"):
        VERBALISERS["llm"](scene_of(CONFOUNDING.graph, strict, seeds), KEY)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("bears on", "raises"), "direction or strength"),
        (("bears on", "does not bear on"), "denies something"),
        ((" directly.", ", but not directly."), "denies something"),
        (("bears on", "is a confounder of"), "technical term"),
        (("in crates", "in boxes"), "does not say 'crates'"),
        (("\n\n", " "), "paragraphs"),
        (("\n\n", "\n\n## Part two. "), "no plain text"),
        (("\n\n", ".\u200b\n\n"), "no plain text"),
    ],
)
def test_a_story_against_the_rules_is_revised(
    model: Model, tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    """The deterministic verifier must pass a story before the model is asked to judge it."""

    def spoil(answer: Answer) -> Answer:
        told = [{**t, "sentence": t["sentence"].replace(*change)} for t in answer["told"]]
        return {"story": answer["story"].replace(*change), "told": told}

    model.script["writer"] = [spoil]
    tell(model, tmp_path)
    assert model.roles["writer"] == 2 and model.roles["verifier"] == 1
    assert says in last_told(model.asked("writer")[1])


def test_a_reason_may_deny_what_is_no_effect(model: Model, tmp_path: Path) -> None:
    """ "… bears on …, for the path has no lamps" tells an effect; only a sign may not be in it."""

    def reasoned(answer: Answer, reason: str) -> Answer:
        told = [
            {**t, "sentence": t["sentence"].replace(" directly.", f", {reason}.")}
            for t in answer["told"]
        ]
        return {"story": answer["story"].replace(" directly.", f", {reason}."), "told": told}

    model.script["writer"] = [
        lambda good: reasoned(good, "since nobody can do more"),
        lambda good: reasoned(good, "for the path has no lamps"),
    ]
    told = tell(model, tmp_path)
    assert "has no lamps" in told.telling.story and model.roles["writer"] == 2
    assert "tells a direction or strength: 'more'" in last_told(model.asked("writer")[1])


def _invented(answer: Answer) -> Answer:
    names = [entry["about"][0] for entry in answer["told"] if len(entry["about"]) == 1]
    told = {tuple(entry["about"]) for entry in answer["told"]}
    pair = next([a, b] for a in names for b in names if a != b and (a, b) not in told)
    text = f"On every market day {pair[0]} bears on {pair[1]} directly."
    added = {"about": pair, "sentence": text}
    return {"story": f"{answer['story']} {text}", "told": [*answer["told"], added]}


def _hinted(answer: Answer) -> Answer:
    names = [entry["about"][0] for entry in answer["told"] if len(entry["about"]) == 1]
    hint = f"People speak of {names[0]} and {names[1]} in one breath."
    return {**answer, "story": f"{answer['story']} {hint}"}


def _crowded(answer: Answer) -> Answer:
    """A third variable slipped into a sentence about two."""
    names = [entry["about"][0] for entry in answer["told"] if len(entry["about"]) == 1]
    last = answer["told"][-1]
    other = next(name for name in names if name not in last["about"])
    text = last["sentence"].replace(" directly.", f" directly, as does {other}.")
    story = answer["story"].replace(last["sentence"], text)
    return {"story": story, "told": [*answer["told"][:-1], {**last, "sentence": text}]}


def _paraphrased(answer: Answer) -> Answer:
    first = {**answer["told"][0], "sentence": "The clerk wrote it all down."}
    return {**answer, "told": [first, *answer["told"][1:]]}


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lost, "no sentence is given"),
        (_invented, "not so"),
        (_hinted, "given for no fact about it"),
        (_crowded, "given for no fact about it"),
        (_paraphrased, "no sentence of"),
    ],
)
def test_attestations_must_cover_the_graph_letter_by_letter(
    model: Model, tmp_path: Path, spoil: Any, says: str
) -> None:
    """An effect more or less, or a sentence that is not there, is what the audit would find."""
    model.script["writer"] = [spoil]
    tell(model, tmp_path)
    assert says in last_told(model.asked("writer")[1])


def test_what_the_verifier_finds_is_revised(model: Model, tmp_path: Path) -> None:
    """Reversed, missing and invented effects, and a variable that is not mentioned."""

    def find(answer: Answer) -> Answer:
        answer["effects"][0] |= {"verdict": "reversed", "why": "Backwards. HINT: turn it."}
        answer["effects"][1] |= {"verdict": "missing", "why": "HINT: say it."}
        answer["variables"][0]["mentioned"] = False
        edge = answer["effects"][0]
        extra = {"cause": edge["effect"], "effect": edge["cause"], "why": "Hinted."}
        return {**answer, "extra": [extra], "warnings": ["Dull."]}

    model.script["verifier"] = [find]
    tell(model, tmp_path)
    complaint = last_told(model.asked("writer")[1])
    for part in ("is reversed", "is missing", "is not mentioned", "is told: Hinted.", "Dull."):
        assert part in complaint


def test_seeds_of_the_knowledge_graph_fit_kinds_and_name_the_outcome(tmp_path: Path) -> None:
    """The outcome and one neighbour, as the paper seeds them."""
    from builder.words.knowledge import domains

    edges = {edge: domain for domain in domains() for edge in domain.mechanism_clauses}
    dealer = Dealer(Settings("m", budgets=Budgets(seeds=4)), "llm", np.random.default_rng(3))
    for name, motif in MOTIFS.items():
        kinds: dict[str, Kind] = dict.fromkeys(motif.graph.nodes, "continuous")
        kinds[motif.outcome] = "binary"
        seeds = dealer.deal(motif.graph, kinds, motif.outcome)
        assert len(seeds) == 12, name
        for seed in seeds:
            (a, first), (b, second) = seed.names
            assert (a, b) in motif.graph.edges and motif.outcome in (a, b)
            domain = edges[first, second]
            assert seed.hint == domain.field
            concept = next(c for c in domain.concepts if c.name == dict(seed.names)[motif.outcome])
            assert "binary" in concept.kinds
