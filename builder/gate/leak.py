"""The leak test: does anything public beside meaning give away a private fact?

A row is an instance with one of its tasks. Held-out scores of its private fact, guessed from what
is public beside meaning (:mod:`builder.gate.public`), are compared with those under permutations
of the fact among rows whose disclosures are equal (``permutation_test_score``). A fact leaks if
p <= 0.01/m, m the number of facts tested (Bonferroni). As no p of N permutations is below
1/(N + 1), a small p is decided by fresh permutations, enough for that level.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, permutation_test_score
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from builder.gate.public import LeakSubject, disclosures, features
from builder.release.reader import (
    SplitTables,
    naming_damage,
    public_side,
    rows,
    shards,
    split_tables,
    splits,
    truth_side,
)
from builder.splits.track import Track
from builder.stories.texts import markdown_table

LEVEL: Final = 0.01
"""The chance that a release without any leak is called leaking."""
PERMUTATIONS: Final = 199
SECOND_TEST: Final = 0.05
"""A p up to here is decided by fresh permutations."""
CLOSER: Final = (1999, 0.01)
"""Permutations that come first where more are needed, and the p above which they decide."""
RESOLUTION: Final = 200
"""Fresh permutations per fact tested: the threshold then lies at two in all, the data included."""
INSTANCES: Final = 400
"""Instances behind a test, at most."""
MIN_CLASS: Final = 8
"""Rows a class needs; smaller ones are merged into the next smallest."""
FOLDS: Final = 2

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LeakRow:
    """The result of testing one fact; ``where`` is its split and track.

    ``rows`` counts the rows that share their disclosures with a row of another class. ``score`` is
    the held-out score (:class:`ClassMeans`), ``permuted`` its mean under permutation. ``p`` is (1 +
    permutations that score at least as much) / (1 + ``permutations``).
    """

    where: str
    fact: str
    rows: int
    classes: int
    score: float
    permuted: float
    permutations: int
    p: float


@dataclass(frozen=True, slots=True)
class LeakReport:
    """The results for all facts of a release; ``skipped``: where, which was not tested, and why."""

    rows: tuple[LeakRow, ...]
    skipped: tuple[tuple[str, str, str], ...]

    @property
    def threshold(self) -> float:
        """The p at or below which a fact leaks: 0.01/m, with m the number of facts tested."""
        return LEVEL / max(len(self.rows), 1)

    @property
    def leaks(self) -> tuple[LeakRow, ...]:
        """The results of the facts that leak; empty if none does."""
        return tuple(row for row in self.rows if row.p <= self.threshold)

    def markdown(self) -> str:
        """Return the section of a report: a table of results, then what was not tested and why."""
        head = ("where", "fact", "rows", "classes", "score", "permuted", "N", "p", "")
        cells = []
        for r in self.rows:
            numbers = f"{r.rows}", f"{r.classes}", f"{r.score:.4f}", f"{r.permuted:.4f}"
            verdict = "**leaks**" if r.p <= self.threshold else "clean"
            cells.append([r.where, r.fact, *numbers, f"{r.permutations}", f"{r.p:.2g}", verdict])
        note = (
            f"A fact leaks if p ≤ {LEVEL}/{len(cells)} = {self.threshold:.2g}. A row is an "
            f"instance with one task. Of a split with more than {INSTANCES}, {INSTANCES} are "
            "drawn by hashes of their public ids."
        )
        text = f"{markdown_table('Leak test', head, cells)}\n\n{note}\n"
        if not cells:
            text = (
                "## Leak test\n\nNothing could be tested, which is no failure: among so few "
                f"instances no fact has two classes of {MIN_CLASS} rows that share their "
                "disclosures. The evidence is the `GATE.md` of a large release of the same "
                "builder, such as `main`.\n"
            )
        reasons: dict[tuple[str, str], list[str]] = {}
        for where, fact, reason in self.skipped:
            reasons.setdefault((where, reason), []).append(fact)
        lines = [f"- {where}, {why}: {'; '.join(them)}" for (where, why), them in reasons.items()]
        return "\n".join([text, "Not tested:", "", *lines, ""] if lines else [text])


class ClassMeans(BaseEstimator):  # type: ignore[misc]
    """A classifier that scores a row for a class by its inner product with the class's mean.
    ``starts`` holds the first column of each feature, whose products are summed to one score."""

    def __init__(self, starts: tuple[int, ...] = (0,)) -> None:
        self.starts = starts

    def fit(self, X: Floats, y: Ints) -> "ClassMeans":
        """Learn each class's mean row of ``X``, 0 for one without; ``y`` are class numbers."""
        indicators = np.eye(int(y.max()) + 1)[y]
        self.means_ = (indicators / indicators.sum(axis=0).clip(min=1)).T @ X
        return self

    def score(self, X: Floats, y: Ints) -> float:
        """Return the mean score of the rows ``X`` for their classes ``y``; 0 if no class is known.

        It is the score by the best single feature or, if larger, the sum over all features divided
        by the root of their number. A plain sum of many idle features would hide a telling one.
        """
        known = y < len(self.means_)
        if not known.any():
            return 0.0
        told = np.add.reduceat((X[known] * self.means_[y[known]]).mean(axis=0), self.starts)
        return float(max(told.max(), told.sum() / np.sqrt(len(told))))


