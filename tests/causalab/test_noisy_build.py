"""Building noisy suites: what they have, what is decided of them, and that others are as before."""

import copy
import json
import math
from collections.abc import Mapping
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.special import logsumexp

from baselines.causalab.host import host
from baselines.causalab.planner import planner
from baselines.shortcuts.causalab import least_squares, mimic
from builder.causalab.check import noisy
from builder.causalab.check.floors import twin
from builder.causalab.check.noisy import _frequency_evidence, _judged
from builder.causalab.noisy.cholesky import solved
from builder.causalab.noisy.notebook import Told
from builder.causalab.noisy.orders import edge_chances
from builder.causalab.noisy.planner import Planner
from builder.causalab.plan.config import Config
from builder.causalab.plan.suites import NOISY, SUITES
from builder.causalab.track import TRACK
from builder.settings import TomlTable
from builder.track import Built
from grader.errors import UsageError
from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory
from grader.tracks.causalab.scoring import score_hypothesis

Floats = NDArray[np.float64]
Rows = tuple[Built, dict[str, Any], dict[str, Any]]


def config(**table: object) -> Config:
    return TRACK.parse(TomlTable(table, "splits.dev.causalab."))


@pytest.fixture(scope="module")
def built() -> Mapping[str, Rows]:
    """An episode of two suites, public and private side: as many as a test file can afford."""
    found = {}
    for spec in TRACK.plan(config(frontier=1), "dev", b"noisy 5", False):
        if any(f"noisy/{name}" in spec.config_json for name in ("curved", "confounded")):
            made = TRACK.build(spec)
            public = json.loads(str(made.rows["causalab"][0]["inputs_json"]))
            private = json.loads(str(made.rows["causalab_truth"][0]["target_json"]))
            found[private["suite"]] = made, public, private
    return found


def audit(made: Built, public: Mapping[str, Any], private: Mapping[str, Any]) -> list[str]:
    task = {**made.rows["causalab"][0], "inputs_json": json.dumps(public)}
    truth = {**made.rows["causalab_truth"][0], "target_json": json.dumps(private)}
    return TRACK.audit(made.rows["causalab_worlds"][0], [truth], None, {"tasks": [task]})


def test_suites_of_the_paper_do_not_change_beside_noisy_ones() -> None:
    """Their bytes are published: a further exam must not move them."""
    alone = TRACK.plan(config(graphs=3, suites=["main-4", "main-5"]), "dev", b"r", False)
    both = TRACK.plan(config(graphs=3, suites=["main-4", "main-5"], frontier=2), "dev", b"r", False)
    assert both[: len(alone)] == alone
    assert len(both) == len(alone) + 2 * len(NOISY)
    graphs = {spec.config_json.partition('"names"')[2] for spec in both}
    assert len(graphs) == len(both)


@pytest.mark.parametrize("name", ["curved", "confounded"])
def test_what_a_noisy_suite_has(built: Mapping[str, Rows], name: str) -> None:
    made, public, private = built[name]
    episode = Episode.of("t", public, private)
    assert made.rows["causalab"][0]["variant"] == name
    assert made.rows["causalab"][0]["family"] == "frontier"
    assert episode.budget < len(episode.names)
    shown = [record["frequency"] for record in public["records"]]
    assert not min(shown) <= episode.frequency <= max(shown)
    assert (episode.common_cause is not None) == (name == "confounded")
    assert len(episode.undecided & episode.edges) <= 0.4 * len(episode.edges)
    assert private["accurate"] >= 0.9
    prompt = str(made.rows["causalab"][0]["prompt"])
    assert "standard deviation 2" in prompt and "$" not in prompt
    assert ("one more cause in common" in prompt) == (name == "confounded")


@pytest.mark.parametrize("name", ["curved", "confounded"])
def test_the_gate_derives_the_truth_again(built: Mapping[str, Rows], name: str) -> None:
    assert audit(*built[name]) == []


def test_the_gate_finds_what_is_wrong(built: Mapping[str, Rows]) -> None:
    """A pair called decided that no session decides, and a reading that its key does not give."""
    made, public, private = built["curved"]
    assert private["undecided"]
    all_decided = {**private, "undecided": []}
    assert any("is decided, but clear in" in line for line in audit(made, public, all_decided))
    names = [entry["name"] for entry in public["variables"]]
    pairs = [list(pair) for pair in permutations(names, 2)]
    none_decided = {**private, "undecided": pairs}
    assert any("undecided pairs are clear in" in line for line in audit(made, public, none_decided))
    moved = copy.deepcopy(public)
    moved["reactor"][
        "density" if "density" in moved["reactor"] else next(iter(moved["reactor"]))
    ] += 1
    problems = audit(made, moved, private)
    assert any("the reactor" in line for line in problems)


