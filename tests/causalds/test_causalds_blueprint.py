"""The composition of a split: quotas over true verdicts, grafts, latent variables, plants."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from causalds_scenes import ROOT, plan
from random_queries import single_grafts
from verdicts import check

from builder.graphs.identification import identification_method, is_identifiable
from builder.graphs.motifs import (
    HOSTS,
    MOTIFS,
    PLANTED,
    Motif,
    add_confounder,
    graft,
    harmless_latent,
)
from builder.splits.settings import TomlTable
from builder.tracks.causalds.check import graph as audit_graph
from builder.tracks.causalds.design.scene_plan import ScenePlan, Structure
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK

WHERE = "x.toml: splits.dev.causalds"
SCENES = 953
FULL = TRACK.parse(TomlTable({"scenes": SCENES, "composition": "full"}, f"{WHERE}."))


@cache
def planned(composition: str, scenes: int = SCENES, **changes: object) -> list[Structure]:
    settings = {"scenes": scenes, "composition": composition, **changes}
    return [ScenePlan.from_json(spec.config_json).structure for spec in plan(settings)]


@pytest.fixture(scope="module")
def full() -> list[Structure]:
    """The plan of the size and make of splits/main.toml."""
    return planned("full")


def identifiable(motif: Motif) -> bool:
    return is_identifiable(*motif.effect, "ate")


def test_quotas_are_met_by_largest_remainder(full: list[Structure]) -> None:
    motifs, planted = Counter(structure.motif for structure in full), FULL.planted
    for name, share in FULL.motifs.items():
        share -= sum(planted.values()) if name == "confounding" else 0.0
        assert abs(motifs[name] - share * SCENES) < 1.5, name
    for name, share in planted.items():
        assert abs(motifs[name] - share * SCENES) < 1, name
    labels = Counter(structure.label for structure in full)
    for k, share in enumerate(FULL.grafts[1:], start=1):
        assert abs(labels[f"grafted_{k}"] - share * SCENES) < 1
    verdicts = Counter(identifiable(structure.query) for structure in full)
    assert abs(verdicts[False] - (0.2446 + 0.0441 + 0.06) * SCENES) < 3
    assert abs(Counter(p.treatment_kind for p in full)["binary"] - 0.75 * SCENES) < 1
    assert abs(Counter(p.outcome_kind for p in full)["binary"] - 0.4 * SCENES) < 1


def test_an_unmeasured_variable_does_not_give_the_verdict_away(full: list[Structure]) -> None:
    """At least three in ten scenes with an unmeasured variable are identifiable."""
    hidden = [identifiable(structure.query) for structure in full if structure.latent]
    assert sum(hidden) / len(hidden) >= 0.3
    paper = [identifiable(one.query) for one in planned("paper", 300) if one.latent]
    assert sum(paper) / len(paper) < 0.2, "the paper's composition leaves the shortcut open"


def test_only_hosts_are_grafted_and_labels_count_the_grafts(full: list[Structure]) -> None:
    """Reports are sliced by these labels."""
    for structure in full:
        grafts = {node.split("_")[0] for node in structure.nodes if node.startswith("AUX")}
        if structure.label.startswith("grafted_"):
            assert structure.motif in HOSTS and structure.label == f"grafted_{len(grafts)}"
        else:
            assert structure.label == structure.motif and not grafts
        assert structure.treatment in {**MOTIFS, **PLANTED}[structure.motif].graph.nodes


def test_planted_structures_separate_rung_three_from_rung_two(full: list[Structure]) -> None:
    """Without them the third rung would copy the second."""
    for structure in full:
        query = structure.query.effect
        if structure.motif in PLANTED:
            assert structure.label == structure.motif and is_identifiable(*query, "ate")
        if structure.motif == "napkin":
            assert structure.treatment_kind == "continuous"
            assert not is_identifiable(*query, "ett", binary_treatment=False)
        if structure.motif == "mediation_confounded":
            assert not is_identifiable(*query, "nde") and not is_identifiable(*query, "nie")
    assert not {p.motif for p in planned("paper", 300)} & set(PLANTED)


def test_harmless_latent_variables_change_no_verdict() -> None:
    """Off the blocking structure: the label of the method stays what it is."""
    rng = np.random.default_rng(5)
    found = 0
    for name in HOSTS:
        for motif in [MOTIFS[name], *list(single_grafts(MOTIFS[name]))[::7]]:
            grown = harmless_latent(rng, motif)
            if not identifiable(motif):
                assert grown is None
                continue
            assert grown is not None and len(grown.graph.latent) == len(motif.graph.latent) + 1
            before, after = (
                (
                    identification_method(graph, x, y),
                    audit_graph.has_hedge(
                        audit_graph.graph_of(graph.edges, graph.nodes), x, y, graph.latent
                    ),
                )
                for graph, x, y in (motif.effect, grown.effect)
            )
            assert before == after
            found += 1
    assert found > 15


def test_a_graft_shares_exactly_its_anchor() -> None:
    """More shared nodes could make cycles or new paths between treatment and outcome."""
    host, fork = MOTIFS["confounding"], MOTIFS["fork"]
    grown = graft(host, fork, "X", "Z", 1)
    assert set(grown.graph.nodes) == {"X", "Y", "Z", "AUX1_Z", "AUX1_Y"}
    assert set(grown.graph.edges) == {*host.graph.edges, ("AUX1_Z", "Z"), ("AUX1_Z", "AUX1_Y")}
    assert (grown.name, grown.treatment, grown.outcome) == ("confounding", "X", "Y")


def test_composition_table_shows_requested_beside_realised(full: list[Structure]) -> None:
    """The manifest and ``plan`` print it."""
    table = TRACK.composition(FULL, plan_scenes(FULL, "dev", ROOT, False))
    assert sum(structure.redrawn for structure in full) < 0.1 * SCENES
    for axis, names in table.items():
        assert sum(n["realised"] for n in names.values()) <= SCENES
        if axis != "unmeasured variable":
            assert sum(n["realised"] for n in names.values()) == SCENES, axis
            assert sum(n["requested"] for n in names.values()) == pytest.approx(SCENES, abs=0.1)
            for name, counts in names.items():
                assert abs(counts["requested"] - counts["realised"]) <= 3, (axis, name)


@pytest.mark.slow
def test_every_shipped_verdict_is_proved(full: list[Structure]) -> None:
    """The whole plan: each yes by evaluation, each no by twin models, and no third way."""
    seen = {(one.nodes, one.edges, one.latent): one.query.effect for one in full}
    assert len(seen) > 200
    check(list(seen.values()), 7)


def test_a_latent_confounder_spoils_what_it_should() -> None:
    """The quota of unidentifiable scenes is made of these."""
    spoiled = {name for name in HOSTS if not identifiable(add_confounder(MOTIFS[name]))}
    assert spoiled == {"mediation", "confounding", "arrowhead", "diamondcut", "iv", "triangle"}
