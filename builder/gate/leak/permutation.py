"""The leak test: does anything public give away a private fact beyond what is disclosed?

For each private fact one classifier is trained on the disclosures plus everything else public,
and its held-out accuracy is compared with itself after the "everything else" block is permuted
among rows with equal disclosures. A fact leaks if p <= 0.01/m, m the number of facts tested
(Bonferroni). With N permutations no p is below 1/(N + 1), so a fact whose p is small is tested
again with enough fresh permutations to decide at that level; the last p then counts. Few
permutations are enough to see that most facts are far from leaking: who passes a glance is done,
and who passes a closer look is spared the tens of thousands that a verdict against it takes.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.gate.leak.classifier import Ints, Smoothers, encode, permutation_test
from builder.gate.leak.extract import (
    LabelledFact,
    digest,
    extract,
    subjects_of,
    together,
    wanted,
)
from builder.gate.leak.facts import MIN_CLASS, merge_rare
from builder.gate.leak.features import Subject, everything_else
from builder.gate.tables import SplitTables, Wanted, split_tables, tracks
from builder.release.reader import public_side, splits
from builder.track import LeakFacts
from builder.tracks import TRACKS
from grader.errors import UsageError

LEVEL: Final = 0.01
"""The chance that a release without any leak is called leaking."""
SCENES: Final = 400
"""Scenes behind a test, at most: its cost grows with their cube."""
GLANCE: Final = 199
PASSED: Final = 0.1
"""A p above this, from so many permutations, is the verdict."""
SECOND_LOOK: Final = 0.02
"""A p up to here is decided by fresh permutations, enough of them."""
CLOSER: Final = (4999, 0.005)
"""So many come first where more are needed; a p above this is the verdict. More are needed from 26
facts on, where of what leaks at most 4 permutations in 10,000 are as accurate as the data: such a
fact passes here with a chance of 1e-19."""
RESOLUTION: Final = 200
"""Fresh permutations per fact tested: the threshold then lies at two in all, the data included."""


_NOTHING: Final = (
    f"Nothing could be tested, which is no failure: among so few instances no fact has two classes "
    f"of {MIN_CLASS} rows that share their disclosures. The evidence is the `GATE.md` of a large "
    "release of the same builder, such as `main`, and `python -m benchmarks.leak_exams`."
)


@dataclass(frozen=True, slots=True)
class LeakRow:
    """One fact tested; ``where`` is its split and track.

    ``movable`` rows share their disclosures with a row of another class.
    The classifier is trained and judged on the movable rows. ``accuracy`` is its held-out balanced
    accuracy, ``permuted`` the mean under permutation; ``p`` = (1 + permutations at least as
    accurate) / (1 + ``permutations``). See :mod:`builder.gate.leak.classifier`.
    """

    where: str
    fact: str
    rows: int
    movable: int
    classes: int
    accuracy: float
    permuted: float
    permutations: int
    p: float


@dataclass(frozen=True, slots=True)
class LeakReport:
    """All facts tested and those skipped, each with its reason."""

    rows: tuple[LeakRow, ...]
    skipped: tuple[tuple[str, str, str], ...]

    @property
    def threshold(self) -> float:
        """The p at or below which a fact leaks: 0.01/m."""
        return LEVEL / max(len(self.rows), 1)

    @property
    def leaks(self) -> tuple[LeakRow, ...]:
        """The facts that leak."""
        return tuple(row for row in self.rows if row.p <= self.threshold)

    @property
    def ok(self) -> bool:
        """No fact leaks."""
        return not self.leaks

    def markdown(self) -> str:
        """The p-values as a table, then what was not tested and why."""
        lines = [_NOTHING, ""]
        if self.rows:
            lines = [*self._head(), *map(self._line, self.rows), ""]
        reasons: dict[tuple[str, str], list[str]] = {}
        for where, fact, reason in self.skipped:
            reasons.setdefault((where, reason), []).append(fact)
        if reasons:
            lines += ["Not tested:", ""]
        for (where, reason), skipped in reasons.items():
            told = (*skipped, reason) if len(skipped) == 1 else (reason, "; ".join(skipped))
            lines.append(f"- {where}, {': '.join(told)}")
        return "\n".join(lines) + "\n"

    def _head(self) -> list[str]:
        return [
            f"Facts tested: {len(self.rows)}. A fact leaks if p ≤ {LEVEL}/{len(self.rows)} = "
            f"{self.threshold:.2g}. Rows are instances, each in one view; of more than {SCENES} "
            f"movable ones, {SCENES} are drawn by hashes of their public ids.",
            "",
            "| track | fact | rows | movable | classes | accuracy | permuted | N | p | |",
            "|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
        ]

    def _line(self, row: LeakRow) -> str:
        verdict = "**leaks**" if row.p <= self.threshold else "clean"
        return (
            f"| {row.where} | {row.fact} | {row.rows} | {row.movable} | {row.classes} | "
            f"{row.accuracy:.4f} | {row.permuted:.4f} | {row.permutations} | {row.p:.2g} | "
            f"{verdict} |"
        )


@dataclass(frozen=True, slots=True)
class Material:
    """What the leak test is given of one track and split: the facts of all instances that it looks
    at, and ``read``, which gives what the release says of that."""

    where: str
    leak_facts: LeakFacts
    facts: Sequence[LabelledFact]
    read: Callable[[Wanted], SplitTables]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A fact as arrays over the rows that it is tested on; it has so many ``rows`` in all."""

    where: str
    rows: int
    fact: LabelledFact
    labels: Ints
    strata: Ints


