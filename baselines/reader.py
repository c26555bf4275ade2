"""A rule-based reader: from a story and some variable names to a causal graph.

It knows general causal cues of English (:mod:`baselines.reader_cues`) and the order of clauses,
and nothing about how any story was made. Names are replaced by marks, marks that English joins
('A, B and C') become one group, and each phrase between two groups is asked which way it points.
The clause's subject is carried over 'and lowers …', ', which …', 'it also …' and 'so does …'.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import networkx as nx

from baselines import reader_cues as cues
from baselines.reader_clauses import (
    BOUNDARY,
    SUBORDINATE_START,
    Group,
    last_segment,
    merge,
    split,
    starts_with_verb,
)
from baselines.reader_names import discover, mask, sentences, tells_unmeasured

_QUESTION: Final = re.compile(
    r"\?|\b(?:know|knows|asks?|wonder\w*|question|learn|see|find out|tell|decide|unclear|unsure|"
    r"sure|doubt\w*|debate\w*|establish\w*|check\w*|test\w*)(?: is| of| about)? whether\b|"
    r"\bwant(?:s|ed)? to (?:know|learn|see|find|understand)|\bthe question\b|"
    r"\b(?:asks?|asked|wonder\w*|curious|of interest|hopes? to|interested in|aims? to|"
    r"would like to|goal|task is|tries to learn|trying to)\b"
)
_FRONTED: Final = re.compile(
    r"(?:^|[,;:—] ?|\b(?:and|but) )(?:\w+ly )?(on|upon|to|from|by|with|into|under|"
    r"because of|due to|thanks to|owing to|in response to|out of)$"
)
_ADDITIVE: Final = re.compile(
    r"\b(along with|together with|alongside|like|besides|aside from|apart from|in addition to|"
    r"beyond|as well as)$"
)
_SAME: Final = re.compile(
    r"\b(?:so (?:do|does|did|is|are)|as (?:do|does|did|is|are)|nor|"
    r"the same (?:is true of|goes for|holds for|applies to|can be said of))$"
)
_SAME_AFTER: Final = re.compile(
    r"^,? ?(?:(?:does|do) (?:the same|so|too|likewise)|(?:is|are) (?:(?:the|an) ?other|another|"
    r"a second|one too|as well))\b"
)
_PRONOUN: Final = re.compile(
    r"^(?:\w+ly |then |in turn |also |likewise |next |for its part |and )*"
    r"(it|they|this|that|these|those|the same (?:quantity|variable|factor|thing)|the former|"
    r"the latter|both(?: of (?:them|these))?|the two|each(?: of (?:them|these))?)\b"
)
_RELATIVE: Final = re.compile(r"^(?:in turn )?(?:which|that|who|what|whose)\b")
_ASIDE: Final = re.compile(r"^,? ?(?:and |but )?not(?: \w+){0,2}$")
_EFFECT_OF: Final = re.compile(
    r"\b(?:effects?|influence|impact|pull|bearing|force|pressure|action|hold|imprint|push|"
    r"consequences?)(?: of)?$"
)
_PARTICIPLE_BY: Final = re.compile(
    r"^(?:(?:\w+ly|itself|in turn|in part) )*\w+(?:ed|en|et|un|ut|ught|rne) (?:\w+ly )?by\b"
)
_OBJECT_RELATIVE: Final = re.compile(r"\b(?:where|what|that|which)$")
_ON: Final = re.compile(r"^(?:(?:up)?on|over|for|in|(?:in)?to|reach(?:es)?|extends? to|lands? on)$")


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
    by_way: list[tuple[int, int]] = field(default_factory=list)
    subject: Group = ()
    object: Group = ()
    pair: Group = ()
    direction: int = 0


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
    """``known`` and the unmeasured names found that some statement joins to another name.

    Where the known names are capitalised the others will be.
    """
    if any(name != name.casefold() for name in known):
        found = [name for name in found if name != name.casefold()]
    joined = {i for edge in _edges(story, [*known, *found]) for i in edge}
    return known + [name for i, name in enumerate(found, len(known)) if i in joined]


def _most_connected(story: str, known: list[str], found: Sequence[str], count: int) -> list[str]:
    """``known`` and the names found that most statements join, up to ``count``, in order.

    A text repeats other phrases as well (places, people); they neither act nor are acted on.
    """
    lacking = max(0, count - len(known))
    capitalised = [name for name in found if name != name.casefold()]
    for candidates in (capitalised, list(found)):
        names = [*known, *candidates]
        joined = {i for edge in _edges(story, names) for i in edge if i >= len(known)}
        if len(joined) >= lacking or candidates is not capitalised:
            break
    ranked = sorted(range(len(known), len(names)), key=lambda i: (i not in joined, i))
    return known + [names[i] for i in sorted(ranked[:lacking])]


def _edges(story: str, names: Sequence[str]) -> list[tuple[int, int]]:
    text = _Text()
    for sentence in sentences(mask(story, names)):
        _read_sentence(sentence, text)
    return _acyclic(text)


def _read_sentence(sentence: str, text: _Text) -> None:
    gaps, groups = split(sentence)
    if not groups or _QUESTION.search(" ".join(gaps)):
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
    extra: Group = ()
    cause: Group = ()

    def read(self, unmeasured: bool) -> None:
        """Walk over the phrases; ``unmeasured``: a leading 'no' may only deny measurement."""
        opening = self.gaps[0]
        denied = cues.is_negated(last_segment(opening)) and not unmeasured
        self._open(opening)
        for k in range(1, len(self.groups)):
            if denied and not BOUNDARY.search(self.gaps[k]):
                continue
            denied = False
            self._step(k)
        tail = self.gaps[-1]
        if _SAME_AFTER.search(tail) and len(self.groups) >= 1 and not self._told_here(-1):
            self._same(self.groups[-1])
        self.text.subject = self.subject or self.groups[0]

    def _told_here(self, k: int) -> bool:
        return any(b in self.groups[k] for _, b in self.text.told[-1:]) and len(self.groups) > 1

    def _open(self, opening: str) -> None:
        first = self.groups[0]
        bare = cues.strip_tail(opening)
        pronoun = _PRONOUN.match(last_segment(opening)) or _PRONOUN.match(opening)
        if _SAME.search(bare):
            self._same(first)
        elif (
            pronoun
            and not bare.endswith("that")
            and (left := self._antecedent(pronoun.group(1), opening))
        ):
            self.subject = left
            self._relate(left, last_segment(opening), first)
            return
        elif _ADDITIVE.search(bare):
            self.extra = first
        elif SUBORDINATE_START.search(bare):
            self.cause = first
        self.subject = first

    def _antecedent(self, pronoun: str, opening: str) -> Group:
        if pronoun.startswith(("both", "the two", "each")):
            return self.text.pair
        if pronoun in ("this", "that", "these", "those", "the latter") or "in turn" in opening:
            return self.text.object or self.text.subject
        return self.text.subject

    def _step(self, k: int) -> None:
        left, gap, right = self.groups[k - 1], self.gaps[k], self.groups[k]
        segments = [part.strip() for part in BOUNDARY.split(gap)]
        last = segments[-1]
        if _ASIDE.match(gap):
            return
        if cues.is_through(gap):
            self._by_way_of(left, right, last)
        elif not self.cause and _SAME.search(cues.strip_tail(gap)):
            self._same(right)
        elif k == 1 and self._inverted(left, gap, right, segments):
            self.subject = right
        elif _OBJECT_RELATIVE.search(gap) and starts_with_verb(self.gaps[k + 1]):
            self._object_relative(k)
        elif len(segments) == 1:
            self._relate(left, gap, right, self._noun_before(k))
        elif last and (cues.is_verbal(last) or cues.relation(last)):
            self._continue(k, segments, last)
        elif _is_list_sign(gap) and cues.relation(segments[0]):
            self._relate(left, segments[0], right)
        else:
            self._new_clause(k, segments)

    def _continue(self, k: int, segments: list[str], last: str) -> None:
        """A phrase after a comma or conjunction that has a verb but no name before it."""
        left, right = self.groups[k - 1], self.groups[k]
        pronoun = _PRONOUN.match(last)
        if _RELATIVE.match(last):
            rest = _RELATIVE.sub("", last).strip()
            self._relate(left, rest, right)
        elif pronoun and pronoun.group(1) in ("this", "that", "these"):
            self._relate(self.text.object or left, last, right)
        elif _PARTICIPLE_BY.match(last) and segments[0] == "" and not self._lists_causes(k):
            self._relate(left, last, right)
        else:
            self._relate(self.subject or left, last, right)

    def _new_clause(self, k: int, segments: list[str]) -> None:
        right = self.groups[k]
        tail = self.gaps[k + 1]
        told = cues.is_verbal(segments[0]) or segments[0] == "" or "there" in segments[0]
        follows = starts_with_verb(tail) or "so " in self.gaps[k] or not tail
        alone = k + 1 == len(self.groups) or cues.relation(tail.split(" ,")[0]) == 0
        if self.cause and told and follows and alone and not cues.is_negated(segments[0]):
            self._tell(self.cause, right, 1)
        bare = cues.strip_tail(self.gaps[k])
        self.cause = right if SUBORDINATE_START.search(bare) else ()
        self.subject = right

    def _object_relative(self, k: int) -> None:
        """'A is what B depends on', 'B is where A leaves its mark'."""
        gap = self.gaps[k]
        if not cues.is_negated(gap):
            verb = BOUNDARY.split(self.gaps[k + 1])[0].strip()
            direction = 1 if gap.endswith("where") else cues.relation(verb) or 1
            self._tell(self.groups[k], self.groups[k - 1], direction)

    def _lists_causes(self, k: int) -> bool:
        """Whether group ``k - 1`` was just told to be a cause of the subject ('is set by A, …')."""
        return self.text.direction < 0 and self.text.object == self.groups[k - 1]

    def _noun_before(self, k: int) -> bool:
        """Whether group ``k - 1`` closes 'the effect of …', so that a bare 'on' tells an effect."""
        before = cues.strip_tail(self.gaps[k - 1])
        if cues.strip_tail(self.gaps[k]) in ("to", "into") and re.search(r"\w from$", before):
            return not cues.is_negated(self.gaps[k - 1])
        return bool(_EFFECT_OF.search(before)) and not cues.is_negated(self.gaps[k - 1])

    def _inverted(self, left: Group, gap: str, right: Group, segments: list[str]) -> bool:
        return self._fronted(left, gap, right, segments) or self._cataphoric(left, gap, right)

    def _fronted(self, left: Group, gap: str, right: Group, segments: list[str]) -> bool:
        """'On B, A acts directly', 'From A comes B', 'With more A, B rises'."""
        match = _FRONTED.search(cues.strip_tail(self.gaps[0]))
        if not match:
            return False
        tail = self.gaps[2] if len(segments) > 1 else gap
        if len(segments) > 1 and (segments[-1] and cues.is_verbal(segments[-1])):
            return False
        verb = BOUNDARY.split(tail)[0].strip()
        direction = cues.relation(f"{verb} {match.group(1)}")
        if direction and verb and cues.is_verbal(verb):
            self._tell(right, left, direction)
            return True
        return False

    def _cataphoric(self, left: Group, gap: str, right: Group) -> bool:
        """'Two things set B: A and C', 'What sets B is A', 'The causes of B are A and C'."""
        sign = _is_list_sign(gap)
        if not (cues.is_copula(gap) or (sign and len(gap) == 1)):
            return False
        before = self.gaps[0]
        if cues.asks_for_causes(before):
            self._tell(right, left, 1)
            return True
        bare = last_segment(before)
        direction = cues.relation(bare)
        if _EFFECT_OF.search(cues.strip_tail(bare)):
            self._tell(left, right, 1)
            return True
        bare = re.sub(r"^.*\b(?:what|that|which) ", "what ", bare)
        if direction and (sign or re.search(r"\b(?:what|that|which)\b|^(?:\w+ly )?\w+ing\b", bare)):
            self._tell(right, left, direction)
            return True
        return False

    def _relate(self, left: Group, span: str, right: Group, effect_of: bool = False) -> None:
        direction: int = cues.relation(_RELATIVE.sub("", span).strip())
        if not direction and effect_of and _ON.match(cues.strip_tail(span)):
            direction = 1
        if direction:
            self._tell(left, right, direction)

    def _tell(self, left: Group, right: Group, direction: int) -> None:
        causes, effects = (left, right) if direction > 0 else (right, left)
        # 'Besides A, C raises B' may mean another effect of C; 'besides A, B needs C' cannot.
        if direction < 0 or re.search(r"(?:with|alongside|like)$", cues.strip_tail(self.gaps[0])):
            causes = causes + self.extra
        self.extra = ()
        self.text.told += [(a, b) for a in causes for b in effects if a != b]
        self.text.object, self.text.direction = right, direction
        self.text.pair = right if len(right) > 1 else left if len(left) > 1 else (*left, *right)

    def _same(self, who: Group) -> None:
        """'… and so does C': the last statement again, with another subject."""
        if self.text.direction:
            self._tell(who, self.text.object, self.text.direction)

    def _by_way_of(self, left: Group, middle: Group, last: str) -> None:
        """'A affects B only through M': the statement A → B is taken back."""
        if cues.is_negated(last):
            return
        source = self.subject or left
        for a in source:
            for b in left:
                if (a, b) in self.text.told[-len(source) * len(left) :]:
                    self.text.told.remove((a, b))
        if source != left:
            legs = [(a, m) for a in source for m in middle] + [(m, b) for m in middle for b in left]
            self.text.by_way += legs


def _is_list_sign(gap: str) -> bool:
    return gap.endswith((":", "—"))


def _acyclic(text: _Text) -> list[tuple[int, int]]:
    """The told edges, most often told first, without those that would close a cycle.

    A leg of a 'through' statement is added only where nothing else joins its ends.
    """
    counts = Counter(text.told)
    order = {edge: i for i, edge in reversed(list(enumerate(text.told)))}
    graph: nx.DiGraph[int] = nx.DiGraph()
    for edge in sorted(counts, key=lambda e: (-counts[e], order[e])):
        _add(graph, edge)
    for a, b in text.by_way:
        if not (a in graph and b in graph and nx.has_path(graph, a, b)):
            _add(graph, (a, b))
    return sorted(graph.edges)


def _add(graph: "nx.DiGraph[int]", edge: tuple[int, int]) -> None:
    a, b = edge
    if a != b and not (a in graph and b in graph and nx.has_path(graph, b, a)):
        graph.add_edge(a, b)
