"""What a frontier exam of causalds cannot be is told in one line, before anything is built."""

import pytest
from causalds_scenes import ROOT, table
from frontier_exams import ONE, PLAIN, WILD, model_of

from builder.causalds.exams.model import ExamModel
from builder.causalds.plan.config import Config, with_exams, with_named
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.track import TRACK
from builder.settings import TomlTable
from grader.errors import UsageError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variants": {}}, "frontier.toml: variants: "),
        ({"difficulty": 0.5}, "frontier.toml: difficulty: a frontier exam has no such setting"),
        ({"abstain": 0.5}, "frontier.toml: abstain: must be a number from 0.25 to 0.4"),
        ({"implied": [0.6, 0.95]}, "frontier.toml: implied: must be two numbers from 0.3 to 0.9"),
        ({"wild": 2}, "frontier.toml: wild: must be a number from 0 to 1"),
        ({"variants": {"effect_estimate": {"ate_point": 1}}, "tasks": 2}, "2 tasks of effect"),
        ({"kind": "balanced"}, "frontier.toml: variants: a balanced exam has no such setting"),
    ],
)
def test_a_wrong_exam_file_is_refused_in_one_line(changes: dict[str, object], message: str) -> None:
    """Naming the key, or the variant."""
    with pytest.raises(UsageError) as caught:
        model_of(**changes)
    assert message in str(caught.value)


def _public(model: ExamModel, **changes: object) -> Config:
    settings = {**table(scenes=2, profiles=PLAIN, views=["clean", "proxy"], wild=WILD), **changes}
    config = TRACK.parse(TomlTable(settings, "x.toml: splits.dev.causalds."))
    return with_named(config, (("frontier", model),), "x.toml: splits.dev.causalds")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"views": ["clean"]}, "views: exam frontier asks in the view proxy, which the split does"),
        ({"wild": {}}, "wild: exam frontier asks about wild graphs, and the split has none; write"),
        ({"wild": {"scenes": 4}}, "wild.implied: exam frontier asks about stories that imply"),
    ],
)
def test_a_split_that_cannot_have_the_exam_is_told_so_before_it_is_planned(
    changes: dict[str, object], message: str
) -> None:
    """Private scenes of a view that was not there had no task, and nobody said why."""
    model = model_of(views={"clean": 1, "proxy": 1}, implied=[0.6, 0.9])
    with pytest.raises(UsageError) as caught:
        _public(model, **changes)
    assert str(caught.value).startswith("x.toml: splits.dev.causalds.") and message in str(
        caught.value
    )
    if "views" in changes:
        private = TRACK.parse(TomlTable(table(scenes=16, views=["clean"]), "x."))
        with pytest.raises(UsageError, match="which the split does not have"):
            with_exams(private, (("frontier", model),), "x")


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        ({"collider_phenomenon": {"induced_association_boolean": 2}}, "_boolean; raise scenes or"),
        ({"effect_estimate": {"ate_point": 3}}, "ate_point where abstaining is right; raise"),
        (
            {"identification": {"one_valid_adjustment_set": 30}},
            "asked identification.one_valid_adj",
        ),
    ],
)
def test_scenes_that_an_exam_lacks_are_told_before_the_build(
    variants: dict[str, dict[str, int]], message: str
) -> None:
    """The gate refused a finished build, in which one answer was always right."""
    count = sum(n for row in variants.values() for n in row.values())
    model = model_of(variants=variants, tasks=count, views={"clean": 1}, implied=[0.6, 0.9])
    with pytest.raises(UsageError) as caught:
        plan_scenes(_public(model), "dev", ROOT, False)
    assert str(caught.value).startswith("splits.dev.causalds.wild: exam frontier: ")
    assert message in str(caught.value)


def test_effects_that_plain_estimates_get_right_are_told_before_the_build() -> None:
    """Four of five questions on total effects are to be missed by them."""
    model = model_of(variants=ONE, tasks=4, views={"clean": 1}, implied=[0.6, 0.9])
    strata = {"hidden_cause": 1, "hedge_elsewhere": 1}
    wild = {**WILD, "scenes": 6, "strata": strata, "misled": 0.8}
    with pytest.raises(UsageError, match=r"mislead in 2 scenes .*ate_point, and it needs 3; raise"):
        plan_scenes(_public(model, wild=wild), "dev", ROOT, False)
    made = _public(model, wild={**wild, "misled": 1.0})
    assert len(plan_scenes(made, "dev", ROOT, False)) == 8
