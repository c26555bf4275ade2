"""Read a causal graph out of a story and some variable names, by rules.

The reader knows general causal cues of English (``english.toml``), which share nothing with the
phrases of any story generator, and the order of clauses. Names are replaced by marks, marks that
English joins ('A, B and C') become one group, and each phrase between two groups is asked which way
it points. The clause's subject is carried over 'and lowers …', ', which …' and 'it also …'. Names
that no table or question gives are found as capitalised phrases that the text repeats.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import networkx as nx

Direction = Literal[-1, 0, 1]
"""+1: left causes right. -1: right causes left. 0: no direct effect is stated."""

_ENGLISH: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("english.toml").read_text("utf-8")
)
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(word.replace("_", " ") for word in text.split())
    for name, text in _ENGLISH["words"].items()
}


def _compile_pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern of ``english.toml``; each ``{list}`` is any word of that list."""
    pattern = "".join(line.strip() for line in text.splitlines())
    return re.compile(
        re.sub(r"\{([a-z_]+)\}", lambda name: f"(?:{'|'.join(WORDS[name[1]])})", pattern)
    )


PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    name: _compile_pattern(text) for name, text in _ENGLISH["patterns"].items()
}
MARK: Final = re.compile(r"<(\d+)>")
"""A placeholder: the index of a name between angle brackets."""

_NOT_VERBS: Final = frozenset(WORDS["not_verbs"])
_FUNCTION_WORDS: Final = _NOT_VERBS.union(WORDS["filler"], WORDS["other_function_words"])
_STOP: Final = frozenset(WORDS["stop"])
_NEVER_IN_NAMES: Final = _STOP.difference(WORDS["stop_inside_names"])


def find(pattern: str, text: str) -> re.Match[str] | None:
    """Return the first match of this pattern of ``english.toml`` anywhere in ``text``, or None."""
    return PATTERNS[pattern].search(text)


def strip_tail(span: str) -> str:
    """Return ``span`` without trailing words of the next name: articles, adjectives …"""
    words = span.split(" ")
    while words and words[-1] in WORDS["filler"]:
        words.pop()
    return " ".join(words)


def is_negated(span: str) -> bool:
    """Tell whether the phrase denies an effect. 'not only' and 'no doubt' do not."""
    return bool(find("negation", PATTERNS["harmless_negation"].sub(" ", span)))


def is_verbal(span: str) -> bool:
    """Tell whether the phrase holds something like a verb, the words of the next name aside."""
    return any(word not in _NOT_VERBS for word in PATTERNS["verb"].findall(strip_tail(span)))


def relation(span: str) -> Direction:
    """Return 1 where the left name causes the right one, -1 for the reverse, 0 for no effect.
    English puts the cause first but in a closed set of words (passives, 'depends on' …), so that
    unlisted verbs point forward. An empty, negated or verbless phrase gives 0."""
    span = span.strip()
    if not span or is_negated(span):
        return 0
    bare = strip_tail(span)
    directions: list[tuple[str, Direction]] = _ENGLISH["relation"]["directions"]
    for pattern, direction in directions:
        if find(pattern, bare):
            return direction
    # A word that is neither a function word nor punctuation may be a verb that no list has.
    content = (w for w in bare.split() if len(w) > 2 and w.isalpha() and w not in _FUNCTION_WORDS)
    return 1 if is_verbal(bare) or any(content) else 0


def sentences(text: str) -> list[str]:
    """Return the sentences in order, each blank single, without Markdown headings."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    parts = PATTERNS["sentence"].split("\n".join(lines))
    return [" ".join(part.split()) for part in parts if part and part.strip()]


def mask(text: str, names: Sequence[str]) -> str:
    """Return ``text`` with every mention of ``names[i]`` replaced by ``<i>``, longest names first.
    Blanks, ``_`` and ``-`` inside a name are the same, and case is ignored, except for one-letter
    names. A possessive ``'s`` stays behind the mark."""
    for i in sorted(range(len(names)), key=lambda i: (-len(names[i]), names[i])):
        body = r"[\s_-]+".join(re.escape(part) for part in re.split(r"[\s_-]+", names[i]) if part)
        case = 0 if len(names[i].strip()) == 1 else re.IGNORECASE
        text = re.sub(rf"(?<![\w<]){body}(?![\w>])", f"<{i}>", text, flags=case)
    return text


