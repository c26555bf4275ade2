"""A scene from graph to named, audited, told and verified story (Algorithms 1, 3 and 4).

Mapper and auditor name a graph fragment by fragment. Two verifiers must pass a story: the
deterministic one, which can be run again at any time, and the model, which judges whether the
sentences mean what they are said to mean. Effects that are told but not there count as violations:
a story must not invent any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from builder.splits.seeds import pick, shuffled, stream
from builder.stories.frames import NO_DIRECTION
from builder.stories.knowledge import domains
from builder.stories.llm.client import (
    AUDITOR,
    MAPPER,
    VERIFIER,
    WRITER,
    Client,
    Malformed,
    Verdict,
    conversation,
    entries_of,
    flag_of,
    remark_of,
    remarks_of,
    text_of,
)
from builder.stories.llm.naming import (
    Proposal,
    Settled,
    Sketch,
    Stage,
    aliases,
    read_proposal,
    rule_violations,
    sketch,
    stages,
)
from builder.stories.llm.seeding import pre_audit
from builder.stories.llm.settings import Seed
from builder.stories.narration import Narration, NarrationFailed, Subject
from builder.stories.types import Attestation, Facts, Setting, Telling, Theme
from builder.stories.verify import verify_attested, yellow_flags

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


_VERDICTS: Final = ("supported", "missing", "reversed")
_MOST_CHARACTERS: Final = 12_000

Judged = tuple[list[str], list[str]]
"""Violations and warnings."""


def write_story(client: Client, named: Proposal, facts: Facts, closing: str) -> Telling:
    """Algorithm 4: drafts a story, has it verified, and revises, up to S verifications.

    ``closing`` is our own last sentence, after whatever the model wrote. Raises
    :class:`NarrationFailed` when the budget is used up.
    """
    flags = yellow_flags(
        {one.variable.name: f"{one.variable.name}: {one.meaning}" for one in named.named.values()}
    )
    messages = conversation(WRITER, {**_material(named, facts), "yellow_flags": flags})

    def closed(draft: Telling) -> Telling:
        return replace(draft, story=f"{draft.story} {closing}")

    def judge(draft: Telling) -> Verdict:
        if wrong := verify_attested(closed(draft).story, draft.attestations, facts):
            return wrong, (), flags
        return *_verify(client, named, facts, draft, flags), flags

    accepted = client.ask_revised(
        "writer",
        messages,
        lambda found: _read_draft(found, named.record, facts),
        judge,
        _draft_json,
        ("story", client.settings.budgets.story),
    )
    return closed(accepted)


def _material(named: Proposal, facts: Facts) -> dict[str, object]:
    return {
        "domain": named.domain,
        "record": named.record,
        "variables": [one.to_json() for one in named.named.values()],
        "direct_effects": [f"{a} -> {b}" for a, b in sorted(facts.named_edges())],
    }


def _read_draft(found: Mapping[str, Any], record: str, facts: Facts) -> Telling:
    """The story and its attestations; whether they hold is checked later."""
    story = found.get("story")
    if not isinstance(story, str) or not story.strip() or len(story) > _MOST_CHARACTERS:
        raise Malformed(f'"story" must be a text of at most {_MOST_CHARACTERS} characters')
    parts = [" ".join(part.split()) for part in story.replace("\r", "").split("\n\n")]
    hidden = {facts.variables[node].name for node in facts.unmeasured}
    attestations = []
    for entry in entries_of(found, "told"):
        about = entry.get("about")
        if (
            not isinstance(about, list)
            or len(about) not in (1, 2)
            or not all(isinstance(name, str) and len(name) <= 120 for name in about)
        ):
            raise Malformed('"about" must be a list of one name, or of a cause and an effect')
        kind = "edge" if len(about) == 2 else "unmeasured" if about[0] in hidden else "node"
        attestations.append(Attestation((kind, *about), text_of(entry, "sentence", 2000)))
    return Telling("\n\n".join(part for part in parts if part), record, tuple(attestations))


def _draft_json(draft: Telling) -> dict[str, object]:
    return {
        "story": draft.story,
        "told": [
            {"about": list(one.what[1:]), "sentence": one.sentence} for one in draft.attestations
        ],
    }


def _verify(
    client: Client, named: Proposal, facts: Facts, draft: Telling, flags: Sequence[str]
) -> Judged:
    """The model's verdict; every variable and every effect must have one."""
    edges, names = facts.named_edges(), {v.name for v in facts.variables.values()}

    def read(found: Mapping[str, Any]) -> Judged:
        mentioned = {
            text_of(entry, "name", 120): flag_of(entry, "mentioned")
            for entry in entries_of(found, "variables")
        }
        verdicts = {
            (text_of(entry, "cause", 120), text_of(entry, "effect", 120)): entry
            for entry in entries_of(found, "effects")
        }
        missing = sorted(names - mentioned.keys())
        missing += [f"{a} -> {b}" for a, b in sorted(edges - verdicts.keys())]
        if missing:
            raise Malformed(f"it has no verdict on {'; '.join(missing[:12])}")
        violations = [f"{name} is not mentioned" for name in sorted(names) if not mentioned[name]]
        for a, b in sorted(edges):
            verdict = verdicts[a, b].get("verdict")
            if verdict not in _VERDICTS:
                raise Malformed(f'"verdict" must be one of {", ".join(_VERDICTS)}')
            if verdict != "supported":
                why = remark_of(verdicts[a, b], "why")
                violations.append(f"the effect of {a} on {b} is {verdict}: {why}")
        for entry in entries_of(found, "extra") if "extra" in found else ():
            pair = text_of(entry, "cause", 120), text_of(entry, "effect", 120)
            if set(pair) <= names and pair not in edges:
                why = remark_of(entry, "why")
                violations.append(f"an effect of {pair[0]} on {pair[1]} is told: {why}")
        return violations, remarks_of(found, "warnings")

    content = {"story": draft.story, **_material(named, facts), "yellow_flags": list(flags)}
    return client.ask_json("verifier", conversation(VERIFIER, content), read)


