"""The replayscm sections of the page: the disclosure ladder, training against held-out, tables."""

from collections.abc import Sequence

from grader.draw.charts import Cloud, Level, lines, square
from grader.draw.page import Block, Section, filled
from grader.draw.svg import Svg
from grader.show.systems import Part, Report, parts_of
from grader.tracks.replayscm import tables
from grader.tracks.replayscm.report import LADDER


def sections(reports: Sequence[Report]) -> list[Section]:
    """What there is to show of those that answer something, unless their reports are redacted."""
    parts = [part for part in parts_of(reports, "replayscm") if part.get("pools")]
    if not parts:
        return []
    found: dict[str, Sequence[Block]] = {
        "TrainExact as less is disclosed": ladder(parts, "train_exact"),
        "HeldoutWorldExact as less is disclosed": ladder(parts, "heldout_world_exact"),
        "training against held-out replay": [train_against_heldout(parts)],
        "records that the evidence determines, and others": filled(tables.determination(parts)),
        "mechanisms by place in the prompt": filled(tables.places(parts)),
        "replay by pool": [tables.pools(parts, published=True)],
        "where alternatives edit the supplied program, by depth": filled(tables.edits(parts)),
        "does a supplied program help?": filled(tables.supplied(parts)),
        "alternatives found, as evidence is added": filled(tables.discovery(parts)),
    }
    return [Section(f"replayscm: {title}", blocks) for title, blocks in found.items()]


def ladder(parts: Sequence[Part], metric: str) -> list[Svg]:
    """Figure 1: one line a system over the same programs, with 95% bootstrap intervals."""
    rungs = [rung for rung in LADDER if any(rung in part["pools"] for part in parts)]
    if len(rungs) < 2:
        return []

    def level(part: Part, rung: str) -> Level | None:
        rates = part["pools"].get(rung)
        return rates and Level(rates[metric], rates["intervals"].get(metric))

    series = [(part["system"], [level(part, rung) for rung in rungs]) for part in parts]
    return [lines(f"{metric} by disclosure", rungs, series, ceiling=1)]


def train_against_heldout(parts: Sequence[Part]) -> Svg:
    """Figure D.1: TrainWorldExact (across) against HeldoutWorldExact (up), a mark per pool."""
    clouds = []
    for part in parts:
        points = [
            (
                (rates["train_world_exact"], rates["heldout_world_exact"]),
                f"{part['system']}, {pool}",
            )
            for pool, rates in part["pools"].items()
            if rates["heldout_world_exact"] is not None
        ]
        clouds.append(Cloud(part["system"], points))
    axis = "TrainWorldExact (up: HeldoutWorldExact)"
    return square("training against held-out replay", clouds, axis, diagonal=True)
