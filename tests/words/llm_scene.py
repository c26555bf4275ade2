"""Scenes for the scripted language model to tell, and the checks of what it told."""

from pathlib import Path
from typing import Any

from llm_server import Answer, Model

from builder.causal.graph import LatentDAG
from builder.causal.growth import graft
from builder.causal.motifs import MOTIFS
from builder.words.attested import verify_attested
from builder.words.llm.settings import Budgets, Request, Seed, Settings
from builder.words.narration import Narration, Subject
from builder.words.types import Facts, Kind
from builder.words.verbalise import VERBALISERS

KEY = b"the key of a scene"
CONFOUNDING = MOTIFS["confounding"]
GRAFTED = graft(graft(MOTIFS["chain"], MOTIFS["fork"], "X", "M", 1), MOTIFS["chain"], "Y", "M", 2)


def settings_for(model: Model, tmp_path: Path, **changes: Any) -> Settings:
    """Budgets of the scripted model, but for ``changes``."""
    budgets = Budgets(**{"seeds": 0, "mapping": 3, "story": 3, "repairs": 1, "calls": 40} | changes)
    return Settings(
        "scripted",
        endpoint=model.url,
        transcripts=str(tmp_path / "transcripts"),
        seconds=5.0,
        retries=2,
        budgets=budgets,
    )


def scene_of(graph: LatentDAG, settings: Settings, seeds: tuple[Seed, ...] = ()) -> Subject:
    """A scene of ``graph`` whose first node is binary."""
    kinds: dict[str, Kind] = dict.fromkeys(graph.nodes, "continuous")
    kinds[graph.nodes[0]] = "binary"
    return Subject(graph, kinds, request=Request(settings, "llm", seeds))


def tell(model: Model, tmp_path: Path, **changes: Any) -> Narration:
    """Confounding, told and checked."""
    scene = scene_of(CONFOUNDING.graph, settings_for(model, tmp_path, **changes))
    told = VERBALISERS["llm"](scene, KEY)
    check_told(scene, told)
    return told


def check_told(scene: Subject, told: Narration) -> None:
    """The story attests the graph, with the kinds asked for."""
    facts = Facts(told.variables, scene.graph.edges, scene.graph.latent)
    assert verify_attested(told.telling.story, told.telling.attestations, facts) == []
    assert {node: v.kind for node, v in told.variables.items()} == dict(scene.kinds)


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
