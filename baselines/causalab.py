"""Reference agents for the laboratory. They see what any agent sees: its JSON lines.

``solver`` experiments until one model explains everything, ``observer`` never experiments,
``greedy-stop`` commits to the first model that fits.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from baselines.causalab_fit import Explanation, Notebook, explain
from baselines.taking import Answers, OpenedExam, Solver, TrackSystems, nothing
from causal_exams.laboratory.front_ends import reply_to
from causal_exams.laboratory.session import Session
from grader.errors import UsageError
from grader.io.jsonio import canonical
from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import write_hypothesis
from grader.opening import open_release
from grader.scoring.shape import Task
from grader.tracks.causalab.scoring import episode_of


class RefusedRequest(RuntimeError):
    """The laboratory refused a request; no reference agent makes one that it refuses."""


class Lines:
    """A laboratory behind a function from request line to reply line."""

    def __init__(self, greeting: Mapping[str, Any], exchange: Callable[[bytes], bytes]) -> None:
        self.public: Mapping[str, Any] = greeting["episode"]
        self._exchange = exchange

    def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The reply to one request; raises :class:`RefusedRequest`."""
        reply: Mapping[str, Any] = json.loads(self._exchange(canonical(request).encode("utf-8")))
        if not reply["ok"]:
            raise RefusedRequest(f"{canonical(request)}: {reply['error']}")
        return reply


Agent = Callable[[Lines], None]

PRECISE: Final = 8e-4
"""The solver experiments on until every coefficient's relative standard error is below this."""
GAIN: Final = 0.95
"""A round has gained something if the worst standard error fell below this share of itself."""
MARGIN: Final = 0.0037
"""How far from the ends of its range a property is set, as a share of the range."""
STEPS: Final = (0.5, 0.25, 0.75, 0.1, 0.9)
"""Levels after both ends were tried, as shares of the range."""
CORRELATED: Final = 0.8
"""The observer joins two properties whose records correlate at least this much."""


def solver(laboratory: Lines) -> None:
    """Every property in turn, each time at another level, until all is settled.

    Linear: one setting a property. Quadratic: three, since a parabola needs three points. Then,
    while a node has two explanations or a coefficient is not precise, further settings; it stops
    when a whole round has gained nothing: more of the same will not.
    """
    public = laboratory.public
    notebook = Notebook(public)
    controllable = [entry for entry in public["variables"] if entry["controllable"]]
    first = (3 if notebook.quadratic else 1) * len(controllable)
    best, gained = (0, -math.inf), 0
    for turn in range(int(public["budget"]) if controllable else 0):
        choice = _in_turn(notebook, controllable, turn)
        if turn >= first and not notebook.disturbed:
            found = explain(notebook)
            state = (found.settled(PRECISE), -max(fitted.spread for fitted in found.fits.values()))
            if state[0] > best[0] or state[1] > GAIN * best[1]:
                best, gained = max(state, best), turn
            if state[0] == len(notebook.nodes) or turn - gained >= len(controllable):
                break
        _experiment(laboratory, notebook, *choice)
    _commit(laboratory, notebook, explain(notebook))


