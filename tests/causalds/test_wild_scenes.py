"""Scenes on wild graphs: quotas by stratum, conditions on the equations, and what is asked."""

import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from causalds_scenes import ROOT, asked, rows, specs, table, world

from builder.causal.graph import LatentDAG
from builder.causal.identification import is_identifiable
from builder.causal.motifs import Motif
from builder.causal.strata import in_stratum
from builder.causalds.check.audit import audit_instance
from builder.causalds.check.hidden import Hidden
from builder.causalds.check.numbers import Population
from builder.causalds.check.wild import audit_wild
from builder.causalds.check.wild_agreement import main
from builder.causalds.make.looks import Look, acceptable, misleads
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.plan.types import ScenePlan
from builder.causalds.plan.wanted import Wanted
from builder.causalds.track import TRACK, WANTED_ATTEMPTS, plan_of_attempt
from builder.scm.affine import affine_moments
from builder.scm.noise import draw_noise_law
from builder.scm.regression import correlation
from builder.scm.world import Node, World
from builder.settings import TomlTable
from builder.track import Built, InstanceSpec
from builder.words.knowledge import domain
from grader.errors import UsageError

PLAIN = {"continuous": {"linear_additive": 1}, "binary": {"single_regulator_logistic": 1}}
SOME = dict.fromkeys(("several_controls", "hidden_cause", "hedge_elsewhere", "natural_kept"), 1)


@cache
def planned() -> tuple[InstanceSpec, ...]:
    """Two ordinary scenes and eight wild ones."""
    wild = {"scenes": 8, "strata": SOME, "measured": [7, 9], "latent": [1, 2], "rows": [200, 300]}
    return tuple(specs(scenes=2, profiles=PLAIN, wild=wild))


@cache
def built() -> Built:
    """The first wild scene without a binary end."""
    for spec in planned():
        plan = ScenePlan.from_json(spec.config_json)
        if plan.wild and {plan.treatment_kind, plan.outcome_kind} == {"continuous"}:
            return TRACK.build(spec)
    raise AssertionError("no such scene")


def _wild() -> list[ScenePlan]:
    plans = [ScenePlan.from_json(spec.config_json) for spec in planned()]
    return [plan for plan in plans if plan.wild is not None]


def test_quotas_by_stratum_are_met_exactly() -> None:
    """Each graph lies in the stratum that it is reported under, and is of the size asked for."""
    plans = _wild()
    found = Counter(plan.structure for plan in plans)
    assert found == {f"wild_{name}": 2 * share for name, share in SOME.items()}
    for plan in plans:
        assert plan.wild is not None and in_stratum(plan.wild.stratum, *plan.query.effect)
        assert 7 <= len(plan.query.graph.observed) <= 9 and 1 <= len(plan.latent) <= 2
        assert 2.0 <= 2 * len(plan.edges) / len(plan.nodes) <= 3.5
        assert not any(plan.query.graph.parents(u) for u in plan.latent)


def test_wishes_have_their_shares_among_identifiable_scenes() -> None:
    """Wishes that one stratum cannot grant change hands; their numbers stay."""
    wanted = [
        plan.wild.wanted
        for plan in _wild()
        if plan.wild is not None and is_identifiable(*plan.query.effect, "ate")
    ]
    assert len(wanted) == 4
    assert sum(bool(one.reversed) for one in wanted) == 2
    assert sum(bool(one.misled) for one in wanted) == 4


def test_other_scenes_are_what_they_are_without_wild_ones() -> None:
    """A split that asks for wild scenes keeps the keys and plans of all others."""
    plain = specs(scenes=2, profiles=PLAIN)
    assert [spec.config_json for spec in plain] == [s.config_json for s in planned()[:2]]
    assert [spec.key for spec in plain] == [spec.key for spec in planned()[:2]]
    assert "wild" not in plain[0].config_json


def test_wild_scenes_can_be_told_by_implication_alone() -> None:
    """Their own key leaves the stories of all others as they are."""
    wild = {"scenes": 2, "strata": {"harmless": 1}, "implied": [0.6, 0.9], "misled": 0.0}
    plans = [
        ScenePlan.from_json(spec.config_json) for spec in specs(scenes=2, profiles=PLAIN, wild=wild)
    ]
    assert [plan.implied for plan in plans[:2]] == [None, None]
    assert sorted(plan.implied or 0.0 for plan in plans[2:]) == [0.6, 0.9]