@pytest.mark.parametrize(("held", "problems"), [(190, 0), (198, 1)])
def test_undecided_pairs_that_a_few_sessions_hold_are_looked_at_again(
    built: Mapping[str, Rows], monkeypatch: pytest.MonkeyPatch, held: int, problems: int
) -> None:
    """What 19 of 20 sessions hold is undecided by a hair, and often held in the first twenty."""
    _, public, private = built["curved"]
    names = [entry["name"] for entry in public["variables"]]
    pairs = [[names[0], name] for name in names[1:4]]
    true = {(t["parent"], node) for node, ts in private["equations"].items() for t in ts}
    assert len(true - {*map(tuple, pairs)}) >= 0.6 * len(true)

    def odds(_public: object, _private: object, sessions: int) -> Any:
        told = np.full((sessions, len(names) + 1, len(names)), 9.0)
        told[held:] = 0.0
        return told

    monkeypatch.setattr(noisy, "odds_again", odds)
    monkeypatch.setattr(noisy, "MOSTLY", 0.0)
    found = list(noisy._decided(public, {**private, "undecided": pairs}))
    assert len(found) == problems


@pytest.mark.parametrize(("unclear", "problems"), [(20, 0), (60, 1)])
def test_a_decided_pair_that_20_sessions_leave_unclear_is_looked_at_again(
    built: Mapping[str, Rows], monkeypatch: pytest.MonkeyPatch, unclear: int, problems: int
) -> None:
    """What is clear in 90% of sessions is not clear in 15 of 20 now and then."""
    _, public, private = built["curved"]
    count = len(public["variables"])

    def odds(_public: object, _private: object, sessions: int) -> Any:
        told = np.full((sessions, count + 1, count), 9.0)
        told[: unclear if sessions == 200 else 6, 0, 1] = 0.0
        return told

    monkeypatch.setattr(noisy, "odds_again", odds)
    found = list(noisy._decided(public, {**private, "undecided": []}))
    assert len(found) == problems and all("clear in 70% of other" in line for line in found)


@pytest.mark.parametrize("name", ["curved", "confounded"])
def test_the_gates_judge_believes_of_properties_what_the_planner_does(
    built: Mapping[str, Rows], name: str
) -> None:
    """Odds of the same readings from covariances and two sums: an edge that leaves few causal
    orders must count for little there, too."""
    told = Told.of(built[name][1])
    planner, count = Planner(told, 1), len(told.names)
    places, values = planner.choose()
    planner.see(places, values, np.array([*told.reactor, 50.0])[:, None])
    book = planner.notebook
    seen, own = (np.stack([one.T for one in part], axis=1) for part in (book.readings, book.own))
    odds = _judged(told, seen, own)[0, :count]
    chances = planner.belief.edges[:count, :, 0]
    believed = np.log(np.maximum(chances, 1e-12) / np.maximum(1 - chances, 1e-12))
    open_pairs = ~np.eye(count, dtype=bool) & (np.abs(believed) < 10)
    assert open_pairs.sum() > count
    assert np.abs(odds - believed)[open_pairs].max() < 0.02


def integrated(
    told: Told, seen: Floats, chosen: tuple[int, ...], rng: np.random.Generator
) -> tuple[float, float]:
    """Log evidence of frequency's readings by importance sampling, errors by the slopes of each
    draw itself, and how many of the draws it rests on."""
    shown = np.concatenate([told.records, seen])
    left, causes = shown[:, -1], (shown[:, chosen] - 50) / 50

    def monomials(at: Floats) -> Floats:
        products = [at[:, i] * at[:, j] for i, j in combinations(range(at.shape[1]), 2)]
        return np.stack([np.ones(len(at)), *at.T, *(at**2).T, *products], axis=1)

    rows, count = monomials(causes), len(chosen)
    spreads = np.array([100.0, *[90.0] * count, *[35.0] * (rows.shape[1] - 1 - count)])
    steps = 0.01 * np.eye(count)
    slopes = [(monomials(causes + d) - monomials(causes - d)) / (0.02 * 50) for d in steps]

    def variance(bends: Floats) -> Floats:
        return np.asarray(told.noise**2 * (1 + sum((slope @ bends.T) ** 2 for slope in slopes)))

    error = np.full(len(left), 3 * told.noise**2)
    for _ in range(5):
        spread = np.linalg.inv(rows.T / error @ rows + np.diag(spreads**-2))
        mean = spread @ (rows.T @ (left / error))
        error = variance(mean)
    proposal = stats.multivariate_t(mean, 1.3 * spread, df=6, seed=rng)
    draws = proposal.rvs(2000)
    read = stats.norm.logpdf(left[:, None], rows @ draws.T, np.sqrt(variance(draws)))
    prior = stats.norm.logpdf(draws, np.zeros_like(spreads), spreads)
    worth = np.sum(read, axis=0) + np.sum(prior, axis=1) - proposal.logpdf(draws)
    total = float(logsumexp(worth))
    return total - math.log(len(draws)), math.exp(2 * total - float(logsumexp(2 * worth)))


