"""What a run loop can say of an answer before it is graded, from the workspace alone."""

from pathlib import Path

import pytest

from harness.task import WorkspaceTask


def task(shape: str, rows: int = 0) -> WorkspaceTask:
    return WorkspaceTask("cds-0123456789abcdef", Path(), "A question.", shape, rows)


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        ("effect_sign", '{"sign": "0"}', '{"sign": "zero"}'),
        ("sign", '{"sign": "unknown"}', '{"sign": "2"}'),
        ("dominant", '{"dominant": null}', '{"dominant": "both"}'),
        (
            "effect_interval",
            '{"value": 1, "ci_lower": 0, "ci_upper": 2}',
            '{"value": 1, "ci_lower": 2, "ci_upper": 0}',
        ),
        ("unit_answers", '{"factual": [1], "do_true": [1], "do_false": [0]}', '{"factual": [1]}'),
        ("quantities", '{"quantities": {"Q1": 0.5}}', '{"quantities": {"Q1": "half"}}'),
        ("mechanisms", '{"mechanisms": {"X3": "(or X1 X2)"}}', "[]"),
        ("deduction", '{"value": "insufficient"}', '{"value": 1,}'),
    ],
)
def test_an_answer_of_every_track_is_checked_as_far_as_the_workspace_goes(
    shape: str, good: str, bad: str
) -> None:
    """The inputs of the other tracks stay with the grader: asking for them ended the run."""
    assert task(shape).problem(good) is None
    message = task(shape).problem(bad)
    assert message is not None and len(message.splitlines()) == 1


def test_predictions_are_counted() -> None:
    """A file that lacks a row is worth nothing, and the loop can still ask for it."""
    assert task("prediction_csv", 2).problem("prediction\n0.1\n0.2\n") is None
    assert task("prediction_csv", 3).problem("prediction\n0.1\n0.2\n") is not None
