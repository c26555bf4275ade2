"""The gate's reader of stories knows no frame, so it finds a frame that says the reverse."""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from builder.graphs.motifs import MOTIFS
from builder.splits.track import StoryReading
from builder.stories import frames, story
from builder.stories.story import tell
from builder.stories.types import Facts, Kind, Telling
from builder.stories.verbalise import LLM, invent_scene
from builder.tracks.causalds.check.audit import read_scene_story

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


@pytest.mark.parametrize("frame", frames.EFFECTS, ids=lambda frame: frame.text)
def test_every_effect_frame_with_its_slots_swapped_is_noticed(frame, monkeypatch):
    """The verifier does not know what it says."""
    text = _swapped(frame.text, *SWAPS[0])
    wrong = frames.Frame(text, frozenset({"cause", "effect"}))
    monkeypatch.setattr(frames, "EFFECTS", (wrong,))
    problems = _reading(*_told("ca cb ab", 5)).problems
    assert any("reads the wrong way round" in problem for problem in problems)


@pytest.mark.parametrize(
    ("edges", "text", "swap"),
    [
        (GROUPS[relation], text, swap)
        for relation, texts in frames.PAIRS.items()
        for text in texts
        for swap in SWAPS
        if all(slot in text for slot in swap)
    ],
)
def test_every_frame_of_two_effects_with_its_slots_swapped_is_noticed(
    edges: str, text: str, swap: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both effects of a sentence are read."""
    wrong = (_swapped(text, *swap),)
    monkeypatch.setattr(frames, "PAIRS", dict.fromkeys(frames.PAIRS, wrong))
    monkeypatch.setattr(story, "_PAIR_RATE", 1.0)
    monkeypatch.setattr(story, "_PAIR_REASON_RATE", 0.0)
    problems = _reading(*_told(edges, 7)).problems
    assert any("reads the wrong way round" in problem for problem in problems)