def tell_scene(subject: Subject, key: bytes) -> Narration:
    """Names and tells a scene as its settings say.

    A pure function of its arguments and of the transcripts. Raises :class:`NarrationFailed` when a
    budget is used up, ``ValueError`` without settings, and ``UsageError`` when the endpoint fails.
    """
    if subject.request is None:
        raise ValueError("words = llm needs the settings of an endpoint")
    settings = subject.request.settings
    client = Client(settings, subject.request.where, key)
    rng = stream(key, "names")
    ids = aliases(rng, subject.graph.nodes)
    whole = sketch(subject.graph, subject.kinds, ids)
    plan = stages(subject.graph, whole, ids)
    dealt = subject.request.seeds
    order = shuffled(rng, dealt)[: settings.budgets.seeds]
    hint = pick(rng, domains()).field
    fixed, hint = _seed(client, plan[0], order, ids, hint)
    named = map_stages(client, plan, whole, fixed, hint)
    variables = {node: named.named[ids[node]].variable for node in subject.graph.nodes}
    facts = Facts(variables, subject.graph.edges, subject.graph.latent)
    theme = Theme("llm", named.record, named.records, "", "", (), ())
    closing = pick(stream(key, "story"), NO_DIRECTION)
    telling = write_story(client, named, facts, closing)
    return Narration(Setting(theme, "", ""), variables, telling, {})


def _seed(
    client: Client, host: Stage, dealt: Sequence[Seed], ids: Mapping[str, str], hint: str
) -> tuple[dict[str, str], str]:
    """The first seed that passes the pre-audit, by id, with its field; else none, and ``hint``."""
    for seed in dealt:
        fixed = {ids[node]: name for node, name in seed.names}
        if pre_audit(client, host.sketch, fixed):
            return fixed, seed.hint
    if dealt and client.settings.seeding_required:
        raise NarrationFailed("llm: no seed passed the pre-audit")
    return {}, hint
