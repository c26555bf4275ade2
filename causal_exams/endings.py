"""Why a task ended: a closed list, counted in reports (CausalDS A.14, A.15)."""

from collections.abc import Mapping
from typing import Any, Final

from grader.report.table import ENDINGS

ANSWERED, NO_ANSWER, MISSING = "answered", "no answer", "missing after submit"
STEPS, TOKENS, SECONDS, COST, CONTEXT = (
    "step limit", "token limit", "time limit", "cost limit", "context limit",
)  # fmt: skip
REFUSED, STOPPED, ERROR = "refused", "stopped", "error"
_LIMITS: Final[Mapping[str, str]] = {
    "time": SECONDS, "working": SECONDS, "token": TOKENS, "cost": COST,
    "message": STEPS, "turn": STEPS, "context": CONTEXT,
}  # fmt: skip
_STOPS: Final[Mapping[str, str]] = {"model_length": CONTEXT, "content_filter": REFUSED}
_CUT_OFF: Final = "max_tokens"

assert set(ENDINGS) == {
    ANSWERED, NO_ANSWER, MISSING, STEPS, TOKENS, SECONDS, COST, CONTEXT, REFUSED, STOPPED, ERROR,
}  # fmt: skip


def ending(
    *, error: bool, limit: str | None, told: Any, stop_reason: str | None, answered: bool
) -> str:
    """The ending of one sample.

    An error is never the model's. A limit comes before what the solver ``told``, that before how
    the last reply stopped. Without an answer a reply that was cut off at its most tokens is why.
    """
    if error:
        return ERROR
    if limit is not None:
        return _LIMITS.get(limit, STOPPED)
    if told in ENDINGS and told not in (ANSWERED, NO_ANSWER):
        return str(told)
    if stop_reason is not None and stop_reason in _STOPS:
        return _STOPS[stop_reason]
    if answered and told != NO_ANSWER:
        return ANSWERED
    return TOKENS if stop_reason == _CUT_OFF else NO_ANSWER
