"""``import-causalab``: the reference's models completed into episodes, as a release of their own.

A reference record holds the model alone. Its environment draws the records' bases from one
generator seeded 42, whatever the graph; ``reference`` seeding reproduces that stream. Manipulator
and reactor crystals there depend on a process's hash salt and the disturbance on no seed at all,
so they are drawn here from the stated seed :data:`SEED`. The mode is the environment's, ``pin``.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final, Literal

from builder.attempts import Rejected
from builder.causalab import rows
from builder.causalab.make.episode import (
    Parts,
    disturbance_json,
    draw_reactor,
    two_sides,
)
from builder.causalab.make.equations import sample_bases
from builder.causalab.make.undecided import Setup
from builder.causalab.plan.graphs import TRACK_NAME
from builder.causalab.plan.suites import IMPORTED
from builder.causalab.track import TRACK as DRAWN
from builder.importing.causalab.reference import (
    TARGET,
    Record,
    bases_behind,
    read_folder,
    read_record,
)
from builder.release.config import Draw, ExamConfig, ReleaseConfig, SplitConfig
from builder.release.instance_keys import keyed_specs
from builder.release.rows import world_row
from builder.seeds import hmac_key, public_id, stream
from builder.track import Asked, Built, InstanceSpec
from grader.errors import UsageError
from grader.io.jsonio import canonical

SEED: Final = "causal-exams import-causalab 1"
"""The seed of everything that the reference's records lack."""
OBSERVATION_SEED: Final = 42
OBSERVATIONS: Final = 2

Seeding = Literal["reference", "own"]


@dataclass(frozen=True, slots=True)
class Imported:
    """What stands in the place of a parsed TOML table: the records and how bases are drawn."""

    records: tuple[Record, ...]
    seeding: Seeding


def import_config(folder: Path, seeding: Seeding) -> ReleaseConfig:
    """The release that importing ``folder`` makes; raises ``UsageError``."""
    records, digest = read_folder(folder)
    table = {"imported_sha256": digest, "seeding": seeding}
    split = {"truth": "public", "seed": SEED, TRACK_NAME: table}
    imported = Imported(tuple(records), seeding)
    return ReleaseConfig(
        path=folder,
        name="causalab-reference",
        version="0.1.0",
        splits=(
            SplitConfig(
                "dev", "public", SEED, None, None, ((TRACK_NAME, imported),),
                (ExamConfig("imported", (Draw(TRACK_NAME, None),)),),
            ),
        ),
        document={"name": "causalab-reference", "version": "0.1.0", "splits": {"dev": split}},
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordsPlan:
    """The records of one named graph, each an episode of it."""

    records: tuple[Record, ...]
    seeding: Seeding

    @property
    def asked(self) -> Asked:
        """What the release machinery reads of the plan: a task a record."""
        return Asked((len(self.records), len(self.records)))

    def to_json(self) -> str:
        """Canonical JSON: the records as they were read."""
        read = [{"suite": record.suite, "line": record.line} for record in self.records]
        return canonical({"imported": read, "seeding": self.seeding})

    @staticmethod
    def from_json(text: str) -> "RecordsPlan":
        """What :meth:`to_json` wrote."""
        plan = json.loads(text)
        records = (
            read_record(entry["suite"], entry["line"].encode()) for entry in plan["imported"]
        )
        return RecordsPlan(tuple(records), plan["seeding"])


def plan_imported(
    config: Imported, split: str, count_root: bytes, private: bool
) -> list[InstanceSpec]:
    """One instance per named graph: its records in all files are episodes of it."""
    groups: dict[str, list[Record]] = {}
    for record in config.records:
        key = canonical([sorted(record.names), record.edges])
        groups.setdefault(key, []).append(record)
    plans = [RecordsPlan(tuple(members), config.seeding) for members in groups.values()]
    place = (TRACK_NAME, split)
    return keyed_specs(plans, place, ("graph", "graph"), count_root, private)


def build_imported(spec: InstanceSpec) -> Built:
    """The episodes of one named graph, as rows. Raises ``UsageError`` for a record that cannot."""
    plan = RecordsPlan.from_json(spec.config_json)
    records = plan.records
    tasks, truths, names = [], [], {}
    for record in records:
        key = hmac_key(spec.key, record.suite)
        try:
            parts = complete(record, key, plan.seeding)
        except Rejected as error:
            raise UsageError(f"{record.suite}/{record.graph_id}: {error}") from None
        name = public_id(rows.PREFIX, spec.id_key, record.suite)
        names[name] = f"{IMPORTED}{record.suite}"
        tasks.append(rows.task_row(spec, name, parts))
        truths.append(rows.truth_row(spec, name, parts))
    world = {
        "names": [*records[0].names, TARGET],
        "edges": records[0].edges,
        "fixed": False,
        "tasks": names,
        "graph_ids": {record.suite: record.graph_id for record in records},
    }
    row = world_row(spec, 0, f"k{len(records[0].names) + 1}", world)
    return Built({"causalab": tasks, "causalab_truth": truths, "causalab_worlds": [row]})


def complete(record: Record, key: bytes, seeding: Seeding) -> Parts:
    """Both sides of the episode of a record.

    Raises :class:`builder.attempts.Rejected` when no reactor crystal has its frequency within the
    reactor's range.
    """
    records = _records(record, key, seeding)
    trace, hidden = record.trace, record.hidden
    if trace is not None:
        records = [bases_behind(record, reading) for reading in trace.observations] + records
    manipulator, reactor = _crystals(record, key)
    budget = 0 if trace is not None else record.budget
    setup = Setup(
        equations=record.equations,
        family=record.family,
        mode="pin",
        controllable=frozenset(record.names),
        budget=budget,
        disturbed=hidden is not None,
        target_acts=record.acts,
        records=records,
        chain=trace.settings if trace is not None else (),
        manipulator=manipulator,
    )
    label = {
        "suite": record.suite,
        "setting": "reference",
        "regime": f"{len(records)}o{budget}i",
    }
    disturbance = None
    if hidden is not None:
        drawn = stream(key, "disturbance").integers(len(hidden.values), size=budget)
        steps = [hidden.values[int(place)] for place in drawn]
        disturbance = disturbance_json(hidden.nodes, hidden.values, steps)
    return two_sides(setup, label, record.displays, reactor, disturbance)


def _records(record: Record, key: bytes, seeding: Seeding) -> list[dict[str, float]]:
    """The bases of the two prior observations."""
    if record.presets:
        return [dict(bases) for bases in record.presets[:OBSERVATIONS]]
    if seeding == "reference":
        return observation_stream(record.names, OBSERVATIONS)
    rng = stream(key, "records")
    return [sample_bases(record.names, "reference", rng) for _ in range(OBSERVATIONS)]


def observation_stream(names: Sequence[str], count: int) -> list[dict[str, float]]:
    """The reference's observations: whole numbers from 0 to 100, the same for every graph."""
    generator = Random(OBSERVATION_SEED)
    return [{name: float(generator.randint(0, 100)) for name in names} for _ in range(count)]


def _crystals(record: Record, key: bytes) -> tuple[dict[str, float], dict[str, float]]:
    """The manipulator's and the reactor's bases."""
    if record.presets:
        return dict(record.presets[2]), dict(record.presets[3])
    manipulator = sample_bases(record.names, "reference", stream(key, "manipulator"))
    return manipulator, draw_reactor(record.equations.model, "reference", stream(key, "reactor"))


TRACK: Final = replace(
    DRAWN, plan=plan_imported, build=build_imported, floors=replace(DRAWN.floors, twin=None)
)
"""The track, but for where its episodes come from: there is no drawing a twin of them."""
