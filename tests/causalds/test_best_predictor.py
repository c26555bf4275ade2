"""The best predictor that knows a world: against closed forms, the grader, and draws."""

import copy
import json
import math
from typing import Any

import numpy as np
import pytest
from causalds_scenes import public, rows
from scipy import stats

from builder.causal.graph import LatentDAG
from builder.causalds.check.audit import audit_instance
from builder.causalds.check.predictor import _reach
from builder.causalds.make.predictor import BestPredictor, relevant_latents
from builder.causalds.rows import SCHEMAS
from builder.release.arrow import table_from_rows
from builder.scm.noise import Noise
from builder.scm.world import Node, World
from builder.seeds import stream
from grader.model import Predictions, Truth
from grader.tracks.causalds.prediction import point_predictor, prediction_interval


def linear(name: str, parents: tuple[str, ...], weights: tuple[float, ...], sd: float) -> Node:
    noise = Noise("gauss", sd, ())
    return Node(name, "continuous", parents, "linear_additive",
                {"weights": weights, "bias": 0.3}, noise)  # fmt: skip


WORLD = World(
    LatentDAG(
        ("u", "x", "y", "z"),
        (("u", "x"), ("u", "y"), ("x", "y"), ("u", "z"), ("y", "z")),
        frozenset({"u"}),
    ),
    (
        linear("u", (), (), 1.0),
        linear("x", ("u",), (0.9,), 0.7),
        linear("y", ("u", "x"), (1.1, -0.6), 0.8),
        linear("z", ("u", "y"), (-0.4, 0.7), 0.6),
    ),
)
"""An unmeasured cause of everything; the outcome has an effect that is seen."""


def moments() -> tuple[Any, Any]:
    """Mean and covariance of (u, x, y, z) by matrices."""
    b = np.zeros((4, 4))
    b[1, 0], b[2, 0], b[2, 1], b[3, 0], b[3, 2] = 0.9, 1.1, -0.6, -0.4, 0.7
    inverse = np.linalg.inv(np.eye(4) - b)
    return inverse @ np.full(4, 0.3), inverse @ np.diag([1.0, 0.49, 0.64, 0.36]) @ inverse.T


def test_in_a_gaussian_world_it_is_the_regression_on_what_is_observed() -> None:
    """Mean and central 90% interval by the formula of a conditional Gaussian, an effect of the
    outcome and an unmeasured cause included."""
    values = WORLD.simulate(stream(b"best", "rows"), 300)
    best = BestPredictor(WORLD, "y", {name: values[name] for name in ("x", "y", "z")})
    assert relevant_latents(WORLD, "y") == ("u",)
    mean, cov = moments()
    seen = np.stack([values["x"], values["z"]])
    gain = cov[2, [1, 3]] @ np.linalg.inv(cov[np.ix_([1, 3], [1, 3])])
    expected = mean[2] + gain @ (seen - mean[[1, 3]][:, None])
    spread = math.sqrt(cov[2, 2] - gain @ cov[[1, 3], 2])
    means, low, high = best.predictions
    reach = stats.norm.ppf(0.95) * spread
    for found, right in ((means, expected), (low, expected - reach), (high, expected + reach)):
        off = np.abs(found - right)
        # Quadrature is coarsest for a row in ten thousand, far out.
        assert off.mean() < 0.01 and off.max() < 0.1


def test_several_unmeasured_causes_in_a_ring_are_integrated_as_finely_as_one() -> None:
    """Each shared by two neighbours of four variables, so that none can be left out: the regression
    once more, its coefficients from the world's weights."""
    shared = {"u": ("x", "y"), "v": ("x", "a"), "w": ("a", "b"), "t": ("b", "y")}
    edges = [("x", "y"), *((u, child) for u, pair in shared.items() for child in pair)]
    names = ("u", "v", "w", "t", "a", "b", "x", "y")
    parents = {name: tuple(p for p, child in edges if child == name) for name in names}
    world = World(
        LatentDAG(names, tuple(edges), frozenset(shared)),
        tuple(
            linear(n, parents[n], (0.9, -0.7, 0.5)[: len(parents[n])], 1.0 if n in shared else 0.6)
            for n in names
        ),
    )
    assert set(relevant_latents(world, "y")) == set(shared)
    values = world.simulate(stream(b"best", "ring"), 100)
    best = BestPredictor(world, "y", {name: values[name] for name in ("a", "b", "x", "y")})
    weights = np.array([
        [dict(zip(node.parents, node.parameters["weights"], strict=True)).get(p, 0.0)  # type: ignore[arg-type]
         for p in names] for node in world.nodes
    ])  # fmt: skip
    inverse = np.linalg.inv(np.eye(8) - weights)
    cov = inverse @ np.diag([1.0] * 4 + [0.36] * 4) @ inverse.T
    mean = inverse @ np.full(8, 0.3)
    seen = np.stack([values[name] for name in ("a", "b", "x")])
    gain = cov[7, 4:7] @ np.linalg.inv(cov[4:7, 4:7])
    expected = mean[7] + gain @ (seen - mean[4:7, None])
    assert np.abs(best.predictions[0] - expected).max() < 0.02