@dataclass(frozen=True, slots=True)
class _Tested:
    prepared: _Prepared
    subjects: Sequence[Subject]


def leak_test(
    release: Path, *, permutations: int = 999, split: str | None = None, workers: int = 1
) -> LeakReport:
    """Run the leak test over a release folder (``public`` and, for private truths, ``private``).

    It looks for the facts of every track that states some; ``split`` restricts it to one split.
    ``workers`` threads share the work; the result is a function of the release's bytes and
    ``permutations`` alone. Raises
    ``UsageError`` for an absent release, split or private side.
    """
    public = public_side(release)
    present = [(name, track) for track in tracks(public) for name in splits(public, track)]
    names = list(dict.fromkeys(name for name, _ in present))
    if split is not None and split not in names:
        choice = ", ".join(names) or "none"
        raise UsageError(f"{release}: no split '{split}' to test; choose from {choice}")
    chosen = (
        split_tables(release, track, name) for name, track in present if split in (None, name)
    )
    return leaks_of(chosen, permutations=permutations, workers=workers)


def leaks_of(
    chosen: Iterable[SplitTables], *, permutations: int = 999, workers: int = 1
) -> LeakReport:
    """The leak test of what was read, a track of a split at a time."""
    materials = (_material(tables) for tables in chosen)
    return leaks_among(materials, permutations=permutations, workers=workers)


def _material(tables: SplitTables) -> "Material | Untested":
    leak_facts, where = TRACKS[tables.track].leak_facts, f"{tables.split} {tables.track}"
    if leak_facts is None:
        return Untested(where)
    found = together([extract(tables, leak_facts)])
    return Material(where, leak_facts, found, lambda _: tables)


@dataclass(frozen=True, slots=True)
class Untested:
    """A track and split of which nothing can be tested."""

    where: str


def leaks_among(
    materials: Iterable[Material | Untested], *, permutations: int = 999, workers: int = 1
) -> LeakReport:
    """The leak test over some tracks and splits."""
    tested: list[_Tested] = []
    skipped: list[tuple[str, str, str]] = []
    for material in materials:
        where = material.where
        if isinstance(material, Untested):
            skipped.append((where, "everything", "the track names no private fact"))
            continue
        prepared = []
        for fact in material.facts:
            item = _prepare(where, fact)
            if isinstance(item, str):
                skipped.append((where, fact.name, item))
            else:
                prepared.append(item)
        if prepared:
            kept = [item.fact for item in prepared]
            subjects = subjects_of(material.read(wanted(kept)), material.leak_facts, kept)
            tested += map(_Tested, prepared, subjects)
        skipped += [(where, fact, reason) for fact, reason in material.leak_facts.untested]
    return LeakReport(_test_all(tested, permutations, workers), tuple(skipped))


def _sampled(fact: LabelledFact, kept: Ints, strata: Ints) -> Ints:
    """At most ``SCENES`` of the rows, by hashes of public ids: whole strata, but for the last."""
    marks = {int(row): digest(fact.instances[row]) for row in kept}
    first: dict[int, bytes] = {}
    for row, mark in marks.items():
        stratum = int(strata[row])
        first[stratum] = min(first.get(stratum, mark), mark)
    ranked = sorted(marks, key=lambda row: (first[int(strata[row])], marks[row]))
    return np.array(sorted(ranked[:SCENES]), dtype=np.int64)


