"""All verbalisers tell the same facts, in sentences that a reader without frames reads; the size of
a story depends on its counts alone."""

import re
import statistics
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Final

import numpy as np
import pytest

from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS
from builder.reader import read_story
from builder.splits.seeds import hmac_key
from builder.stories.naming import Namer
from builder.stories.story import EFFECTS, FRAMES, PAIRS, number_forms, tell
from builder.stories.types import Facts, Kind, Scenery, StorySetting, Variable
from builder.stories.verbalise import BY_MODEL, LETTERS, VERBALISERS, SceneToTell, letter_scene

KEY = b"key"


def _scene(name: str, seed: int) -> SceneToTell:
    motif = MOTIFS[name]
    kinds: dict[str, Kind] = dict.fromkeys(motif.graph.nodes, "continuous")
    kinds[motif.treatment] = "binary"
    namer = Namer(np.random.default_rng(seed), 1000, "public")
    naming = namer.name(motif.graph, kinds, namer.deal())
    assert naming is not None
    return SceneToTell(motif.graph, kinds, naming)


@cache
def _scenes() -> list[SceneToTell]:
    """Every motif, three times."""
    return [_scene(name, seed) for seed in range(3) for name in MOTIFS]


@pytest.mark.parametrize("words", [words for words in VERBALISERS if words not in BY_MODEL])
def test_a_reader_that_shares_nothing_with_the_frames_reads_the_stories(words: str) -> None:
    """Whatever the words, the facts are the same."""
    scores = []
    for number, scene in enumerate(_scenes()):
        told = VERBALISERS[words](scene, hmac_key(KEY, str(number)))
        names = {node: variable.name for node, variable in told.variables.items()}
        known = sorted(names[node] for node in scene.graph.observed_nodes)
        found = read_story(told.telling.story, known, len(names)).edges
        read = {(a.casefold(), b.casefold()) for a, b in found}
        true = {(names[a].casefold(), names[b].casefold()) for a, b in scene.graph.edges}
        scores.append(2 * len(read & true) / (len(read) + len(true)))
    assert statistics.mean(scores) >= 0.97


def test_mechanisms_are_told_with_their_own_effects() -> None:
    """A mechanism beside another effect would be read as an effect of its own."""
    told = 0
    for number, scene in enumerate(_scenes()):
        narration = VERBALISERS["knowledge"](scene, hmac_key(KEY, str(number)))
        sentences = {one.what[1:]: one.sentence for one in narration.telling.attestations}
        for edge, how in narration.mechanism_clauses.items():
            if how.lower() in narration.telling.story.lower():
                assert how.lower() in sentences[edge].lower()
                told += 1
    assert told > 50


def test_anonymous_names_are_letters_that_are_no_role() -> None:
    """Twelve nodes are possible, and few letters stand for nothing else."""
    for count in (3, 8, 9, 16):
        kinds: dict[str, Kind] = {f"n_{i}": "continuous" for i in range(count)}
        _, variables = letter_scene(np.random.default_rng(count), kinds)
        names = {variable.name for variable in variables.values()}
        assert len(names) == count and names <= set(LETTERS)
        assert any(len(name) == 2 for name in names) == (count > 8)
    roles = {node for motif in MOTIFS.values() for node in motif.graph.nodes}
    assert not roles & set(LETTERS)


def test_knowledge_without_planned_names_is_refused() -> None:
    """Names are decided for a split as a whole, or two scenes might share them."""
    bare = SceneToTell(_scenes()[0].graph, _scenes()[0].kinds)
    with pytest.raises(ValueError, match="planned"):
        VERBALISERS["knowledge"](bare, KEY)


def _bare(text: str) -> tuple[int, int]:
    """Words and commas of a frame without its slots, in the singular."""
    text = re.sub(r"\[([\w/]+)\]", lambda m: number_forms(m[1])[0], re.sub(r"\{\w+\}", "", text))
    return len(text.replace(",", " ").split()), text.count(",")


def test_frames_for_two_effects_are_of_one_size_whatever_the_effects_share() -> None:
    """A longer chain sentence would let the length of a story tell chains from forks."""
    for frames in zip(*PAIRS.values(), strict=True):
        assert len({_bare(frame) for frame in frames}) == 1, frames
    assert {len(link.split()) for link in FRAMES["links"]} == {2}
    assert max(_bare(frame.text)[0] for frame in EFFECTS) <= 8


THEME = Scenery("t", "day", "days", "book", "the people", ("Here it is.",), ("It is so.",))


