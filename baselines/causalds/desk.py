"""One scene as the informed analyst works on it: the graph of its story, its tables, its fits.

Everything is worked out once and kept: a scene may be asked thirty questions. Nothing depends on
which questions came before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from baselines.causalds.calibration import completed
from baselines.causalds.correlation import Associations, associations
from baselines.causalds.double_sampling import Tables, draws, tables_of
from baselines.causalds.estimators import ZERO, Contrast, Estimate, bootstrap_weights, summary
from baselines.causalds.forms import ends
from baselines.causalds.identified import plan_effect
from baselines.causalds.regression import is_binary
from baselines.release import FloatArray, ShownScene
from baselines.solving import generator
from builder.causal.graph import LatentDAG
from builder.reader import Reading, read_story
from grader.shape import Task


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
            self._graphs[known] = _graph(self._read(sorted(known)))
        return self._graphs[known]

    def sketch(self, task: Task) -> tuple[tuple[str, str], ...]:
        """The direct effects that the story tells among the variables it is asked about."""
        return self._read((), task.inputs["variables"]).edges

    def correlation(self, task: Task) -> float:
        """That of treatment and outcome."""
        return self._associated(task).plain.value

    def partial(self, task: Task, given: str) -> float:
        """The same given a third variable."""
        return self._associated(task).partial[given].value

    def change(self, task: Task, given: str) -> float:
        """By how much the third variable changes it."""
        return self._associated(task).change[given].value

    def label(self, value: float, zero: str) -> str:
        """The sign; a value that the graph says is nothing is exactly zero."""
        return zero if value == 0 else "+" if value > 0 else "-"

    def effect(self, task: Task, name: str) -> Estimate | None:
        """The "ATE", "ETT", "NDE" or "NIE" with its interval; None where not identifiable."""
        low, high = float(task.inputs["x0"]), float(task.inputs["x1"])
        contrast = Contrast(*ends(task), low, high, name == "ETT")
        key = name, contrast
        if key not in self._effects:
            self._effects[key] = self._estimated(name, contrast)
        return self._effects[key]

    def _read(self, known: Sequence[str], count: int | None = None) -> Reading:
        """What the story tells, of the names given and of the others that it mentions."""
        return read_story(self.shown.story, known, count)

    def _associated(self, task: Task) -> Associations:
        """Correlations of treatment and outcome, plain and given any third variable."""
        x, y = ends(task)
        if (x, y) not in self._associations:
            self._associations[x, y] = associations(self.tables, self.graph(), x, y, self.weights)
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
    return _graph(read_story(story, observed))


def _graph(reading: Reading) -> LatentDAG:
    return LatentDAG(reading.variables, reading.edges, reading.unmeasured)
