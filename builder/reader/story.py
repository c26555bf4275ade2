"""A rule-based reader: from a story and some variable names to a causal graph.

It knows general causal cues of English (:mod:`builder.reader.cues`) and the order of clauses,
and nothing about how any story was made. Names are replaced by marks, marks that English joins
('A, B and C') become one group, and each phrase between two groups is asked which way it points.
The clause's subject is carried over 'and lowers …', ', which …', 'it also …' and 'so does …'.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import networkx as nx

from builder.reader import cues
from builder.reader.clauses import (
    Group,
    first_segment,
    last_segment,
    merge,
    segments,
    split,
    starts_with_verb,
)
from builder.reader.english import PATTERNS, WORDS, find
from builder.reader.names import discover, mask, sentences, tells_unmeasured


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader made of a story: names, directed edges, and names it was not given.

    The edges form a directed acyclic graph over ``variables``.
    """

    variables: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    unmeasured: frozenset[str]


@dataclass(slots=True)
class _Text:
    """What carries over from sentence to sentence."""

    told: list[tuple[int, int]] = field(default_factory=list)
    direction: int = 0
    preposition: str = ""


def read_story(story: str, known: Sequence[str] = (), count: int | None = None) -> Reading:
    """Read the directed edges out of ``story``.

    ``known`` are names the test taker was given (measured variables); names beyond them are looked
    for in the text: ``count`` is the number of variables in all, where it is known. Sources: none;
    the cues are plain English grammar.
    """
    if count is None:
        names = _with_hidden(story, list(known), discover(story, known))
    else:
        names = _most_connected(story, list(known), discover(story, known, count), count)
    edges = _edges(story, names)
    return Reading(
        tuple(names),
        tuple((names[a], names[b]) for a, b in edges),
        frozenset(names[len(known) :]),
    )


def _with_hidden(story: str, known: list[str], found: Sequence[str]) -> list[str]:
    """``known`` and the unmeasured names found that some statement joins to another name."""
    joined = {i for edge in _edges(story, [*known, *found]) for i in edge}
    return known + [name for i, name in enumerate(found, len(known)) if i in joined]


def _most_connected(story: str, known: list[str], found: Sequence[str], count: int) -> list[str]:
    """``known`` and the names found that most statements join, up to ``count``, in order.

    A text repeats other phrases as well (places, people); they neither act nor are acted on.
    """
    names = [*known, *found]
    joined = {i for edge in _edges(story, names) for i in edge}
    told = "\n".join(part for part in sentences(story) if tells_unmeasured(part)).casefold()
    # Beside a list of what was measured, what is lacking is what was not.
    hidden = {i for i, name in enumerate(names) if known and name.casefold() in told}
    ranked = sorted(
        range(len(known), len(names)), key=lambda i: (i not in joined, i not in hidden, i)
    )
    return known + [names[i] for i in sorted(ranked[: max(0, count - len(known))])]


def _edges(story: str, names: Sequence[str]) -> list[tuple[int, int]]:
    text = _Text()
    for sentence in sentences(mask(story, names)):
        _read_sentence(sentence, text)
    return _acyclic(text)


def _read_sentence(sentence: str, text: _Text) -> None:
    gaps, groups = split(sentence)
    # What comes after a comma behind the last name ('…, for children ask why') questions nothing.
    asked = [*gaps[:-1], first_segment(gaps[-1]), "?" if sentence.endswith("?") else ""]
    if not groups or find("question", " ".join(asked)):
        return
    gaps, groups = merge(gaps, groups)
    _Clause(text, gaps, groups).read(tells_unmeasured(sentence))


