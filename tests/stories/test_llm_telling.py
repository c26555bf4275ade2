"""The language-model path against a scripted server: what it asks for and what it repairs."""

import json
from dataclasses import replace

import numpy as np
import pytest
from llm_server import (
    CHAIN,
    GRAFTED,
    Answer,
    Model,
    Spoil,
    direct,
    last_told,
    lost,
    tell,
    twins,
    with_budgets,
)

from builder.graphs.motifs import MOTIFS
from builder.stories.knowledge import domains
from builder.stories.llm.seeding import Dealer
from builder.stories.llm.settings import Budgets, Settings
from builder.stories.story import NO_DIRECTION
from builder.stories.types import Kind, Seed
from builder.stories.verbalise import NarrationFailed

pytest.importorskip("openai")


def test_a_good_model_is_asked_once_per_step(model: Model, settings: Settings) -> None:
    """Mapper, auditor, writer, verifier: nothing is asked that is not needed."""
    told = tell(settings)
    assert model.roles == {"mapper": 1, "auditor": 1, "writer": 1, "verifier": 1}
    assert told.telling.record == "market day"
    assert sum(told.telling.story.endswith(closing) for closing in NO_DIRECTION) == 1
    text = json.dumps(model.requests)
    assert not any(f'"{node}' in text for node in ('X"', 'Y"', 'Z"', "AUX")), "roles are told"


@pytest.mark.parametrize("name", ["iv", "double_nc", "frontdoor"])
def test_unmeasured_variables_are_told_as_such(settings: Settings, name: str) -> None:
    """The prompts of tasks rely on the words 'never measured'."""
    told = tell(settings, MOTIFS[name].graph)
    assert told.telling.story.count("never measured") == 1


def test_violations_of_the_auditor_are_repaired(model: Model, settings: Settings) -> None:
    """The mapper is told what is wrong, with the auditor's hint."""
    model.script["auditor"] = [direct]
    tell(settings, CHAIN)
    assert model.roles["mapper"] == model.roles["auditor"] == 2
    assert "HINT: rename one." in last_told(model.conversations("mapper")[1])


def _odd(answer: Answer) -> Answer:
    """What is named so would be told so, and printed in every prompt."""
    first, second, third = answer["variables"]
    first["name"], second["name"] = "Confounder level", "VPD (kPa)"
    third["meaning"] = "x" * 4000
    for entry in answer["variables"]:
        if entry["states"]:
            entry["states"] = ["is randomized", "is randomized"]
        else:
            entry["unit"] = "per hundred"
    return {**answer, "record": "Row #1"}


def _swapped(answer: Answer) -> Answer:
    """Data are drawn for the planned kinds, whatever the model would like."""
    for entry in answer["variables"]:
        entry["kind"] = "binary" if entry["kind"] == "continuous" else "continuous"
        entry["observed"] = False
    return answer


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_odd, ("'Confounder'", "plain words", "different states", "plain noun", "does not fit")),
        (twins, ("same or contained",)),
        (_swapped, ("must be continuous, not binary", '\\"observed\\" must be')),
    ],
)
def test_names_against_the_rules_are_repaired_without_the_auditor(model, settings, spoil, says):
    """A rule that needs no model needs no call."""
    model.script["mapper"] = [spoil]
    told = tell(settings)
    assert len({v.name for v in told.variables.values()}) == 3
    assert model.roles["mapper"] == 2 and model.roles["auditor"] == 1
    for part in says:
        assert part in last_told(model.conversations("mapper")[1])


def test_grafts_are_named_stage_by_stage_around_their_anchors(model, settings):
    """Three fragments, one audit of the whole; names of other fragments are forbidden."""
    tell(settings, GRAFTED)
    assert model.roles["mapper"] == 3 and model.roles["auditor"] == 4
    second = json.loads(model.conversations("mapper")[1][1]["content"])
    assert len(second["fixed"]) == 1 and len(second["forbidden_names"]) == 2
    assert json.loads(model.conversations("auditor")[3][1]["content"])["stage"] == "merged"


def _drift(answer: Answer) -> Answer:
    for entry in answer["variables"]:
        entry["name"] = f"{entry['name'].split()[0]} drift"
    return answer


def test_an_anchor_that_drifts_is_put_back(model: Model, settings: Settings) -> None:
    """A graft must not rename what the host's story is about."""
    model.script["mapper"] = [lambda good: good, _drift]
    tell(settings, GRAFTED)
    assert model.roles["mapper"] == 4
    assert "must keep its name" in last_told(model.conversations("mapper")[2])


def test_a_name_of_another_fragment_is_refused(model: Model, settings: Settings) -> None:
    """Duplicates across fragments would only show in the merged graph."""

    def steal(answer: Answer) -> Answer:
        first = json.loads(model.conversations("mapper")[1][1]["content"])
        free = next(v for v in answer["variables"] if v["id"] not in first["fixed"])
        free["name"] = first["forbidden_names"][0]
        return answer

    model.script["mapper"] = [lambda good: good, steal]
    tell(settings, GRAFTED)
    assert "which is taken" in last_told(model.conversations("mapper")[2])


def test_anchors_that_the_auditor_cannot_live_with_end_the_attempt(model, settings):
    """A violation among settled names alone cannot be repaired (Algorithm 3, line 9)."""
    model.always["auditor"] = lambda good: {
        **good,
        "effects": [{**e, "plausible": False} for e in good["effects"]],
    }
    seeds = (Seed((("X", "Ferry toll"), ("Y", "Salt price")), "trade"),)
    with pytest.raises(NarrationFailed, match="settled names do not fit"):
        tell(with_budgets(settings, seeds=1), seeds=seeds)
    assert model.roles["mapper"] == 1


