"""Scenes on wild graphs: drawn from the domains by seed, kept by stratum and by what is wanted.

A graph is a region of a domain with a treatment and an outcome in it. It is kept for a scene when
it lies in the scene's stratum, can be asked what is planned, and sketches of its equations show
that what is wanted of them can be had: so quotas that cannot be met are known before any build.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from builder.causal.motifs import Motif
from builder.causal.strata import in_stratum
from builder.causalds.make.signs import promising_strengths
from builder.causalds.plan.blueprint import Impossible
from builder.causalds.plan.config import Config
from builder.causalds.plan.deal import dealt, flags, kind_of
from builder.causalds.plan.names import KNOWLEDGE
from builder.causalds.plan.types import ScenePlan, graph_members
from builder.causalds.plan.wanted import PREFIX, UNIDENTIFIED, WILD, Wanted, Wild
from builder.causalds.plan.wild_settings import WildSettings
from builder.seeds import shuffled
from builder.words.knowledge import Domain, domains
from builder.words.naming import Part, part_of
from builder.words.regions import Region, draw_region
from builder.words.types import Kind

TRIES: Final = 800
"""Regions drawn for one scene before other wishes are tried."""

LAST_TRIES: Final = 10 * TRIES
"""Regions drawn before it is said that there is no graph, where no other wishes have one either."""

RAREST_FIRST: Final = (
    "front_door", "components", "natural_lost", "m_bias", "several_controls", "hidden_cause",
    "hedge_elsewhere", "natural_kept", "harmless",
)  # fmt: skip
"""Strata in the order in which their scenes are drawn: what few graphs can be is dealt with first,
while wishes can still be exchanged."""

PROMISE: Final = 0.1
"""What is wanted must come about for this share of the weights tried."""

_PAIRS: Final = 6
"""Pairs of treatment and outcome looked at in one region."""

Fits = Callable[[ScenePlan], bool]
"""Whether a planned scene can be asked what it is drawn for."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is decided of a wild scene before its graph: stratum, wishes, kinds and profiles."""

    wild: Wild
    treatment_kind: Kind
    outcome_kind: Kind
    continuous: str
    binary: str
    train: int


