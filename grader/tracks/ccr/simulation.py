"""One simulation task: the answers to one pair."""

from collections.abc import Sequence

from grader.model import Mark, Truth
from grader.shape import Task
from grader.tracks.ccr.checks import Answers
from grader.tracks.ccr.estimates import PairEstimate, estimate, resample
from grader.tracks.ccr.rae import NEAR_SHARE, VALID_SHARE, within

SHARE_TEXT = "{share:.3f} of 1000 resampled estimates are within 0.1"


def score_pair(task: Task, truth: Truth, sets: Sequence[Answers | None]) -> Mark:
    """Whether the pair is externally valid (CCR Algorithm 1, line 2)."""
    pair = estimate(truth.target, sets)
    share = valid_share(truth, sets, pair)
    valid = share >= VALID_SHARE
    extra: dict[str, float] = {f"accuracy_{rung}": value for rung, value in pair.accuracy.items()}
    extra |= {"answers": pair.answers, "invalid_answers": pair.invalid}
    extra["unreadable_factual"] = pair.unreadable_factual
    extra |= {"replicates": pair.replicates, "valid_share": share}
    if pair.estimates is None or pair.rae is None:
        message = (
            f"{pair.invalid} of {pair.answers} answers are neither yes nor no; beyond 10% there "
            "is no estimate"
        )
        return Mark("rae", None, 1.0, extra=extra, message=message)
    extra |= {f"estimate_{name}": value for name, value in pair.estimates.items()}
    extra["monotonicity_violations"] = pair.violations or 0.0
    if pair.error is not None:
        extra["standard_error"] = pair.error
    message = f"the PNS estimate has a relative error of {pair.rae:.3g}; at most 0.1 is valid"
    if pair.replicates > 1:
        near = "; nearly valid" if NEAR_SHARE <= share < VALID_SHARE else ""
        message = SHARE_TEXT.format(share=share) + f" (0.9 is valid){near}"
    message += f"; {pair.accuracy['factual']:.1%} of the factual answers are right"
    return Mark("rae", pair.rae, float(not valid), extra=extra, message=message)


def valid_share(truth: Truth, sets: Sequence[Answers | None], pair: PairEstimate) -> float:
    """The share of estimates within the threshold: of resamples, or of the only one there is."""
    if pair.estimates is None:
        return 0.0
    exact = pair.exact["pns"]
    if pair.replicates == 1:
        return float(within(exact, pair.estimates["pns"]))
    values = resample(truth.target, sets, truth.instance_id)
    return sum(within(exact, value) for value in values) / len(values)
