"""All verbalisers tell the same facts; the size of a story depends on its counts alone."""

import re
import statistics
from itertools import product

import numpy as np
import pytest

from builder.causal.graph import LatentDAG
from builder.causal.motifs import MOTIFS
from builder.reader import read_story
from builder.seeds import hmac_key
from builder.words.fictional import themes
from builder.words.frames import EFFECTS, LINKS, PAIRS, number_forms
from builder.words.knowledge import domains
from builder.words.letters import LETTERS, letter_scene
from builder.words.naming import Namer
from builder.words.narration import Narration, Subject
from builder.words.story import tell
from builder.words.terms import NO_UNIT
from builder.words.types import Facts, Kind, Setting, Theme, Variable
from builder.words.verbalise import BY_MODEL, VERBALISERS
from builder.words.verify import verify

KEY = b"key"


def _scene(name: str, seed: int) -> Subject:
    motif = MOTIFS[name]
    kinds: dict[str, Kind] = dict.fromkeys(motif.graph.nodes, "continuous")
    kinds[motif.treatment] = "binary"
    namer = Namer(np.random.default_rng(seed), 1000, "public")
    naming = namer.name(motif.graph, kinds, namer.deal())
    assert naming is not None
    return Subject(motif.graph, kinds, naming)


def _facts(scene: Subject, told: Narration) -> Facts:
    return Facts(told.variables, scene.graph.edges, scene.graph.latent, told.mechanism_clauses)


SCENES = [_scene(name, seed) for seed in range(6) for name in MOTIFS]
TOLD = [VERBALISERS["knowledge"](scene, hmac_key(KEY, str(i))) for i, scene in enumerate(SCENES)]


@pytest.mark.parametrize("words", [words for words in VERBALISERS if words not in BY_MODEL])
def test_every_verbaliser_tells_exactly_the_graph(words: str) -> None:
    """Whatever the words, the facts are the same."""
    for number, scene in enumerate(SCENES[:36]):
        told = VERBALISERS[words](scene, hmac_key(KEY, str(number)))
        facts = _facts(scene, told)
        assert verify(told.telling.story, told.telling.attestations, facts) == []
        known = sorted(told.variables[node].name for node in scene.graph.observed)
        read = read_story(told.telling.story, known, len(scene.graph.nodes))
        assert len(read.edges) <= len(scene.graph.edges) + 2


def test_mechanisms_are_told_with_their_own_effects() -> None:
    """A mechanism beside another effect would be read as an effect of its own."""
    told = 0
    for scene, narration in zip(SCENES, TOLD, strict=True):
        facts = _facts(scene, narration)
        clauses = list(facts.mechanism_clauses.items())
        for (cause, effect), how in clauses:
            other = next((h for edge, h in clauses if edge != (cause, effect)), None)
            if how in narration.telling.story and other is not None:
                told += 1
                swapped = narration.telling.story.replace(how, other)
                assert verify(swapped, narration.telling.attestations, facts)
    assert told > 100


def test_a_changed_mechanism_is_noticed() -> None:
    """What is said of an effect must be what its domain says."""
    for scene, narration in zip(SCENES[:24], TOLD, strict=False):
        facts = _facts(scene, narration)
        for how in facts.mechanism_clauses.values():
            if how in narration.telling.story:
                changed = narration.telling.story.replace(how, f"{how} by the {LETTERS[0]}")
                assert verify(changed, narration.telling.attestations, facts)


def test_every_unit_reads_well_behind_in() -> None:
    """'Recorded in per millilitre' was once told."""
    units = [concept.unit for domain in domains() for concept in domain.concepts if concept.unit]
    units += [unit for theme in themes() for _, unit in theme.continuous]
    assert len(units) > 1000 and not [unit for unit in units if NO_UNIT.match(unit)]


def test_a_graph_with_more_nodes_than_single_letters_gets_doubled_ones_as_well() -> None:
    """Twelve nodes are possible, and few letters stand for nothing else."""
    for count in (3, 8, 9, 16):
        kinds: dict[str, Kind] = {f"n_{i}": "continuous" for i in range(count)}
        _, variables = letter_scene(np.random.default_rng(count), kinds)
        names = {variable.name for variable in variables.values()}
        assert len(names) == count and names <= set(LETTERS)
        assert any(len(name) == 2 for name in names) == (count > 8)


