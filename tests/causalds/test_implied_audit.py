"""The second look at a story that implies its graph: what it states, and that the proof holds."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from causalds_scenes import rows, specs

from builder.causal.graph import LatentDAG
from builder.causalds.check.hidden import Hidden
from builder.causalds.check.implied import audit_implied, audit_moved
from builder.causalds.plan.implied_shares import told_implied
from builder.causalds.plan.types import ScenePlan, graph_members
from builder.causalds.track import TRACK
from grader.errors import UsageError

Record = dict[str, Any]


@cache
def _row() -> tuple[str, str]:
    """The id and the record of a scene whose proof takes steps."""
    plain = {"continuous": {"linear_additive": 1}, "binary": {"single_regulator_logistic": 1}}
    for spec in specs(
        scenes=3, rows={"train": 60, "test": 20}, motifs={"diamondcut": 1}, profiles=plain,
        implied=[0.9, 0.9],
    ):  # fmt: skip
        (row,) = rows(TRACK.build(spec), "_worlds")
        if json.loads(row["world_json"])["proof"]:
            return row["instance_id"], row["world_json"]
    raise AssertionError("no such scene")


def _dropped(record: Record) -> None:
    record["statements"].pop(0)


def _reversed(record: Record) -> None:
    (a, b), *_ = [tuple(edge) for edge in _edges(record)]
    record["statements"].append(["direct", b, a])


def _unclosed(record: Record) -> None:
    record["statements"] = [what for what in record["statements"] if what[0] != "closure"]


def _turned(record: Record) -> None:
    a, b, there, under = record["proof"][0]
    record["proof"][0] = [a, b, not there, under]


def _shortened(record: Record) -> None:
    record["proof"].pop()


def _edges(record: Record) -> list[list[str]]:
    names = {node: variable["name"] for node, variable in record["variables"].items()}
    return [[names[a], names[b]] for a, b in record["world"]["edges"]]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_dropped, "do not leave the scene's graph alone"),
        (_reversed, "is not true of the graph"),
        (_unclosed, "nothing unnamed acts on two"),
        (_turned, "the proof that it states is none"),
        (_shortened, "the proof that it states is none"),
    ],
)
def test_statements_and_their_proof_are_gone_through_again(
    change: Callable[[Record], None], told: str
) -> None:
    """Nothing is wrong with what was built; one thing changed is seen."""
    instance, text = _row()
    assert audit_implied(Hidden.read(instance, text)) == []
    record = json.loads(text)
    change(record)
    problems = audit_implied(Hidden.read(instance, json.dumps(record)))
    assert any(told in problem for problem in problems), problems


def test_a_graph_that_no_story_can_imply_is_refused_while_it_is_planned() -> None:
    """In one line that names the key and the structure."""
    graph = LatentDAG(("A", "U", "X", "Y"), (("A", "U"), ("U", "X"), ("X", "Y")), frozenset("U"))
    plan = replace(
        ScenePlan.from_json(specs(scenes=1)[0].config_json),
        **graph_members(graph), structure="odd", motif="chain",
    )  # fmt: skip
    with pytest.raises(UsageError) as caught:
        told_implied(np.random.default_rng(0), (0.6, 0.9), [plan], "x.toml: splits.dev.implied")
    assert str(caught.value) == (
        "x.toml: splits.dev.implied: an implied story has no unmeasured variable with a cause (odd "
        "of chain); ask for other structures, or remove the key"
    )


@pytest.mark.parametrize(("share", "problems"), [(0.745, 0), (0.755, 0), (0.85, 1)])
def test_a_threshold_beside_a_quartile_is_no_faint_effect(share: float, problems: int) -> None:
    """Samples cross it or do not as their quartiles fall; one far above the quartile is faint."""
    causes = np.linspace(0.0, 1.0, 1001)

    def steps(_: str, __: str, levels: tuple[float, float]) -> SimpleNamespace:
        low, high = levels
        return SimpleNamespace(value=float(high > share) - float(low > share))

    population = SimpleNamespace(
        factual={"a": causes}, ate=steps, sd=lambda _: SimpleNamespace(value=0.4)
    )
    hidden = SimpleNamespace(
        record={"statements": [["moves", "Rain", "Flood"]]},
        names={"a": "Rain", "b": "Flood"},
        population=population,
    )
    assert len(list(audit_moved(cast(Hidden, hidden)))) == problems