def told_unmeasured(text: str, names: Sequence[str], values: Sequence[str]) -> frozenset[str]:
    """Return the ``names`` that a sentence without another name calls unmeasured. ``values`` (units
    and states) are taken out first, since they may use such words ("percent hidden")."""
    found = set()
    told = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
    for sentence in sentences(mask(text, names)):
        named = {int(index) for index in MARK.findall(sentence)}
        bare = re.sub(rf"(?<!\w)(?:{told})(?!\w)", "", sentence) if told else sentence
        if len(named) == 1 and find("unmeasured", bare):
            found |= named
    return frozenset(names[index] for index in found)


def discover(text: str, known: Sequence[str], count: int | None = None) -> tuple[str, ...]:
    """Return phrases in ``text`` that look like names and are not ``known``, most frequent first,
    none that contains a more frequent one or is part of it: with ``count``, the number of variables
    in all, up to ``2 * count + 6``; without it those that some sentence calls unmeasured."""
    parts = sentences(mask(text, known))
    found: list[str] = []
    for name in _capitalised_phrases(parts):
        folded = name.casefold()
        if not any(folded in other.casefold() or other.casefold() in folded for other in found):
            found.append(name)
    if count is not None:
        return tuple(found[: 2 * count + 6])
    told = "\n".join(part for part in parts if find("unmeasured", part)).casefold()
    return tuple(name for name in found if re.search(rf"\b{re.escape(name.casefold())}\b", told))


def _capitalised_phrases(parts: Sequence[str]) -> list[str]:
    """Return capitalised phrases that occur at least twice in masked sentences, most frequent
    first, with the common words that go with them: 'Orrin wind speed'."""
    seen: Counter[str] = Counter()
    openings: Counter[str] = Counter()
    for part in parts:
        for match in PATTERNS["title_run"].finditer(part):
            run, opening = match.group().split(), match.start() == 0
            while run and (run[0] in WORDS["leading"] or run[0].casefold() in _STOP):
                run, opening = run[1:], False
            if opening and len(run) == 1:
                openings[run[0]] += 1  # a capital that any first word would have
            elif run:
                seen[" ".join(run)] += 1
    merged: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for name, times in seen.items():
        spelling.setdefault(name.casefold(), name)
        merged[name.casefold()] += times + openings[name]
    ranked = sorted(merged.items(), key=lambda item: (-item[1], -len(item[0]), item[0]))
    return [_extend_name(spelling[name], parts) for name, times in ranked if times >= 2]


def _extend_name(name: str, parts: Sequence[str]) -> str:
    """Return ``name`` with each word that follows three of four mentions, and two at least."""
    while True:
        pattern = re.compile(rf"\b{re.escape(name)}\b(?: ([^\W\d_][\w'’-]*))?")
        mentions = [match.group(1) for part in parts for match in pattern.finditer(part)]
        follows = Counter(w for w in mentions if w and w.casefold() not in _NEVER_IN_NAMES)
        (word, times), *_ = follows.most_common(1) or [("", 0)]
        if times < 2 or times < 0.75 * len(mentions) or word.endswith("ly"):
            return name
        name = f"{name} {word}"


Group = tuple[int, ...]
"""Indices of names that stand together."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a story: ``variables`` (known ones first), ``edges`` (cause, effect),
    which are acyclic, and the new names as ``unmeasured``."""

    variables: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    unmeasured: frozenset[str]


