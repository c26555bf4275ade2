"""Sample one scene: a graph with a world, names, a story, data and the numbers that are true.

Every stage has a random stream of its own under the key of the attempt, so that a change in one
leaves the others as they were. Truths are population values. No row, training or held-out, enters
them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from builder.equations.association import associations
from builder.equations.mechanisms import profile
from builder.equations.quantities import BoundNotMet, Quantity, clear_effect_sign, contrast, effect
from builder.equations.sampling import NoWorldFound, sample_world
from builder.equations.world import World
from builder.graphs.identification import Effect, is_identifiable
from builder.graphs.motifs import Motif
from builder.release.arrow import round_data
from builder.release.attempts import Rejection
from builder.splits.seeds import random_order, stream
from builder.stories.llm.tell import tell_scene
from builder.stories.types import Variable
from builder.stories.verbalise import VERBALISERS, Narration, NarrationFailed, SceneToTell
from builder.tracks.causalds.design.scene_plan import ScenePlan
from grader.io.names import confusable

Column = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Truths:
    """Population quantities of a scene.

    ``levels`` are the compared treatment values (x0, x1) exactly as prompts print them. An effect
    that is not identifiable from the observed variables is never asked and not computed: None.
    ``association`` is the correlation of treatment and outcome. ``partial`` maps each of the other
    observed nodes to their linear partial correlation given it, ``change`` to that minus the
    correlation. ``outcome_sd`` is the outcome's standard deviation. The natural effects are taken
    along and past all mediators (``builder.equations.quantities``).
    """

    levels: tuple[float, float]
    association: Quantity
    partial: Mapping[str, Quantity]
    change: Mapping[str, Quantity]
    outcome_sd: Quantity
    ate: Quantity | None
    ett: Quantity | None
    nde: Quantity | None
    nie: Quantity | None


@dataclass(frozen=True, slots=True)
class Scene:
    """One hidden world with its words and its rows. ``rows`` maps observed nodes, in the clean
    table's order, to values: training rows, then held-out ones. ``replaced`` are the nodes that the
    view at hand only measures. ``key`` is the attempt's, for choices that all views share."""

    plan: ScenePlan
    world: World
    truths: Truths
    narration: Narration
    rows: Mapping[str, Column]
    key: bytes
    replaced: frozenset[str] = frozenset()

    @property
    def motif(self) -> Motif:
        """The causal graph with its treatment and outcome."""
        return self.plan.structure.query

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The story variables by node."""
        return self.narration.variables

    @property
    def treatment(self) -> Variable:
        """The treatment as the story names it."""
        return self.variables[self.motif.treatment]

    @property
    def outcome(self) -> Variable:
        """The outcome as the story names it."""
        return self.variables[self.motif.outcome]

    @property
    def other_nodes(self) -> list[str]:
        """The observed nodes beside treatment and outcome, in table order."""
        return [v for v in self.rows if v not in (self.motif.treatment, self.motif.outcome)]

    def name(self, node: str) -> str:
        """Return the story name of a node."""
        return self.variables[node].name


def sample_hidden_world(plan: ScenePlan, key: bytes) -> tuple[World, Truths]:
    """Return the world of an attempt and what is true of it. Raises :class:`Rejection` when no
    world is in range, treatment levels coincide, a truth is too inexact, or an effect is near 0."""
    motif, structure = plan.structure.query, plan.structure
    try:
        world = sample_world(
            stream(key, "world"),
            motif.graph,
            structure.kinds,
            outcome=motif.outcome,
            treatment=motif.treatment,
            profile=profile(plan.equations.continuous, plan.equations.binary),
        )
        truths = _truths(motif, world, structure.treatment_kind == "binary", key)
    except NoWorldFound:
        raise Rejection("no world in range") from None
    except BoundNotMet:
        raise Rejection("numerical error above its bound") from None
    # A steep mechanism may not notice a step between the two levels (a gate whose threshold lies
    # beyond both): the story would tell of an effect that the printed contrast does not have.
    for value in (truths.ate, truths.ett, truths.nde, truths.nie):
        if value is not None and clear_effect_sign(value, truths.outcome_sd) is None:
            raise Rejection("effect too close to zero")
    return world, truths


def _truths(motif: Motif, world: World, binary_treatment: bool, key: bytes) -> Truths:
    """Return the population quantities of a world, or raise ``Rejection`` or ``BoundNotMet``."""
    graph, x, y = motif.graph, motif.treatment, motif.outcome
    try:
        levels = contrast(world, x, stream(key, "contrast"))
    except ValueError:
        raise Rejection("treatment levels coincide") from None

    def effect_if_identifiable(name: Effect) -> Quantity | None:
        """Return the population value of an effect, None if it is not identifiable."""
        if not is_identifiable(graph, x, y, name, binary_treatment=binary_treatment):
            return None
        return effect(name, world, x, y, *levels, stream(key, name))

    ate = effect_if_identifiable("ate")
    # Without mediators the direct effect is the average one, without an edge the indirect one is:
    # the same number is published.
    through, edge = graph.mediators(x, y), x in graph.parents(y)
    others = [node for node in graph.observed_nodes if node not in (x, y)]
    return Truths(
        levels,
        *associations(world, x, y, others, stream(key, "association")),
        ate=ate,
        ett=effect_if_identifiable("ett"),
        nde=ate if edge and not through else effect_if_identifiable("nde"),
        nie=ate if through and not edge else effect_if_identifiable("nie"),
    )


def narrate(plan: ScenePlan, key: bytes) -> Narration:
    """Return the names of a scene's variables and its story. ``key`` seeds the words. Raises
    :class:`Rejection` where a model fails, ``ValueError`` (our bug) for confusable names."""
    own, told = plan.structure, plan.telling
    subject = SceneToTell(own.query.graph, own.kinds, told.naming, told.seeds, told.stored)
    try:
        if told.llm is None:
            narration = VERBALISERS[told.words](subject, key)
        else:
            narration = tell_scene(subject, told.llm, key)
    except NarrationFailed as failure:
        raise Rejection(str(failure), words=True) from None
    alike = confusable([variable.name for variable in narration.variables.values()])
    if alike:
        raise ValueError(f"an answer cannot tell these names apart: {alike}")
    return narration


def column_order(plan: ScenePlan, key: bytes) -> tuple[str, ...]:
    """Return the observed nodes in the seeded order of the released table."""
    return tuple(random_order(stream(key, "columns"), plan.structure.query.graph.observed_nodes))


def draw_rows(plan: ScenePlan, key: bytes, world: World) -> dict[str, Column]:
    """Return the observed rows by node, in table order, rounded as released, training rows first.
    Rows are independent draws. Binary columns hold 0 and 1."""
    values = world.simulate(stream(key, "data"), plan.equations.train + plan.equations.test)
    return {node: round_data(values[node]) for node in column_order(plan, key)}
