"""What is wanted of the scenes of a frontier exam on wild graphs, dealt slot by slot in shares."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict

from builder.causal.paths import has_bow
from builder.causalds.ask import ASKERS
from builder.causalds.exams.frontier import CHANGES, VERDICT, Slot, abstains, misleading, on_sign
from builder.causalds.plan.types import ScenePlan
from builder.causalds.plan.wanted import UNIDENTIFIED, Wanted
from builder.causalds.plan.wild_settings import WildSettings


class Wishes:
    """Keeps what is wanted of scenes in its shares, as scenes are drawn one by one.

    ``barren`` counts how often a family of variants found no graph in a stratum.
    """

    def __init__(self, settings: WildSettings) -> None:
        self.barren: Counter[tuple[str, str]] = Counter()
        self._shares = {
            key: getattr(settings, key)
            for key in ("reversed", "misled", "opposed", "indirect", "flipped")
        }
        self._found: dict[str, Counter[bool]] = {key: Counter() for key in self._shares}
        self._bows: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)

    def wishes(self, slot: Slot, stratum: str) -> Iterator[Wanted]:
        """What to want of a slot's scene, the most needed first, then with one wish turned; not to
        be turned are what its answer says of them, and that plain estimates mislead where that is
        due: another stratum is to be found then."""
        said = ASKERS[slot.key].says.get(slot.label, {})
        due = {key: self._due(key) for key in self._bearing(slot, stratum)}
        yield Wanted(**{**due, **said})
        for key, value in due.items():
            if key not in said and (key, value) != ("misled", True):
                yield Wanted(**{**due, **said, key: not value})

    def bows(self, slot: Slot, strata: Collection[str]) -> Sequence[bool | None]:
        """Whether an unmeasured cause of both ends is wanted, the most needed first: in half of the
        graphs of a slot that no effect can be identified in, and of either verdict where that is
        asked, so that it tells nothing; of no matter for other slots."""
        if slot.key != VERDICT and not set(strata) <= set(UNIDENTIFIED):
            return (None,)
        bows = self._bows[slot.key, slot.label]
        due = bows[True] < bows[False]
        return due, not due

    def count(self, slot: Slot, plan: ScenePlan) -> None:
        """Takes note of a scene that was drawn."""
        assert plan.wild is not None
        for key, value in asdict(plan.wild.wanted).items():
            if value is not None:
                self._found[key][value] += 1
        self._bows[slot.key, slot.label][has_bow(*plan.query.effect)] += 1

    def _due(self, key: str) -> bool:
        """Whether one more is wanted, for at least the share of those that are there then."""
        found = self._found[key]
        return bool(found[True] < self._shares[key] * (found.total() + 1))

    def _bearing(self, slot: Slot, stratum: str) -> Iterator[str]:
        """The wishes that bear on a slot's task."""
        family = slot.key.partition(".")[0]
        if stratum not in UNIDENTIFIED and not abstains(slot.key, slot.label):
            yield "reversed"
            if misleading(slot.key, slot.label):
                yield "misled"
                if on_sign(slot.key):
                    yield "opposed"
            if family == "mediation_effect":
                yield "indirect"
        if slot.key in CHANGES:
            yield "flipped"
