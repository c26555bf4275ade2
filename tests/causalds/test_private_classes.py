"""Private exams: the answer to one task says nothing of the answer to another."""

from collections import Counter, defaultdict
from functools import cache

import pytest
import scipy
from causalds_scenes import ROOT, table

from builder.splits.seeds import hmac_key
from builder.splits.settings import TomlTable
from builder.tracks.causalds.design.scene_plan import Questions, ScenePlan
from builder.tracks.causalds.exams.model import parse_exam
from builder.tracks.causalds.plan.config import SceneSettings, with_exams
from builder.tracks.causalds.plan.scenes import plan_scenes
from builder.tracks.causalds.track import TRACK
from grader.errors import UsageError

SECRETS = 8
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


def planned(config: SceneSettings, number: int) -> list[Questions]:
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
        for one in planned(settings(TASKS), number):
            assert one.variant is not None and one.wanted is not None
            own[one.variant].append(one.wanted)
        for variant, labels in own.items():
            assert len(labels) == TASKS // 33
            found[variant].append(labels)
    return {key: rows for key, rows in found.items() if len({x for r in rows for x in r}) > 1}


def _share(rows: list[list[str]]) -> float:
    """The share of each class of a variant."""
    return 1 / len({label for row in rows for label in row})


def test_twins_are_alike_as_often_as_chance_has_it() -> None:
    """Dealt in turn, they never were. The bound is 4 standard errors, over variants and secrets."""
    alike = expected = variance = 0.0
    for rows in classes().values():
        share = _share(rows)
        alike += sum(one == other for one, other in rows)
        expected += share * len(rows)
        variance += share * (1 - share) * len(rows)
    assert expected > 50
    assert abs(alike - expected) < 4 * variance**0.5, (alike, expected)


def test_one_known_answer_does_not_tell_its_twin() -> None:
    """Who knows one class, and which class stood beside which in the exams of half the secrets,
    guesses the other in the exams of the rest no better than by its share (4 standard errors)."""
    hits = expected = variance = 0.0
    for rows in classes().values():
        share = _share(rows)
        beside: dict[str, Counter[str]] = defaultdict(Counter)
        for one, other in rows[: SECRETS // 2]:
            beside[one][other] += 1
            beside[other][one] += 1
        for one, other in rows[SECRETS // 2 :]:
            guess = beside[one].most_common(1) or [("", 0)]
            hits += guess[0][0] == other
            expected += share
            variance += share * (1 - share)
    assert expected > 25
    assert hits < expected + 4 * variance**0.5, (hits, expected)


def test_classes_have_equal_shares_over_many_secrets() -> None:
    """A coin that prefers a class would pay whoever always names it. Bound: p > 0.0001 for all
    variants together."""
    statistic = freedom = 0.0
    for rows in classes().values():
        counts = Counter(label for row in rows for label in row)
        even = counts.total() / len(counts)
        statistic += sum((count - even) ** 2 / even for count in counts.values())
        freedom += len(counts) - 1
    assert scipy.stats.chi2.sf(statistic, freedom) > 1e-4


def test_abstentions_are_drawn_by_themselves() -> None:
    """How many effects are not identifiable differs from exam to exam as the number of heads does.
    Dealt in turn it was the same in all."""
    asked = [rows for rows in classes().values() if {x for r in rows for x in r} & ABSTAIN]
    variance = sum(len(rows[0]) * _share(rows) * (1 - _share(rows)) for rows in asked)
    numbers = [sum(x in ABSTAIN for rows in asked for x in rows[n]) for n in range(SECRETS)]
    statistic = sum((n - sum(numbers) / SECRETS) ** 2 for n in numbers) / variance
    assert len(asked) >= 9
    assert 1e-4 < scipy.stats.chi2.sf(statistic, SECRETS - 1) < 1 - 1e-4, numbers


def test_a_small_exam_is_composed_for_every_secret() -> None:
    """Half of the secrets were refused for an exam of 11 scenes: that told of them, and a build
    failed by luck."""
    config = settings(11)
    for number in range(5):
        assert len({one.variant for one in planned(config, number)}) == 11


def test_what_cannot_be_composed_is_refused_for_every_secret_alike() -> None:
    """A refusal that depends on the secret tells of it, and comes when building has begun."""
    config = settings(11, composition="motifs", motifs={"chain": 1})
    told = set()
    for number in range(3):
        with pytest.raises(UsageError) as refused:
            planned(config, number)
        told.add(str(refused.value))
    (line,) = told
    assert line.startswith("splits.test.exams.exam.causalds: every task of ")
