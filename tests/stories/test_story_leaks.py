"""Do the words of a story tell its motif, or whether its effect is identifiable, beyond its facts?

Two thousand stories, names masked, become bags of words. The classifier of the release's own leak
test (:mod:`builder.gate.leak`) predicts a fact from them, by the one word that tells most or by
all, and its score is compared with itself after the facts are permuted among stories of equal
disclosures: how many variables, effects and unmeasured variables there are, and the kinds of
treatment and outcome; or ``fine``, all that telling the facts discloses: effects by the kinds of
their ends, mentions, and sentences by plan as well. The first asks for more, the second leaves few
stories to compare.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold, permutation_test_score

from builder.gate.leak import ClassMeans, centre_in_strata, merge_rare
from builder.graphs.identification import is_identifiable
from builder.splits.config import load_config
from builder.stories.story import order_pair
from builder.stories.verbalise import Narration
from builder.stories.verify import replace_words
from builder.tracks import TRACKS
from builder.tracks.causalds.design.scene_plan import ScenePlan
from builder.tracks.causalds.make.scene import narrate
from builder.tracks.causalds.plan.config import SceneSettings
from builder.tracks.causalds.plan.scenes import plan_scenes

BATCH = 250
"""Scenes that are planned together, so that none share their names."""
FACTS = ("motif", "identifiability")
LEVEL = 0.01


@dataclass(frozen=True)
class Told:
    """A story with the plan of its scene."""

    plan: ScenePlan
    narration: Narration


def tell_many(config: SceneSettings, number: int) -> list[Told]:
    """``number`` stories of a composition, in batches that share no names within."""
    told: list[Told] = []
    while len(told) < number:
        size = min(BATCH, number - len(told))
        own = config.model_copy(update={"scenes": size, "tellings": 0})
        for spec in plan_scenes(own, "words", b"leak test %d" % len(told), False):
            plan = ScenePlan.from_json(spec.config_json)
            told.append(Told(plan, narrate(plan, spec.key)))
    return told


def disclosed(one: Told, fine: bool) -> tuple[object, ...]:
    """What a story discloses: its counts and kinds, or all that telling the facts cannot hide."""
    plan, story = one.plan, one.narration.telling
    counts = len(plan.structure.nodes), len(plan.structure.edges), len(plan.structure.latent)
    if not fine:
        return (*counts, plan.structure.treatment_kind, plan.structure.outcome_kind)
    names = {node: variable.name for node, variable in one.narration.variables.items()}
    kinds = {
        node: "unmeasured" if node in plan.structure.latent else kind
        for node, kind in plan.structure.kinds.items()
    }
    by_sentence: dict[str, list[tuple[str, str]]] = {}
    nodes = {name: node for node, name in names.items()}
    for attested in story.attestations:
        if attested.what[0] == "edge":
            edge = nodes[attested.what[1]], nodes[attested.what[2]]
            by_sentence.setdefault(attested.sentence, []).append(edge)
    plans = Counter(
        order_pair(edges)[1] if len(edges) == 2 else "alone" for edges in by_sentence.values()
    )
    return (
        *counts,
        tuple(sorted(Counter((kinds[a], kinds[b]) for a, b in plan.structure.edges).items())),
        tuple(sorted(plans.items())),
        sum(story.story.count(name) for name in names.values()),
    )


def masked(one: Told) -> str:
    """The story with every name as one word, and with it what belongs to the name.

    Units, states and mechanisms are facts about the named variables: whoever sees the names has
    them.
    """
    given: dict[str, str] = {}
    for variable in one.narration.variables.values():
        given[variable.name] = "NAME"
        given |= dict.fromkeys(variable.values, "FACT")
    for how in one.narration.mechanism_clauses.values():
        given |= {how: "HOW", how[0].upper() + how[1:]: "HOW"}
    return replace_words(one.narration.telling.story, given)


def p_value(told: Sequence[Told], texts: Sequence[str], fact: str, fine: bool = False) -> float:
    """The permutation test for a fact, over the stories whose disclosures leave it open."""
    facts = [
        one.plan.structure.motif
        if fact == "motif"
        else str(is_identifiable(*one.plan.structure.query.effect, "ate"))
        for one in told
    ]
    labels = np.unique(merge_rare(tuple(facts)), return_inverse=True)[1]
    strata = np.array([repr(disclosed(one, fine)) for one in told])
    kept = np.flatnonzero([len(set(labels[strata == own])) > 1 for own in strata])
    strata = np.unique(strata[kept], return_inverse=True)[1]
    # A word counts as a feature from five stories on.
    bags = CountVectorizer(token_pattern=r"[A-Za-z]+|[,;:]", lowercase=False, min_df=5)
    words = centre_in_strata(
        bags.fit_transform([texts[int(i)] for i in kept]).toarray() * 1.0, strata
    )
    words = words[:, words.std(axis=0) > 0] / words.std(axis=0)[words.std(axis=0) > 0]
    _, _, p = permutation_test_score(
        ClassMeans(tuple(range(words.shape[1]))), words, labels[kept], groups=strata,
        cv=list(KFold(2, shuffle=True, random_state=0).split(words)),
        n_permutations=999, random_state=0,
    )  # fmt: skip
    return float(p)


@pytest.mark.slow
def test_two_thousand_stories_leak_nothing_and_a_planted_cue_is_caught() -> None:
    """The permutation test of the release's gate, over words; p at most 0.01/m would be a leak."""
    file = Path(__file__).resolve().parents[2] / "splits" / "main.toml"
    config = dict(load_config(file, TRACKS).splits[0].tracks)["causalds"]
    assert isinstance(config, SceneSettings)
    told = tell_many(config, 2000)
    texts = [masked(one) for one in told]
    for fine in (False, True):
        for fact in FACTS:
            assert p_value(told, texts, fact, fine) > LEVEL / len(FACTS), (fact, fine)
    cue = [
        text + (" Withal." if one.plan.structure.motif == "confounding" and i % 3 else "")
        for i, (one, text) in enumerate(zip(told, texts, strict=True))
    ]
    assert p_value(told, cue, "motif") <= LEVEL / len(FACTS)
