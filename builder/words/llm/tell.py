"""Algorithm 1: a scene from graph to named, audited, told and verified story."""

from collections.abc import Mapping, Sequence

from builder.seeds import pick, shuffled, stream
from builder.words.frames import NO_DIRECTION
from builder.words.knowledge import domains
from builder.words.llm.client import Client
from builder.words.llm.mapping import map_stages
from builder.words.llm.seeding import pre_audit
from builder.words.llm.settings import Seed
from builder.words.llm.stages import Stage, aliases, sketch, stages
from builder.words.llm.story import write_story
from builder.words.narration import Narration, NarrationFailed, Subject
from builder.words.types import Facts, Setting, Theme


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