def _prepare(where: str, fact: LabelledFact) -> _Prepared | str:
    """The fact as arrays, or why it cannot be tested.

    Only movable rows are kept. Where the disclosures determine a fact it is told openly; such rows
    would only fill both sides of the comparison with the same hits.
    """
    if not fact.labels:
        return "no such task"
    if len(set(fact.labels)) < 2:
        return "constant"
    strata, _ = encode(fact.strata)
    names = np.array(merge_rare(fact.labels), dtype=object)
    kept = _movable(names, strata)
    if len(kept) == 0:
        return "determined by the disclosures"
    kept = _sampled(fact, kept, strata)
    while True:  # dropping rows can make a class rare, merging classes can settle a stratum
        names[kept] = merge_rare(names[kept].tolist())
        left = kept[_movable(names[kept], strata[kept])]
        if len(left) == len(kept):
            break
        kept = left
    labels, classes = encode(names[kept].tolist())
    if len(classes) < 2 or int(np.bincount(labels).min()) < MIN_CLASS:
        return (
            f"fewer than two classes of {MIN_CLASS} rows among those that share their "
            "disclosures with a row of another class"
        )
    strata, _ = encode(strata[kept].tolist())
    return _Prepared(where, len(fact.labels), fact.at(kept.tolist()), labels, strata)


def _movable(names: NDArray[np.object_], strata: Ints) -> Ints:
    """The rows that share their stratum with a row of another class."""
    classes: dict[int, set[object]] = {}
    for stratum, name in zip(strata.tolist(), names, strict=True):
        classes.setdefault(stratum, set()).add(name)
    return np.array(
        [row for row, stratum in enumerate(strata.tolist()) if len(classes[stratum]) > 1],
        dtype=np.int64,
    )


def _test_all(tested: Sequence[_Tested], permutations: int, workers: int) -> tuple[LeakRow, ...]:
    """Test every fact, on ``workers`` threads.

    The linear algebra of one fact stays on one thread: how sums are split among threads would
    enter their last bits, and so the report.
    """

    def test(job: tuple[int, _Tested]) -> LeakRow:
        number, (item, subjects) = job[0], (job[1].prepared, job[1].subjects)
        # Worked out here, not beforehand: the features of all facts at once take gigabytes.
        families = everything_else(subjects)
        seed = _fingerprint(item, subjects, number)
        models = Smoothers(item.strata, families, _rng(seed, "folds"))

        for purpose, count, passed in _looks(permutations, len(tested)):
            draws = _rng(seed, purpose)
            result = permutation_test(models, item.labels, item.strata, count, draws)
            if result.p > passed:
                break
        return LeakRow(
            item.where,
            item.fact.name,
            item.rows,
            len(item.labels),
            int(item.labels.max()) + 1,
            result.accuracy,
            result.permuted_mean,
            result.permutations,
            result.p,
        )

    with threadpool_limits(1), ThreadPoolExecutor(workers) as threads:
        return tuple(threads.map(test, enumerate(tested)))


def _looks(permutations: int, facts: int) -> Iterator[tuple[str, int, float]]:
    """The looks at one of so many facts: what permutations are drawn for, how many, and the p above
    which theirs is the verdict."""
    if permutations > GLANCE:
        yield "glance", GLANCE, PASSED
        yield "1", permutations, SECOND_LOOK
    else:
        yield "glance", permutations, SECOND_LOOK
    most = max(permutations, RESOLUTION * facts - 1)
    if most > CLOSER[0]:
        yield "closer", *CLOSER
    yield "2", most, 1.0


def _fingerprint(item: _Prepared, subjects: Sequence[Subject], number: int) -> bytes:
    """A hash of the rows tested: their public ids and the fact's name."""
    parts = [item.where, item.fact.name, str(number)]
    for subject in subjects:
        parts += [subject.scene.instance_id, *(task.task_id for task in subject.tasks)]
    return digest("\n".join(parts))


def _rng(seed: bytes, purpose: str) -> np.random.Generator:
    digest = hashlib.sha256(seed + purpose.encode("utf-8")).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))