@dataclass(frozen=True, slots=True)
class _FactTest:
    """A fact and the rows on which it is tested: numbers of their classes (``labels``) and of their
    disclosures (``strata``), shape (n,), in the order of ``subjects``."""

    where: str
    fact: str
    subjects: Sequence[LeakSubject]
    labels: Ints
    strata: Ints


def leak_test(release: Path, known: Mapping[str, Track]) -> LeakReport:
    """Run the leak test over a release folder, on whose bytes alone the result depends. Raises
    ``UsageError`` for an absent release or private side."""
    public = public_side(release)
    places = [(track, split) for track in known for split in splits(public, track)]
    return leaks_of((sample_tables(release, *place) for place in places), known)


def sample_tables(release: Path, track: str, split: str) -> SplitTables:
    """Return the rows of up to ``INSTANCES`` instances of a track of a split, chosen by hashes of
    their ids. The prompts of a large split alone would be gigabytes."""
    paths = shards(truth_side(release, track, split), f"{track}_worlds", split)
    names = sorted((row["instance_id"] for row in rows(paths, ["instance_id"])), key=_digest)
    return split_tables(release, track, split, frozenset(names[:INSTANCES]).__contains__)


def leaks_of(chosen: Iterable[SplitTables], known: Mapping[str, Track]) -> LeakReport:
    """Run the leak test over ``chosen``, which has the rows of one track of one split each. A p
    that is small after ``PERMUTATIONS`` permutations is tested again with more."""
    tested: list[_FactTest] = []
    skipped: list[tuple[str, str, str]] = []
    for tables in chosen:
        where = f"{tables.split} {tables.track}"
        with naming_damage(f"split {tables.split}", tables.track):
            told = sorted(facts(tables, known[tables.track]).items())
        for fact, (subjects, labels) in told:
            found = _prepare_test(where, fact, subjects, labels)
            if isinstance(found, str):
                skipped.append((where, fact, found))
            else:
                tested.append(found)
    most = max(PERMUTATIONS, RESOLUTION * len(tested) - 1)
    looks = [(PERMUTATIONS, SECOND_TEST), *([CLOSER] if most > CLOSER[0] else []), (most, 1.0)]
    with threadpool_limits(1):  # how sums are split among threads would enter their last bits
        return LeakReport(tuple(_test(item, looks) for item in tested), tuple(skipped))


def facts(tables: SplitTables, track: Track) -> dict[str, tuple[list[LeakSubject], list[str]]]:
    """Return rows and labels of each private fact of a track: {name: (rows, labels)}, same order.

    Each instance has one row: for a fact about a task its first task by id, which is random, for
    one about the instance, named ``instance: ...``, that of the first view. Several tasks of an
    instance share answers and traces: as rows of their own they would look like a leak.
    """
    first: dict[str, dict[str, tuple[LeakSubject, str]]] = {}
    if track.leak_facts is None:
        return {}
    for whole in (True, False):
        order = "view" if whole else "task_id"
        for task in sorted(tables.tasks.values(), key=lambda t: (getattr(t, order), t.task_id)):
            truth, world = tables.truth[task.task_id], tables.worlds[task.instance_id]
            if (told := track.leak_facts(task, truth, world)) is None:
                continue
            scene = tables.scenes.get((task.instance_id, task.view))
            subject = LeakSubject(scene, task, told, tables.positions.get(task.task_id, -1), whole)
            for name, label in (told.hidden if whole else told.facts).items():
                members = first.setdefault(f"instance: {name}" if whole else name, {})
                if label:
                    members.setdefault(task.instance_id, (subject, label))
    return {
        name: ([subject for subject, _ in rows.values()], [label for _, label in rows.values()])
        for name, rows in first.items()
    }