@pytest.mark.parametrize("name", ["curved", "confounded"])
def test_the_gates_judge_weighs_frequencys_errors_as_integration_does(
    built: Mapping[str, Rows], name: str
) -> None:
    """A judge who weighed them by the slopes that the planner believed last, for any causes, called
    three decided pairs of 2,995 unclear: `main` has hundreds and was refused for one."""
    _, public, private = built[name]
    told, lab = Told.of(public), Laboratory(Episode.of("t", public, private))
    planner = Planner(told, 1)
    for _ in range(told.budget):
        (place,), (value,) = planner.choose()
        reading = lab.intervene(told.names[place], float(value))
        planner.see(np.array([place]), np.array([value]), np.array([*reading.values()])[:, None])
    seen = np.stack([one.T for one in planner.notebook.readings], axis=1)
    several = [c for k in (1, 2, 3) for c in combinations(range(len(told.names)), k)]
    odds = np.array([_frequency_evidence(told, seen, c)[0] for c in several])
    odds -= [len(chosen) * math.log(0.35 / 0.65) for chosen in several]
    rng = np.random.default_rng(3)
    found, draws = np.array([integrated(told, seen[0], c, rng) for c in several]).T
    possible = found > found.max() - 8
    assert possible.sum() > 1 and draws[possible].min() > 200
    best = found.argmax()
    assert np.abs((odds - odds[best]) - (found - found[best]))[possible].max() < 0.6


def score(episode: Episode, agent: Any) -> dict[str, Any]:
    lines = [json.loads(line) for line in host(episode, agent, "x").splitlines()]
    stated = next(line["record"] for line in lines if line["event"] == "hypothesis")
    prediction = next(line["value"] for line in lines if line["event"] == "prediction")
    return score_hypothesis(episode, stated, prediction)


def test_the_planner_does_what_a_straight_line_cannot(built: Mapping[str, Rows]) -> None:
    for made, public, private in built.values():
        episode = Episode.of(str(made.rows["causalab"][0]["task_id"]), public, private)
        good, line, copied = (score(episode, agent) for agent in (planner, least_squares, mimic))
        assert good["accurate"] == 1 and good["edge_f1"] > 0.9
        assert line["edge_f1"] < good["edge_f1"] and copied["edge_f1_full"] == 0
        assert not line["accurate"] and not copied["accurate"]


def test_sums_over_orders_are_those_over_graphs() -> None:
    """Three nodes: all orders and all parent sets written out."""

    rng = np.random.default_rng(1)
    scores = rng.uniform(0.1, 1, (3, 8, 2))
    for node in range(3):
        scores[node, [mask for mask in range(8) if mask >> node & 1]] = 0
    total, with_edge = np.zeros(2), np.zeros((3, 3, 2))
    for order in permutations(range(3)):
        before = {node: sum(1 << other for other in order[:k]) for k, node in enumerate(order)}
        for masks in product(range(8), repeat=3):
            if any(mask & ~before[node] for node, mask in enumerate(masks)):
                continue
            weight = np.prod([scores[node, mask] for node, mask in enumerate(masks)], axis=0)
            total += weight
            for node, mask in enumerate(masks):
                for parent in range(3):
                    with_edge[node, parent] += weight * (mask >> parent & 1)
    assert np.allclose(edge_chances(scores), with_edge / total)


def test_many_systems_are_solved_at_once() -> None:
    rng = np.random.default_rng(2)
    parts = rng.normal(size=(5, 5, 7))
    matrix = np.einsum("ikb,jkb->ijb", parts, parts) + np.eye(5)[:, :, None]
    right = rng.normal(size=(5, 2, 7))
    found, determinant = solved(matrix, right)
    for k in range(7):
        assert np.allclose(found[:, :, k], np.linalg.solve(matrix[:, :, k], right[:, :, k]))
        assert np.isclose(determinant[k], np.linalg.slogdet(matrix[:, :, k])[1])


def test_a_twin_builds_what_its_exam_asks() -> None:
    both = config(graphs=2, suites=["main-4", "quad-hard"], frontier=3)
    noisy = frozenset(suite.variant for suite in NOISY.values())
    assert twin(both, None, noisy) == Config(0, 0, (), "shift", 10)
    paper = twin(both, None, frozenset({"laboratory.linear"}))
    assert (paper.frontier, {suite.name for suite, _ in paper.episodes}) == (0, {"main-4"})
    assert twin(config(graphs=2), None, noisy | {"laboratory.linear"}).frontier == 0
    assert set(SUITES).isdisjoint(NOISY)


@pytest.mark.parametrize(
    "table", [{}, {"frontier": 0}, {"frontier": -1, "graphs": 2}, {"frontier": "x"}]
)
def test_bad_tables_are_named(table: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"splits\.dev\.causalab\.(frontier|graphs)"):
        config(**table)
