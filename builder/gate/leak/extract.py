"""What of the facts the leak test needs from every part of a release, and all parts together.

A part says of each fact, for one view of each instance, the label and a hash of the disclosures;
together they say which instances a fact is tested on. Only what is about those is read again, and
its features are worked out.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.gate.leak.facts import OF_SCENES, Fact, facts, halves
from builder.gate.leak.features import Subject, disclosures
from builder.gate.tables import SplitTables, Wanted
from builder.track import LeakFacts

LOOKED_AT: Final = 6000
"""Instances of a track and split that the leak test looks at, or about as many: the ones whose
public ids have the smallest hashes. A test takes a few hundred of them."""

Extract = list[dict[str, Any]]
"""Of each fact ``name``, ``halved`` and ``rows``: instance, stratum (its disclosures), label, view,
and the task that it is about (empty: all of the view)."""


@dataclass(frozen=True, slots=True)
class LabelledFact:
    """A fact with all its rows, in the order of their instances: of each the stratum, the label,
    the view and the task that it is about (empty: all of the view)."""

    name: str
    instances: tuple[str, ...]
    strata: tuple[str, ...]
    labels: tuple[str, ...]
    views: tuple[str, ...]
    tasks: tuple[str, ...]

    def at(self, rows: Iterable[int]) -> "LabelledFact":
        """Some of the rows."""
        kept = list(rows)
        columns = (self.instances, self.strata, self.labels, self.views, self.tasks)
        return LabelledFact(self.name, *(tuple(column[row] for row in kept) for column in columns))


def digest(text: str) -> bytes:
    """A hash by which rows are drawn, whatever their order."""
    return hashlib.sha256(text.encode("utf-8")).digest()


def looked_at(instances: Iterable[str], of: int) -> frozenset[str]:
    """Those of some instances, of a split that has so many, that the leak test looks at."""
    most = min(1.0, LOOKED_AT / max(of, 1)) * 2**64
    return frozenset(name for name in instances if int.from_bytes(digest(name)[:8], "big") < most)


def extract(tables: SplitTables, leak_facts: LeakFacts) -> Extract:
    """The facts of some instances."""
    return [
        {
            "name": fact.name,
            "halved": fact.halved,
            "rows": [
                [
                    subject.scene.instance_id,
                    _stratum(subject),
                    label,
                    subject.scene.view,
                    "" if fact.name.startswith(OF_SCENES) else subject.tasks[0].task_id,
                ]
                for subject, label in zip(fact.subjects, fact.labels, strict=True)
            ],
        }
        for fact in map(one_view, facts(tables, leak_facts))
    ]


def together(extracts: Iterable[Extract]) -> list[LabelledFact]:
    """The facts of all parts; see :class:`Gathered`."""
    found = Gathered()
    for one in extracts:
        found.add(one)
    return found.facts()


class Gathered:
    """The facts of parts, one part after another: of most parts no rows are looked at."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[str, ...]]] = {}
        self._halved: set[str] = set()

    def add(self, one: Extract) -> None:
        """Adds what a part says."""
        for fact in one:
            self._rows.setdefault(fact["name"], []).extend(tuple(row) for row in fact["rows"])
            self._halved |= {fact["name"]} if fact["halved"] else set()

    def facts(self) -> list[LabelledFact]:
        """The facts in the order in which parts name them first; a fact about instances that says
        what another one says (the motif, where nothing is grafted) is left out."""
        found: list[LabelledFact] = []
        said: set[tuple[str, ...]] = set()
        for name in _ordered(list(self._rows)):
            columns = list(zip(*sorted(self._rows[name]), strict=True)) or [()] * 5
            labels = halves(columns[2]) if name in self._halved else columns[2]
            if name.startswith(OF_SCENES) and labels in said:
                continue
            said |= {labels} if name.startswith(OF_SCENES) else set()
            found.append(LabelledFact(name, columns[0], columns[1], labels, *columns[3:]))
        return found


def wanted(facts: Iterable[LabelledFact]) -> Wanted:
    """What must be read for some facts."""
    rows = {
        row for fact in facts for row in zip(fact.instances, fact.views, fact.tasks, strict=True)
    }
    return Wanted(
        frozenset(instance for instance, _, _ in rows),
        frozenset((instance, view) for instance, view, task in rows if not task),
        frozenset(task for _, _, task in rows if task),
    )


def subjects_of(
    tables: SplitTables, leak_facts: LeakFacts, wanted: Sequence[LabelledFact]
) -> list[list[Subject]]:
    """The subjects of some facts, each in the order of its instances."""
    found = {
        fact.name: {subject.scene.instance_id: subject for subject in fact.subjects}
        for fact in map(one_view, facts(tables, leak_facts))
    }
    return [[found[fact.name][name] for name in fact.instances] for fact in wanted]


def one_view(fact: Fact) -> Fact:
    """The fact on one view of each scene, the one whose public name has the smallest hash.

    Views of a scene share its ids, its story and the fact itself: with several in the test, one
    would give away the other, in the data but not under permutation.
    """
    chosen: dict[str, tuple[bytes, int]] = {}
    for place, subject in enumerate(fact.subjects):
        scene = subject.scene.instance_id
        mark = (digest(f"{scene}/{subject.scene.view}"), place)
        chosen[scene] = min(chosen.get(scene, mark), mark)
    kept = sorted(place for _, place in chosen.values())
    return Fact(
        fact.name,
        tuple(fact.subjects[place] for place in kept),
        tuple(fact.labels[place] for place in kept),
        fact.halved,
    )


def _stratum(subject: Subject) -> str:
    return digest(repr(disclosures(subject))).hex()[:16]


def _ordered(names: list[str]) -> list[str]:
    """Facts about instances first; the others as they came."""
    return sorted(names, key=lambda name: not name.startswith(OF_SCENES))
