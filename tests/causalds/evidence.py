"""Are the truths of causalds scenes true?

:func:`check_truths` holds every stored number against plain Monte Carlo with another evaluator,
other noise samplers and another seed.
"""

import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from builder.equations.association import CORRELATION_BOUND, SPREAD_BOUND
from builder.equations.quantities import EFFECT_BOUND, Quantity
from builder.equations.world import World
from builder.release.attempts import Rejected
from builder.splits.seeds import attempt_key, stream
from builder.splits.settings import TomlTable
from builder.tracks.causalds.check.equations import Estimate, Population
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.make.scene import Truths, sample_hidden_world
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import MAX_ATTEMPTS, TRACK, plan_of_attempt

BATCHES = 4
"""Independent populations of 65,536 units behind each high-precision estimate."""

TABLE: Mapping[str, object] = {"composition": "full"}


@dataclass(frozen=True)
class Drawn:
    """One scene without rows and words: its plan, world, truths and key."""

    plan: ScenePlan
    world: World
    truths: Truths
    key: bytes


def scenes(count: int, seed: str, **changes: object) -> Iterator[Drawn]:
    """``count`` scenes as the builder would draw them, its rejections included."""
    config = TRACK.parse(TomlTable({"scenes": count, **TABLE, **changes}, "evidence."))
    for spec in plan_scenes(config, "evidence", seed.encode(), False):
        for attempt in range(MAX_ATTEMPTS):
            plan = plan_of_attempt(ScenePlan.from_json(spec.config_json), attempt)
            key = attempt_key(spec.key, attempt)
            try:
                world, truths = sample_hidden_world(plan, key)
            except Rejected:
                continue
            yield Drawn(plan, world, truths, key)
            break


@dataclass
class TruthReport:
    """Counts over all stored numbers."""

    scenes: int = 0
    compared: int = 0
    within: int = 0
    over_bound: int = 0
    zeros: int = 0
    bad_zeros: int = 0
    worst: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """The required rates."""
        enough = self.within >= 0.995 * self.compared
        return enough and not self.over_bound and not self.bad_zeros


def check_truths(count: int, seed: str = "truths 1", batches: int = BATCHES) -> TruthReport:
    """Every stored number of some scenes against an independent estimate."""
    report = TruthReport()
    for number, scene in enumerate(scenes(count, seed)):
        report.scenes += 1
        record = json.loads(json.dumps(scene.world.to_json()))
        populations = [
            Population(record, stream(f"evidence {number}/{b}".encode(), "population"))
            for b in range(batches)
        ]
        for kind, stored, bound, find in _stored(scene):
            report.kinds[kind] = report.kinds.get(kind, 0) + 1
            report.over_bound += stored.se > bound
            if stored.source == "structural_zero":
                report.zeros += 1
                report.bad_zeros += stored.value != 0.0 or stored.se != 0.0
            _compare(report, stored, [find(population) for population in populations])
    return report


Find = Callable[[Population], Estimate]


def _stored(scene: Drawn) -> Iterator[tuple[str, Quantity, float, Find]]:
    """Every stored number: its kind, itself, its bound, and how units of a population give it."""
    truths, x, y = scene.truths, scene.plan.structure.treatment, scene.plan.structure.outcome
    levels, between = truths.levels, tuple(sorted(scene.world.graph.mediators(x, y)))
    yield "association", truths.association, CORRELATION_BOUND, lambda p: p.correlation(x, y)
    sd = truths.outcome_sd
    yield "outcome sd", sd, SPREAD_BOUND * sd.value, lambda p: p.sd(y)
    for z, given in truths.partial.items():
        yield "partial", given, CORRELATION_BOUND, partial(_given, x=x, y=y, z=z, place=0)
    for z, given in truths.change.items():
        yield "change", given, CORRELATION_BOUND, partial(_given, x=x, y=y, z=z, place=1)
    effects: tuple[tuple[str, Quantity | None, Find], ...] = (
        ("ate", truths.ate, lambda p: p.ate(x, y, levels)),
        ("ett", truths.ett, lambda p: p.ett(x, y, levels)),
        ("nde", truths.nde, lambda p: p.natural("nde", x, y, between, levels)),
        ("nie", truths.nie, lambda p: p.natural("nie", x, y, between, levels)),
    )
    for kind, stored, find in effects:
        if stored is not None:
            yield kind, stored, EFFECT_BOUND * (1.0 + abs(stored.value)), find


def _given(population: Population, *, x: str, y: str, z: str, place: int) -> Estimate:
    return population.partial_and_change(x, y, z)[place]


def _compare(report: TruthReport, stored: Quantity, found: Sequence[Estimate]) -> None:
    report.compared += 1
    gap = abs(stored.value - statistics.fmean(one.value for one in found))
    combined = math.hypot(stored.se, math.hypot(*(one.se for one in found)) / len(found))
    ratio = 0.0 if gap <= 1e-9 else gap / max(combined, 1e-12)
    report.within += ratio <= 4.0
    report.worst = max(report.worst, ratio)
