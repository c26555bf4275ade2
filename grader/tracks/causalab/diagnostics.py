"""Figures of a session from verified readings: trajectory, use of evidence, early stopping."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import EMPTY, Hypothesis
from grader.laboratory.model import ROUNDING
from grader.laboratory.session import Laboratory
from grader.tracks.causalab.evidence import Evidence, class_size
from grader.tracks.causalab.metrics import hypothesis_metrics, tolerance

Reading = Mapping[str, float]
Trajectory = list[dict[str, Any]]

_PROGRESS: Final = (
    "edge_f1", "skeleton_f1", "shd", "freq_edge_f1", "root_f1", "coefficient_f1",
)  # fmt: skip
SHARES: Final = (0, 25, 50, 75)
"""Percents of a session's interventions at which its hypothesis is scored, besides its end."""


def trajectory(episode: Episode, steps: Sequence[tuple[int, Hypothesis]]) -> Trajectory:
    """Return a row of metrics, with its ``step``, for the last hypothesis stated at each step.

    ``steps`` are (interventions made so far, hypothesis) in the order given. Steps without a
    hypothesis have no row, and rows are sorted by step.
    """
    return [
        {"step": step, **hypothesis_metrics(episode, hypothesis)}
        for step, hypothesis in sorted(dict(steps).items())
    ]


def progress(
    episode: Episode, steps: Sequence[tuple[int, Hypothesis]], used: int
) -> dict[str, float]:
    """Return the metrics of the hypotheses held after shares of the session's own interventions.

    ``edge_f1_at_50`` is the all-edge F1 of the hypothesis held when half of the ``used``
    interventions were made; before the first hypothesis it is that of an empty one.
    """
    rows = {row["step"]: row for row in trajectory(episode, steps)}
    empty = hypothesis_metrics(episode, EMPTY)
    figures: dict[str, float] = {}
    for share in SHARES:
        held = [step for step in rows if step <= share * used / 100]
        row = rows[max(held)] if held else empty
        figures |= {f"{name}_at_{share}": row[name] for name in _PROGRESS}
    return figures


def targets_with_seen_effect(evidence: Evidence) -> list[frozenset[str]]:
    """Return, for each number of interventions from 0 on, the properties whose effect when set is
    seen.

    Effects persist, so a reading shows its last intervention against the reading before it. The
    first intervention on a crystal nobody read before shows nothing by itself. Properties set in a
    given chain are seen from the beginning.
    """
    public = evidence.episode.public
    seen = {step["set"]["name"] for step in public["chain"]}
    found = [frozenset(seen)]
    baseline = public["opening"] is not None
    for name, _, _ in evidence.settings:
        if baseline:
            seen.add(name)
        baseline = True
        found.append(frozenset(seen))
    return found


def equivalence_sizes(evidence: Evidence) -> list[int | None]:
    """Return the size of the interventional equivalence class for each number of interventions from
    0 on.

    Each is None for graphs of more than ``MAX_NODES`` nodes. Where the agent is told that the
    target acts on nothing, every edge at it is known to point at it, just as every edge at a
    property that was set is known.
    """
    episode = evidence.episode
    known = set() if episode.public["frequency_may_be_parent"] else {episode.target}
    return [
        class_size(episode.nodes, episode.edges, targets | known)
        for targets in targets_with_seen_effect(evidence)
    ]


def equation_fits(evidence: Evidence, hypothesis: Hypothesis) -> list[bool]:
    """Return, for each of ``evidence.readings``, whether the hypothesised target equation fits it.

    It does not where the hypothesis predicts nothing. A residual is allowed the reading's rounding
    and what a coefficient within tolerance may cause, and the bound of a hidden disturbance where
    one can shift the target.
    """
    episode = evidence.episode
    fits = []
    for step, reading in evidence.readings:
        predicted = hypothesis.predict(reading)
        if predicted is None:
            fits.append(False)
            continue
        bound = _rounding_bound(episode, hypothesis, step, reading)
        fits.append(abs(reading[episode.target] - predicted) <= bound)
    return fits


def _rounding_bound(episode: Episode, hypothesis: Hypothesis, step: int, reading: Reading) -> float:
    """Return the residual that a right equation may have at a reading after ``step`` settings."""
    bound, hidden = 2 * ROUNDING, episode.disturbance
    for parent, pair in hypothesis.terms.items():
        for power, value in enumerate(pair, start=1):
            if value:
                slack = tolerance(episode, parent, power, value)
                bound += slack * abs(reading[parent]) ** power
    if hidden is not None and step and episode.target in hidden.nodes:
        bound += hidden.largest_shift
    return bound


def graph_fits(evidence: Evidence, hypothesis: Hypothesis) -> bool:
    """Return whether each property has some equation over the hypothesised graph that fits."""
    return all(
        evidence.explained_by(node, sorted(a for a, b in hypothesis.edges if b == node))
        for node in evidence.episode.names
    )


def diagnose(evidence: Evidence, hypothesis: Hypothesis, *, committed: bool) -> dict[str, Any]:
    """Return the figures of budget, equivalence, consistency and premature stopping.

    ``committed`` is whether a prediction was made. A hypothesis is consistent if its own target
    equation fits every reading and each property has some equation over its graph that does. It is
    premature to commit, with budget left, to one that is not, or while the interventions made leave
    other graphs equivalent to the true one. ``premature`` is None without a prediction, and where
    nothing can be set: who has no experiment cannot stop too early.
    """
    budget = evidence.episode.budget
    fits = equation_fits(evidence, hypothesis)
    graph_ok = graph_fits(evidence, hypothesis)
    consistent = graph_ok and all(fits)
    class_size = equivalence_sizes(evidence)[-1]
    undone = not consistent or (class_size is not None and class_size > 1)
    return {
        "budget": budget,
        "used": evidence.steps,
        "budget_share": evidence.steps / budget if budget else None,
        "class_size": class_size,
        "consistency": sum(fits) / len(fits) if fits else None,
        "consistent": int(consistent),
        "graph_consistent": int(graph_ok),
        "premature": int(evidence.steps < budget and undone) if committed and budget else None,
    }


def session_figures(laboratory: Laboratory) -> dict[str, Any]:
    """Return the figures of :func:`diagnose` and :func:`progress`, and counts; yes is 1."""
    evidence = Evidence(laboratory.episode, laboratory.readings)
    committed = laboratory.prediction is not None
    return {
        **diagnose(evidence, laboratory.final_hypothesis, committed=committed),
        **progress(laboratory.episode, laboratory.hypotheses, evidence.steps),
        "predicted": int(committed),
        "hypothesised": int(bool(laboratory.hypotheses)),
        "parse_failures": laboratory.parse_failures,
        "refusals": laboratory.refusals,
    }
