"""Do the words of a story tell its motif, or whether its effect is identifiable, beyond its facts?

Two thousand stories, names masked, become bags of words. The classifier of the release's own leak
test (:mod:`builder.gate.leak.classifier`) predicts a fact from them, and its accuracy is
compared with itself after the bags are permuted among stories of equal disclosures: how many
variables, effects and unmeasured variables there are, and the kinds of treatment and outcome; or
``fine``, all that telling the facts discloses: effects by the kinds of their ends, mentions, and
sentences by plan as well. The first asks for more, the second leaves few stories to compare. Beside
the classifier, every single word is tested in the same way: what one rare word tells drowns among a
thousand.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from builder.causal.identification import is_identifiable
from builder.causalds.make.scene import narrate
from builder.causalds.plan.config import Config
from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.plan.types import ScenePlan
from builder.gate.leak.classifier import (
    Smoothers,
    Tested,
    encode,
    numeric,
    permutation_test,
)
from builder.gate.leak.facts import merge_rare
from builder.words.narration import Narration
from builder.words.story import ordered
from builder.words.terms import replace_words
from builder.words.verify import split_sentences

BATCH = 250
"""Scenes that are planned together, so that none share their names."""
FACTS = ("motif", "identifiability")
LEAST_STORIES = 5
"""A word counts as a feature from so many stories on."""


@dataclass(frozen=True)
class Told:
    """A story with the plan of its scene."""

    plan: ScenePlan
    narration: Narration


def tell_many(config: Config, number: int, seed: str) -> list[Told]:
    """``number`` stories of a composition, in batches that share no names within."""
    told: list[Told] = []
    while len(told) < number:
        size = min(BATCH, number - len(told))
        root = f"{seed} {len(told)}".encode()
        for spec in plan_scenes(replace(config, scenes=size, tellings=0), "words", root, False):
            plan = ScenePlan.from_json(spec.config_json)
            told.append(Told(plan, narrate(plan, spec.key)))
    return told


def disclosed(one: Told, fine: bool) -> tuple[object, ...]:
    """What a story discloses: its counts and kinds, or all that telling the facts cannot hide."""
    plan, story = one.plan, one.narration.telling
    counts = len(plan.nodes), len(plan.edges), len(plan.latent)
    if not fine:
        return (*counts, plan.treatment_kind, plan.outcome_kind)
    names = {node: variable.name for node, variable in one.narration.variables.items()}
    kinds = {
        node: "unmeasured" if node in plan.latent else kind for node, kind in plan.kinds.items()
    }
    by_sentence: dict[str, list[tuple[str, str]]] = {}
    nodes = {name: node for node, name in names.items()}
    for attested in story.attestations:
        if attested.what[0] == "edge":
            edge = nodes[attested.what[1]], nodes[attested.what[2]]
            by_sentence.setdefault(attested.sentence, []).append(edge)
    plans = Counter(
        ordered(edges)[1] if len(edges) == 2 else "alone" for edges in by_sentence.values()
    )
    return (
        *counts,
        tuple(sorted(Counter((kinds[a], kinds[b]) for a, b in plan.edges).items())),
        tuple(sorted(plans.items())),
        sum(story.story.count(name) for name in names.values()),
    )


def masked(one: Told, mechanisms: bool = True) -> str:
    """The story with every name as one word, and with it what belongs to the name.

    Units, states and mechanisms are facts about the named variables: whoever sees the names has
    them. With ``mechanisms`` false these last are left in.
    """
    given: dict[str, str] = {}
    for variable in one.narration.variables.values():
        given[variable.name] = "NAME"
        given |= dict.fromkeys(variable.values, "FACT")
    if mechanisms:
        for how in one.narration.mechanism_clauses.values():
            given |= {how: "HOW", how[0].upper() + how[1:]: "HOW"}
    return replace_words(one.narration.telling.story, given)


def counts(texts: Sequence[str], least: int) -> NDArray[np.float64]:
    """How often each word or mark that stands in ``least`` texts stands in each; (texts, words)."""
    bags = CountVectorizer(token_pattern=r"[A-Za-z]+|[,;:]", lowercase=False, min_df=least)
    return np.asarray(bags.fit_transform(texts).toarray(), dtype=np.float64)


def sizes(texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """Words, sentences, commas and paragraphs as features."""
    measured = [
        (len(t.split()), len(split_sentences(t)), t.count(","), t.count("\n\n")) for t in texts
    ]
    return [numeric([float(v) for v in column]) for column in zip(*measured, strict=True)]


def facts_of(told: Sequence[Told]) -> dict[str, list[str]]:
    """The private facts that are tested, by name."""
    queries = [one.plan.query for one in told]
    return {
        "motif": [one.plan.motif for one in told],
        "identifiability": [
            str(is_identifiable(q.graph, q.treatment, q.outcome, "ate")) for q in queries
        ],
    }


@dataclass(frozen=True)
class LeakResult:
    """One fact tested: over how many stories, by the classifier, and by single words (a p)."""

    fact: str
    movable: int
    strata: int
    tested: Tested
    single_words: float


def leak_results(
    told: Sequence[Told],
    texts: Sequence[str],
    permutations: int = 999,
    seed: int = 0,
    fine: bool = False,
    facts: Sequence[str] = FACTS,
) -> list[LeakResult]:
    """The permutation test for each fact, over the stories whose disclosures leave it open."""
    results = []
    all_strata, _ = encode([repr(disclosed(one, fine)) for one in told])
    for fact, values in ((fact, facts_of(told)[fact]) for fact in facts):
        labels = np.array(merge_rare(tuple(values)), dtype=object)
        open_strata = [s for s in set(all_strata) if len(set(labels[all_strata == s])) > 1]
        kept = np.flatnonzero(np.isin(all_strata, open_strata))
        strata, _ = encode([int(s) for s in all_strata[kept]])
        codes, _ = encode([str(v) for v in labels[kept]])
        chosen = [texts[int(i)] for i in kept]
        rng = np.random.default_rng(seed)
        words = counts(chosen, LEAST_STORIES)
        present = words.clip(max=1)
        families = [
            (present - present.mean(axis=0),),
            (StandardScaler().fit_transform(counts(chosen, len(chosen) // 20)),),
            (np.hstack(sizes(chosen)),),
        ]
        models = Smoothers(strata, families, rng)
        tested = permutation_test(models, codes, strata, permutations, rng)
        single = single_words(words, codes, strata, permutations, rng)
        results.append(LeakResult(fact, len(kept), int(strata.max()) + 1, tested, single))
    return results


def single_words(
    matrix: NDArray[np.float64],
    labels: NDArray[np.int64],
    strata: NDArray[np.int64],
    permutations: int,
    rng: np.random.Generator,
) -> float:
    """p of the word that tells a class best, against itself with labels permuted within strata.

    The statistic is the largest covariance of a word's count with a class, both less their means
    within the stratum, over the words' and classes' standard deviations.
    """
    words = _within(matrix, strata)
    words = words[:, words.std(axis=0) > 0] / words.std(axis=0)[words.std(axis=0) > 0]
    home = np.argsort(strata, kind="stable")

    def largest(of: NDArray[np.int64]) -> float:
        classes = _within(np.eye(int(labels.max()) + 1)[of], strata)
        return float(np.abs(words.T @ classes / classes.std(axis=0).clip(min=1e-9)).max())

    observed, exceeding = largest(labels), 0
    for _ in range(permutations):
        moved = np.empty_like(labels)
        moved[home] = labels[np.argsort(strata + rng.random(len(labels)))]
        exceeding += largest(moved) >= observed
    return (1 + exceeding) / (1 + permutations)


def _within(matrix: NDArray[np.float64], strata: NDArray[np.int64]) -> NDArray[np.float64]:
    """``matrix`` less the mean of each stratum."""
    sums = np.zeros((int(strata.max()) + 1, matrix.shape[1]))
    np.add.at(sums, strata, matrix)
    return np.asarray(matrix - (sums / np.bincount(strata)[:, None])[strata])