class Regions:
    """Draws graphs for the wild scenes of a split, dealing the domains evenly and no set of names
    twice, nor any that is ``taken``, to which they are added. ``blindly``: their names are dealt
    anew by whoever plans their stories, so that any will do. The order of calls matters."""

    def __init__(
        self,
        rng: np.random.Generator,
        config: Config,
        part: Part,
        taken: set[frozenset[str]] | None = None,
        *,
        blindly: bool = False,
    ) -> None:
        self._rng = rng
        self.config = config
        self.settings = config.wild or WildSettings()
        self._part = part
        self._dealt: list[Domain] = []
        self._taken = set() if taken is None else taken
        self._blindly = blindly

    def draw(self, draft: Draft, fits: Fits = lambda _: True, tries: int = TRIES) -> ScenePlan:
        """The plan of a scene. Raises :class:`Impossible` after so many ``tries``."""
        first = self._deal()
        order = [first, *shuffled(self._rng, [d for d in domains() if d is not first])]
        for number in range(tries):
            # Another domain's turn comes where the first has nothing that will do.
            domain = order[number * len(order) // tries]
            region = draw_region(self._rng, domain, self.settings.sizes)
            if region is None:
                continue
            for query in self._queries(region, domain, draft):
                plan = self._plan(query, region, domain, draft)
                if (
                    self._keeps(plan, domain)
                    and fits(plan)
                    and in_stratum(draft.wild.stratum, *query.effect)
                    and self._promising(plan)
                ):
                    self._taken.add(frozenset(dict(plan.names).values()))
                    return plan
        raise Impossible(
            "wild",
            f"no graph in {tries} has stratum {draft.wild.stratum}, a {draft.treatment_kind} "
            f"treatment, a {draft.outcome_kind} outcome and {_told(draft.wild.wanted)}; lower the "
            "share of that stratum, or of one of these",
        )

    def _deal(self) -> Domain:
        if not self._dealt:
            self._dealt = shuffled(self._rng, domains())
        return self._dealt.pop()

    def _queries(self, region: Region, domain: Domain, draft: Draft) -> Iterator[Motif]:
        """Some pairs of a treatment and an outcome that it affects, of their kinds."""
        graph = region.graph
        concepts = dict(zip(graph.nodes, region.concepts, strict=True))

        def able(kind: Kind) -> list[str]:
            return [v for v in graph.observed if kind in domain.concepts[concepts[v]].kinds]

        pairs = [
            (x, y)
            for x in able(draft.treatment_kind)
            for y in able(draft.outcome_kind)
            if x != y and y in graph.descendants(x)
        ]
        for x, y in shuffled(self._rng, pairs)[:_PAIRS]:
            yield Motif(WILD, graph, x, y)

    def _plan(self, query: Motif, region: Region, domain: Domain, draft: Draft) -> ScenePlan:
        names = {
            node: domain.concepts[place].name
            for node, place in zip(region.graph.nodes, region.concepts, strict=True)
        }
        told = self.config.words == KNOWLEDGE
        return ScenePlan(
            motif=WILD,
            structure=PREFIX + draft.wild.stratum,
            **graph_members(query.graph),
            treatment=query.treatment,
            outcome=query.outcome,
            continuous=draft.continuous,
            binary=draft.binary,
            treatment_kind=draft.treatment_kind,
            outcome_kind=draft.outcome_kind,
            variant=None,
            train=draft.train,
            test=max(20, draft.train // 8),
            views=self.config.views,
            words=self.config.words,
            diagnostics=self.config.diagnostics,
            domain=domain.key if told else None,
            names=tuple(sorted(names.items())) if told else (),
            wild=draft.wild,
        )

    def _keeps(self, plan: ScenePlan, domain: Domain) -> bool:
        """Whether the names are of the right part, and not given out."""
        if plan.domain is None or self._blindly:
            return True
        names = list(dict(plan.names).values())
        return part_of(domain.key, names) == self._part and frozenset(names) not in self._taken

    def _promising(self, plan: ScenePlan) -> bool:
        return promising_strengths(self._rng, plan)[1] >= PROMISE


def drafts(rng: np.random.Generator, config: Config, wanted: Sequence[Wild]) -> list[Draft]:
    """Kinds, profiles and numbers of rows for scenes, by the shares of the split."""
    settings, count = config.wild or WildSettings(), len(wanted)
    low, high = settings.rows
    columns = zip(
        wanted,
        map(kind_of, flags(rng, config.treatment_binary, count)),
        map(kind_of, flags(rng, config.outcome_binary, count)),
        dealt(rng, config.continuous, count),
        dealt(rng, config.binary, count),
        (int(rows) for rows in rng.integers(low, high + 1, count)),
        strict=True,
    )
    return [Draft(*column) for column in columns]


def wild_scenes(rng: np.random.Generator, config: Config, regions: Regions) -> list[ScenePlan]:
    """The wild scenes of a public-truth split, in random order. Raises :class:`Impossible`."""
    settings = config.wild
    if settings is None or not settings.scenes:
        return []
    strata = dealt(rng, settings.strata, settings.scenes)
    pairs = zip(strata, wishes(rng, settings, strata), strict=True)
    wanted = [Wild(name, wish) for name, wish in pairs]
    return shuffled(rng, drawn(regions, drafts(rng, config, wanted)))


def wishes(rng: np.random.Generator, settings: WildSettings, strata: Sequence[str]) -> list[Wanted]:
    """What is wanted of scenes of these strata. Effects that are not identifiable want nothing."""
    able = [i for i, name in enumerate(strata) if name not in UNIDENTIFIED]
    shares = (settings.reversed, settings.misled, settings.indirect)
    columns = zip(*(flags(rng, share, len(able)) for share in shares), strict=True)
    found = [Wanted()] * len(strata)
    for place, wish in zip(able, columns, strict=True):
        found[place] = Wanted(*wish)
    return found


def drawn(
    regions: Regions, wanted: Sequence[Draft], fits: Callable[[int, ScenePlan], bool] | None = None
) -> list[ScenePlan]:
    """Plans of the scenes, those of rare strata first.

    A scene for which there is no graph with what is wanted of it changes wishes with a later one,
    so that all shares are met; where no change helps, the search goes on for longer.
    ``fits(place, plan)`` says whether a plan can be asked what the scene at a place is drawn for.
    Raises :class:`Impossible`.
    """
    waiting = dict(enumerate(wanted))
    found: dict[int, ScenePlan] = {}
    for place in sorted(waiting, key=lambda place: RAREST_FIRST.index(wanted[place].wild.stratum)):
        own = waiting.pop(place)
        others = {own.wild.wanted: place}
        if own.wild.stratum not in UNIDENTIFIED:
            for later, draft in waiting.items():
                if draft.wild.stratum not in UNIDENTIFIED:
                    others.setdefault(draft.wild.wanted, later)
        problem: Impossible | None = None
        searches = ((*one, tries) for tries in (TRIES, LAST_TRIES) for one in others.items())
        for wish, later, tries in searches:
            draft = replace(own, wild=replace(own.wild, wanted=wish))
            try:
                found[place] = regions.draw(
                    draft, (lambda _: True) if fits is None else partial(fits, place), tries
                )
            except Impossible as one:
                problem = problem or one
                continue
            if later != place:
                given = waiting[later]
                waiting[later] = replace(given, wild=replace(given.wild, wanted=own.wild.wanted))
            break
        else:
            assert problem is not None
            raise problem
    return [found[place] for place in range(len(wanted))]


def _told(wanted: Wanted) -> str:
    """What is wanted, for messages."""
    wishes = {key: value for key, value in asdict(wanted).items() if value is not None}
    words = [f"{key} = {str(value).lower()}" for key, value in wishes.items()]
    return ", ".join(words) or "nothing further"