def test_a_wild_graph_is_an_induced_part_of_its_domain() -> None:
    """Every direct effect and every absence of one is told by the knowledge graph."""
    sets = set()
    for plan in _wild():
        assert plan.domain is not None
        names, clauses = dict(plan.names), domain(plan.domain).mechanism_clauses
        told = {(a, b) for a, b in clauses if {a, b} <= set(names.values())}
        assert told == {(names[a], names[b]) for a, b in plan.edges}
        sets.add(frozenset(names.values()))
    assert len(sets) == len(_wild()), "no set of names is given out twice"


def test_the_world_does_what_its_plan_wants() -> None:
    """Signs, sizes and dominance hold of the published numbers."""
    record = world(built())
    plan = ScenePlan.from_json(json.dumps(record["plan"]))
    assert plan.wild is not None
    told: dict[str, Any] = record["quantities"]
    ate, r, sd = (told[key] for key in ("ate", "association", "outcome_sd"))
    if ate is None:
        assert plan.wild.stratum in ("hedge_elsewhere", "natural_kept")
        return
    assert 0.15 <= abs(ate["value"]) / sd["value"] <= 1.5
    assert (ate["value"] * r["value"] < 0) is plan.wild.wanted.reversed


def test_every_truth_of_a_wild_scene_has_its_second_derivation() -> None:
    """The same audit as for motifs, nothing left out; and collider questions of both kinds."""
    found = built()
    (shown,), (hidden,) = rows(found, "_scenes"), rows(found, "_worlds")
    labels = next(iter(rows(found, "_labels")), None)
    assert audit_instance(hidden, rows(found, "_truth"), labels, shown) == []
    bias = [
        truth for key, _, truth in asked(found) if key == "bias_diagnostic.collider_bias_boolean"
    ]
    answers = {json.loads(row["target_json"])["accepted"][0] for row in bias}
    assert len(answers) == len(bias) > 0


