"""Reference agents for the laboratory of causalab. They see its replies, as any agent does.

``solver`` experiments until one model explains everything, ``observer`` never experiments,
``greedy-stop`` commits to the first model that fits.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from baselines.causalab_fit import Notebook, explain
from baselines.exam import Answers, OpenedExam, Solver, TrackSystems
from causal_exams.laboratory.session import Session
from grader.errors import UsageError
from grader.laboratory.episode import Episode
from grader.laboratory.hypothesis import write_hypothesis
from grader.scoring.shape import Task
from grader.tracks.causalab.shapes import episode_of


class RefusedRequest(RuntimeError):
    """The error that an agent meets where the laboratory refuses its request: the agent's fault."""


class Client:
    """An agent's end of a session; ``public`` is the episode as it is shown to agents."""

    def __init__(self, session: Session) -> None:
        self.public: Mapping[str, Any] = session.greeting()["episode"]
        self._session = session

    def ask(self, **request: Any) -> Mapping[str, Any]:
        """Return the laboratory's reply to a request; raises :class:`RefusedRequest` if refused."""
        reply = self._session.request(request)
        if not reply["ok"]:
            raise RefusedRequest(f"{request}: {reply['error']}")
        return reply


Agent = Callable[[Client], None]

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


def solver(client: Client) -> None:
    """Set every property in turn, each time to another level, until one model explains all.

    One setting a property, three for a parabola. Then, while a node has two explanations or a
    coefficient is not precise, further settings, until a whole round has gained nothing. Under a
    disturbance, disclosed or inferred, it spends the budget.
    """
    notebook = Notebook(client.public)
    count = len(notebook.controllable)
    first = (3 if notebook.quadratic else 1) * count
    best, gained = (0, -math.inf), 0
    for turn in range(notebook.budget):
        if turn >= first and not notebook.disturbed:
            found = explain(notebook)
            spreads = {node: fitted.spread for node, fitted in found.fits.items()}
            precise = [n for n, s in spreads.items() if n not in found.doubtful and s <= PRECISE]
            state = len(precise), -max(spreads.values())
            if state[0] > best[0] or state[1] > GAIN * best[1]:
                best, gained = max(state, best), turn
            settled = state[0] == len(notebook.nodes) or turn - gained >= count
            if settled and not notebook.disturbed:
                break
        _experiment(client, notebook, turn, turn // count)
    _commit(client, notebook)


def _level(notebook: Notebook, entry: Mapping[str, Any], turn: int) -> float:
    """Return the value for a property's ``turn``-th setting (from 0): the end of its range far from
    the last reading, then the other end, then values between."""
    low, high = float(entry["low"]), float(entry["high"])
    # Off whole numbers: a setting at the property's base, which may be whole, would show nothing.
    near = MARGIN * (high - low)
    low, high = round(low + near, 2), round(high - near, 2)
    if turn == 0:
        assert notebook.last is not None
        return low if notebook.last[entry["name"]] > (low + high) / 2 else high
    if turn == 1:
        return high if notebook.setting(entry["name"]) == low else low
    return round(low + STEPS[(turn - 2) % len(STEPS)] * (high - low), 2)


def observer(client: Client) -> None:
    """Predict by regression on the prior records; strong correlations become edges."""
    public = client.public
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
    if len(records) > 2:
        with np.errstate(invalid="ignore"):  # NaN for a property that is the same in all
            correlations = np.abs(np.corrcoef(values, rowvar=False))
        pairs = combinations(range(len(names)), 2)
        edges = [(names[i], names[j]) for i, j in pairs if correlations[i, j] >= CORRELATED]
    slopes = dict(zip(names, map(float, coefficients), strict=True))
    terms = {name: (slope, 0.0) for name, slope in slopes.items() if abs(slope) > 0.05}
    value = base + sum(slope * public["reactor"][name] for name, slope in slopes.items())
    hypothesis = write_hypothesis(target, public["family"], edges, base, terms)
    _predict(client, value, hypothesis)


def greedy_stop(client: Client) -> None:
    """Experiment until a model fits all readings, or the budget is spent, then commit to it."""
    notebook = Notebook(client.public)
    for turn in range(notebook.budget):
        _experiment(client, notebook, turn, 0)
        if all(found.is_feasible for found in explain(notebook).fits.values()):
            break
    _commit(client, notebook)


def _experiment(client: Client, notebook: Notebook, turn: int, level: int) -> None:
    """Set the ``turn``-th controllable property, in turns, to its value of a level."""
    entry = notebook.controllable[turn % len(notebook.controllable)]
    name, value = entry["name"], _level(notebook, entry, level)
    notebook.add(name, value, client.ask(op="intervene", name=name, value=value)["reading"])


def _commit(client: Client, notebook: Notebook) -> None:
    """Send the prediction by the fitted equation of frequency, and the model as hypothesis."""
    public, found = client.public, explain(notebook)
    terms = found.fits[notebook.target].coefficients
    value = base = found.fits[notebook.target].bases.get("frequency", 0.0)
    for parent, (linear, quadratic) in terms.items():
        shown = public["reactor"][parent]
        value += linear * shown + quadratic * shown * shown
    hypothesis = write_hypothesis(notebook.target, public["family"], found.edges, base, terms)
    _predict(client, value, hypothesis)


def _predict(client: Client, value: float, hypothesis: Mapping[str, Any]) -> None:
    """Send ``value``, clipped to the reactor's range, as prediction with the final hypothesis."""
    low, high = client.public["reactor_range"]
    client.ask(op="predict", value=min(max(value, low), high), hypothesis=hypothesis)


def run_session(episode: Episode, agent: Agent, submission: str) -> str:
    """Let ``agent`` experiment here; return the transcript, which names ``submission``."""
    session = Session(episode, submission=submission)
    agent(Client(session))
    return session.laboratory.transcript_text()


def laboratory_solver(name: str, agent: Agent, *, strict: bool = True) -> Solver:
    """Return a solver that lets ``agent`` experiment as the submission ``name``.

    Where the truth is private it answers nothing, or if ``strict`` raises ``UsageError``.
    """

    def answers(exam: OpenedExam, tasks: Sequence[Task]) -> Answers:
        if exam.private is not None or exam.release.has_public_truth(exam.split):
            truths = exam.truths(tasks)
            for task in tasks:
                yield task, run_session(episode_of(task, truths[task.task_id]), agent, name)
        elif strict:
            raise UsageError(
                f"{name}: a laboratory runs on the truth, which is private in split {exam.split}; "
                "give the private side with --private DIR, or let the maintainer host "
                "`python -m causal_exams lab`"
            )

    return answers


SYSTEMS: Final = TrackSystems(
    naive=laboratory_solver("naive", observer, strict=False),
    informed=laboratory_solver("informed", solver, strict=False),
    own={
        name: (note, laboratory_solver(name, agent))
        for name, agent, note in (
            ("solver", solver, "experiments until one model explains every reading"),
            ("observer", observer, "regression on the prior records, no experiment"),
            ("greedy-stop", greedy_stop, "commits to the first model that fits"),
        )
    },
    sees_truth=True,
)