def test_anonymous_names_are_letters_that_are_no_role() -> None:
    """Roles such as X, M or U would give the motif away."""
    for number in range(20):
        told = VERBALISERS["anonymous"](SCENES[number], hmac_key(KEY, str(number)))
        names = [variable.name for variable in told.variables.values()]
        assert all(name in LETTERS for name in names)
    roles = {node for motif in MOTIFS.values() for node in motif.graph.nodes}
    assert not roles & set(LETTERS)


def test_knowledge_without_planned_names_is_refused() -> None:
    """Names are decided for a split as a whole, or two scenes might share them."""
    bare = Subject(SCENES[0].graph, SCENES[0].kinds)
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
    assert {len(link.split()) for link in LINKS} == {2}
    assert max(_bare(frame.text)[0] for frame in EFFECTS) <= 8


THEME = Theme("t", "day", "days", "book", "the people", ("Here it is.",), ("It is so.",))


def _sizes(edges: str, seed: int) -> tuple[int, int, int, int]:
    """Sentences, paragraphs, words and commas of a plain story, names aside."""
    pairs = tuple((f"n_{edge[0]}", f"n_{edge[2]}") for edge in edges.split())
    graph = LatentDAG(("n_a", "n_b", "n_c", "n_d"), pairs)
    variables = {node: Variable(f"Q{node[2]}", "continuous", unit="points") for node in graph.nodes}
    story = tell(
        np.random.default_rng(seed),
        Setting(THEME, "Here it is.", "It is so."),
        Facts(variables, graph.edges, graph.latent),
    ).story
    words = re.sub(r"\b(?:[Tt]he )?Q[abcd]\b", "", story)
    return story.count("."), story.count("\n\n"), len(words.split()), story.count(",")


def test_the_size_of_a_story_does_not_depend_on_the_shape_of_its_graph() -> None:
    """With equal seeds, a chain, a fork and a collider of equal size come out alike."""
    shapes = ["a>b b>c c>d", "a>b a>c a>d", "a>d b>d c>d"]
    for shape, seed in product(shapes[1:], range(60)):
        assert _sizes(shape, seed)[:2] == _sizes(shapes[0], seed)[:2]
    means = [
        [statistics.mean(_sizes(shape, seed)[i] for seed in range(300)) for i in (2, 3)]
        for shape in shapes
    ]
    for column in zip(*means, strict=True):
        assert max(column) - min(column) < 0.012 * max(column) + 0.15


def test_verbs_agree_with_plural_names() -> None:
    """'Bee visits is recorded' would be a blot on every page."""
    graph = LatentDAG(("n_a", "n_b"), (("n_a", "n_b"),))
    variables = {
        "n_a": Variable("Bee visits", "continuous", unit="visits", article=False, plural=True),
        "n_b": Variable("Fruit set", "binary", states=("is poor", "is good"), article=False),
    }
    for seed in range(200):
        facts = Facts(variables, graph.edges, graph.latent)
        story = tell(np.random.default_rng(seed), Setting(THEME, "H.", "I."), facts).story
        assert not re.search(r"Bee visits (?:is|has|acts|bears|matters|helps|leaves its)\b", story)
        assert not re.search(r"Fruit set (?:are|have|act|bear|depend)\b", story)


def test_a_record_that_starts_with_a_vowel_takes_an() -> None:
    """'A outing can be looked at in many ways' was once told."""
    theme = Theme("t", "outing", "outings", "book", "the people", ("Here it is.",), ("It is so.",))
    graph = LatentDAG(("n_a", "n_b"), (("n_a", "n_b"),))
    variables = {n: Variable(f"Q{n[2]}", "continuous", unit="points") for n in graph.nodes}
    told = set()
    for seed in range(60):
        facts = Facts(variables, graph.edges, graph.latent)
        story = tell(np.random.default_rng(seed), Setting(theme, "H.", "I."), facts).story
        told |= set(re.findall(r"\b([Aa]n?) outing\b", story))
    assert told == {"an", "An"}


def test_a_reader_that_shares_nothing_with_the_frames_reads_the_stories() -> None:
    """Clear English can be read without knowing how it was made."""
    scores = []
    for scene, narration in zip(SCENES, TOLD, strict=True):
        names = {node: variable.name for node, variable in narration.variables.items()}
        known = sorted(names[node] for node in scene.graph.observed)
        found = read_story(narration.telling.story, known, len(names)).edges
        read = {(a.casefold(), b.casefold()) for a, b in found}
        true = {(names[a].casefold(), names[b].casefold()) for a, b in scene.graph.edges}
        scores.append(2 * len(read & true) / (len(read) + len(true)))
    assert statistics.mean(scores) >= 0.97