@pytest.mark.parametrize(
    ("wild", "message"),
    [
        ({"scene": 1}, "wild.scene: unknown key; did you mean 'scenes'?"),
        ({"strata": {"mbias": 1}}, "wild.strata.mbias: unknown key; did you mean 'm_bias'?"),
        ({"strata": {"m_bias": 0}}, "wild.strata: no weight is positive"),
        ({"measured": [9, 8]}, "wild.measured: 9 is more than 8; swap them"),
        ({"measured": [7, 13]}, "wild.measured: must be two whole numbers from 3 to 12"),
        ({"reversed": 2}, "wild.reversed: must be a number from 0 to 1"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line(wild: dict[str, object], message: str) -> None:
    """Before any graph is drawn."""
    with pytest.raises(UsageError) as caught:
        TRACK.parse(TomlTable(table(wild=wild), "x.toml: splits.dev.causalds."))
    assert message in str(caught.value)


def test_a_quota_that_no_graph_can_meet_is_said_before_the_build() -> None:
    """Three measured variables hold no front door with two decoys."""
    wild = {"scenes": 1, "strata": {"front_door": 1}, "measured": [3, 3], "latent": [1, 1]}
    config = TRACK.parse(TomlTable(table(scenes=1, wild=wild), "x.toml: splits.dev.causalds."))
    with pytest.raises(UsageError, match=r"causalds\.wild: no graph in \d+ has stratum front_door"):
        plan_scenes(config, "dev", ROOT, False)


def test_verdicts_agree_with_other_derivations(capsys: pytest.CaptureFixture[str]) -> None:
    """A graph of each stratum, every verdict, label and set; thousands by the same command."""
    assert main(["--graphs", "9", "--proved", "0.3"]) == 0
    told = capsys.readouterr().out
    assert "nothing differs" in told and "proved" in told and "evaluated" in told


def test_the_audit_sees_a_plan_that_is_not_kept() -> None:
    """A stratum, a sign or a size that is not as planned is a problem of its scene."""
    (row,) = rows(built(), "_worlds")
    record = world(built())
    for change in ({"stratum": "components"}, {"stratum": "several_controls"}):
        record["plan"]["wild"] = {**record["plan"]["wild"], **change}
        hidden = Hidden.read(row["instance_id"], json.dumps(record))
        found = list(audit_wild(hidden))
        query = ScenePlan.from_json(json.dumps(record["plan"])).query
        right = in_stratum(change["stratum"], *query.effect)
        assert bool(found) is not right, found
    record["quantities"]["ate"] = {**(record["quantities"]["association"]), "value": 9.0}
    record["plan"]["wild"]["wanted"]["reversed"] = record["quantities"]["association"]["value"] > 0
    hidden = Hidden.read(row["instance_id"], json.dumps(record))
    found = list(audit_wild(hidden))
    assert any("standard deviations of the outcome" in text for text in found)
    assert any("are not as planned" in text for text in found)


def test_the_audit_sees_careless_estimates_of_the_right_sign() -> None:
    """Of an effect and its contrary, one has the sign that regressions give."""
    plans = [(spec, ScenePlan.from_json(spec.config_json)) for spec in planned()[2:]]
    found = TRACK.build(next(spec for spec, plan in plans if _careless(plan)))
    (row,) = rows(found, "_worlds")
    record = world(found)
    told, wanted = record["quantities"], record["plan"]["wild"]["wanted"]
    wanted |= {"misled": None, "reversed": None, "opposed": True}
    seen = []
    for sign in (-1, 1):
        told["ate"] = {**told["ate"], "value": sign * 0.5 * told["outcome_sd"]["value"]}
        hidden = Hidden.read(row["instance_id"], json.dumps(record))
        seen.append(any("not the wrong sign" in text for text in audit_wild(hidden)))
    assert seen in ([True, False], [False, True])


def _careless(plan: ScenePlan) -> bool:
    """Whether the effect is identifiable, and adjusting for everything is not valid."""
    query = plan.query
    return is_identifiable(*query.effect, "ate") and misleads(query, query.others)


@pytest.mark.parametrize(
    ("causes", "fits"), [(-0.2, True), (-0.05, False), (0.05, False), (0.2, False)]
)
def test_a_careless_estimate_has_the_wrong_sign_clearly(causes: float, fits: bool) -> None:
    """Who adjusts for the measured direct causes, none, misses the path that a hidden one opens;
    everything is a valid set here, and of it nothing is wanted."""
    edges = (("U", "X"), ("U", "A"), ("A", "Y"), ("X", "Y"))
    query = Motif("wild", LatentDAG(("U", "A", "X", "Y"), edges, frozenset("U")), "X", "Y")
    look = Look(0.5, 0.5, 0.0, -0.3, np.array([0.4]), -0.2, causes, 0.5)
    assert bool(acceptable(look, query, Wanted(opposed=True))) is fits
    assert acceptable(look, query, Wanted(opposed=False))


def test_a_change_by_a_faint_variable_is_found_within_its_error() -> None:
    """A variable that both ends hardly know changes next to nothing, to second order only. The
    draws are some in which its correlations come out near 0."""
    law = draw_noise_law(np.random.default_rng(0), ("gauss",), 1.0)
    graph = LatentDAG(("Z", "X", "Y"), (("Z", "X"), ("Z", "Y"), ("X", "Y")))
    weights: dict[str, tuple[float, ...]] = {"Z": (), "X": (0.011,), "Y": (0.009, 0.2)}
    nodes = [
        Node(
            v, "continuous", graph.parents(v), "linear_additive",
            {"weights": weights[v], "bias": 0.0}, law,
        )
        for v in graph.nodes
    ]  # fmt: skip
    faint = World(graph, tuple(nodes))
    moments = affine_moments(faint, ("X", "Y", "Z"))
    assert moments is not None
    change = correlation(moments[1], 0, 1, (2,)) - correlation(moments[1], 0, 1)
    for draw in (74, 389):
        found = Population(faint.to_json(), np.random.default_rng(draw)).change("X", "Y", "Z")
        assert abs(found.value - float(change)) <= 5 * found.se


def test_what_no_equations_do_is_wanted_no_longer_after_many_attempts() -> None:
    """A build under a secret cannot ask for another graph; the gate tells how many got away."""
    plan = next(plan for plan in _wild() if plan.wild is not None and plan.wild.wanted != Wanted())
    assert plan.wild is not None
    late, last = (plan_of_attempt(plan, WANTED_ATTEMPTS - back).wild for back in (1, 0))
    assert late == plan.wild
    assert last is not None
    assert last.wanted == Wanted()
    assert last.stratum == plan.wild.stratum