def _in_turn(
    notebook: Notebook, controllable: Sequence[Mapping[str, Any]], turn: int
) -> tuple[str, float]:
    """Every property in turn, each time at another level."""
    entry = controllable[turn % len(controllable)]
    return entry["name"], _level(notebook, entry, turn // len(controllable))


def _ends(entry: Mapping[str, Any]) -> tuple[float, float]:
    """Near both ends of a range, off whole numbers: a setting at the base would show nothing."""
    low, high = float(entry["low"]), float(entry["high"])
    return round(low + MARGIN * (high - low), 2), round(high - MARGIN * (high - low), 2)


def _level(notebook: Notebook, entry: Mapping[str, Any], turn: int) -> float:
    """Far from where the property is at first, then the other end, then between."""
    low, high = _ends(entry)
    if turn == 0:
        assert notebook.last is not None
        return low if notebook.last[entry["name"]] > (low + high) / 2 else high
    if turn == 1:
        return high if notebook.setting(entry["name"]) == low else low
    return round(low + STEPS[(turn - 2) % len(STEPS)] * (high - low), 2)


def observer(laboratory: Lines) -> None:
    """Frequency regressed on the properties of the records; correlated properties are joined."""
    public = laboratory.public
    notebook = Notebook(public)
    names, target, records = notebook.properties, notebook.target, public["records"]
    coefficients, base = np.zeros(len(names)), 0.0
    edges: list[tuple[str, str]] = []
    if records:
        values = np.array([[record[name] for name in names] for record in records])
        frequencies = np.array([record[target] for record in records])
        centred = values - values.mean(axis=0)
        coefficients = np.linalg.lstsq(centred, frequencies - frequencies.mean(), rcond=None)[0]
        base = float(frequencies.mean() - values.mean(axis=0) @ coefficients)
        edges = _correlated(names, centred)
    terms = {
        name: (float(c), 0.0) for name, c in zip(names, coefficients, strict=True) if abs(c) > 0.05
    }
    value = base + sum(float(c) * public["reactor"][n]
                       for n, c in zip(names, coefficients, strict=True))  # fmt: skip
    hypothesis = write_hypothesis(target, public["family"], edges, base, terms)
    predict(laboratory, value, hypothesis)


def _correlated(names: list[str], centred: "np.ndarray[Any, Any]") -> list[tuple[str, str]]:
    """Pairs of strongly correlated properties, directed in the order of listing."""
    if len(centred) < 3:
        return []
    sizes = np.sqrt((centred**2).sum(axis=0))
    sizes[sizes == 0] = np.inf
    correlations = np.abs(centred.T @ centred) / np.outer(sizes, sizes)
    return [
        (names[i], names[j])
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if correlations[i, j] >= CORRELATED
    ]


def greedy_stop(laboratory: Lines) -> None:
    """One experiment at a time, and the first model that fits is taken for the truth."""
    public = laboratory.public
    notebook = Notebook(public)
    controllable = [entry for entry in public["variables"] if entry["controllable"]]
    for turn in range(int(public["budget"]) if controllable else 0):
        entry = controllable[turn % len(controllable)]
        _experiment(laboratory, notebook, entry["name"], _level(notebook, entry, 0))
        if all(found.feasible for found in explain(notebook).fits.values()):
            break
    _commit(laboratory, notebook, explain(notebook))


def _experiment(laboratory: Lines, notebook: Notebook, name: str, value: float) -> None:
    reply = laboratory.ask({"op": "intervene", "name": name, "value": value})
    notebook.add(name, value, reply["reading"])


def _commit(laboratory: Lines, notebook: Notebook, found: Explanation) -> None:
    """Predict by the fitted equation of frequency, and state the whole model."""
    public = laboratory.public
    equation = found.fits[notebook.target]
    base = equation.bases.get("frequency", 0.0)
    value = base
    for parent, (linear, quadratic) in equation.coefficients.items():
        shown = public["reactor"][parent]
        value += linear * shown + quadratic * shown * shown
    hypothesis = write_hypothesis(
        notebook.target, public["family"], found.edges, base, equation.coefficients
    )
    predict(laboratory, value, hypothesis)


def predict(laboratory: Lines, value: float, hypothesis: Mapping[str, Any]) -> None:
    """The prediction, brought into the reactor's range, with the final hypothesis."""
    low, high = laboratory.public["reactor_range"]
    laboratory.ask({"op": "predict", "value": min(max(value, low), high), "hypothesis": hypothesis})


def host(episode: Episode, agent: Agent, submission: str) -> str:
    """The transcript of one session in this process."""
    session = Session(episode, submission=submission)
    agent(Lines(session.greeting(), lambda line: reply_to(session, line).encode("utf-8")))
    return session.laboratory.transcript_text()


def in_laboratory(name: str, agent: Agent, otherwise: Solver | None = None) -> Solver:
    """A solver that lets ``agent`` experiment, as the submission ``name``.

    ``otherwise`` takes the tasks where the truth, on which a laboratory runs, is not at hand;
    without it that is a ``UsageError``.
    """

    def answers(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
        if exam.private is None and not exam.release.has_public_truth(exam.split):
            if otherwise is None:
                raise UsageError(
                    f"{name}: a laboratory runs on the truth, which is private in split "
                    f"{exam.split}; give the private side with --private DIR, or let the "
                    "maintainer host `python -m causal_exams lab`"
                )
            yield from otherwise(exam, tasks)
            return
        release = exam.release
        if exam.private is not None:
            release = open_release(release.public.path, exam.private)
        truths = release.truths(exam.split, tasks)
        for task in tasks:
            yield task, host(episode_of(task, truths[task.task_id]), agent, name)

    return answers


SYSTEMS: Final = TrackSystems(
    naive=in_laboratory("naive", observer, otherwise=nothing),
    informed=in_laboratory("informed", solver, otherwise=nothing),
    own={
        "solver": (
            "experiments until one model explains every reading",
            in_laboratory("solver", solver),
        ),
        "observer": (
            "regression on the prior records, no experiment",
            in_laboratory("observer", observer),
        ),
        "greedy-stop": (
            "commits to the first model that fits",
            in_laboratory("greedy-stop", greedy_stop),
        ),
    },
    sees_truth=True,
)
