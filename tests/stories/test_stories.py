"""Stories tell exactly their facts; verifier and plain reader notice when they do not."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from builder.graphs.motifs import MOTIFS
from builder.stories.story import EFFECTS, FRAMES, NO_DIRECTION, PAIRS, tell
from builder.stories.types import Attestation, Facts, Kind, Telling
from builder.stories.verbalise import LETTER_SCENERY, invent_scene, themes
from builder.stories.verify import TECHNICAL, split_sentences, verify

Told = tuple[str, Facts]
"""A story and the facts that it should tell."""


def _scene(motif_name: str, seed: int) -> tuple[Telling, Facts]:
    rng = np.random.default_rng([seed, len(motif_name)])
    motif = MOTIFS[motif_name]
    kinds: dict[str, Kind] = dict.fromkeys(motif.graph.nodes, "continuous")
    for node in (motif.treatment, motif.outcome):
        kinds[node] = "binary" if rng.random() < 0.5 else "continuous"
    setting, variables = invent_scene(rng, kinds)
    facts = Facts(variables, motif.graph.edges, motif.graph.latent)
    return tell(rng, setting, facts), facts


@cache
def scenes() -> list[tuple[Telling, Facts]]:
    return [_scene(name, seed) for seed in range(12) for name in MOTIFS]


def test_stories_have_two_to_four_paragraphs_of_whole_sentences() -> None:
    for telling, facts in scenes():
        assert verify(telling.story, telling.attestations, facts) == []
        paragraphs = telling.story.split("\n\n")
        assert 2 <= len(paragraphs) <= 4
        for sentence in split_sentences(telling.story):
            assert re.match(r"[A-Z]", sentence) and sentence[-1] == ".", sentence
            assert "{" not in sentence and "  " not in sentence


def _edge_sentences(telling: Telling) -> list[str]:
    return [a.sentence for a in telling.attestations if a.what[0] == "edge"]


def _an_edge_left_out(telling: Telling, facts: Facts) -> Told:
    return telling.story.replace(_edge_sentences(telling)[0], "").replace("  ", " "), facts


def _an_edge_invented(telling: Telling, facts: Facts) -> Told:
    told = facts.named_edges()
    names = [variable.name for variable in facts.variables.values()]
    cause, effect = next((a, b) for a in names for b in names if a != b and (a, b) not in told)
    return f"{telling.story} The {cause} directly affects the {effect}.", facts


def _an_edge_told_twice(telling: Telling, facts: Facts) -> Told:
    return f"{telling.story} {_edge_sentences(telling)[0]}", facts


def _an_id(telling: Telling, facts: Facts) -> Told:
    return telling.story.replace("\n\n", f" Some call it {[*facts.variables][-1]}.\n\n", 1), facts


def _another_kind_of_unit(telling: Telling, facts: Facts) -> Told:
    node, variable = next((n, v) for n, v in facts.variables.items() if n not in facts.unmeasured)
    other = {"states": ("is near", "is far")} if variable.states else {"unit": "furlongs"}
    variables = {**facts.variables, node: replace(variable, **other)}
    return telling.story, replace(facts, variables=variables)


def _one_more_unmeasured(telling: Telling, facts: Facts) -> Told:
    (node, *_) = (node for node in facts.variables if node not in facts.unmeasured)
    return telling.story, replace(facts, unmeasured=facts.unmeasured | {node})


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_an_edge_left_out, "but no sentence of the story"),
        (_an_edge_invented, "but is given for no fact about it"),
        (_an_edge_told_twice, "stands 2 times"),
        (_an_id, "internal id in the text: "),
        (_another_kind_of_unit, "does not say "),
        (_one_more_unmeasured, "no sentence is given for: unmeasured"),
    ],
)
def test_a_story_that_tells_otherwise_is_noticed(damage, says) -> None:
    """The verifier must not rely on what the narrator says that it wrote."""
    for telling, facts in scenes()[:36]:
        story, changed = damage(telling, facts)
        assert any(says in problem for problem in verify(story, telling.attestations, changed))


@pytest.mark.parametrize("word", ["confounder", "mediates", "covariate", "identifiable", "nodes"])
def test_a_technical_term_is_noticed(word: str) -> None:
    telling, facts = scenes()[1]
    story = f"{telling.story} Note the {word} here."
    assert f"technical term in the text: {word}" in verify(story, telling.attestations, facts)


def test_the_mechanism_of_another_effect_is_noticed() -> None:
    """A reason that stands by the wrong effect tells something that is not so."""
    telling, facts = scenes()[0]
    (first, second) = (a for a in telling.attestations if a.what[0] == "edge")
    how = "the loom runs dry"
    clauses = {first.what[1:]: how}
    for one, wrong in ((first, False), (second, True)):
        sentence = f"{one.sentence.removesuffix('.')}, because {how}."
        story = telling.story.replace(one.sentence, sentence)
        attested = [
            Attestation(a.what, sentence if a.sentence == one.sentence else a.sentence)
            for a in telling.attestations
        ]
        problems = verify(story, attested, replace(facts, mechanism_clauses=clauses))
        assert any("tells the mechanism" in p for p in problems) is wrong


def test_frames_say_what_their_slots_say_without_a_sign() -> None:
    """A frame with its slots mixed up would be wrong and still verify. Direction is judged here by
    grammar: passive and 'depends', 'responds' put the effect first. The sign of an effect is for
    the data to tell; an indirect effect is no edge."""
    effect_first = re.compile(r"\bby\b|depends|responds")
    signs = re.compile(r"rais|lower|increas|decreas|reduc|boost|more|less|higher|cut|improv", re.I)
    pairs, cores = [text for texts in PAIRS.values() for text in texts], [f.text for f in EFFECTS]
    for text in [*cores, *pairs]:
        slots = re.findall(r"\{(\w+)\}", text)
        assert slots[0] == ("effect" if effect_first.search(text) else "cause"), text
        assert {"cause", "effect"} <= set(slots)
    for text in cores:
        assert not signs.search(text), text
        assert re.search(r"direct|nothing in between|without any detour", text), text
    assert all(text.count("directly") == 2 for text in pairs)


def test_fixed_sentences_name_no_variable_and_no_theory() -> None:
    """Scenery that sounds like a fact would be read as one."""
    lists = ("effect_intros", "count_intros", "no_more_effects", "no_direction", "as_it_happened")
    texts = [text for key in (*lists, "links") for text in FRAMES[key]]
    scenery = [theme.scenery for theme in themes()] + [LETTER_SCENERY]
    texts += [text for theme in scenery for text in (*theme.settings, *theme.colour)]
    for text in texts:
        assert not TECHNICAL.search(text), text
        assert not re.search(r"\{(a|b|cause|effect)\}", text), text
    # "In turn" before "Fish depends on Flow" would send the reader the wrong way.
    orders = re.compile(r"\b(?:turn|there|then|thus|hence|therefore|so|again)\b", re.I)
    assert not any(orders.search(text) for text in FRAMES["links"])
    for theme in scenery:
        for text in (*theme.settings, *theme.colour):
            assert not re.search(r"\b(affects?|causes?|because|depends?|influences?)\b", text), text


def test_a_story_without_the_word_on_directions_is_noticed() -> None:
    """A mechanism may sound like a sign that its world does not have."""
    for telling, facts in scenes()[:24]:
        (closing,) = (text for text in NO_DIRECTION if text in telling.story)
        problems = verify(telling.story.replace(closing, ""), telling.attestations, facts)
        assert problems == ["it is not said that signs and sizes are for data to tell"]


def test_the_order_of_telling_does_not_follow_the_graph() -> None:
    """In a chain each variable should come first, and each effect last, about equally often."""
    variables: Counter[str] = Counter()
    effects: Counter[str] = Counter()
    for seed in range(200):
        telling, facts = _scene("chain", 1000 + seed)
        nodes = {variable.name: node for node, variable in facts.variables.items()}
        variables[nodes[telling.attestations[0].what[1]]] += 1
        first_edge = next(a for a in telling.attestations if a.what[0] == "edge")
        effects[nodes[first_edge.what[1]]] += 1
    assert all(abs(variables[node] - 200 / 3) < 30 for node in "XMY"), variables
    assert abs(effects["X"] - 100) < 35, effects
