"""Invented names: distinct, readable, and blind to the graph."""

import re

import numpy as np
import pytest

from builder.stories.types import Kind, Variable
from builder.stories.verbalise import invent_scene, invented_words, themes
from builder.stories.verify import NO_UNIT
from grader.io.names import confusable, known_name, normal_name

KINDS: dict[str, Kind] = {
    "X": "binary",
    "Y": "binary",
    "M": "continuous",
    "Z": "continuous",
    "U": "continuous",
    "W": "continuous",
}


def _scenes(number: int) -> list[dict[str, Variable]]:
    return [invent_scene(np.random.default_rng([7, i]), KINDS)[1] for i in range(number)]


def test_no_answer_can_mean_two_variables_of_a_scene() -> None:
    """An answer's spelling is read generously: "Ferry times" must not be two variables; a name
    inside another would make edge sentences ambiguous. Those of a domain have a linter."""
    for variables in _scenes(400):
        names = [variable.name for variable in variables.values()]
        assert confusable(names) == []
        assert all(re.fullmatch(r"[A-Z][a-z]+( [a-z]+)+", name) for name in names), names
        for node, variable in variables.items():
            assert variable.kind == KINDS[node]
            assert (variable.states is not None) == (variable.kind == "binary")
            assert (variable.unit is not None) == (variable.kind == "continuous")
        normal = [normal_name(name) for name in names]
        assert not [(a, b) for i, a in enumerate(normal) for b in normal[:i] if a in b or b in a]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Age (years)", "age"),
        ("Pulse rates", "Pulse rate"),
        ("Pulse rate score", "Pulse rate"),
        ("Pulse\u2014rate.", "'Pulse-rate'"),
    ],
)
def test_confusable_names_are_found_whichever_comes_first(one: str, other: str) -> None:
    assert {*confusable([one, "Dose", other])} & {(one, other), (other, one)}


def test_the_other_number_of_a_last_word_is_read_by_an_s_alone() -> None:
    """Conservative, as published: no s is taken from is, ss and us, nor from two letters."""
    assert known_name("Visits", {"visit"}) == known_name("visit", {"visit"}) == "visit"
    assert known_name("Gas", {"ga"}) == "ga" and known_name("Virus", {"viru"}) == "virus"
    assert known_name("Viru", {"virus"}) == "virus"
    assert known_name("Stress", {"stres"}) == "stress" and known_name("Cs", {"c"}) == "cs"
    assert known_name("Basis", {"basi"}) == "basis"
    assert known_name("", {"s"}) == ""


def test_a_thousand_scenes_share_no_set_of_names() -> None:
    """A repeated set would tell that two rows come from one scene."""
    sets = {frozenset(v.name for v in scene.values()) for scene in _scenes(1000)}
    assert len(sets) == 1000


def test_names_do_not_depend_on_which_role_a_variable_plays() -> None:
    """Only position and kind may enter; otherwise names would hint at treatment or outcome."""
    relabelled = {f"role{i}": kind for i, kind in enumerate(KINDS.values())}
    for i in range(50):
        first = invent_scene(np.random.default_rng(i), KINDS)[1]
        second = invent_scene(np.random.default_rng(i), relabelled)[1]
        assert list(first.values()) == list(second.values())


def test_vocabularies_are_large_and_well_formed() -> None:
    """Small or sloppy lists would bring repeated names or unreadable stories."""
    assert len(invented_words("tails")) > 2000
    assert len(invented_words("town_tails")) > 1000
    for theme in themes():
        nouns = [noun for noun, *_ in (*theme.continuous, *theme.binary)]
        key = theme.scenery.key
        assert len(set(nouns)) == len(nouns), key
        assert len(theme.continuous) >= 14 and len(theme.binary) >= 6, key
        assert not [unit for _, unit in theme.continuous if NO_UNIT.match(unit)], key
        assert all(text.count("{town}") == 1 for text in theme.scenery.settings), key
        for _, zero, one in theme.binary:
            assert zero.startswith("is ") and one.startswith("is ") and zero != one


def test_too_many_variables_for_a_theme_is_an_error() -> None:
    """Repeating a noun silently would break the promise that nouns are distinct."""
    kinds: dict[str, Kind] = {f"v{i}": "continuous" for i in range(40)}
    with pytest.raises(ValueError, match="40 continuous variables"):
        invent_scene(np.random.default_rng(0), kinds)
