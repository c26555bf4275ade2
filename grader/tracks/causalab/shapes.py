"""The form of the answers to CausaLab tasks."""

from typing import Final

from grader.shape import Shape
from grader.tracks.causalab.gold import gold_answer
from grader.tracks.causalab.scoring import laboratory_score
from grader.tracks.causalab.submission import check

LABORATORY: Final = Shape(
    "laboratory_jsonl", "session", "prediction", "f1", "accuracy_edge_f1",
    check, laboratory_score, gold_answer, input_mode="prompt",
)  # fmt: skip