def test_seeds_are_audited_first_and_kept(model: Model, settings: Settings) -> None:
    """The first seed that passes the pre-audit names two nodes for good."""
    model.script["pre-audit"] = [lambda good: {**good, "feasible": False, "reason": "No."}]
    seeds = tuple(Seed((("X", f"Ferry {w}"), ("Y", f"Salt {w}")), "trade") for w in ("toll", "tax"))
    told = tell(with_budgets(settings, seeds=2), seeds=seeds)
    shown = json.loads(model.conversations("pre-audit")[1][1]["content"])["named"]
    assert {told.variables["X"].name, told.variables["Y"].name} == set(shown.values())
    assert model.roles["pre-audit"] == 2


def test_seeds_can_be_demanded(model: Model, settings: Settings) -> None:
    """Algorithm 1, line 5: fail if seeding is mandatory."""
    model.always["pre-audit"] = lambda good: {**good, "feasible": False}
    seeds = (Seed((("X", "Ferry toll"), ("Y", "Salt price")), "trade"),)
    settings = with_budgets(settings, seeds=1)
    tell(settings, seeds=seeds)
    with pytest.raises(NarrationFailed, match="no seed passed"):
        tell(replace(settings, seeding_required=True), seeds=seeds)


def _invented(answer: Answer) -> Answer:
    names = [entry["about"][0] for entry in answer["told"] if len(entry["about"]) == 1]
    told = {tuple(entry["about"]) for entry in answer["told"]}
    pair = next([a, b] for a in names for b in names if a != b and (a, b) not in told)
    text = f"On every market day {pair[0]} bears on {pair[1]} directly."
    added = {"about": pair, "sentence": text}
    return {"story": f"{answer['story']} {text}", "told": [*answer["told"], added]}


def _crowded(answer: Answer) -> Answer:
    """A third variable slipped into a sentence about two."""
    names = [entry["about"][0] for entry in answer["told"] if len(entry["about"]) == 1]
    last = answer["told"][-1]
    other = next(name for name in names if name not in last["about"])
    text = last["sentence"].replace(" directly.", f" directly, as does {other}.")
    story = answer["story"].replace(last["sentence"], text)
    return {"story": story, "told": [*answer["told"][:-1], {**last, "sentence": text}]}


def _changed(old: str, new: str) -> Spoil:
    def spoil(answer: Answer) -> Answer:
        told = [{**t, "sentence": t["sentence"].replace(old, new)} for t in answer["told"]]
        return {"story": answer["story"].replace(old, new), "told": told}

    return spoil


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_changed("bears on", "raises"), "direction or strength"),
        (_changed("bears on", "does not bear on"), "denies something"),
        (_changed(" directly.", ", but not directly."), "denies something"),
        (_changed("bears on", "is a confounder of"), "technical term"),
        (_changed("in crates", "in boxes"), "does not say 'crates'"),
        (_changed("\n\n", " "), "paragraphs"),
        (_changed("\n\n", "\n\n## Part two. "), "no plain text"),
        (_changed("\n\n", ".\u200b\n\n"), "no plain text"),
        (lost, "no sentence is given"),
        (_invented, "not so"),
        (_crowded, "given for no fact about it"),
    ],
)
def test_a_story_against_the_rules_is_revised(model, settings, spoil, says) -> None:
    """The deterministic verifier must pass a story before the model is asked to judge it."""
    model.script["writer"] = [spoil]
    tell(settings)
    assert model.roles["writer"] == 2 and model.roles["verifier"] == 1
    assert says in last_told(model.conversations("writer")[1])


def test_a_reason_may_deny_what_is_no_effect(model: Model, settings: Settings) -> None:
    """ "… bears on …, for the path has no lamps" tells an effect; only a sign may not be in it."""
    model.script["writer"] = [
        _changed(" directly.", ", since nobody can do more."),
        _changed(" directly.", ", for the path has no lamps."),
    ]
    told = tell(settings)
    assert "has no lamps" in told.telling.story and model.roles["writer"] == 2
    assert "tells a direction or strength: 'more'" in last_told(model.conversations("writer")[1])


def test_what_the_verifier_finds_is_revised(model: Model, settings: Settings) -> None:
    """Reversed, missing and invented effects, and a variable that is not mentioned."""

    def find(answer: Answer) -> Answer:
        answer["effects"][0] |= {"verdict": "reversed", "why": "Backwards. HINT: turn it."}
        answer["effects"][1] |= {"verdict": "missing", "why": "HINT: say it."}
        answer["variables"][0]["mentioned"] = False
        edge = answer["effects"][0]
        extra = {"cause": edge["effect"], "effect": edge["cause"], "why": "Hinted."}
        return {**answer, "extra": [extra], "warnings": ["Dull."]}

    model.script["verifier"] = [find]
    tell(settings)
    complaint = last_told(model.conversations("writer")[1])
    for part in ("is reversed", "is missing", "is not mentioned", "is told: Hinted.", "Dull."):
        assert part in complaint


def test_seeds_of_the_knowledge_graph_fit_kinds_and_name_the_outcome() -> None:
    """The outcome and one neighbour, as the paper seeds them."""
    edges = {edge: domain for domain in domains() for edge in domain.mechanism_clauses}
    dealer = Dealer(Settings("m", budgets=Budgets(seeds=4)), np.random.default_rng(3))
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
