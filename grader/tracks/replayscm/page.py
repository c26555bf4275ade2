"""The replayscm sections of the page: the disclosure ladder, training against held-out, tables."""

from collections.abc import Sequence
from typing import Final

from grader.draw.charts import Cloud, Level, lines, square
from grader.draw.page import Block, Section, filled
from grader.draw.svg import Svg
from grader.show.systems import Part, Report, parts_of
from grader.tracks.replayscm import cohorts, published, tables
from grader.tracks.replayscm.report import LADDER

_SUFFIX: Final = {"determined": "_determined", "open": "_undetermined"}
"""What rates over a subset are called in ``sql/pools.sql``."""


def sections(reports: Sequence[Report]) -> list[Section]:
    """What there is to show of those that answer something, unless their reports are redacted."""
    parts = [part for part in parts_of(reports, "replayscm") if part.get("pools")]
    if not parts:
        return []
    found: dict[str, Sequence[Block]] = {
        "TrainExact as less is disclosed": ladder(parts, "train_exact"),
        "HeldoutWorldExact as less is disclosed": ladder(parts, "heldout_world_exact"),
        "HeldoutExact as less is disclosed, records that the evidence determines": ladder(
            parts, "heldout_exact", "determined"
        ),
        "HeldoutExact as less is disclosed, records that it leaves open": ladder(
            parts, "heldout_exact", "open"
        ),
        "training against held-out replay": [train_against_heldout(parts)],
        "records that the evidence determines, and others": filled(tables.determination(parts)),
        "mechanisms by place in the prompt": filled(tables.places(parts)),
        "replay by pool": [tables.pools(parts, published=True)],
        "structure and local meaning (Tables 2, C.2, C.3)": [published.structure(parts)],
        "stages of validation (Table C.1)": [published.validation(parts)],
        "held-out replay among train-exact answers (Table C.4)": [published.conditional(parts)],
        "bootstrap intervals of replay (Tables 1, E.1, F.7)": [published.intervals(parts)],
        "paired differences of disclosure and evidence (Tables D.1, F.10)": filled(
            published.deltas(parts)
        ),
        "TrainExact on the matched programs (Table D.2)": filled(published.matched(parts)),
        "hidden roots (Tables 3, G.6–G.8)": filled(published.roots(parts)),
        "alternatives and their experiments (Tables 3, G.3, G.4)": filled(
            published.alternatives(parts)
        ),
        "alternatives found by any system (Table F.11)": filled(published.pooled(parts)),
        "alternatives found by each system (Table F.12)": filled(published.found(parts)),
        "where alternatives edit the supplied program, by depth": filled(tables.edits(parts)),
        "does a supplied program help?": filled(tables.supplied(parts)),
        "alternatives by who found one (Table G.2)": filled(cohorts.sources(parts)),
        "cohorts of programs (Tables F.1, F.3–F.5)": filled(
            cohorts.summary(parts), cohorts.pooled(parts), cohorts.by_system(parts)
        ),
        "shortcut pressure (Table F.6)": filled(cohorts.pressure(parts)),
        "alternatives found, as evidence is added": filled(tables.discovery(parts)),
    }
    return [Section(f"replayscm: {title}", blocks) for title, blocks in found.items()]


def ladder(parts: Sequence[Part], metric: str, subset: str | None = None) -> list[Svg]:
    """Figure 1: one line a system over the same programs, with 95% bootstrap intervals; of all
    records, or of those of a subset alone."""
    rungs = [rung for rung in LADDER if any(rung in part["pools"] for part in parts)]
    if len(rungs) < 2:
        return []

    def level(part: Part, rung: str) -> Level | None:
        rates = part["pools"].get(rung)
        if rates is None:
            return None
        of, at = ("", "") if subset is None else (f"_{subset}", _SUFFIX[subset])
        value = rates[f"{metric}{at}"]
        return None if value is None else Level(value, rates[f"intervals{of}"].get(metric))

    series = [(part["system"], [level(part, rung) for rung in rungs]) for part in parts]
    told = "" if subset is None else f", {subset} records"
    return [lines(f"{metric} by disclosure{told}", rungs, series, ceiling=1)]


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
