"""What a task variant is: one way of asking one question."""

from dataclasses import dataclass
from typing import Final, Literal

Pool = Literal["pass", "nrel_point", "nrel_interval", "f1"]
"""Where a task's loss is pooled (CausalDS §3.7): exact matches, numbers, intervals, F1."""

InputMode = Literal["data", "story", "prompt"]
"""``data``: the test taker gets tables. ``story``: the narrated scene alone. ``prompt``: the
prompt says everything and nothing stands beside it."""

POOLS: Final[tuple[Pool, ...]] = ("pass", "nrel_point", "nrel_interval", "f1")

LOSS_CAP: Final = 10.0
"""The cap c on one numeric loss (CausalDS Eq. 3)."""

PREDICTION_ALPHA: Final = 0.1
"""Prediction intervals are central 90% intervals (CausalDS A.9)."""

EFFECT_ALPHA: Final = 0.05
"""Effect intervals are central 95% intervals (CausalDS A.9)."""

NULL_EQUIVALENTS: Final = frozenset({"", "none", "null", "unknown", "n/a"})
"""Strings that mean "I abstain" in an abstainable variant's answer field, besides JSON null."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking one question: how it is answered, scored and pooled.

    ``shape`` names the JSON Schema of the answer (``schemas/answers/<shape>.json``); shapes that
    end in ``_csv`` are CSV files, their schema describes one row; those in ``_jsonl`` are
    transcripts of a laboratory, their schema describes the short form without one. ``field`` is
    the member of the answer that holds the answer proper (and the abstention). ``rule`` is the
    published scoring rule in one sentence; it is what ``explain`` prints.

    ``labels`` are the words that may stand in ``field``, the abstention among them, compared after
    trimming and case-folding; besides the equivalents of null any other word is invalid.
    ``abstention`` is what an abstainable variant's prompt asks for in ``field`` where the target is
    not identifiable; null and its equivalents always count too. Variants of one shape share field,
    labels and abstention, so that a shape alone says how an answer is read.
    """

    track: str
    family: str
    name: str
    rung: int
    pool: Pool
    metric: str
    shape: str
    field: str
    abstainable: bool
    input_mode: InputMode
    rule: str
    labels: tuple[str, ...] = ()
    abstention: str | bool | None = None

    @property
    def key(self) -> str:
        """``family.variant``, unique inside a track."""
        return f"{self.family}.{self.name}"

    @property
    def suffix(self) -> str:
        """File ending of an answer, with its dot."""
        kind = self.shape.rpartition("_")[2]
        return f".{kind}" if kind in ("csv", "jsonl") else ".json"
