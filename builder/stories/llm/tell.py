"""The names and the story of a scene by a language model (Algorithms 1 to 4).

Mapper and auditor name a graph fragment by fragment. Two verifiers must pass a story: the
deterministic one, which can be run again at any time, and the model, which judges whether the
sentences mean what they are said to mean. Effects that are told but not there are violations.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, StrictBool

from builder.splits.seeds import pick, random_order, stream
from builder.stories.knowledge import domains
from builder.stories.llm.client import (
    AUDITOR,
    MAPPER,
    PRE_AUDITOR,
    VERIFIER,
    WRITER,
    Client,
    Remark,
    Remarks,
    Reply,
    Verdict,
    conversation,
    line,
)
from builder.stories.llm.naming import (
    FixedNames,
    Proposal,
    Sketch,
    Stage,
    aliases,
    rule_violations,
    sketch,
    stages,
)
from builder.stories.llm.settings import Settings
from builder.stories.story import NO_DIRECTION
from builder.stories.types import Attestation, Facts, Telling
from builder.stories.verbalise import Narration, NarrationFailed, SceneToTell
from builder.stories.verify import verify_attested, yellow_flags

_Id = Annotated[str, line(10)]
_Name = Annotated[str, line(120)]


def tell_scene(scene: SceneToTell, settings: Settings, key: bytes) -> Narration:
    """Return names and story by the model (Algorithm 1), or raise NarrationFailed, UsageError."""
    client = Client(settings, key)
    rng = stream(key, "names")
    ids = aliases(rng, scene.graph.nodes)
    whole = sketch(scene.graph, scene.kinds, ids)
    plan = stages(scene.graph, whole, ids)
    order = random_order(rng, scene.seeds)[: settings.budgets.seeds]
    hint = pick(rng, domains()).field
    fixed: dict[str, str] = {}
    for seed in order:
        fixed = {ids[node]: name for node, name in seed.names}
        if _pre_audit(client, plan[0].sketch, fixed):
            hint = seed.hint
            break
    else:
        fixed = {}
        if order and settings.seeding_required:
            raise NarrationFailed("llm: no seed passed the pre-audit")
    proposal = _map_stages(client, plan, whole, fixed, hint)
    variables = {node: proposal.by_id[ids[node]].variable for node in scene.graph.nodes}
    facts = Facts(variables, scene.graph.edges, scene.graph.latent)
    closing = pick(stream(key, "story"), NO_DIRECTION)
    return Narration(variables, _write_story(client, proposal, facts, closing))


class _PreAudit(Reply):
    """The verdict of the pre-audit: whether good names for the rest exist, and how sure it is."""

    feasible: StrictBool
    confidence: Literal["high", "low"]


def _pre_audit(client: Client, stage: Sketch, fixed: Mapping[str, str]) -> bool:
    """Return the model's verdict whether the graph can be named around ``fixed`` (Alg. 2)."""
    content = {
        **stage.to_json(),
        "named": dict(fixed),
        "open": [node for node in stage.graph.nodes if node not in fixed],
        "named_without_direct_effect": [
            f"{a}, {b}" for a, b in stage.non_edges if a in fixed and b in fixed
        ],
    }
    return client.ask_json("pre-audit", conversation(PRE_AUDITOR, content), _PreAudit).feasible


def _map_stages(
    client: Client, plan: Sequence[Stage], whole: Sketch, seed: Mapping[str, str], hint: str
) -> Proposal:
    """Return names for a graph, in the order of ``whole``: the host is named first, then each graft
    around its anchors, then all are audited. ``seed`` fixes names of the host by id, ``hint``
    suggests a field. Raises :class:`NarrationFailed`."""
    names = {node: {"name": name} for node, name in seed.items()}
    found = _map_stage(client, plan[0].sketch, FixedNames(names), {"suggested_field": hint})
    for stage in plan[1:]:
        others = [one for one in found.variables if one.id not in stage.anchors]
        material = {
            **found.model_dump(include={"domain", "record", "records"}),
            "already_named": {one.id: {"name": one.name, "meaning": one.meaning} for one in others},
            "note": "This fragment joins the system above at its fixed variables. Its other "
            "variables must not act directly on what is already named, nor the reverse.",
        }
        fixed = FixedNames(_anchors(found, stage.anchors), frozenset(one.name for one in others))
        added = _map_stage(client, stage.sketch, fixed, material).variables
        new = (one for one in added if one.id not in stage.anchors)
        found = found.model_copy(update={"variables": (*found.variables, *new)})
    if len(plan) > 1:
        kept = {node for stage in plan for node in stage.anchors} | set(seed)
        fixed = FixedNames(_anchors(found, kept))
        found = _map_stage(client, whole, fixed, {"stage": "merged"}, found)
    ordered = tuple(found.by_id[node] for node in whole.graph.nodes)
    return found.model_copy(update={"variables": ordered})


