"""Checks that domains are fit to tell scenes with: their texts and their graphs."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import networkx as nx

from builder.stories.knowledge import Concept, Domain, is_plural, plural_verb, read_domain
from builder.stories.verify import DERIVED, NO_MECHANISM, NO_UNIT, TECHNICAL, says
from grader.errors import UsageError
from grader.io.names import confusable

LEAST_LATENT: Final = 10
LEAST_LATENT_ROOTS: Final = 8
CHILDREN_OF_A_ROOT: Final = 3


def lint_files(files: Sequence[Path]) -> list[str]:
    """Return the problems of domain files, one a line; an unreadable file is one."""
    found, problems = [], []
    for path in files:
        try:
            found.append(read_domain(path))
        except UsageError as error:
            problems.append(str(error))
    return [*problems, *lint_domains(found)]


def lint_domains(found: Sequence[Domain]) -> list[str]:
    """Return problems, one a line, with names that three domains and mechanisms that two share."""
    problems = [f"{domain.key}: {text}" for domain in found for text in _lint_domain(domain)]
    names = Counter(c.name.lower() for domain in found for c in domain.concepts)
    clauses = Counter(
        clause.lower() for domain in found for clause in domain.mechanism_clauses.values()
    )
    problems += [f"{n} domains have a variable {name!r}" for name, n in names.items() if n > 2]
    problems += [f"a mechanism is told {n} times: {text}" for text, n in clauses.items() if n > 1]
    return problems


def _lint_domain(domain: Domain) -> Iterator[str]:
    """Yield every problem that one domain has by itself."""
    for what, number, low, high in (
        ("variables", len(domain.concepts), 28, 40),
        ("edges", len(domain.mechanism_clauses), 45, 80),
    ):
        if not low <= number <= high:
            yield f"{number} {what}, should be {low} to {high}"
    both = sum(len(concept.kinds) == 2 for concept in domain.concepts)
    if both < 0.7 * len(domain.concepts):
        yield f"only {both} of {len(domain.concepts)} variables may have both kinds"
    yield from _lint_names(domain)
    for concept in domain.concepts:
        yield from _lint_concept(concept)
    for (cause, effect), how in domain.mechanism_clauses.items():
        for text in _lint_mechanism(how, domain):
            yield f"{cause} -> {effect}: {text}"
    yield from _lint_scenery(domain)
    yield from _lint_graph(domain)


def _lint_names(domain: Domain) -> Iterator[str]:
    """Yield names that are no plain words, derived quantities, or too much like another name."""
    names = [concept.name for concept in domain.concepts]
    lowered = [name.lower() for name in names]
    for name in names:
        plain = re.fullmatch(r"[A-Z][A-Za-z]*(?:[ -][A-Za-z]+){0,3}", name)
        if not plain or len(name) > 34:
            yield f"name {name!r}: one to four plain words, the first with a capital letter"
        if derived := DERIVED.search(name):
            yield f"name {name!r}: {derived[0]!r} suggests a quantity computed from others"
    for i, name in enumerate(lowered):
        if name in lowered[:i]:
            yield f"name {names[i]!r} is given twice"
        for j, other in enumerate(lowered):
            if i != j and name != other and other in name:
                yield f"name {names[j]!r} stands inside {names[i]!r}"
            if i < j and name != other and _stem(name) == _stem(other):
                yield f"names {names[i]!r} and {names[j]!r} are nearly the same"
    for one, other in confusable(names):
        yield f"an answer that says {one!r} could be read as {other!r}"
    heads = Counter(name.split()[-1] for name in lowered)
    yield from (f"{n} names end in {head!r}" for head, n in heads.items() if n > 2)


def _stem(name: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in re.findall(r"[a-z]+", name)) - {"of"}


def _lint_concept(concept: Concept) -> Iterator[str]:
    """Yield units and states with punctuation, units that do not fit, and verbs that disagree."""
    if concept.unit is not None and re.search(r"[.,;:]", concept.unit):
        yield f"{concept.name}: unit {concept.unit!r} has punctuation"
    if concept.unit is not None and NO_UNIT.match(concept.unit):
        yield f'{concept.name}: unit {concept.unit!r} does not fit "recorded in ..."'
    if concept.states is None:
        return
    if concept.states[0] == concept.states[1]:
        yield f"{concept.name}: both states are the same"
    for state in concept.states:
        form = plural_verb(state.split()[0])
        if form is not None and (form == "plural") != concept.plural:
            yield f"{concept.name}: the verbs of its states do not agree"
        if form == "singular" and is_plural(concept.name):
            yield f"{concept.name}: the verb of {state!r} does not agree with the name"
        if re.search(r"[,;:]|\.(?!\d)", state):
            yield f"{concept.name}: state {state!r} has punctuation"


def _lint_mechanism(how: str, domain: Domain) -> Iterator[str]:
    """Yield a mechanism's wrong length or form, forbidden words, and variables that it names."""
    if not 5 <= len(how.split()) <= 17:
        yield f"a mechanism of {len(how.split())} words"
    if how.endswith(".") or "  " in how:
        yield "a final stop or two spaces in a row"
    if bad := sorted(NO_MECHANISM.intersection(re.findall(r"[a-z]+", how.lower()))):
        yield f"the mechanism says {', '.join(bad)}"
    for concept in domain.concepts:
        if says(how.lower(), concept.name.lower()):
            yield f"the mechanism names {concept.name!r}"


def _lint_scenery(domain: Domain) -> Iterator[str]:
    """Yield too few texts of the scenery, and those that name a variable or a technical term."""
    scenery = domain.scenery
    if len(scenery.settings) < 5 or len(scenery.colour) < 6:
        yield "needs 5 settings and 6 sentences of colour"
    called = set(scenery.people.lower().split())
    for concept in domain.concepts:
        # A story may say "the heat" for such a variable; who speaks must not be read as it.
        if concept.name.lower().split()[-1] in called:
            yield f"the last word of {concept.name!r} stands in what the people are called"
    for text in (*scenery.settings, *scenery.colour):
        for concept in domain.concepts:
            if says(text.lower(), concept.name.lower()):
                yield f"{concept.name!r} stands in: {text}"
        if TECHNICAL.search(text):
            yield f"a technical term in: {text}"


def _lint_graph(domain: Domain) -> Iterator[str]:
    """Yield a cycle, variables without an edge, and too few variables that may go unmeasured."""
    graph: nx.DiGraph[str] = nx.DiGraph(list(domain.mechanism_clauses))
    graph.add_nodes_from(concept.name for concept in domain.concepts)
    if not nx.is_directed_acyclic_graph(graph):
        yield f"a cycle: {nx.find_cycle(graph)}"
    yield from (f"{node!r} has no edge" for node in graph if graph.degree(node) == 0)
    latent = [concept.name for concept in domain.concepts if concept.latent]
    roots = sum(
        graph.in_degree(name) == 0 and graph.out_degree(name) >= CHILDREN_OF_A_ROOT
        for name in latent
    )
    if len(latent) < LEAST_LATENT or roots < LEAST_LATENT_ROOTS:
        yield (
            f"{len(latent)} variables could go unmeasured, {roots} of them roots with "
            f"{CHILDREN_OF_A_ROOT} effects; should be {LEAST_LATENT} and {LEAST_LATENT_ROOTS}"
        )
