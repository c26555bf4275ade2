"""The commands of ``python -m harness``, which ``causal-exams`` has too: one module each."""

from typing import Final

COMMANDS: Final[dict[str, str]] = {
    "run": "take an exam with a chat model",
    "lab": "experiment in a causalab episode",
}