def _anchors(found: Proposal, nodes: Collection[str]) -> dict[str, dict[str, object]]:
    """Return by id the members that must stay of variables ``nodes``: all but id and meaning."""
    dropped = {"id", "meaning"}
    return {node: found.by_id[node].model_dump(exclude=dropped) for node in sorted(nodes)}


def _map_stage(
    client: Client,
    stage: Sketch,
    names: FixedNames,
    material: Mapping[str, object],
    proposal: Proposal | None = None,
) -> Proposal:
    """Return names for one stage that pass the audit (Algorithm 3). ``names`` are those to keep or
    avoid, ``material`` what the mapper is told besides, ``proposal`` names to start from, if any. A
    proposal against rules that need no model counts as a failed audit. Raises
    :class:`NarrationFailed` after T audits, and where a violation is among fixed names alone."""
    content = {
        **material,
        **stage.to_json(),
        "independencies": stage.independencies,
        "fixed": names.fixed,
        "forbidden_names": sorted(names.taken),
    }

    def judge(proposal: Proposal) -> Verdict:
        """Return broken rules or, if there are none, the auditor's findings; and flags."""
        flags = yellow_flags({one.id: f"{one.name}: {one.meaning}" for one in proposal.variables})
        if rules := [*rule_violations(proposal, stage, names)]:
            return rules, (), flags
        audit = _audit(client, stage, names, proposal, material, flags)
        violations = [*_violations(audit, stage, proposal)]
        if any(nodes <= names.fixed.keys() for nodes, _ in violations):
            raise NarrationFailed("llm: settled names do not fit the graph")
        return [text for _, text in violations], audit.warnings, flags

    messages = conversation(MAPPER, content)
    return client.ask_revised("mapper", messages, Proposal, judge, "mapping", proposal)


class _Pair(Reply):
    """The verdict on a non-edge: whether one variable would act on the other directly."""

    a: _Id
    b: _Id
    direct: StrictBool
    why: Remark = ""


class _NamedEffect(Reply):
    """An effect by id or name, and a remark on it."""

    cause: _Name
    effect: _Name
    why: Remark = ""


class _Effect(_NamedEffect):
    """The verdict on an effect: whether the names make it plausible as a direct one."""

    cause: _Id
    effect: _Id
    plausible: StrictBool


class _Audit(Reply):
    """The auditor's verdicts; :func:`_audit` asks again where a non-edge or effect has none."""

    pairs: tuple[_Pair, ...] = Field(max_length=300)
    effects: tuple[_Effect, ...] = Field(max_length=300)
    warnings: Remarks = ()


def _audit(
    client: Client,
    stage: Sketch,
    names: FixedNames,
    proposal: Proposal,
    material: Mapping[str, object],
    flags: Sequence[str],
) -> _Audit:
    """Return the auditor's verdicts on a proposal; it is shown the yellow ``flags``."""
    content = {
        "stage": material.get("stage"),
        **stage.to_json(),
        "independencies": stage.independencies,
        "mapping": proposal.model_dump(),
        "fixed": sorted(names.fixed),
        "yellow_flags": flags,
    }

    def lacks(audit: _Audit) -> Iterator[str]:
        pairs = {frozenset((one.a, one.b)) for one in audit.pairs}
        effects = {(one.cause, one.effect) for one in audit.effects}
        yield from (f"{a}, {b}" for a, b in stage.non_edges if frozenset((a, b)) not in pairs)
        yield from (f"{a} -> {b}" for a, b in stage.graph.edges if (a, b) not in effects)

    return client.ask_json("auditor", conversation(AUDITOR, content), _Audit, lacks)


def _violations(
    audit: _Audit, stage: Sketch, proposal: Proposal
) -> Iterator[tuple[frozenset[str], str]]:
    """Yield (the two ids, text) of violations found on the stage's own pairs; none if ok."""
    called = {one.id: f"{one.id} ({one.name})" for one in proposal.variables}
    non_edges = {frozenset(pair) for pair in stage.non_edges}
    for pair in audit.pairs:
        nodes = frozenset((pair.a, pair.b))
        if pair.direct and nodes in non_edges:
            text = f"{called[pair.a]} and {called[pair.b]} would have a direct effect"
            yield nodes, f"{text}: {pair.why}"
    for one in audit.effects:
        if not one.plausible and (one.cause, one.effect) in stage.graph.edges:
            text = f"{called[one.cause]} acting directly on {called[one.effect]} is implausible"
            yield frozenset((one.cause, one.effect)), f"{text}: {one.why}"


