"""What the model is told. One system text per role; the rest is JSON, so that nothing that a model
said earlier can pass for an instruction."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from builder.texts import Texts

Message = dict[str, str]

_TEXTS: Final = Texts(__file__)
_DIRECT: Final = _TEXTS("direct_effect")

MAPPER: Final = _TEXTS("mapper", direct_effect=_DIRECT)
PRE_AUDITOR: Final = _TEXTS("pre_auditor", direct_effect=_DIRECT)
AUDITOR: Final = _TEXTS("auditor", direct_effect=_DIRECT)
WRITER: Final = _TEXTS("writer")
VERIFIER: Final = _TEXTS("verifier")


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
    complaint = _TEXTS("complaint", found=json.dumps(shown, ensure_ascii=False, indent=1))
    return [
        *messages,
        {"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)},
        {"role": "user", "content": complaint},
    ]
