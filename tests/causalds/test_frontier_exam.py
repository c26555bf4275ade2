"""Frontier exams: what they ask, and the scenes planned for them where truth is private."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from causalds_scenes import ROOT, table
from frontier_exams import ASKED, PLAIN, WILD, model_of

from builder.causal.adjustment import valid_adjustment_sets
from builder.causal.graph import LatentDAG
from builder.causal.motifs import MOTIFS, Motif
from builder.causal.strata import STRATA
from builder.causalds.ask import ASKERS
from builder.causalds.exams.frontier import (
    Slot,
    abstains,
    answered_by_causes,
    due,
    leaves_out,
    misleading,
    on_sign,
)
from builder.causalds.exams.frontier_plan import (
    allowed,
    classes,
    frontier_composition,
    plan_frontier,
    quiet_class,
    suits,
    with_priors,
)
from builder.causalds.exams.model import counts, parse_exam
from builder.causalds.exams.wishes import Wishes
from builder.causalds.make.prior import ESTIMANDS, expected_sign
from builder.causalds.plan.config import with_exams
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.plan.types import ScenePlan, graph_members
from builder.causalds.plan.wanted import UNIDENTIFIED
from builder.causalds.plan.wild import Regions
from builder.causalds.plan.wild_settings import WildSettings
from builder.causalds.track import TRACK
from builder.release.floors import plain
from builder.settings import TomlTable, read_toml
from builder.words.knowledge import domain


@cache
def planned() -> tuple[ScenePlan, ...]:
    """A private-truth split of one small frontier exam."""
    motifs = dict.fromkeys(MOTIFS, 1)
    settings = table(scenes=16, motifs=motifs, profiles=PLAIN, views=["clean", "proxy"])
    config = TRACK.parse(TomlTable(settings, "x.toml: splits.test.causalds."))
    views = {"clean": 1, "proxy": 1}
    model = model_of(views=views, implied=[0.6, 0.9])
    config = with_exams(config, (("frontier", model),), "x.toml")
    return tuple(
        ScenePlan.from_json(spec.config_json) for spec in plan_scenes(config, "test", ROOT, True)
    )


def test_a_planned_exam_has_its_variants_views_and_graphs() -> None:
    """Sixteen scenes of one task each, twelve on wild graphs, a third of them due to abstain."""
    plans = planned()
    counts = {f"{family}.{name}": n for family, row in ASKED.items() for name, n in row.items()}
    assert Counter(plan.variant for plan in plans) == counts
    assert Counter(plan.views[0].name for plan in plans) == {"clean": 8, "proxy": 8}
    assert sum(plan.wild is not None for plan in plans) == 12
    assert all(1000 <= plan.train <= 4000 and len(plan.views) == 1 for plan in plans)
    told = sorted(plan.implied or 0.0 for plan in plans)
    assert (told[0], told[-1]) == (0.6, 0.9), "what stories leave unsaid is spread over the range"
    for key, count in counts.items():
        silent = sum(abstains(key, p.wanted or "") for p in plans if p.variant == key)
        assert silent == (1 if count == 3 else 0), key
    shown = frontier_composition(model_of(views={"clean": 1, "proxy": 1}), plans)
    assert all(row["requested"] == row["realised"] for row in shown["variant"].values())
    signs = {name: row for name, row in shown["answers"].items() if "ate_sign_only" in name}
    assert sum(row["realised"] for row in signs.values()) == 2, "one of three abstains"
    assert {row["requested"] for row in signs.values()} == {1.0}


def test_a_planned_scene_can_be_asked_what_it_is_for() -> None:
    """Its graph hosts the variant, can have the class of answer, and no shortcut answers it."""
    for plan in planned():
        assert plan.variant is not None and plan.frontier
        assert allowed(plan, plan.variant)
        assert plan.wanted == "0" or not answered_by_causes(plan.variant, plan.query)
        assert plan.wanted is None or plan.wanted in classes(plan, plan.variant)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("association.sign_only", ()),
        ("effect_estimate.ate_point", ("abstain",)),
        ("effect_estimate.ate_sign_only", ("unknown",)),
        ("effect_estimate.ate_vs_assoc_sign_match", ("None",)),
        ("identification.identifiable_boolean", ("False",)),
        ("identification.method_label", ("none",)),
        ("identification.all_minimal_adjustment_sets", ("non_id",)),
        ("identification.estimand_formula", ("abstain",)),
        ("mediation_effect.direct_vs_indirect_dominance", ("None",)),
    ],
)
def test_the_class_of_abstentions_is_that_of_the_asker(key: str, found: tuple[str, ...]) -> None:
    """Of two bows, one beside a mediator, nothing is identifiable."""
    assert quiet_class(key) == found
    lost = _graph("X>M M>Y X>Y U>X U>Y V>X V>M", "U V")
    plan = replace(planned()[0], **graph_members(lost.graph), treatment="X", outcome="Y")
    if found:
        assert set(found) <= set(ASKERS[key].possible_classes(plan))
        assert all(abstains(key, label) for label in found)


def test_wishes_do_not_contradict_the_answer() -> None:
    """A sign that is to change, or a larger effect, follows from the class of the answer."""
    for plan in planned():
        if plan.variant == "association.sign_before_after" and plan.wild is not None:
            assert plan.wild.wanted.flipped is (plan.wanted == "different")


def test_signs_differ_in_half_of_the_identified_wild_scenes() -> None:
    """As near as whole numbers allow."""
    found = Counter(
        plan.wild.wanted.reversed
        for plan in planned()
        if plan.wild is not None and plan.wild.wanted.reversed is not None
    )
    assert abs(found[True] - found[False]) <= 1, found


def test_plain_estimates_are_to_mislead_in_nine_of_ten_questions_on_total_effects() -> None:
    """Asked on wild graphs as long as others fill the motifs, which no equations bend."""
    effects = [p for p in planned() if p.variant and misleading(p.variant, p.wanted or "")]
    assert effects and all(plan.wild is not None for plan in effects)
    missed = [plan.wild.wanted.misled for plan in effects if plan.wild is not None]
    assert sum(map(bool, missed)) == -(-9 * len(missed) // 10)
    others = [p for p in planned() if p.wild is not None and p not in effects]
    assert all(plan.wild.wanted.misled is None for plan in others if plan.wild is not None)


def test_careless_estimates_have_the_wrong_sign_in_half_of_the_questions_on_signs() -> None:
    """It is of no matter to other questions."""
    wild = [p for p in planned() if p.wild is not None and p.variant is not None]
    asked = [p for p in wild if on_sign(p.variant or "") and not abstains(*_answer(p))]
    wrong = [p.wild.wanted.opposed for p in asked if p.wild is not None]
    assert sorted(map(bool, wrong)) == [False, True]
    others = [p.wild.wanted.opposed for p in wild if p.wild is not None and p not in asked]
    assert set(others) == {None}


def _answer(plan: ScenePlan) -> tuple[str, str]:
    return plan.variant or "", plan.wanted or ""


def test_no_floor_depends_on_the_signs_of_careless_estimates() -> None:
    """They are seen in the data alone; which answers are right stays."""
    usual = plain(WildSettings())
    assert plain(WildSettings(opposed=0.0)) == usual != plain(WildSettings(indirect=0.1))


def test_a_cause_of_both_ends_tells_nothing_of_verdicts() -> None:
    """Graphs with an unmeasured one and without take turns, for either verdict; where effects are
    not identifiable, too, but for those that are asked for something else."""
    dealt, plan = Wishes(WildSettings()), next(p for p in planned() if p.wild is not None)
    verdict = Slot("identification.identifiable_boolean", "True", "clean", wild=True)
    value = Slot("effect_estimate.ate_point", "value", "clean", wild=True)
    for edges, bowed in (("U>X U>A A>Y X>Y", False), ("U>X U>Y X>M M>Y", True)) * 2:
        assert dealt.bows(verdict, tuple(STRATA)) == (bowed, not bowed)
        shape = graph_members(_graph(edges, "U").graph)
        dealt.count(verdict, replace(plan, **shape, treatment="X", outcome="Y"))
    assert dealt.bows(replace(verdict, label="False"), UNIDENTIFIED) == (False, True)
    assert dealt.bows(replace(value, label="abstain"), UNIDENTIFIED) == (False, True)
    assert dealt.bows(value, tuple(STRATA)) == (None,)


def test_numbers_of_members_may_be_zero_on_wild_graphs() -> None:
    """Motifs where the empty set will do and a cause is unmeasured are rare: an exam ran out of
    them. What finds none left is asked on a wild graph."""
    asked = {"identification": {"minimal_adjustment_set_size": 1}}
    model = model_of(tasks=3, variants=asked, wild=0, views={"clean": 1})
    rare = graph_members(_graph("X>Y U>X U>Z V>Z V>Y", "U V").graph)
    tame = [replace(planned()[0], **rare, treatment="X", outcome="Y", wild=None)]
    config = TRACK.parse(TomlTable(table(profiles=PLAIN), "x."))
    rng = np.random.default_rng(1)
    regions = Regions(rng, config, "private", blindly=True)
    plans = plan_frontier("x", model, tame, regions, rng)
    zero = [plan for plan in plans if plan.wanted == "0"]
    assert len(plans) == 3 and len(zero) == 2, "the one motif has a set without members"
    assert sum(plan.wild is None for plan in zero) == 1
    assert sum(plan.wild is not None for plan in plans) == 2
    assert all(frozenset() in valid_adjustment_sets(*plan.query.effect) for plan in zero)


@pytest.mark.parametrize(
    ("edges", "latent", "found"),
    [
        ("X>Y X>C Y>C", "", ()),
        ("X>Y Y>C U>Y U>C", "U", ("False",)),
        ("X>Y U>X U>Z V>Z V>Y", "U V", ("True",)),
        ("X>Y U>X U>Z V>Z V>Y X>A B>A", "U V", ("True", "False")),
    ],
)
def test_bias_is_brought_on_wild_graphs_by_what_the_outcome_does_not_affect(
    edges: str, latent: str, found: tuple[str, ...]
) -> None:
    """Else "what the outcome affects brings bias" would nearly always be right."""
    wild = next(plan for plan in planned() if plan.wild is not None)
    plan = replace(wild, **graph_members(_graph(edges, latent).graph), treatment="X", outcome="Y")
    asker = ASKERS["bias_diagnostic.collider_bias_boolean"]
    assert asker.possible_classes(plan) == found


def test_no_constant_nearly_answers_a_variant(root: Path) -> None:
    """Each that the exam asks has a floor, of 0.9 at most."""
    stated = json.loads((root / "splits/floors/frontier.json").read_text(encoding="utf-8"))
    floors = stated["floors"]["frontier"]["causalds"]
    for name in ("frontier", "frontier-mini"):
        exam = parse_exam(read_toml(root / "splits/exams" / f"{name}.toml"))
        assert all(floors[key]["points"] <= 0.9 for key in counts(exam)), name


def _graph(edges: str, latent: str = "") -> Motif:
    pairs = tuple((edge.split(">")[0], edge.split(">")[1]) for edge in edges.split())
    nodes = tuple(dict.fromkeys(node for pair in pairs for node in pair))
    return Motif("wild", LatentDAG(nodes, pairs, frozenset(latent.split())), "X", "Y")


@pytest.mark.parametrize(
    ("key", "edges", "latent", "detail", "left_out"),
    [
        ("identification.one_valid_adjustment_set", "Z>X Z>Y X>Y", "", "", True),
        ("identification.one_valid_adjustment_set", "U>X U>A A>Y X>Y", "U", "", False),
        ("bias_diagnostic.forbidden_controls_list", "X>M M>Y", "", "", True),
        ("bias_diagnostic.forbidden_controls_list", "X>Y U>X U>Z V>Z V>Y", "U V", "", False),
        ("bias_diagnostic.forbidden_controls_list", "X>M M>Y U>X U>Y", "U", "", False),
        ("counterfactual_identification.identifiable_boolean", "X>M M>Y", "", "ETT", True),
        ("counterfactual_identification.identifiable_boolean", "X>M M>Y", "", "NIE", False),
        ("effect_estimate.ate_point", "X>M M>Y", "", "", True),
        ("collider_phenomenon.induced_association_boolean", "X>M M>Y X>C Y>C", "", "", False),
        ("collider_phenomenon.induced_association_boolean", "X>M M>Y", "", "", True),
        ("collider_phenomenon.induced_association_boolean", "X>Y X>C Y>C", "", "", True),
        ("effect_estimate.ate_point", "U>X U>A A>Y X>Y", "U", "", False),
        ("effect_estimate.ate_sign_only", "U>X U>Y Y>A", "U", "", True),
        ("identification.identifiable_boolean", "U>X U>B Z>X Z>Y X>Y", "U", "", False),
        ("identification.estimand_formula", "Z>X Z>Y X>Y", "", "", True),
        ("identification.method_label", "Z>X Z>Y X>Y", "", "", False),
        ("identification.identifiable_boolean", "Z>X Z>Y X>Y", "", "", True),
        ("identification.identifiable_boolean", "U>X U>A A>Y X>Y", "U", "", False),
        ("mediation_effect.effect_point", "X>M M>Y X>Y", "", "NDE", False),
        ("mediation_effect.effect_point", "X>M M>Y", "", "NIE", True),
        ("mediation_effect.effect_point", "X>Y", "", "NDE", True),
        ("mediation_effect.effect_point", "X>A Y>A", "", "NDE", True),
        ("association.sign_before_after", "X>M M>Y", "", "M", True),
        ("association.sign_before_after", "X>C Y>C", "", "C", True),
        ("association.sign_before_after", "X>M M>Y X>Y", "", "M", False),
    ],
)
def test_what_a_shortcut_answers_is_left_out(
    key: str, edges: str, latent: str, detail: str, left_out: bool
) -> None:
    """Where the direct causes are a valid set, and the like."""
    query = _graph(edges, latent)
    assert leaves_out(key, query, detail) is left_out
    if key.endswith("one_valid_adjustment_set"):
        parents = frozenset(query.graph.parents("X"))
        assert (parents in valid_adjustment_sets(*query.effect)) is left_out


def test_lost_natural_effects_are_asked_for_where_the_average_one_is_identifiable() -> None:
    """Else the verdict on the average effect would be right of them, too, on motifs as well."""
    slot = Slot("counterfactual_identification.identifiable_boolean", "False", "clean", wild=False)
    motif = planned()[0]
    for edges, asked in (("X>M M>Y X>Y U>M U>Y", True), ("X>M M>Y X>Y U>X U>Y", False)):
        shape = graph_members(_graph(edges, "U").graph)
        plan = replace(motif, **shape, treatment="X", outcome="Y")
        assert "False" in classes(plan, slot.key)
        assert suits(plan, slot) is asked


@pytest.mark.parametrize(
    ("edges", "answered"),
    [("U>X U>B Z>X Z>Y X>Y", True), ("U>X U>A A>Y X>Y", False), ("U>X U>Y X>M M>Y", False)],
)
def test_what_the_measured_causes_answer_is_not_planned(edges: str, answered: bool) -> None:
    """A hidden cause that leads nowhere else leaves them a valid set; verdicts may be asked."""
    query = _graph(edges, "U")
    assert answered_by_causes("effect_estimate.ate_sign_only", query) is answered
    assert answered_by_causes("identification.estimand_formula", query) is answered
    assert not answered_by_causes("identification.identifiable_boolean", query)


@pytest.mark.parametrize(("count", "found"), [(3, 1), (4, 1), (5, 2), (6, 2), (9, 3), (40, 13)])
def test_abstention_is_due_in_a_quarter_to_two_fifths(count: int, found: int) -> None:
    """The nearest whole number to a third inside the bounds."""
    assert due("effect_estimate.ate_point", count, 0.33) == found
    assert due("association.sign_only", count, 0.33) == 0


def test_scenes_aside_are_told_like_the_wild_ones_and_named_blindly() -> None:
    """What a domain has among its names is no better than chance as a graph."""
    wild = {**WILD, "scenes": 20, "motifs": 10}
    config = TRACK.parse(TomlTable(table(scenes=2, profiles=PLAIN, wild=wild), "x."))
    plans = [
        ScenePlan.from_json(spec.config_json) for spec in plan_scenes(config, "dev", ROOT, False)
    ]
    apart = [plan for plan in plans if plan.aside]
    assert [plan.aside for plan in plans[:2]] == [False, False] and len(apart) == 30
    assert sum(plan.wild is not None for plan in apart) == 20
    assert all(plan.implied is not None and plan.train >= 1000 for plan in apart)
    shared = total = chance = 0.0
    for plan in apart:
        names, told = dict(plan.names), domain(str(plan.domain))
        concepts = {concept.name: concept for concept in told.concepts}
        assert all(concepts[names[node]].latent for node in plan.latent)
        assert all(kind in concepts[names[node]].kinds for node, kind in plan.kinds.items())
        edges = {(names[a], names[b]) for a, b in plan.edges}
        known = {edge for edge in told.mechanism_clauses if set(edge) <= set(names.values())}
        shared, total = shared + len(edges & known), total + len(known)
        chance += len(known) * len(edges) / (len(names) * (len(names) - 1))
    assert shared < 1.5 * chance < total / 3


def test_a_private_exam_plans_as_many_conflicts_as_agreements() -> None:
    """Where the wanted answer leaves it open; an abstention has no side."""
    plans = planned()
    there = Counter(plan.prior for plan in plans)
    assert abs(there["agrees"] - there["conflicts"]) <= 1
    for plan in plans:
        estimands = ESTIMANDS.get((plan.variant or "").partition(".")[0], ())
        if plan.prior is None:
            assert not estimands or plan.wanted not in ("value", "+", "-")
        elif plan.prior == "none":
            assert not any(expected_sign(plan, one) for one in estimands)
        elif plan.wanted in ("+", "-"):
            factor = 1 if (plan.wanted == "+") is (plan.prior == "agrees") else -1
            assert factor in {expected_sign(plan, one) for one in estimands}
    shown = frontier_composition(model_of(views={"clean": 1, "proxy": 1}), plans)
    assert shown["reasons"]["agrees"]["realised"] == there["agrees"]
    assert with_priors(plans) == list(plans), "once is enough"
    bare = [replace(plan, frontier=False, prior=None) for plan in plans]
    assert with_priors(bare) == bare, "other exams take effects as they come"
