"""One scene as the informed analyst works on it: the graph of its story, its tables, its fits.

Everything is worked out once and kept: a scene may be asked thirty questions. Nothing depends on
which questions came before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from baselines.causalds import correlation
from baselines.causalds.calibration import completed
from baselines.causalds.correlation import Associations
from baselines.causalds.double_sampling import Tables, draws, tables_of
from baselines.causalds.estimators import ZERO, Contrast, Estimate, bootstrap_weights, summary
from baselines.causalds.identified import plan_effect
from baselines.causalds.regression import is_binary
from baselines.reader import Reading, read_story
from baselines.release import FloatArray, ShownScene
from baselines.seeded import generator
from builder.causal import LatentDAG


@dataclass
class Desk:
    """What the analyst knows of ``shown``, a scene as it is released.

    ``corrected`` says whether estimates are corrected by the calibration rows (double sampling) or
    take the predictions of measured variables for the variables themselves.
    """

    shown: ShownScene
    corrected: bool = False
    _graphs: dict[frozenset[str], LatentDAG] = field(default_factory=dict)
    _effects: dict[tuple[str, Contrast], Estimate | None] = field(default_factory=dict)
    _associations: dict[tuple[str, str], Associations] = field(default_factory=dict)

    @cached_property
    def whole(self) -> ShownScene:
        """The scene with a predicted column for each measured variable."""
        return completed(self.shown)

    @cached_property
    def tables(self) -> Tables:
        """The rows with measured variables predicted, and those in which they are known."""
        return tables_of(self.shown, self.whole, corrected=self.corrected)

    @cached_property
    def weights(self) -> FloatArray:
        """Bootstrap weights of the rows, the same for every question, shape (B, n)."""
        count = len(next(iter(self.shown.data.values())))
        rng = generator(f"bootstrap/{self.shown.instance_id}/{self.shown.view}")
        return bootstrap_weights(rng, count)

    def graph(self, observed: Sequence[str] = ()) -> LatentDAG:
        """The graph that the story tells, over ``observed`` (the table's variables where none are
        given) and the unmeasured names that it mentions."""
        known = frozenset(observed or self.whole.data)
        if known not in self._graphs:
            self._graphs[known] = graph_of(self.shown.story, sorted(known))
        return self._graphs[known]

    def sketch(self, count: int) -> tuple[tuple[str, str], ...]:
        """The direct effects that the story tells among ``count`` variables."""
        return read_story(self.shown.story, (), count).edges

    def effect(self, name: str, contrast: Contrast) -> Estimate | None:
        """The "ATE", "ETT", "NDE" or "NIE" with its interval; None where not identifiable."""
        key = name, contrast
        if key not in self._effects:
            self._effects[key] = self._estimated(name, contrast)
        return self._effects[key]

    def associations(self, x: str, y: str) -> Associations:
        """Correlations of x and y, plain and given any third variable."""
        if (x, y) not in self._associations:
            self._associations[x, y] = correlation.associations(
                self.tables, self.graph(), x, y, self.weights
            )
        return self._associations[x, y]

    def _estimated(self, name: str, contrast: Contrast) -> Estimate | None:
        binary = is_binary(self.whole.data[contrast.x])
        plan = plan_effect(self.graph(), contrast, name, binary=binary)
        if plan is None or plan.estimator is None:
            return None if plan is None else ZERO
        found = draws(self.tables, plan.names, plan.estimator, self.weights)
        return summary(found, plan.widen)


def graph_of(story: str, observed: Sequence[str]) -> LatentDAG:
    """The graph a story tells, over the observed names and the unmeasured ones it mentions."""
    reading: Reading = read_story(story, tuple(observed))
    return LatentDAG(reading.variables, reading.edges, reading.unmeasured)
