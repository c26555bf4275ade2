"""The composition of a split: quotas over verdicts, grafts, latent variables, private exams."""

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest
import scipy
from causalds_scenes import ROOT, plan, table
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
from builder.splits.seeds import hmac_key
from builder.splits.settings import TomlTable
from builder.splits.track import InstanceSpec
from builder.tracks.causalds.check import graph as audit_graph
from builder.tracks.causalds.design.scene_plan import Questions, ScenePlan, Structure
from builder.tracks.causalds.exams.model import parse_exam
from builder.tracks.causalds.plan.config import SceneSettings, with_exams
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError

WHERE = "x.toml: splits.dev.causalds"
SCENES = 953
FULL = TRACK.parse(TomlTable({"scenes": SCENES, "composition": "full"}, f"{WHERE}."))


@cache
def planned(composition: str, scenes: int) -> list[InstanceSpec]:
    return plan({"scenes": scenes, "composition": composition})


def structures(composition: str, scenes: int) -> list[Structure]:
    return [ScenePlan.from_json(one.config_json).structure for one in planned(composition, scenes)]


@pytest.fixture(scope="module")
def full() -> list[Structure]:
    """The plan of the size and make of splits/main.toml."""
    return structures("full", SCENES)


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
    hidden = [identifiable(structure.query) for structure in full if structure.latent]
    assert sum(hidden) / len(hidden) >= 0.3
    paper = [identifiable(one.query) for one in structures("paper", 300) if one.latent]
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
    assert not {p.motif for p in structures("paper", 300)} & set(PLANTED)


def test_harmless_latent_variables_change_no_verdict() -> None:
    rng = np.random.default_rng(5)
    found = 0
    for name in HOSTS:
        for motif in [MOTIFS[name], *list(single_grafts(MOTIFS[name]))[::7]]:
            grown = harmless_latent(rng, motif)
            if not identifiable(motif):
                assert grown is None
                continue
            assert grown is not None and len(grown.graph.latent) == len(motif.graph.latent) + 1
            labels = set()
            for graph, x, y in (motif.effect, grown.effect):
                other = audit_graph.graph_of(graph.edges, graph.nodes)
                hedge = audit_graph.has_hedge(other, x, y, graph.latent)
                labels.add((identification_method(graph, x, y), hedge))
            assert len(labels) == 1
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
    table = TRACK.composition(FULL, planned("full", SCENES))
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


SECRETS = 24
TASKS = 66
"""Two of each variant: twins."""
ABSTAIN = {"abstain", "unknown", "None"}
"""Classes of which abstaining is the right answer."""


def settings(tasks: int, **changes: object) -> SceneSettings:
    """A private split that is one balanced exam of so many tasks."""
    own = table(scenes=tasks, words="fictional", **{"composition": "full", **changes})
    if "motifs" not in changes:
        del own["motifs"]
    exam = parse_exam(TomlTable({"kind": "balanced", "tasks": tasks}, "x."))
    return with_exams(TRACK.parse(TomlTable(own, "here.")), (("exam", exam),), "here")


def asked_of(config: SceneSettings, number: int) -> list[Questions]:
    """What the scenes of a secret are asked, in order of their indices."""
    secret = hmac_key(ROOT, f"secret {number}")
    specs = plan_scenes(config, "test", secret, True)
    return [ScenePlan.from_json(spec.config_json).questions for spec in specs]


@cache
def classes() -> dict[str, list[list[str]]]:
    """By variant, for each secret, the planned classes of its tasks."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for number in range(SECRETS):
        own: dict[str, list[str]] = defaultdict(list)
        for one in asked_of(settings(TASKS), number):
            assert one.variant is not None and one.wanted is not None
            own[one.variant].append(one.wanted)
        for variant, labels in own.items():
            assert len(labels) == TASKS // 33
            found[variant].append(labels)
    return {key: rows for key, rows in found.items() if len({x for r in rows for x in r}) > 1}


@pytest.mark.slow
def test_twins_are_alike_as_often_as_chance_has_it() -> None:
    """Dealt in turn, they never were. The bound is 4 standard errors, over variants and secrets."""
    alike = expected = variance = 0.0
    for rows in classes().values():
        share = 1 / len(np.unique(rows))
        alike += sum(one == other for one, other in rows)
        expected += share * len(rows)
        variance += share * (1 - share) * len(rows)
    assert expected > 150
    assert abs(alike - expected) < 4 * variance**0.5, (alike, expected)


@pytest.mark.slow
def test_one_known_answer_does_not_tell_its_twin() -> None:
    """Who knows one class, and which class stood beside which in the exams of half the secrets,
    guesses the other in the exams of the rest no better than by its share (4 standard errors)."""
    hits = expected = variance = 0.0
    for rows in classes().values():
        share = 1 / len(np.unique(rows))
        beside: dict[str, Counter[str]] = defaultdict(Counter)
        for one, other in rows[: SECRETS // 2]:
            beside[one][other] += 1
            beside[other][one] += 1
        for one, other in rows[SECRETS // 2 :]:
            guess = beside[one].most_common(1) or [("", 0)]
            hits += guess[0][0] == other
            expected += share
            variance += share * (1 - share)
    assert expected > 75
    assert hits < expected + 4 * variance**0.5, (hits, expected)


@pytest.mark.slow
def test_classes_have_equal_shares_over_many_secrets() -> None:
    """A coin that prefers a class would pay whoever always names it."""
    statistic = freedom = 0.0
    for rows in classes().values():
        counts = Counter(label for row in rows for label in row)
        even = counts.total() / len(counts)
        statistic += sum((count - even) ** 2 / even for count in counts.values())
        freedom += len(counts) - 1
    assert scipy.stats.chi2.sf(statistic, freedom) > 1e-4


@pytest.mark.slow
def test_abstentions_are_drawn_by_themselves() -> None:
    """How many effects are not identifiable differs from exam to exam as the number of heads does.
    Dealt in turn it was the same in all."""
    asked = [rows for rows in classes().values() if {x for r in rows for x in r} & ABSTAIN]
    variance = sum(len(rows[0]) * (s := 1 / len(np.unique(rows))) * (1 - s) for rows in asked)
    numbers = [sum(x in ABSTAIN for rows in asked for x in rows[n]) for n in range(SECRETS)]
    statistic = sum((n - sum(numbers) / SECRETS) ** 2 for n in numbers) / variance
    assert len(asked) >= 9
    assert 1e-4 < scipy.stats.chi2.sf(statistic, SECRETS - 1) < 1 - 1e-4, numbers


@pytest.mark.slow
def test_a_small_exam_is_composed_for_every_secret() -> None:
    """Half of the secrets were refused for an exam of 11 scenes."""
    for number in range(5):
        assert len({one.variant for one in asked_of(settings(11), number)}) == 11


def test_what_cannot_be_composed_is_refused_for_every_secret_alike() -> None:
    """A refusal that depends on the secret tells of it, and comes when building has begun."""
    config = settings(11, composition="motifs", motifs={"chain": 1})
    told = set()
    for number in range(3):
        with pytest.raises(UsageError) as refused:
            asked_of(config, number)
        told.add(str(refused.value))
    (line,) = told
    assert line.startswith("splits.test.exams.exam.causalds: every task of ")