class _ToldFact(Reply):
    """A claim of the writer: ``sentence`` tells one variable, or (cause, effect), by name."""

    about: tuple[_Name] | tuple[_Name, _Name]
    sentence: Annotated[str, line(2000)]


class _Draft(Reply):
    """A story as the writer sends it, with its claims of which sentence tells what, unchecked."""

    story: str = Field(min_length=1, max_length=12_000)
    told: tuple[_ToldFact, ...] = Field(max_length=300)

    def telling(self, record: str, facts: Facts, closing: str) -> Telling:
        """Return the draft, tidied and with ``closing`` last, as a telling about a ``record``."""
        paragraphs = self.story.replace("\r", "").split("\n\n")
        tidy = [text for part in paragraphs if (text := " ".join(part.split()))]
        hidden = {facts.variables[node].name for node in facts.unmeasured}
        attestations = []
        for one in self.told:
            alone = "unmeasured" if one.about[0] in hidden else "node"
            kind = alone if len(one.about) == 1 else "edge"
            attestations.append(Attestation((kind, *one.about), one.sentence))
        return Telling("\n\n".join(tidy) + f" {closing}", record, tuple(attestations))


def _write_story(client: Client, proposal: Proposal, facts: Facts, closing: str) -> Telling:
    """Return a story that both verifiers pass in S rounds (Alg. 4), or raise NarrationFailed."""
    flags = yellow_flags({one.name: f"{one.name}: {one.meaning}" for one in proposal.variables})
    material = {
        **proposal.model_dump(include={"domain", "record"}),
        "variables": [one.model_dump(exclude={"id"}) for one in proposal.variables],
        "direct_effects": [f"{a} -> {b}" for a, b in sorted(facts.named_edges())],
        "yellow_flags": flags,
    }

    def lacks(verdict: _StoryVerdict) -> list[str]:
        names = {v.name for v in facts.variables.values()}
        effects = {(one.cause, one.effect) for one in verdict.effects}
        missing = sorted(names - {one.name for one in verdict.variables})
        return missing + [f"{a} -> {b}" for a, b in sorted(facts.named_edges() - effects)]

    def judge(draft: _Draft) -> Verdict:
        """Return what our verifier finds or, if nothing, the model's; and flags."""
        telling = draft.telling(proposal.record, facts, closing)
        if wrong := verify_attested(telling.story, telling.attestations, facts):
            return wrong, (), flags
        asked = conversation(VERIFIER, {"story": draft.story, **material})
        verdict = client.ask_json("verifier", asked, _StoryVerdict, lacks)
        return [*_unfaithful(verdict, facts)], verdict.warnings, flags

    messages = conversation(WRITER, material)
    accepted = client.ask_revised("writer", messages, _Draft, judge, "story")
    return accepted.telling(proposal.record, facts, closing)


class _Mention(Reply):
    """The verdict on a variable: whether the story mentions it."""

    name: _Name
    mentioned: StrictBool


class _EffectVerdict(_NamedEffect):
    """The verdict on an effect: "supported" means told, and in the right direction."""

    verdict: Literal["supported", "missing", "reversed"]


class _StoryVerdict(Reply):
    """The model's verdicts on a story; ``extra`` are effects told but not in the graph."""

    variables: tuple[_Mention, ...] = Field(max_length=300)
    effects: tuple[_EffectVerdict, ...] = Field(max_length=300)
    extra: tuple[_NamedEffect, ...] = Field(default=(), max_length=300)
    warnings: Remarks = ()


def _unfaithful(verdict: _StoryVerdict, facts: Facts) -> Iterator[str]:
    """Yield the facts not told rightly and effects told in excess; none if faithful."""
    edges, names = facts.named_edges(), {v.name for v in facts.variables.values()}
    for mention in verdict.variables:
        if mention.name in names and not mention.mentioned:
            yield f"{mention.name} is not mentioned"
    for one in verdict.effects:
        if (one.cause, one.effect) in edges and one.verdict != "supported":
            yield f"the effect of {one.cause} on {one.effect} is {one.verdict}: {one.why}"
    for extra in verdict.extra:
        if {extra.cause, extra.effect} <= names and (extra.cause, extra.effect) not in edges:
            yield f"an effect of {extra.cause} on {extra.effect} is told: {extra.why}"
