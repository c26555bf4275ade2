"""The rules of a lazy expert: in the right form, and what their names say."""

from typing import Any

import pytest
from small_exam import STORIES, U, X, Y, Z, ask, every_task, scene

from baselines import shortcuts
from baselines.causalds.lazy import RULES, LazyDesk
from baselines.release import ShownScene
from baselines.systems import find_system
from baselines.writing import text_of
from builder.words.knowledge import domains
from grader.model import RawAnswer
from grader.submission.check import check
from grader.tracks import TRACKS


def says(name: str, key: str, of: ShownScene, **inputs: Any) -> Any:
    """What a rule answers to a variant's task about a scene."""
    return RULES[name](ask(key, of, **inputs), LazyDesk(of))


@pytest.mark.parametrize("motif", sorted(STORIES))
def test_every_rule_keeps_to_the_form(motif: str) -> None:
    """An invalid answer would make a shortcut look worse than it is."""
    of = scene(motif, n=300)
    desk, spoken = LazyDesk(of), set()
    for task in every_task(of):
        for name, rule in RULES.items():
            answer = rule(task, desk)
            if answer is not None:
                spoken.add(name)
                raw = RawAnswer(task.answer_file, text_of(answer).encode())
                checked = check(task, raw)
                assert checked.status == "scored", (name, task.spec.key, checked.message)
    assert spoken == set(RULES) == {name for _, name, _, _ in shortcuts.causalds.SHORTCUTS}


@pytest.mark.parametrize(
    ("rule", "key", "motif", "answer"),
    [
        ("direct-causes", "identification.one_valid_adjustment_set", "confounding", [Z]),
        ("direct-causes", "identification.minimal_adjustment_set_size", "confounding", 1),
        ("unmeasured", "identification.identifiable_boolean", "frontdoor", False),
        ("unmeasured", "identification.identifiable_boolean", "confounding", True),
        ("bow", "identification.minimal_adjustment_set_size", "iv", "non_id"),
        ("latent-cause", "effect_estimate.ate_sign_only", "iv", "unknown"),
        ("method-by-latents", "identification.method_label", "frontdoor", "frontdoor"),
        ("method-by-latents", "identification.method_label", "iv", "none"),
        ("method-by-latents", "identification.method_label", "confounding", "backdoor"),
        ("sign-of-r", "effect_estimate.ate_sign_only", "mediation", "+"),
        (
            "direct-dominates",
            "mediation_effect.direct_vs_indirect_dominance",
            "mediation",
            "direct",
        ),
    ],
)
def test_rules_say_what_they_are_named_for(rule: str, key: str, motif: str, answer: object) -> None:
    """On graphs where one sees it at a glance."""
    (found,) = says(rule, key, scene(motif)).values()
    assert found == answer


def test_controlling_for_direct_causes_finds_the_effect_and_a_plain_slope_does_not() -> None:
    """1.5 per unit, confounded by Z with the other sign."""
    of = scene("confounding", n=4000)
    levels = {"x0": 0.0, "x1": 1.0}
    right = says("direct-causes", "effect_estimate.ate_point", of, **levels)["ate"]
    plain = says("plain-slope", "effect_estimate.ate_point", of, **levels)["ate"]
    assert right == pytest.approx(1.5, abs=0.1) and plain < 1


def test_a_graph_can_be_looked_up_where_names_are_a_domains() -> None:
    """Induced names give the whole graph away; invented ones nothing."""
    one = domains()[0]
    cause, effect = next(iter(one.mechanism_clauses))
    of = scene("confounding", n=300)
    names = {
        X: cause,
        Y: effect,
        Z: next(c.name for c in one.concepts if c.name not in (cause, effect)),
    }
    told = {names.get(name, name): values for name, values in of.data.items()}
    story = of.story
    for old, new in names.items():
        story = story.replace(old, new)
    kinds = dict.fromkeys(told, "continuous")
    known = ShownScene(of.instance_id, of.view, story, kinds, told, {})
    task = ask("causal_sketch.edges_only", of)
    edges: Any = RULES["lookup"](task, LazyDesk(known))
    inside = set(names.values())
    expected = {edge for edge in one.mechanism_clauses if set(edge) <= inside}
    assert (cause, effect) in expected
    assert {(edge["from"], edge["to"]) for edge in edges["edges"]} == expected
    assert (cause, effect) in expected
    assert says("lookup", "causal_sketch.edges_only", of)["edges"] == []


def test_the_best_combination_names_rules_and_variants_that_there_are() -> None:
    """A mistyped one would be answered by the floor, unnoticed."""
    tracks = {name: track for track, name, _, _ in shortcuts.SHORTCUTS}
    for (track, key), rule in shortcuts.chosen().items():
        assert tracks[rule] == track
        assert key in {variant.key for variant in TRACKS[track].variants}
    assert set(find_system("lazy").solvers) == set(tracks.values())
    assert U not in tracks
