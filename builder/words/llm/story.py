"""Telling a named graph: writer and verifier (Algorithm 4).

Two verifiers must pass a story: the deterministic one, which can be run again at any time, and the
model, which judges whether the sentences mean what they are said to mean. Effects that are told but
not there count as violations: a story must not invent any.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from builder.words.attested import verify_attested
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
from builder.words.llm.naming import Proposal
from builder.words.llm.prompts import VERIFIER, WRITER, conversation
from builder.words.terms import yellow_flags
from builder.words.types import Attestation, Facts, Telling

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
