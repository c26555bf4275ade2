"""When a model's endpoint is gone: after so many failures in a row nothing more is asked."""

from collections.abc import Awaitable
from typing import Final

from inspect_ai.model import ModelOutput
from inspect_ai.util import LimitExceededError


class Outage(Exception):
    """Not asked: the model failed too often in a row."""


class Breaker:
    """Counts failures of a model in a row, over all tasks of a run; ``most`` 0 counts none."""

    def __init__(self) -> None:
        self._most, self._failed = 0, 0

    def reset(self, most: int) -> None:
        """Begin a run that gives up after so many."""
        self._most, self._failed = most, 0

    async def ask(self, generation: Awaitable[ModelOutput]) -> ModelOutput:
        """The model's output; raises :class:`Outage` once the model is given up."""
        if self._most and self._failed >= self._most:
            if hasattr(generation, "close"):
                generation.close()
            raise Outage(f"the model failed {self._failed} times in a row; nothing more is asked")
        try:
            output = await generation
        except LimitExceededError:
            raise
        except Exception:  # whatever it was, it is counted and goes on to whoever asked
            self._failed += 1
            raise
        self._failed = 0
        return output


BREAKER: Final = Breaker()
"""That of this process."""
