"""Why a task ended: a closed list, counted in reports (CausalDS A.14, A.15)."""

from collections.abc import Mapping
from typing import Any, Final

from grader.report.usage import ENDINGS

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

assert set(ENDINGS) == {
    ANSWERED, NO_ANSWER, MISSING, STEPS, TOKENS, SECONDS, COST, CONTEXT, REFUSED, STOPPED, ERROR,
}  # fmt: skip


def ending(
    *, error: bool, limit: str | None, told: Any, stop_reason: str | None, answered: bool
) -> str:
    """The ending of one sample.

    An error is never the model's. A limit comes before what the solver ``told``, that before how
    the last reply stopped.
    """
    if error:
        return ERROR
    if limit is not None:
        return _LIMITS.get(limit, STOPPED)
    if told in ENDINGS and told != ANSWERED:
        return str(told)
    if stop_reason is not None and stop_reason in _STOPS:
        return _STOPS[stop_reason]
    return ANSWERED if answered else NO_ANSWER
