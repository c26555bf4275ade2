"""Scenes for the scripted language model to tell, and the checks of what it told."""

import json
from collections.abc import Iterable
from dataclasses import replace

from llm_server import Answer

from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS, graft
from builder.stories.llm.settings import Settings
from builder.stories.llm.tell import tell_scene
from builder.stories.types import Facts, Kind, Seed
from builder.stories.verbalise import Narration, SceneToTell
from builder.stories.verify import verify_attested

KEY = b"the key of a scene"
CHAIN = MOTIFS["chain"].graph
CONFOUNDING = MOTIFS["confounding"].graph
_ONCE = graft(MOTIFS["chain"], MOTIFS["fork"], "X", "M", 1)
GRAFTED = graft(_ONCE, MOTIFS["chain"], "Y", "M", 2).graph


def with_budgets(settings: Settings, **changes: int) -> Settings:
    """The settings with other budgets."""
    return replace(settings, budgets=replace(settings.budgets, **changes))


def scene_of(graph: LatentDAG, seeds: tuple[Seed, ...] = ()) -> SceneToTell:
    """A scene of ``graph`` whose first node is binary."""
    kinds: dict[str, Kind] = dict.fromkeys(graph.nodes, "continuous")
    kinds[graph.nodes[0]] = "binary"
    return SceneToTell(graph, kinds, seeds=seeds)


def tell(
    settings: Settings, graph: LatentDAG = CONFOUNDING, seeds: tuple[Seed, ...] = ()
) -> Narration:
    """A scene of ``graph``, told; its story attests the graph, with the kinds asked for."""
    scene = scene_of(graph, seeds)
    told = tell_scene(scene, settings, KEY)
    facts = Facts(told.variables, graph.edges, graph.latent)
    assert verify_attested(told.telling.story, told.telling.attestations, facts) == []
    assert {node: v.kind for node, v in told.variables.items()} == dict(scene.kinds)
    return told


def causenet_lines(relations: Iterable[tuple[str, str, int]]) -> bytes:
    """A CauseNet file: cause, effect and the number of sources of each relation."""
    lines = [
        {
            "causal_relation": {"cause": {"concept": cause}, "effect": {"concept": effect}},
            "sources": [{"type": "web", "payload": {"sentence": "…"}}] * support,
        }
        for cause, effect, support in relations
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def last_told(messages: list[dict[str, str]]) -> str:
    """What the model was told last."""
    return messages[-1]["content"]


def twins(answer: Answer) -> Answer:
    """Two variables of one name."""
    answer["variables"][1]["name"] = answer["variables"][0]["name"].upper().title()
    return answer


def direct(answer: Answer) -> Answer:
    """A pair that would act directly, though the graph has no such edge."""
    answer["pairs"][0] |= {"direct": True, "why": "One feeds the other. HINT: rename one."}
    return answer


def lost(answer: Answer) -> Answer:
    """A story that leaves its last attestation out."""
    return {**answer, "told": answer["told"][:-1]}
