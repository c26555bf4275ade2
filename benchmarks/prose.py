"""``python -m benchmarks.prose``: what was rejected while a language model told the scenes of
``splits/prose.toml``, and what a reader of plain English finds in its stories.

    python -m benchmarks.prose

Follows from the shipped transcripts alone. Exit code 1 if a story fails the rules.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Final

from benchmarks.timing import ROOT
from builder.causalds.make.scene import narrate
from builder.causalds.plan.types import ScenePlan
from builder.causalds.track import TRACK
from builder.reader import read_story
from builder.release.config import load_config
from builder.release.planning import plan_specs
from builder.release.roots import read_roots
from builder.release.show.progress import Reporter
from builder.seeds import attempt_key
from builder.words.attested import verify_attested
from builder.words.types import Facts
from grader.io.pipe import exit_with

PROSE: Final = ROOT / "splits" / "prose.toml"
REJECTIONS: Final = ("the auditor", "the rules for stories", "the model's verifier")


def rejections(calls: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Who sent something back in a scene, from its replies in their order.

    The auditor does by a pair that has a direct effect and should have none, or by an effect that
    it does not believe; a story went back where the writer was asked once more, by the verifier if
    that had just replied.
    """
    for before, call in pairwise(calls):
        if call["stage"] == "writer" and before["stage"] in ("writer", "verifier"):
            yield REJECTIONS[1 + (before["stage"] == "verifier")]
    for call in calls:
        if call["stage"] == "auditor":
            found = json.loads(call["reply"])
            if any(one["direct"] for one in found["pairs"]) or not all(
                one["plausible"] for one in found["effects"]
            ):
                yield REJECTIONS[0]


def edge_f1(read: set[tuple[str, str]], true: set[tuple[str, str]]) -> float:
    """F1 of the effects that were read."""
    return 2 * len(read & true) / (len(read) + len(true))


def main() -> int:
    """Counts, reads, prints."""
    calls = [
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in sorted(PROSE.with_name("prose-transcripts").glob("*.jsonl"))
    ]
    sent_back = Counter(who for scene in calls for who in rejections(scene))
    config = load_config(PROSE)
    specs = plan_specs(config, read_roots(config)[0])["dev", "causalds"]
    TRACK.prepare(specs, Reporter(quiet=True))
    refused = 0
    found: dict[str, list[float]] = {"all variables": [], "the measured variables": []}
    for spec in specs:
        graph = ScenePlan.from_json(spec.config_json).query.graph
        told = narrate(ScenePlan.from_json(spec.config_json), attempt_key(spec.key, 0))
        names = {node: variable.name for node, variable in told.variables.items()}
        facts = Facts(told.variables, graph.edges, graph.latent)
        refused += bool(verify_attested(told.telling.story, told.telling.attestations, facts))
        true = {(names[a], names[b]) for a, b in graph.edges}
        measured = sorted(names[node] for node in graph.observed)
        for known, scores in zip((sorted(names.values()), measured), found.values(), strict=True):
            read = read_story(told.telling.story, known, len(names))
            scores.append(edge_f1(set(read.edges), true))
    replies = sum(map(len, calls))
    print(f"{len(specs)} scenes, {replies} replies; {refused} stories that the rules refuse")
    print("sent back by " + ", ".join(f"{who}: {sent_back[who]}" for who in REJECTIONS))
    for what, scores in found.items():
        exact = sum(one == 1.0 for one in scores)
        print(f"edge F1 of a reader who knows the names of {what}: mean {fmean(scores):.3f}, "
              f"{exact} of {len(scores)} exact")  # fmt: skip
    return 1 if refused else 0


if __name__ == "__main__":
    exit_with(main)
