"""A local server that speaks chat completions: a model that does well unless its script says else;
scenes for it to tell, and the checks of what it told.

The model understands what it is asked from the JSON in the first user message. ``script`` maps a
role to what its next replies are: a function that spoils the good reply, a text, or a ``Reply``.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from chat_server import Reply, Server

from builder.graphs.graph import LatentDAG
from builder.graphs.motifs import MOTIFS, graft
from builder.stories.llm import client
from builder.stories.llm.settings import Settings
from builder.stories.llm.tell import tell_scene
from builder.stories.types import Facts, Kind, Seed
from builder.stories.verbalise import Narration, SceneToTell
from builder.stories.verify import verify_attested

ROLES = {
    client.MAPPER: "mapper",
    client.PRE_AUDITOR: "pre-audit",
    client.AUDITOR: "auditor",
    client.WRITER: "writer",
    client.VERIFIER: "verifier",
}

NAMES = [
    f"{first} {second}"
    for second in ("supply", "record", "routine")
    for first in (
        "Barley", "Copper", "Dusk", "Ferry", "Grain", "Harbour", "Indigo", "Jetty", "Kiln", "Linen",
        "Mortar", "Nettle", "Orchard", "Pebble", "Quarry", "Rope", "Salt", "Timber", "Velvet",
    )
]  # fmt: skip

Answer = dict[str, Any]
Spoil = Callable[[Answer], Any]
Step = Spoil | str | Reply


@dataclass
class Model(Server):
    """The scripted model: its address, what it was asked, and what it will get wrong."""

    script: dict[str, list[Step]] = field(default_factory=dict)
    always: dict[str, Step] = field(default_factory=dict)

    @property
    def roles(self) -> Counter[str]:
        """How often each role was asked, failed requests included."""
        return Counter(ROLES[r["messages"][0]["content"]] for r in self.requests)

    def conversations(self, role: str) -> list[list[dict[str, str]]]:
        """The conversations of a role."""
        found = [r["messages"] for r in self.requests]
        return [messages for messages in found if ROLES[messages[0]["content"]] == role]

    def reply(self, messages: list[dict[str, str]]) -> Reply:
        """What the model answers."""
        role = ROLES[messages[0]["content"]]
        good = GOOD[role](json.loads(messages[1]["content"]))
        waiting = self.script.get(role, [])
        step = waiting.pop(0) if waiting else self.always.get(role)
        if step is None:
            return Reply(f"Here it is:\n```json\n{json.dumps(good)}\n```")
        if callable(step):
            step = json.dumps(step(good))
        return Reply(step) if isinstance(step, str) else step


def name_variables(shown: Answer) -> Answer:
    """A mapping that keeps every rule."""
    fixed = shown.get("fixed", {})
    taken = set(shown.get("forbidden_names", [])) | {entry["name"] for entry in fixed.values()}
    free = iter([name for name in NAMES if name not in taken])
    variables = []
    for entry in shown["variables"]:
        binary = entry["kind"] == "binary"
        named = {
            "id": entry["id"],
            "name": "",
            "observed": entry["observed"],
            "kind": entry["kind"],
            "unit": None if binary else "crates",
            "states": ["is low", "is high"] if binary else None,
            "meaning": "What the place keeps of it.",
        } | fixed.get(entry["id"], {})
        variables.append(named | {"name": named["name"] or next(free)})
    head = {"domain": "A harbour town", "record": "market day", "records": "market days"}
    return {key: shown.get(key, text) for key, text in head.items()} | {"variables": variables}


def judge_mapping(shown: Answer) -> Answer:
    """An auditor who is content."""
    pairs = [pair.split(", ") for pair in shown.get("no_direct_effect", [])]
    edges = [edge.split(" -> ") for edge in shown["direct_effects"]]
    return {
        "pairs": [{"a": a, "b": b, "direct": False, "why": "Apart."} for a, b in pairs],
        "effects": [{"cause": a, "effect": b, "plausible": True, "why": "Yes."} for a, b in edges],
        "warnings": [],
    }


def write(shown: Answer) -> Answer:
    """A dull story without a fault."""
    told = []
    for entry in shown["variables"]:
        name = entry["name"]
        if not entry["observed"]:
            text = f"There is {name} too, which was never measured."
        elif entry["states"]:
            text = f"A clerk notes whether {name} {entry['states'][0]} or {entry['states'][1]}."
        else:
            text = f"A clerk notes {name} in {entry['unit']}."
        told.append({"about": [name], "sentence": text})
    for edge in shown["direct_effects"]:
        cause, effect = edge.split(" -> ")
        text = f"On every market day {cause} bears on {effect} directly."
        told.append({"about": [cause, effect], "sentence": text})
    count = len(shown["variables"])
    parts = [" ".join(t["sentence"] for t in part) for part in (told[:count], told[count:])]
    return {"story": f"This is a harbour town. {parts[0]}\n\n{parts[1]}", "told": told}


def judge_story(shown: Answer) -> Answer:
    """A verifier who is content."""
    edges = [edge.split(" -> ") for edge in shown["direct_effects"]]
    return {
        "variables": [{"name": v["name"], "mentioned": True} for v in shown["variables"]],
        "effects": [{"cause": a, "effect": b, "verdict": "supported", "why": ""} for a, b in edges],
        "extra": [],
        "warnings": [],
    }


GOOD: dict[str, Callable[[Answer], Answer]] = {
    "mapper": name_variables,
    "pre-audit": lambda shown: {"feasible": True, "confidence": "high", "reason": "Fine."},
    "auditor": judge_mapping,
    "writer": write,
    "verifier": judge_story,
}


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


def tell(settings: Settings, graph: LatentDAG = CONFOUNDING, seeds: Any = ()) -> Narration:
    """A scene of ``graph``, told; its story attests the graph, with the kinds asked for."""
    scene = scene_of(graph, seeds)
    told = tell_scene(scene, settings, KEY)
    facts = Facts(told.variables, graph.edges, graph.latent)
    assert verify_attested(told.telling.story, told.telling.attestations, facts) == []
    assert {node: v.kind for node, v in told.variables.items()} == dict(scene.kinds)
    return told


def causenet_lines(relations: Iterable[tuple[str, str, int]]) -> bytes:
    """A CauseNet file: cause, effect and the number of sources of each relation."""
    lines = []
    for cause, effect, support in relations:
        relation = {"cause": {"concept": cause}, "effect": {"concept": effect}}
        sources = [{"type": "web", "payload": {"sentence": "…"}}] * support
        lines.append(json.dumps({"causal_relation": relation, "sources": sources}) + "\n")
    return "".join(lines).encode()


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