def read_story(story: str, known: Sequence[str] = (), count: int | None = None) -> Reading:
    """Return the variables and the directed edges that ``story`` tells of.

    All ``known`` names are returned; others are looked for in the text: with ``count``, the number
    of variables in all, as many as are lacking, those with an edge first, else all with an edge.
    """
    names = [*known, *discover(story, known, count)]
    joined = {i for edge in _edges(story, names) for i in edge}
    new = range(len(known), len(names))
    if count is None:
        chosen = [i for i in new if i in joined]
    else:
        # A text repeats other phrases as well (places, people); they neither act nor are acted on.
        ranked = sorted(new, key=lambda i: (i not in joined, i))
        chosen = sorted(ranked[: max(0, count - len(known))])
    names = [*known, *(names[i] for i in chosen)]
    edges = tuple((names[a], names[b]) for a, b in _edges(story, names))
    return Reading(tuple(names), edges, frozenset(names[len(known) :]))


def _edges(story: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the told edges as sorted (cause, effect) indices into ``names``, most often told first
    kept where they would close a cycle. Questions tell none."""
    reader = _Reader()
    for sentence in sentences(mask(story, names)):
        gaps, groups = _split(sentence)
        # What comes after a comma behind the last name ('…, for children ask why') asks nothing.
        asked = [*gaps[:-1], _segments(gaps[-1])[0], "?" if sentence.endswith("?") else ""]
        if groups and not find("question", " ".join(asked)):
            reader.read(*_merge(gaps, groups), bool(find("unmeasured", sentence)))
    graph: nx.DiGraph[int] = nx.DiGraph()
    for (a, b), _ in Counter(reader.told).most_common():  # equal counts in the order of telling
        if a != b and not (a in graph and b in graph and nx.has_path(graph, b, a)):
            graph.add_edge(a, b)
    return sorted(graph.edges)


def _split(sentence: str) -> tuple[list[str], list[Group]]:
    """Return the phrases, in lower case, and marks of a masked sentence: ``gaps[k]`` before
    ``groups[k]``, and a last gap behind the last group."""
    gaps: list[list[str]] = [[]]
    groups: list[Group] = []
    for token in PATTERNS["token"].findall(sentence.replace("’", "'").replace("'s", " 's")):
        match = MARK.fullmatch(token)
        if match:
            groups.append((int(match.group(1)),))
            gaps.append([])
        else:
            gaps[-1].append("—" if token in ("–", " - ") else token.lower())
    return [" ".join(gap) for gap in gaps], groups


def _merge(gaps: list[str], groups: list[Group]) -> tuple[list[str], list[Group]]:
    """Return gaps and groups, joined where English coordinates them: 'A, B and C', 'on A and on B'.
    The last of a list stays apart as the subject of a clause: 'A raises B and C lowers D'."""
    new_gaps, new_groups = [gaps[0]], [groups[0]]
    k = 1
    while k < len(groups):
        end = _list_end(gaps, k, len(groups))
        if end and len(new_gaps) > 1 and relation(_segments(new_gaps[-1])[-1]):
            rest = gaps[end + 1]
            if _starts_with_verb(rest) or find("gapped", rest):
                end = 0 if end == k else end - 1
        if end:
            for j in range(k, end + 1):
                new_groups[-1] += groups[j]
            k = end + 1
        else:
            new_gaps.append(gaps[k])
            new_groups.append(groups[k])
            k += 1
    return [*new_gaps, gaps[-1]], new_groups


def _list_end(gaps: list[str], k: int, total: int) -> int:
    """Return the last group of the list whose second is group ``k`` of ``total``, 0 if none."""
    end = 0
    for j in range(k, total):
        match = find("coordinator", strip_tail(gaps[j]))
        if not match or not gaps[j]:
            break
        preposition = match.group("preposition")
        if preposition and not strip_tail(gaps[k - 1]).endswith(preposition):
            break
        if match.group("word"):
            end = j
    return end


def _starts_with_verb(gap: str) -> bool:
    head = PATTERNS["adverbs"].sub("", _segments(gap)[0])
    return bool(head) and is_verbal(head.split(" ", 1)[0] + " .")


def _segments(gap: str) -> list[str]:
    """Return the stripped parts of a phrase between commas and conjunctions, one at least."""
    return [part.strip() for part in PATTERNS["boundary"].split(gap)]


@dataclass(slots=True)
class _Reader:
    """Sentences being read from left to right. ``told`` lists each effect as often as it was told,
    as (cause, effect) indices. ``direction`` (1 or -1) is that of the last effect told.
    ``preposition`` ends the last phrase read, "" where none did. ``subject`` is the group that is
    the subject of the sentence so far."""

    told: list[tuple[int, int]] = field(default_factory=list)
    direction: int = 0
    preposition: str = ""
    gaps: list[str] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    subject: Group = ()

    def read(self, gaps: list[str], groups: list[Group], unmeasured: bool) -> None:
        """Read the phrases of a sentence, as :func:`_merge` returns them, one by one. A negation
        before the first group denies its clause, unless the sentence is ``unmeasured``."""
        self.gaps, self.groups, self.subject = gaps, groups, groups[0]
        denied = is_negated(_segments(gaps[0])[-1]) and not unmeasured
        for k in range(1, len(groups)):
            if denied and not find("boundary", gaps[k]):
                continue
            denied = False
            self._step(k)

    def _step(self, k: int) -> None:
        """Read the phrase before group ``k``: an effect, or that group becomes the subject."""
        left, gap, right = self.groups[k - 1], self.gaps[k], self.groups[k]
        *earlier, last = _segments(gap)
        if self._repeats_verb(left, gap, right):
            return
        if k == 1 and self._names_cause_last(left, gap, right):
            self.subject = right
        elif not earlier:
            before = strip_tail(self.gaps[k - 1])
            if find("way_from", before) and strip_tail(gap) in ("to", "into"):
                self._tell(left, right, 1)  # 'the path from A to B'
            else:
                self._relate(left, gap, right)
        elif find("adverbial", strip_tail(last)) and _starts_with_verb(self.gaps[k + 1]):
            self.subject = right
        elif last and (is_verbal(last) or relation(last)):
            # A verb after a comma or conjunction without a name before it.
            relative = find("relative", last)
            verb = last[relative.end() :].strip() if relative else last
            self._relate(left if relative else self.subject, verb, right)
        else:
            self.subject = right

    def _repeats_verb(self, left: Group, gap: str, right: Group) -> bool:
        """Read 'A acts on B, and C on D', the earlier verb meant again, or return False."""
        match = find("gapped", gap)
        if not (match and match.group("preposition") == self.preposition):
            return False
        self._tell(left, right, self.direction)
        return True

    def _names_cause_last(self, left: Group, gap: str, right: Group) -> bool:
        """Read '(Among) what sets B is A', or return False, telling nothing."""
        # 'What sets whether B is open is A': the clause about B has a verb of its own.
        bare = strip_tail(gap)
        closed = find("whether", self.gaps[0]) and find("clause_closed", bare)
        if not (find("copula", bare.strip()) or closed):
            return False
        before = _segments(self.gaps[0])[-1]
        direction = relation(before)
        if not (direction and find("what_or_doing", before)):
            return False
        self._tell(right, left, direction)
        return True

    def _relate(self, left: Group, span: str, right: Group) -> None:
        """Tell the effect that ``span`` between two groups states; note its preposition."""
        direction = relation(span)
        last = strip_tail(span).rsplit(" ", 1)[-1]
        self.preposition = last if last in WORDS["prepositions"] else ""
        if direction:
            self._tell(left, right, direction)

    def _tell(self, left: Group, right: Group, direction: int) -> None:
        """Note effects of each member of ``left`` on each of ``right``, or the reverse for -1."""
        causes, effects = (left, right) if direction > 0 else (right, left)
        self.told += [(a, b) for a in causes for b in effects if a != b]
        self.direction = direction
