"""What a comparison of two submissions says beside points: pools, and CausalDSScore."""

from collections.abc import Mapping
from typing import Any

from grader.statistics import bootstrap
from grader.statistics.paired import Pairs, difference, lines
from grader.statistics.resample import REPLICATES, Draws
from grader.tracks.causalds.figures import losses_by_reading
from grader.tracks.causalds.replicates import SMALL_EXAM, Weights

Part = Mapping[str, Any]


def compare(pairs: Pairs, first: Part, second: Part) -> dict[str, Any]:
    """Points by pool, and CausalDSScore in both readings.

    In the paper's reading each submission has pools of its own.
    """
    names = first["readings"].keys() & second["readings"].keys()
    seed = bootstrap.seed_of(a.task_id for a, _ in pairs)
    count = REPLICATES if len(pairs) <= SMALL_EXAM else 0
    weights = Weights.of(Draws.of(sorted({a.instance_id for a, _ in pairs}), seed, count))
    losses = [losses_by_reading([pair[side] for pair in pairs]) for side in (0, 1)]
    readings = {}
    for name in sorted(names):
        both = zip(*(weights.scores(side[name], name) for side in losses), strict=True)
        replicates = [a - b for a, b in both if a is not None and b is not None]
        values = [_plain(part["readings"][name]) for part in (first, second)]
        first_score, second_score = (value["causalds_score"] for value in values)
        readings[name] = {
            "causalds_score": difference(first_score, second_score, replicates),
            "first": values[0],
            "second": values[1],
        }
    return {"pools": lines(pairs, lambda score: score.pool), "readings": readings}


def _plain(reading: Part) -> dict[str, Any]:
    """A reading without the interval of one submission alone."""
    return {name: value for name, value in reading.items() if name != "causalds_score_interval"}