def test_equations_that_jump_are_integrated_up_to_the_jump() -> None:
    """Two gates and a step, each fed one unmeasured cause: between their jumps nothing changes, so
    that the outcome's probability is a sum over four pieces of a Gaussian."""
    gates = {"x": (0.21, 0.1, 0.0), "y": (-0.3, 0.05, 1.0)}
    step, height, sd = 0.77, 1.4, 0.6
    nodes = [linear("u", (), (), 1.0)]
    for name, (cut, flip, no) in gates.items():
        parameters = {"cuts": (cut,), "negated": (no,), "conjunction": 1.0, "flip": flip}
        nodes.append(Node(name, "binary", ("u",), "noisy_and", parameters, None))
    steps = {"centres": (0.5,), "scales": (2.0,), "bias": 0.0, "strengths": (height,),
             "steps": (1.0,), "knots": ((step - 0.5) / 2.0,)}  # fmt: skip
    nodes.append(Node("z", "continuous", ("u",), "piecewise", steps, Noise("gauss", sd, ())))
    edges = (("u", "x"), ("u", "y"), ("u", "z"))
    world = World(LatentDAG(("u", "x", "y", "z"), edges, frozenset({"u"})), tuple(nodes))
    x, z = np.array([0.0, 1.0] * 4), np.linspace(-1.0, 2.5, 8)
    best = BestPredictor(world, "y", {"x": x, "z": z, "y": np.zeros(8)})
    ends = np.array([-np.inf, -0.3, 0.21, step, np.inf])
    u = np.array([-1.0, 0.0, 0.5, 1.0])
    share = np.diff(stats.norm.cdf(ends - 0.3))
    opens = {name: flip + (1 - 2 * flip) * ((u > cut) != bool(no))
             for name, (cut, flip, no) in gates.items()}  # fmt: skip
    of_x = np.where(x[:, None] == 1.0, opens["x"], 1.0 - opens["x"])
    weight = share * of_x * stats.norm.pdf(z[:, None], height * (u > step), sd)
    expected = (weight * opens["y"]).sum(axis=1) / weight.sum(axis=1)
    assert np.abs(best.predictions[0] - expected).max() < 1e-5


def test_its_points_are_the_graders() -> None:
    """The formula is stated here again; what the grader gives its predictions decides."""
    values = WORLD.simulate(stream(b"best", "rows"), 200)
    best = BestPredictor(WORLD, "y", {name: values[name] for name in ("x", "y", "z")})
    labels = tuple(values["y"])
    truth = Truth("t", "i", False, "", None, None,
                  {"kind": "continuous", "sd": float(np.std(labels))}, labels)  # fmt: skip

    class Asked:
        inputs = {"alpha": 0.1}  # noqa: RUF012

    means, low, high = (tuple(column) for column in best.predictions)
    answer = Predictions(means, low, high)
    for mark, points in zip(
        (point_predictor(Asked(), truth, answer), prediction_interval(Asked(), truth, answer)),  # type: ignore[arg-type]
        best.points,
        strict=True,
    ):
        assert points == pytest.approx(1 / (1 + mark.loss), abs=1e-6)


def test_what_nothing_connects_to_the_outcome_is_not_integrated() -> None:
    """An unmeasured variable behind an observed one says nothing more."""
    graph = LatentDAG(("v", "w", "y"), (("v", "w"), ("w", "y")), frozenset({"v"}))
    world = World(
        graph, (linear("v", (), (), 1.0), linear("w", ("v",), (0.9,), 0.7),
                linear("y", ("w",), (1.0,), 0.5))
    )  # fmt: skip
    assert relevant_latents(world, "y") == ()


def test_a_ceiling_that_is_not_the_worlds_is_found() -> None:
    """Everywhere, from the rows that are shown: a number's 0.02 too much or too little, an
    interval's 0.04 (what its ends cost is less sure, from some thousand draws a row)."""
    for built in public()[:6]:
        found = {
            config: table_from_rows(built.rows[config], schema).to_pylist()
            for config, schema in SCHEMAS.items()
        }
        intervals = {
            row["task_id"] for row in found["causalds"] if row["variant"] == "prediction_interval"
        }
        for up in (1, -1):
            changed = copy.deepcopy(found)
            for row in changed["causalds_truth"]:
                target = json.loads(row["target_json"])
                if "ceiling" in target:
                    interval = row["task_id"] in intervals
                    target["ceiling"] += up * (0.04 if interval else 0.02)
                    row["target_json"] = json.dumps(target, sort_keys=True)
            (label, *_) = changed["causalds_labels"]
            problems = audit_instance(
                changed["causalds_worlds"][0], changed["causalds_truth"], label,
                changed["causalds_scenes"][0],
            )  # fmt: skip
            asked = [r for r in rows(built, "_truth") if "ceiling" in r["target_json"]]
            assert len([text for text in problems if "ceiling" in text]) == len(asked)


def test_a_doubt_that_hangs_on_one_row_is_wider_than_that_of_many() -> None:
    """Of 20 rows an interval misses one or two, which make up nearly all of the error: from eight
    pieces of each row's draws that is known less well than five standard errors say."""
    one = np.array([1.0] + [0.0] * 19)
    assert _reach(one) == pytest.approx(stats.t.isf(stats.norm.sf(5.0), 7), rel=1e-6)
    assert 5.0 < _reach(np.ones(100)) / 10.0 < 5.3
    assert _reach(np.zeros(20)) == 0.0


def test_every_prediction_has_a_ceiling_above_what_its_mean_earns() -> None:
    """Who predicts the mean of the labels earns (1 + sd) / (1 + 2 sd), less an accident."""
    stated = [json.loads(row["target_json"]) for built in public() for row in rows(built, "_truth")]
    points = [
        (one["ceiling"], (1 + one["sd"]) / (1 + 2 * one["sd"]))
        for one in stated
        if one.get("kind") == "binary"
    ]
    assert points and all(0 < ceiling <= 1 for ceiling, _ in points)
    assert all(ceiling > mean - 0.02 for ceiling, mean in points)
