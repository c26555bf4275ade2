"""One instance: a program with the worlds and findings of every pool it is asked in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from builder.release.attempts import Clock, Rejected
from builder.splits.seeds import stream
from builder.tracks.replayscm.determinacy import Audit, audit
from builder.tracks.replayscm.generate import Evidence, generate
from builder.tracks.replayscm.levels import add_counterexamples, add_extra, certify
from builder.tracks.replayscm.plan import EVERY_POOL, Disclosure, Level, Pool, ProgramPlan
from builder.tracks.replayscm.programs import HiddenProgram, name_of
from builder.tracks.replayscm.search import counterexample, find_alternative
from builder.tracks.replayscm.tables import Tables, stack, tabulate_worlds
from builder.tracks.replayscm.worlds import World, shift
from grader.tracks.replayscm.boolean import to_text

_BLOCK_SIZES: Final = (2, 3)


@dataclass(frozen=True, slots=True)
class Record:
    """One pool's question about the program, with the findings of its audit.

    ``counterexample`` is a legal train-exact program (roots and mechanisms) that fails held-out,
    where there is one; ``alternative`` a right answer to an Alternative-SCM task; ``shifted`` says
    whether all train-exact programs replay the shifted worlds, ``None`` without such worlds.
    """

    pool: Pool
    worlds: tuple[World, ...]
    audit: Audit
    counterexample: dict[str, Any] | None
    alternative: dict[str, Any] | None = None
    shifted: bool | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """A program and its records. ``blocks`` are roots, then runs of the latent order.

    ``shifted`` are the held-out worlds under other root distributions.
    """

    evidence: Evidence
    blocks: tuple[tuple[int, ...], ...]
    levels: Mapping[Level, tuple[World, ...]]
    records: tuple[Record, ...]
    shifted: tuple[World, ...] = ()

    @property
    def program(self) -> HiddenProgram:
        """The hidden program."""
        return self.evidence.program


def make_instance(plan: ProgramPlan, key: bytes, clock: Clock) -> Instance:
    """One attempt at an instance; raises ``Rejected``."""
    with clock("program and worlds"):
        evidence = generate(stream(key, "evidence"), plan.generation)
        blocks = draw_blocks(stream(key, "blocks"), evidence.program)
        shifted = tuple[World, ...]()
        if plan.shifted:
            shifted = shift(stream(key, "shifted"), evidence.program, evidence.heldout)
    levels = _levels(plan, key, evidence, clock)
    with clock("tables"):
        tables = {level: tabulate_worlds(worlds) for level, worlds in levels.items()}
    records = []
    for label in plan.pools:
        pool = EVERY_POOL[label]
        alternative = None
        if pool.alternative:
            with clock("alternatives"):
                alternative = find_alternative(
                    evidence.program,
                    tables[pool.level],
                    pool.disclosure,
                    stream(key, f"alternative/{label}"),
                )
            if alternative is None:
                raise Rejected("no separable alternative")
        with clock("audit"):
            found = _audited(evidence, tables[pool.level], pool.disclosure, blocks)
            held = None
            if shifted and not pool.alternative:
                again = replace(evidence, heldout=shifted)
                held = _audited(again, tables[pool.level], pool.disclosure, blocks)[0].determined
        worlds = levels[pool.level]
        records.append(Record(pool, worlds, *found, alternative, shifted=held))
    return Instance(evidence, blocks, levels, tuple(records), shifted)


def _levels(
    plan: ProgramPlan, key: bytes, evidence: Evidence, clock: Clock
) -> dict[Level, tuple[World, ...]]:
    """The training worlds of every level that some pool of the plan needs, and of those below."""
    needed = {EVERY_POOL[label].level for label in plan.pools}
    levels: dict[Level, tuple[World, ...]] = {"original": evidence.training}
    if needed != {"original"}:
        with clock("extra worlds"):
            levels["extra"] = add_extra(stream(key, "extra"), evidence)
    if needed & {"cex", "certified"}:
        with clock("cex worlds"):
            levels["cex"] = add_counterexamples(stream(key, "cex"), evidence, levels["extra"])
    if "certified" in needed:
        with clock("certified worlds"):
            levels["certified"] = certify(stream(key, "certified"), evidence, levels["cex"])
    return levels


def _audited(
    evidence: Evidence,
    tables: Tables,
    disclosure: Disclosure,
    blocks: Sequence[Sequence[int]],
) -> tuple[Audit, dict[str, Any] | None]:
    heldout = stack(evidence.heldout)
    found = audit(evidence.program, tables, heldout, disclosure, blocks)
    if found.first is None:
        return found, None
    roots, formulas = counterexample(evidence.program, tables, heldout, found.first)
    texts = {name: to_text(formula) for name, formula in formulas.items()}
    return found, {"roots": [name_of(v) for v in roots], "mechanisms": texts}


def draw_blocks(rng: np.random.Generator, program: HiddenProgram) -> tuple[tuple[int, ...], ...]:
    """The roots, then runs of two or three endogenous slots; the last run may be shorter.

    Inside a block the variables are listed by label, so the list does not show their order.
    """
    waiting = list(program.endogenous)
    blocks = [tuple(sorted(program.roots))]
    while waiting:
        count = int(rng.choice(_BLOCK_SIZES))
        blocks.append(tuple(sorted(waiting[:count])))
        waiting = waiting[count:]
    return tuple(blocks)
