"""What the model is told. One system text per role; the rest is JSON, so that nothing that a model
said earlier can pass for an instruction."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

Message = dict[str, str]

_DIRECT: Final = (
    "A direct effect of U on V means: if someone set U to another value while every other listed "
    "variable were held where it is, V would still respond. What reaches V only through another "
    "listed variable is not a direct effect."
)

MAPPER: Final = f"""\
You give real-world names to the variables of a small causal system, so that someone who knows the \
field would find the system natural.

{_DIRECT}

- Pick one coherent field and one kind of record (a visit, a field plot, a shift ...): every \
variable is a property of one such record.
- Every pair under "direct_effects" needs a mechanism that people of the field would accept. No \
pair under "no_direct_effect" may have one, in either direction. That second rule is the harder \
one: choose narrow, concrete variables.
- Names: one to five plain words, at most 40 letters, the first letter a capital. No name may \
repeat or contain another. No abbreviations, digits, brackets; nothing computed from other \
quantities; no terms of statistics.
- "continuous" variables get a unit that fits after "recorded in". "binary" ones get two states, \
predicates that continue the name ("is shut", "is open"), the first for 0, the second for 1.
- Variables with "observed": false are things that could well exist without being measured.
- Entries under "fixed" are settled: repeat what is given there, letter by letter.
- "forbidden_names" are taken.

Reply with one JSON object and nothing else:
{{"domain": "the field, in a few words", "record": "what one row is, singular", "records": \
"plural", "variables": [{{"id": "v1", "name": "...", "observed": true, "kind": "continuous", \
"unit": "... or null", "states": null, "meaning": "what it is, in one sentence"}}]}}
with one entry for every id, the fixed ones too."""

PRE_AUDITOR: Final = f"""\
Some variables of a causal system already have names from a knowledge base; the others are still \
open. Before anyone works on it, decide whether it is worth trying. Another, thorough check comes \
later, so refuse only what is plainly hopeless.

{_DIRECT}

- Two named variables under "named_without_direct_effect": refuse only if, in ordinary usage, one \
would still act directly on the other whatever is put between them. If an ordinary narrower \
reading of the names removes the direct effect, it is feasible with low confidence.
- Two named variables with a direct effect: be generous. Refuse only what is impossible or \
contradicts itself.
- In doubt: feasible, with low confidence.

Reply with one JSON object and nothing else:
{{"feasible": true, "confidence": "high or low", "reason": "one sentence"}}"""

AUDITOR: Final = f"""\
You check whether the names of a causal system fit its structure. You are strict about effects \
that should not be there and generous about those that should.

{_DIRECT}

- "pairs": for every entry of "no_direct_effect" say whether, with these meanings, one of the two \
does act directly on the other. A longer chain through listed variables told in short is not a \
direct effect; a separate route is.
- "effects": for every entry of "direct_effects" say whether any sensible mechanism exists, be it \
weak or occasional. Only what is clearly implausible fails.
- "warnings": independencies that the meanings make hard to believe, kinds or units that do not \
suit a meaning, trouble with "yellow_flags" (variables that sound derived, or deny other \
influences).
- A "why" of a failure must help whoever renames the variables: end it with "HINT:" and a way out. \
The structure and the names under "fixed" cannot change.
- If "stage" is "merged", the parts have passed before; only effects across parts are new, and \
wording that merely could be finer is a warning.

Reply with one JSON object and nothing else:
{{"pairs": [{{"a": "v1", "b": "v2", "direct": false, "why": "..."}}], "effects": [{{"cause": "v1", \
"effect": "v3", "plausible": true, "why": "..."}}], "warnings": ["..."]}}"""

WRITER: Final = """\
You write a short story, 2 to 4 paragraphs, about one place and its records, from which a careful \
reader can work out which variable directly affects which.

- Use every variable's name exactly as given, capital letter included, and no other names for it.
- Tell every entry of "direct_effects" as a direct effect, cause and effect both named in one \
sentence. Tell no other effect between variables, not even a chain told in short. A sentence that \
names several variables may name only those whose fact it tells.
- Never say in which direction or how strongly something acts: no "raises", "lowers", "more", \
"less", "better". Say "shapes", "acts on", "has a part in", "bears on", "depends on" and the like.
- A continuous variable: name and unit in one sentence. A binary one: name and both states, word \
for word, in one sentence. A variable with "observed": false: one sentence with its name and the \
words "never measured".
- No terms of graphs or statistics, no ids, no hint at what could be estimated. Do not deny effects.
- Care for "yellow_flags": such variables must not sound like by-products of bookkeeping.
- Plain, concrete, pleasant English that fits the domain.

Reply with one JSON object and nothing else:
{"story": "paragraphs separated by a blank line", "told": [{"about": ["Name"], "sentence": "..."}, \
{"about": ["Cause", "Effect"], "sentence": "..."}]}
"told" has one entry for every variable (the sentence with its unit, states, or that it was never \
measured) and one for every direct effect; each sentence copied letter by letter from the story."""

VERIFIER: Final = """\
You check whether a story tells a causal system faithfully. You see the story, the variables and \
the direct effects that it must tell; you judge by the story alone.

- "variables": for each, is it mentioned by its exact name?
- "effects": for each direct effect, "supported" if the story itself says that the one acts \
directly on the other, "reversed" if it says the opposite way, else "missing". A chain that passes \
through a third variable supports its steps, not the whole; the whole does not support the steps.
- "extra": direct effects between listed variables that the story tells and the list does not have.
- "warnings": drift away from the domain, technical terms, implausible or incoherent passages.
- Every "why" and warning must help the writer: end it with "HINT:" and a way to mend it.

Reply with one JSON object and nothing else:
{"variables": [{"name": "...", "mentioned": true}], "effects": [{"cause": "...", "effect": "...", \
"verdict": "supported", "why": "..."}], "extra": [{"cause": "...", "effect": "...", "why": \
"..."}], "warnings": ["..."]}"""


def conversation(system: str, content: Mapping[str, object]) -> list[Message]:
    """A role and its material."""
    shown = {key: value for key, value in content.items() if value not in (None, [], {}, "")}
    text = json.dumps(shown, ensure_ascii=False, indent=1)
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


def answered(
    messages: Sequence[Message],
    reply: Mapping[str, object],
    violations: Sequence[str],
    warnings: Sequence[str],
    flags: Sequence[str],
) -> list[Message]:
    """The conversation with what the model proposed and what was found wrong with it."""
    found = {
        "violations": list(violations),
        "warnings": list(warnings),
        "yellow_flags": list(flags),
    }
    shown = {key: value for key, value in found.items() if value}
    complaint = (
        'That was checked and cannot stay as it is. Every entry of "violations" must go, '
        '"warnings" where it is easy; what is settled stays settled. Send the whole JSON object '
        f"again, revised, and nothing else.\n{json.dumps(shown, ensure_ascii=False, indent=1)}"
    )
    return [
        *messages,
        {"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)},
        {"role": "user", "content": complaint},
    ]
