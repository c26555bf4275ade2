"""The forms of answers to ReplaySCM tasks, with the writers of the right ones, and the variants."""

from functools import partial
from pathlib import Path
from typing import Final

from grader.io.jsonio import pretty_json
from grader.scoring.model import Truth
from grader.scoring.shape import Shape, Task, read_variants
from grader.tracks.replayscm.scoring import alternative, facts, induction
from grader.tracks.replayscm.submission import check, check_inputs, check_truth


def _gold(task: Task, truth: Truth) -> str:
    """Return the hidden program's mechanisms as JSON."""
    return pretty_json({"mechanisms": truth.target["gold"]})


def _gold_roots(task: Task, truth: Truth) -> str:
    """Return the hidden program's mechanisms and roots as JSON."""
    return pretty_json({"mechanisms": truth.target["gold"], "roots": truth.target["roots"]})


def _gold_alternative(task: Task, truth: Truth) -> str:
    """Return the alternative that the audit found, with its experiment."""
    return pretty_json(truth.target["alternative"])


_shape = partial(
    Shape, field="mechanisms", pool="pass", input_mode="prompt", check=check, facts=facts,
    check_inputs=check_inputs, check_truth=check_truth,
)  # fmt: skip
_induction = partial(_shape, kind="program", metric="heldout_exact", score=induction)

MECHANISMS: Final = _induction("mechanisms", gold=_gold)
ROOTS_MECHANISMS: Final = _induction("roots_mechanisms", gold=_gold_roots)
ALTERNATIVE_SCM: Final = _shape(
    "alternative_scm",
    "alternative",
    metric="joint_success",
    score=alternative,
    gold=_gold_alternative,
)


REPLAYSCM: Final = read_variants(
    "replayscm", Path(__file__).with_name("variants.toml"), globals().values()
)
