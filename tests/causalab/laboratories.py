"""Episodes, sessions and gradings that the tests of the laboratory share."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from builder.release.attempts import Rejection
from builder.splits.seeds import attempt_key, hmac_key, stream
from builder.splits.track import BuiltInstance
from builder.tracks.causalab.check import audit_instance
from builder.tracks.causalab.episode import EpisodeParts, draw_episode
from builder.tracks.causalab.plan import SuiteSetting, read_label, sample_graphs
from grader.laboratory import transcript
from grader.laboratory.episode import Episode
from grader.laboratory.model import Crystal, Mode, Model, Term
from grader.laboratory.session import Laboratory, replay
from grader.scoring.model import RawAnswer, Score, Truth
from grader.scoring.score import check, score
from grader.scoring.score import verify as verify_answer
from grader.scoring.shape import Task
from grader.tracks.causalab import TRACK as GRADER
from grader.tracks.causalab.shapes import sign

KEY = b"0123456789abcdef0123456789abcdef"
DISPLAYS = {
    "density": "Density",
    "moisture": "Moisture",
    "ph": "pH",
    "temperatureC": "Temperature (°C)",
    "radiation": "Radiation",
    "pressure": "Pressure",
}
TARGET = "frequency"

Equations = Mapping[str, Sequence[tuple[str, float] | tuple[str, float, float]]]


def make_row(
    equations: Equations,
    *,
    base: float = 20.0,
    names: Sequence[str] | None = None,
    mode: str = "shift",
    family: str = "linear",
    records: int = 2,
    chain: Sequence[tuple[str, float]] = (),
    budget: int | None = None,
    uncontrollable: Sequence[str] = (),
    disturbance: Mapping[str, Any] | None = None,
    manipulator: Mapping[str, float] | None = None,
    opening: bool = True,
    frequency_may_be_parent: bool = False,
    seed: int = 1,
    task_id: str = "lab-0000000000000001",
) -> dict[str, Any]:
    """An episode over the nodes of ``equations``: child to (parent, linear[, quadratic])."""
    generator = random.Random(seed)
    mentioned = [*equations, *(term[0] for terms in equations.values() for term in terms)]
    names = list(names or dict.fromkeys(name for name in mentioned if name != TARGET))
    terms = {n: [Term(t[0], *map(float, t[1:])) for t in ts] for n, ts in equations.items()}
    model = Model.make(names, TARGET, terms, base)

    def bases() -> dict[str, float]:
        return {name: float(generator.randint(0, 100)) for name in names}

    record_bases = [bases() for _ in range(records)]
    start = dict(manipulator) if manipulator else bases()
    reactor_bases = bases()
    reactor = model.read(reactor_bases)
    frequency = reactor.pop(TARGET)
    steps = []
    if chain:
        crystal = Crystal(model, record_bases[0], mode)
        for name, value in chain:
            crystal.set(name, value)
            steps.append({"set": {"name": name, "value": value}, "reading": crystal.read()})
    budget = 4 * len(names) if budget is None else budget
    if disturbance is not None and "sequence" not in disturbance:
        sequence = [generator.choice(disturbance["values"]) for _ in range(budget)]
        disturbance = {**disturbance, "sequence": sequence}
    return {
        "task_id": task_id,
        "public": {
            "variables": [
                {"name": name, "display": DISPLAYS.get(name, name), "low": 0.0, "high": 100.0,
                 "controllable": name not in uncontrollable}
                for name in names
            ],
            "target": {"name": TARGET, "display": "Resonance Frequency (Hz)"},
            "family": family,
            "mode": mode,
            "frequency_may_be_parent": frequency_may_be_parent,
            "shifts": list(disturbance["values"]) if disturbance else [],
            "records": [model.read(record) for record in record_bases],
            "chain": steps,
            "opening": model.read(start) if opening else None,
            "reactor": reactor,
            "reactor_range": [-1e9, 1e9],
            "budget": budget,
            "tolerance": 5.0,
        },
        "private": {
            "suite": f"{len(names) + 1}nodes",
            "setting": "reference",
            "regime": f"{records}o{budget}i",
            "equations": {n: [asdict(term) for term in ts] for n, ts in model.equations.items()},
            "base": base,
            "records": record_bases,
            "manipulator": start,
            "reactor": reactor_bases,
            "disturbance": dict(disturbance) if disturbance else None,
            "frequency": frequency,
        },
    }  # fmt: skip


CHAIN = {"moisture": [("density", 2.0)], TARGET: [("moisture", 3.0), ("density", 1.0)]}
"""density → moisture → frequency, and density → frequency."""


def chain_episode(**options: Any) -> Episode:
    return Episode.load(**make_row(CHAIN, **options))


def random_episode(seed: int, k: int = 5, **options: Any) -> Episode:
    """A random linear episode over ``k`` nodes with integer coefficients, the target a sink."""
    generator = random.Random(seed)
    names = list(DISPLAYS)[: k - 1]
    order = generator.sample(names, len(names))
    equations: dict[str, list[tuple[str, float]]] = {name: [] for name in names}
    for place, child in enumerate(order):
        for parent in order[:place]:
            if generator.random() < 0.5:
                equations[child].append((parent, float(generator.randint(1, 3))))
    parents = generator.sample(names, generator.randint(1, len(names)))
    equations[TARGET] = [(parent, float(generator.randint(1, 3))) for parent in parents]
    return Episode.load(**make_row(equations, names=names, seed=seed, **options))


ROOT = b"tests of causalab"


def worlds(
    name: str,
    setting: SuiteSetting = "reference",
    count: int = 4,
    mode: Mode = "shift",
    seed: str = "",
) -> Iterator[EpisodeParts]:
    """``count`` episodes of a suite, every second one with fixed properties in ``wide``."""
    suite, _ = read_label(f"{setting}/{name}")
    graphs = stream(ROOT, f"graphs/{seed}/{suite.topology}")
    for turn, topology in enumerate(sample_graphs(suite.size, count, suite.acts, graphs)):
        key = hmac_key(ROOT, f"{seed}/{suite.topology}/{turn}")
        fixed = setting == "wide" and turn % 2 == 1
        for number in range(100):  # the first that is not rejected, as the builder makes them
            with suppress(Rejection):
                own = attempt_key(key, number)
                yield draw_episode(topology, suite, setting, fixed, mode, own)
                break
        else:
            raise AssertionError("a hundred attempts rejected")


def episodes(*arguments: Any, **options: Any) -> list[Episode]:
    """What :func:`worlds` gives, as the laboratory reads it."""
    return [
        Episode.load(f"lab-{turn:016x}", parts.public, parts.private)
        for turn, parts in enumerate(worlds(*arguments, **options))
    ]


def audit(built: BuiltInstance) -> list[str]:
    (world,), tasks = built.rows["causalab_worlds"], {"tasks": built.rows["causalab"]}
    return audit_instance(world, built.rows["causalab_truth"], None, tasks)


def task_and_truth(row: dict[str, Any]) -> tuple[Task, Truth]:
    public, private, name = row["public"], row["private"], row["task_id"]
    task = Task(
        name, "instance", GRADER.variant(f"laboratory.{public['family']}"),
        private["regime"], "prompt", "", "laboratory_jsonl", f"{name}.jsonl", public,
    )  # fmt: skip
    frequency = private["frequency"]
    return task, Truth(name, "instance", False, private["suite"], frequency, 0.0, private)


def grade(task: Task, truth: Truth, answer: str | None, key: bytes | None = None) -> Score:
    raw = None if answer is None else RawAnswer(task.answer_file, answer.encode())
    checked = check(task, raw)
    if key is not None:
        checked, _ = sign(checked, task.answer_file, key)
    return score(task, truth, verify_answer(task, truth, checked))


def verify(episode: Episode, data: bytes, key: bytes | None = None) -> Laboratory:
    """The finished session that ``data`` records; raises :class:`TranscriptError`. With ``key``
    every line must carry the host's signature."""
    lines = transcript.read_lines(data)
    transcript.check_chain(lines, key)
    laboratory = replay(episode, lines)
    if laboratory.phase != "closed":
        raise transcript.TranscriptError(len(lines), "the transcript ends without its closing line")
    return laboratory


def resealed(lines: Sequence[Mapping[str, Any]], key: bytes | None = None) -> bytes:
    """The lines with indices, count and chain computed anew, as a forger without a key would."""
    done: list[dict[str, Any]] = []
    for index, line in enumerate(lines):
        content = {**transcript.content_of(line), "index": index}
        if content.get("event") == "closed":
            content["lines"] = len(lines)
        done.append(transcript.seal(content, done[-1]["digest"] if done else "", key))
    return "".join(transcript.write_line(line) for line in done).encode()