def _prepare_test(
    where: str, fact: str, subjects: Sequence[LeakSubject], labels: Sequence[str]
) -> _FactTest | str:
    """Return the test of a fact, or as text the reason why it cannot be tested. Permutations change
    only rows that share their disclosures with a row of another class."""
    if len(set(labels)) < 2:
        return "constant" if labels else "no such task"
    strata = [_digest(repr(disclosures(subject))) for subject in subjects]
    names = merge_rare(labels)
    classes = Counter(stratum for stratum, _ in {*zip(strata, names, strict=True)})
    kept = [row for row, stratum in enumerate(strata) if classes[stratum] > 1]
    if not kept:
        return "determined by the disclosures"
    if Counter(names[row] for row in kept).most_common(2)[1][1] < MIN_CLASS:
        return f"fewer than two classes of {MIN_CLASS} rows that share disclosures"
    return _FactTest(
        where,
        fact,
        [subjects[row] for row in kept],
        np.unique([names[row] for row in kept], return_inverse=True)[1],
        np.unique([strata[row] for row in kept], return_inverse=True)[1],
    )


def merge_rare(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the class of each label, in order: the label, or several joined by " + ", as the two
    smallest classes are merged until each has ``MIN_CLASS`` rows or one is left."""
    names = {label: label for label in labels}
    while True:
        counts = Counter(names[label] for label in labels)
        rare = sorted(counts.items(), key=lambda item: (item[1], item[0]))
        if len(rare) < 2 or rare[0][1] >= MIN_CLASS:
            return tuple(names[label] for label in labels)
        pair = {rare[0][0], rare[1][0]}
        merged = " + ".join(sorted(pair))
        names = {label: merged if name in pair else name for label, name in names.items()}


def _test(item: _FactTest, looks: Sequence[tuple[int, float]]) -> LeakRow:
    """Test one fact by permutations. ``looks`` are pairs of a number of permutations and the p
    above which the fact is clean. They are tried in order, and the last decides."""
    X, starts = matrix([features(subject) for subject in item.subjects], item.strata)
    ids = [f"{subject.task.instance_id} {subject.task.task_id}" for subject in item.subjects]
    seed = "\n".join([item.where, item.fact, *ids])
    # Of instances each has one row: folds of rows are folds of instances.
    cv = list(KFold(FOLDS, shuffle=True, random_state=_seed(f"{seed} folds")).split(X))
    for count, acquitted in looks:
        score, permuted, p = permutation_test_score(
            ClassMeans(starts),
            X,
            item.labels,
            groups=item.strata,
            cv=cv,
            n_permutations=count,
            random_state=_seed(f"{seed} {count}"),
        )
        if p > acquitted:
            break
    classes = int(item.labels.max()) + 1
    mean = float(permuted.mean())
    return LeakRow(
        item.where, item.fact, len(item.labels), classes, float(score), mean, count, float(p)
    )


def matrix(
    rows: Sequence[Mapping[str, float | str]], strata: Ints
) -> tuple[Floats, tuple[int, ...]]:
    """Return the features of all rows as columns (n, p), and the first column of each feature.

    A text is a category. A number is a quantity: its standard score and indicators of its fifths,
    as the classifier is linear. Means within strata are subtracted, as they tell what is disclosed.
    Every feature's inner products of rows get one sum of squares: by chance alone all score alike.
    """
    blocks = []
    for name in dict.fromkeys(name for row in rows for name in row):
        values: list[Any] = [row.get(name, "") for row in rows]
        block = _categories(values)
        if not any(isinstance(value, str) for value in values):
            column = np.array(values, dtype=np.float64)
            cuts = np.unique(np.quantile(column, (0.2, 0.4, 0.6, 0.8), method="higher"))
            spread = column.std() or 1.0
            fifths = _categories(np.searchsorted(cuts, column, side="right").tolist())
            block = np.hstack([((column - column.mean()) / spread)[:, None], fifths])
        block = centre_in_strata(block, strata)
        size = float(np.linalg.norm(block.T @ block))
        if size > 1e-9:
            blocks.append(block / np.sqrt(size))
    if not blocks:
        return np.zeros((len(rows), 1)), (0,)
    widths = [block.shape[1] for block in blocks]
    return np.hstack(blocks), (0, *np.cumsum(widths[:-1]).tolist())


def centre_in_strata(columns: Floats, strata: Ints) -> Floats:
    """Return columns, shape (n, p), minus their means within each stratum."""
    sums = np.zeros((int(strata.max()) + 1, columns.shape[1]))
    np.add.at(sums, strata, columns)
    return np.asarray(columns - (sums / np.bincount(strata)[:, None])[strata])


def _categories(values: Sequence[float | str]) -> Floats:
    """Return an indicator column for each different value, shape (n, different values)."""
    names, codes = np.unique(list(map(str, values)), return_inverse=True)
    return np.eye(len(names))[codes]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _seed(text: str) -> int:
    return int(_digest(text)[:8], 16)