@dataclass(slots=True)
class _Clause:
    """One sentence being read from left to right."""

    text: _Text
    gaps: list[str]
    groups: list[Group]
    subject: Group = ()
    cause: Group = ()

    def read(self, unmeasured: bool) -> None:
        """Walk over the phrases; ``unmeasured``: a leading 'no' may only deny measurement."""
        opening = self.gaps[0]
        denied = cues.is_negated(last_segment(opening)) and not unmeasured
        self._open(opening)
        for k in range(1, len(self.groups)):
            if denied and not find("boundary", self.gaps[k]):
                continue
            denied = False
            self._step(k)

    def _open(self, opening: str) -> None:
        if find("subordinate_start", cues.strip_tail(opening)):
            self.cause = self.groups[0]
        self.subject = self.groups[0]

    def _step(self, k: int) -> None:
        left, gap, right = self.groups[k - 1], self.gaps[k], self.groups[k]
        parts = segments(gap)
        last = parts[-1]
        if find("aside", gap):
            return
        if self._gapped(left, gap, right):
            return
        if k == 1 and self._cataphoric(left, gap, right):
            self.subject = right
        elif len(parts) == 1:
            self._relate(left, gap, right, self._noun_before(k))
        elif find("adverbial", cues.strip_tail(last)) and starts_with_verb(self.gaps[k + 1]):
            self._new_clause(k, parts[0])
        elif last and (cues.is_verbal(last) or cues.relation(last)):
            self._continue(k, last)
        elif _is_list_sign(gap) and cues.relation(parts[0]):
            self._relate(left, parts[0], right)
        else:
            self._new_clause(k, parts[0])

    def _continue(self, k: int, last: str) -> None:
        """A phrase after a comma or conjunction that has a verb but no name before it."""
        left, right = self.groups[k - 1], self.groups[k]
        if find("relative", last):
            self._relate(left, PATTERNS["relative"].sub("", last).strip(), right)
        else:
            self._relate(self.subject or left, last, right)

    def _new_clause(self, k: int, head: str) -> None:
        right = self.groups[k]
        tail = self.gaps[k + 1]
        told = cues.is_verbal(head) or head == "" or "there" in head
        follows = starts_with_verb(tail) or "so " in self.gaps[k] or not tail
        alone = k + 1 == len(self.groups) or cues.relation(tail.split(" ,")[0]) == 0
        if self.cause and told and follows and alone and not cues.is_negated(head):
            self._tell(self.cause, right, 1)
        bare = cues.strip_tail(self.gaps[k])
        self.cause = right if find("subordinate_start", bare) else ()
        self.subject = right

    def _noun_before(self, k: int) -> bool:
        """Whether group ``k - 1`` closes 'the effect of …', so that a bare 'on' tells an effect."""
        before = cues.strip_tail(self.gaps[k - 1])
        way = find("way_from", before) and cues.strip_tail(self.gaps[k]) in ("to", "into")
        return bool(way or find("action_of", before)) and not cues.is_negated(self.gaps[k - 1])

    def _gapped(self, left: Group, gap: str, right: Group) -> bool:
        """'A acts on B, and C on D': the verb of the clause before, told again without it."""
        match = find("gapped", gap)
        if not match or len(segments(gap)) > 1 or not self.text.direction:
            return False
        if match.group("preposition") != self.text.preposition:
            return False
        self._tell(left, right, self.text.direction)
        return True

    def _cataphoric(self, left: Group, gap: str, right: Group) -> bool:
        """'Two things set B: A and C', 'What sets B is A', 'The causes of B are A and C'."""
        sign = _is_list_sign(gap)
        # 'What sets whether B is open is A': the clause about B has a verb of its own.
        closed = find("whether", self.gaps[0]) and bool(find("clause_closed", cues.strip_tail(gap)))
        if not (cues.is_copula(cues.strip_tail(gap)) or closed or (sign and len(gap) == 1)):
            return False
        before = self.gaps[0]
        if cues.asks_for_causes(before):
            self._tell(right, left, 1)
            return True
        bare = last_segment(before)
        direction = cues.relation(bare)
        if find("action_of", cues.strip_tail(bare)):
            self._tell(left, right, 1)
            return True
        bare = PATTERNS["up_to_what"].sub("what ", bare)
        if direction and (sign or find("what_or_doing", bare)):
            self._tell(right, left, direction)
            return True
        return False

    def _relate(self, left: Group, span: str, right: Group, effect_of: bool = False) -> None:
        direction: int = cues.relation(PATTERNS["relative"].sub("", span).strip())
        last = cues.strip_tail(span).rsplit(" ", 1)[-1]
        self.text.preposition = last if last in WORDS["prepositions"] else ""
        if not direction and effect_of and find("on", cues.strip_tail(span)):
            direction = 1
        if direction:
            self._tell(left, right, direction)

    def _tell(self, left: Group, right: Group, direction: int) -> None:
        causes, effects = (left, right) if direction > 0 else (right, left)
        self.text.told += [(a, b) for a in causes for b in effects if a != b]
        self.text.direction = direction


def _is_list_sign(gap: str) -> bool:
    return gap.endswith((":", "—"))


def _acyclic(text: _Text) -> list[tuple[int, int]]:
    """The told edges, most often told first, without those that would close a cycle."""
    counts = Counter(text.told)
    order = {edge: i for i, edge in reversed(list(enumerate(text.told)))}
    graph: nx.DiGraph[int] = nx.DiGraph()
    for a, b in sorted(counts, key=lambda e: (-counts[e], order[e])):
        if a != b and not (a in graph and b in graph and nx.has_path(graph, b, a)):
            graph.add_edge(a, b)
    return sorted(graph.edges)
