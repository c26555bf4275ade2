"""Naming a graph: mapper and auditor, fragment by fragment (Algorithms 1 and 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from builder.words.llm.client import (
    Client,
    Malformed,
    Verdict,
    entries_of,
    flag_of,
    remark_of,
    remarks_of,
    text_of,
)
from builder.words.llm.naming import Proposal, Settled, read_proposal, rule_violations
from builder.words.llm.prompts import AUDITOR, MAPPER, conversation
from builder.words.llm.stages import Sketch, Stage
from builder.words.narration import NarrationFailed
from builder.words.terms import yellow_flags

Finding = tuple[list[tuple[frozenset[str], str]], list[str]]
"""What the auditor says: violations with the ids they are about, and warnings."""


def map_stages(
    client: Client, plan: Sequence[Stage], whole: Sketch, seed: Mapping[str, str], hint: str
) -> Proposal:
    """Names for a whole graph: the host first, then each graft around its anchors, then an audit of
    the whole. ``seed`` fixes names of the host by id, ``hint`` suggests a field.

    Raises :class:`NarrationFailed` when a budget is used up or settled names cannot stand.
    """
    found = map_stage(client, plan[0].sketch, Settled(seed, {}), {"suggested_field": hint})
    for stage in plan[1:]:
        anchors = {node: found.named[node] for node in sorted(stage.anchors)}
        taken = frozenset(name for node, name in found.names().items() if node not in stage.anchors)
        material = {
            "domain": found.domain,
            "record": found.record,
            "records": found.records,
            "already_named": {
                node: {"name": named.variable.name, "meaning": named.meaning}
                for node, named in found.named.items()
                if node not in stage.anchors
            },
            "note": "This fragment joins the system above at its fixed variables. Its other "
            "variables must not act directly on what is already named, nor the reverse.",
        }
        named = map_stage(client, stage.sketch, Settled({}, anchors, taken), material)
        added = {node: named.named[node] for node in named.named if node not in stage.anchors}
        found = replace(found, named={**found.named, **added})
    if len(plan) > 1 and client.settings.merged_audit:
        kept = {node for stage in plan for node in stage.anchors} | set(seed)
        anchors = {node: found.named[node] for node in sorted(kept)}
        found = map_stage(client, whole, Settled({}, anchors), {"stage": "merged"}, found)
    return replace(found, named={node: found.named[node] for node in whole.graph.nodes})


def map_stage(
    client: Client,
    stage: Sketch,
    settled: Settled,
    material: Mapping[str, object],
    proposal: Proposal | None = None,
) -> Proposal:
    """Algorithm 3: proposes names, has them audited, and repairs, up to T audits.

    ``proposal`` are names to start from, if there are any already. Rules that need no model are
    checked before the auditor is asked; a proposal against them counts as a failed audit.
    """
    content = {
        **material,
        **stage.to_json(),
        "independencies": stage.independencies,
        "fixed": settled.to_json(),
        "forbidden_names": sorted(settled.taken),
    }

    def judge(proposal: Proposal) -> Verdict:
        flags = yellow_flags(
            {node: f"{one.variable.name}: {one.meaning}" for node, one in proposal.named.items()}
        )
        if rules := rule_violations(proposal, stage, settled):
            return rules, (), flags
        violations, warnings = _audit(client, stage, settled, proposal, material, flags)
        if any(nodes <= settled.fixed for nodes, _ in violations):
            raise NarrationFailed("llm: settled names do not fit the graph")
        return [text for _, text in violations], warnings, flags

    rounds = ("mapping", client.settings.budgets.mapping)
    messages = conversation(MAPPER, content)
    return client.ask_revised(
        "mapper", messages, read_proposal, judge, Proposal.to_json, rounds, proposal
    )


def _audit(
    client: Client,
    stage: Sketch,
    settled: Settled,
    proposal: Proposal,
    material: Mapping[str, object],
    flags: Sequence[str],
) -> Finding:
    content = {
        "stage": material.get("stage"),
        **stage.to_json(),
        "independencies": stage.independencies,
        "mapping": proposal.to_json(),
        "fixed": sorted(settled.fixed),
        "yellow_flags": flags,
    }
    names = proposal.names()
    return client.ask_json(
        "auditor", conversation(AUDITOR, content), lambda found: _read_finding(found, stage, names)
    )


def _read_finding(found: Mapping[str, Any], stage: Sketch, names: Mapping[str, str]) -> Finding:
    """The auditor's verdicts; every non-edge and every effect must have one."""
    pairs = {
        frozenset((text_of(entry, "a", 10), text_of(entry, "b", 10))): entry
        for entry in entries_of(found, "pairs")
    }
    effects = {
        (text_of(entry, "cause", 10), text_of(entry, "effect", 10)): entry
        for entry in entries_of(found, "effects")
    }
    missing = [f"{a}, {b}" for a, b in stage.non_edges if frozenset((a, b)) not in pairs]
    missing += [f"{a} -> {b}" for a, b in stage.graph.edges if (a, b) not in effects]
    if missing:
        raise Malformed(f"it has no verdict on {'; '.join(missing[:12])}")
    violations = []
    for a, b in stage.non_edges:
        entry = pairs[frozenset((a, b))]
        if flag_of(entry, "direct"):
            text = f"{a} ({names[a]}) and {b} ({names[b]}) would have a direct effect"
            violations.append((frozenset((a, b)), f"{text}: {remark_of(entry, 'why')}"))
    for a, b in stage.graph.edges:
        entry = effects[a, b]
        if not flag_of(entry, "plausible"):
            text = f"{a} ({names[a]}) acting directly on {b} ({names[b]}) is implausible"
            violations.append((frozenset((a, b)), f"{text}: {remark_of(entry, 'why')}"))
    return violations, remarks_of(found, "warnings")
