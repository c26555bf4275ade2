"""The second derivation of ceilings, where unmeasured variables do not matter."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from builder.causalds.check.equations import Array
from builder.causalds.check.graph import graph_of
from builder.causalds.check.hidden import Hidden
from builder.causalds.check.numbers import DRAWS, Population
from builder.causalds.check.predictor import _connected, _looked, ceiling_again
from builder.seeds import stream


def world(edges: str, latent: str, **sds: float) -> Hidden:
    """A linear Gaussian world of the outcome y: "ab ac" is a -> b and a -> c; every weight is 1,
    every noise scale 1 or as given."""
    names = dict.fromkeys(edges.replace(" ", ""))
    nodes = []
    for name in names:
        parents = [edge[0] for edge in edges.split() if edge[1] == name]
        noise = {"family": "gauss", "scale": sds.get(name, 1.0), "shape": []}
        law = {"weights": [1.0] * len(parents), "bias": 0.0}
        nodes.append({"name": name, "kind": "continuous", "parents": parents, "noise": noise,
                      "mechanism": "linear_additive", "parameters": law})  # fmt: skip
    record = {"world": {"nodes": nodes}}
    population = Population(record["world"], stream(b"again", edges))
    graph = graph_of([(edge[0], edge[1]) for edge in edges.split()], names)
    spelt = {name: name for name in names}
    return Hidden("s", record, graph, frozenset(latent), "x", "y", spelt, (0, 1), False, population)


@pytest.mark.parametrize(
    ("edges", "latent", "matter"),
    [
        ("ux xy ua ub", "u", ""),
        ("ux uy xy", "u", "u"),
        ("ux vx vy xy", "uv", "uv"),
        ("ux vx xy", "uv", ""),
        ("xy yz uz uv", "uv", "u"),
        ("xy yz yv", "v", ""),
        ("uv vy xy", "uv", "uv"),
    ],
)
def test_what_the_row_separates_from_the_outcome_is_left_out(
    edges: str, latent: str, matter: str
) -> None:
    """By the rules of d-separation: forks, common effects that are seen, effects of the outcome;
    and what has no effect that is seen says nothing."""
    assert _connected(world(edges, latent)) == frozenset(matter)


def test_unmeasured_causes_that_do_not_matter_leave_a_ceiling_as_sure_as_none() -> None:
    """Six sharp effects of an unmeasured variable would leave one draw of thousands all the weight.
    All causes of the outcome are seen, so that its ceilings follow from its own equation."""
    hidden = world("ua ub uc ud ue uf ax xy", "u", y=0.5, **dict.fromkeys("abcdef", 0.01))
    rows: dict[str, Array] = {n: column[:150] for n, column in hidden.population.factual.items()}
    labels = rows.pop("y")
    del rows["u"]
    off, scale = labels - rows["x"], 1.0 + float(labels.std())
    reach = 0.5 * stats.norm.ppf(0.95)
    missed = np.clip(np.abs(off) - reach, 0.0, None)
    losses = float(np.sqrt((off**2).mean())), float((2 * reach + 20.0 * missed).mean())
    for interval, loss in zip((False, True), losses, strict=True):
        found, error = ceiling_again(hidden, rows, labels, interval)
        assert abs(found - scale / (scale + loss)) < min(error, 0.005) and error < 0.015


def test_where_a_first_look_says_too_little_there_is_a_second() -> None:
    """An unmeasured cause of the outcome is seen by three effects: of the draws at first too few
    fit a row to tell a ceiling that is 0.03 off. The right one is a conditional Gaussian's."""
    hidden = world("uy ua ub uc", "u", y=0.5, **dict.fromkeys("abc", 0.25))
    rows: dict[str, Array] = {n: column[:150] for n, column in hidden.population.factual.items()}
    labels = rows.pop("y")
    del rows["u"]
    precision = 1.0 + 3 / 0.25**2
    mean = (rows["a"] + rows["b"] + rows["c"]) / 0.25**2 / precision
    reach = math.sqrt(0.25 + 1 / precision) * stats.norm.ppf(0.95)
    missed = np.clip(np.abs(labels - mean) - reach, 0.0, None)
    scale = 1.0 + float(labels.std())
    right = scale / (scale + float((2 * reach + 20.0 * missed).mean()))
    found, error = ceiling_again(hidden, rows, labels, True)
    assert _looked(hidden, rows, labels, True, 0)[1] > 0.03 > error + abs(found - right)
    assert abs(found - right) < error


def test_rows_that_only_rare_values_explain_are_seen_at_a_second_look() -> None:
    """In five rows an unmeasured cause is six standard deviations off, where no draw of thousands
    gets. The right ceiling is again a conditional Gaussian's."""
    hidden = world("ua uy", "u", a=0.3, y=0.5)
    rows: dict[str, Array] = {n: column[:150].copy() for n, column in
                              hidden.population.factual.items()}  # fmt: skip
    labels = rows.pop("y")
    del rows["u"]
    rows["a"][:5], labels[:5] = 6.0, 6.0
    off = labels - rows["a"] / (1.0 + 0.3**2)
    scale = 1.0 + float(labels.std())
    right = scale / (scale + math.sqrt(float((off**2).mean())))
    assert abs(_looked(hidden, rows, labels, False, 0)[0] - right) > 0.005
    closer = replace(hidden, population=Population(hidden.record["world"], stream(b"again", "b"),
                                                   2 * DRAWS))  # fmt: skip
    found, error = ceiling_again(closer, rows, labels, False)
    assert abs(found - right) < 0.002 < error < 0.02