def _plain(seed: int, edges: str, theme: Scenery = THEME, **named: Variable) -> str:
    """A story of edges such as ``a>b b>c``, among variables that are called as here or Qa, Qb."""
    pairs = tuple((f"n_{edge[0]}", f"n_{edge[2]}") for edge in edges.split())
    nodes = sorted({node for pair in pairs for node in pair})
    variables = {
        node: named.get(node[2], Variable(f"Q{node[2]}", "continuous", unit="points"))
        for node in nodes
    }
    facts = Facts(variables, LatentDAG(tuple(nodes), pairs).edges, frozenset())
    setting = StorySetting(theme, "Here it is.", "It is so.")
    return tell(np.random.default_rng(seed), setting, facts).story


def _sizes(edges: str, seed: int) -> tuple[int, int, int, int]:
    """Sentences, paragraphs, words and commas of a plain story, names aside."""
    story = _plain(seed, edges)
    words = re.sub(r"\b(?:[Tt]he )?Q[abcd]\b", "", story)
    return story.count("."), story.count("\n\n"), len(words.split()), story.count(",")


def test_the_size_of_a_story_does_not_depend_on_the_shape_of_its_graph() -> None:
    """With equal seeds, a chain, a fork and a collider of equal size come out alike."""
    shapes = ["a>b b>c c>d", "a>b a>c a>d", "a>d b>d c>d"]
    sizes = [[_sizes(shape, seed) for seed in range(300)] for shape in shapes]
    for chain, *others in list(zip(*sizes, strict=True))[:60]:
        assert [other[:2] for other in others] == [chain[:2]] * 2
    means = [[statistics.mean(size[i] for size in told) for i in (2, 3)] for told in sizes]
    for column in zip(*means, strict=True):
        assert max(column) - min(column) < 0.012 * max(column) + 0.15


def test_verbs_agree_with_plural_names() -> None:
    bees = Variable("Bee visits", "continuous", unit="visits", article=False, plural=True)
    fruit = Variable("Fruit set", "binary", states=("is poor", "is good"), article=False)
    for seed in range(200):
        story = _plain(seed, "a>b", a=bees, b=fruit)
        assert not re.search(r"Bee visits (?:is|has|acts|bears|matters|helps|leaves its)\b", story)
        assert not re.search(r"Fruit set (?:are|have|act|bear|depend)\b", story)


def test_a_record_that_starts_with_a_vowel_takes_an() -> None:
    """'A outing can be looked at in many ways' was once told."""
    theme = replace(THEME, record="outing", records="outings")
    stories = " ".join(_plain(seed, "a>b", theme) for seed in range(60))
    assert {*re.findall(r"\b([Aa]n?) outing\b", stories)} == {"an", "An"}


OTHER: Final = {"chain": "LH", "fork": "GH", "join": "VL", "apart": "VH"}
"""The effect beside that of G on L, by what the two share, as cause and effect."""
FORWARDS: Final = "{cause} directly affects {effect}"
BACKWARDS: Final = "{effect} responds directly to {cause}"


def sentences() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Frames filled with letters, and their effects."""
    for relation, (c, d) in OTHER.items():
        effects, ends = ("GL", c + d), {"cause": "G", "effect": "L"}
        ends |= {"second_cause": c, "second_effect": d}
        for frame in PAIRS[relation]:
            yield filled(frame, ends), effects
        whole = (*FRAMES["pairs_of_cores"], *FRAMES["pairs_with_reasons"])
        for frame, link, verb in product(whole, FRAMES["links"], (FORWARDS, BACKWARDS)):
            second = filled(verb, {"cause": c, "effect": d})
            core = {"core": FORWARDS, "second": second, "link": link}
            yield filled(filled(frame, core), ends), effects
    for frame in (*FRAMES["reasons"], *FRAMES["reasons_first"]):
        yield filled(filled(frame, {"core": FORWARDS}), {"cause": "G", "effect": "L"}), ("GL",)


def filled(text: str, slots: dict[str, str]) -> str:
    """A frame about single things."""
    scene = {"book": "list", "people": "all", "how": "so it is", "other_how": "so it is"}
    for slot, content in {**scene, **slots}.items():
        text = text.replace(f"{{{slot}}}", content)
    return re.sub(r"\[([^/\]]+)[^\]]*\]", r"\1", text)


def test_a_connecting_phrase_before_a_letter_belongs_to_no_effect() -> None:
    """ "…, and beyond that V" speaks of V, which what was said before has nothing to do with."""
    told = list(sentences())
    read = [read_story(f"{text[0].upper()}{text[1:]}.", tuple("GLVH")).edges for text, _ in told]
    wrong = [
        (text, edges)
        for (text, effects), edges in zip(told, read, strict=True)
        if {*edges} != {(a, b) for a, b in effects}
    ]
    assert len(told) > 140 and not wrong
