"""A masked sentence as groups of names and the phrases between them.

Marks that English joins ('A, B and C'; 'on A and on B') become one group, except where the last
of them is the subject of a clause of its own ('A raises B and C lowers D').
"""

import re
from typing import Final

from baselines.reader import cues
from baselines.reader.names import MARK

Group = tuple[int, ...]
"""Indices of names that stand together."""

_TOKEN: Final = re.compile(r"<\d+>|[\w'’]+(?:-\w+)*|[,;:()?—–]| - ")
BOUNDARY: Final = re.compile(
    r"[,;:()—]|\b(?:and|but|yet|while|whereas|so|or|although|though|even as)\b"
)
_COORDINATOR: Final = re.compile(
    r"^(?:(?:up|down|higher|lower|upwards?|downwards?|(?:more|less) \w+|\w+er) )?,? ?"
    r"(?P<word>and|or|nor|as well as|plus|along with|together with|alongside|but also|and also|"
    r"in concert with|in combination with|combined with|jointly with|in tandem with)?"
    r"(?: (?:just as|as|equally|directly|also|partly|likewise|separately|then|too))*"
    r"(?: ?(?P<preposition>on|upon|to|by|from|with|of|in|for|into|at|through|over|under))?$"
)
SUBORDINATE_START: Final = re.compile(
    r"(?:^|[,;:—] ?|\b(?:and|but|so) )(?:\w+ly )?(?:when|whenever|if|as|once|because|wherever|"
    r"where|every time|each time|the more|the higher|the larger|the greater|the lower|the less|"
    r"after|since|as soon as|the moment)$"
)
GAPPED: Final = re.compile(
    r"^(?:\w+ly|also|too|itself|in turn|then|for its part)(?: \w+ly| also| too| in turn)* "
    r"(?P<preposition>on|upon|to|by|from|with|of|in|for|into)(?: (?:the|a|an|whether))*"
    r"(?: un\w+(?:ed|en)| hidden)?$"
)
"""'A acts on B, and C *directly on* D': a clause that borrows its verb from the one before."""
_ADVERBS: Final = re.compile(
    r"^(?:(?:\w+ly|in turn|also|then|too|itself|alone|both|each|all|may|can)\b ?)+"
)
_ASIDE_COMMAS: Final = re.compile(
    r"(?:^|(?<= )), ((?:\w+ly|also|too|in turn|in part|likewise|indeed|of course|however|meanwhile|"
    r"for its part|for their part|by contrast|in addition|as well)) ,"
)


def split(sentence: str) -> tuple[list[str], list[Group]]:
    """Phrases and marks in turn: ``len(gaps) == len(groups) + 1``."""
    gaps: list[list[str]] = [[]]
    groups: list[Group] = []
    for token in _TOKEN.findall(sentence.replace("’", "'").replace("'s", " 's")):
        match = MARK.fullmatch(token)
        if match:
            groups.append((int(match.group(1)),))
            gaps.append([])
        else:
            gaps[-1].append("—" if token in ("–", " - ") else token.lower())
    return [_ASIDE_COMMAS.sub(r"\1", " ".join(gap)) for gap in gaps], groups


def merge(gaps: list[str], groups: list[Group]) -> tuple[list[str], list[Group]]:
    """Join groups that English coordinates: 'A, B and C', 'on A and on B'."""
    new_gaps, new_groups = [gaps[0]], [groups[0]]
    k = 1
    while k < len(groups):
        end = _list_end(gaps, k, len(groups))
        if end and _takes_new_subject(new_gaps, gaps, end, len(groups)):
            first_comma = SUBORDINATE_START.search(new_gaps[0]) or re.match(
                r"(?:while|whereas|although|though)\b", new_gaps[0]
            )
            end = 0 if first_comma or end == k else end - 1
            if end and _joins(gaps, k, end) is False:
                end = 0
        if end:
            for j in range(k, end + 1):
                new_groups[-1] += groups[j]
            k = end + 1
        else:
            new_gaps.append(gaps[k])
            new_groups.append(groups[k])
            k += 1
    return [*new_gaps, gaps[-1]], new_groups


def _joins(gaps: list[str], start: int, end: int) -> bool:
    return any(gaps[j] != "," for j in range(start, end + 1))


def _list_end(gaps: list[str], k: int, total: int) -> int:
    """Index of the last group of the list whose second member is group ``k``, or 0."""
    end = 0
    j = k
    while j < total:
        match = _COORDINATOR.match(cues.strip_tail(gaps[j]))
        if not match or not gaps[j]:
            break
        preposition = match.group("preposition")
        if preposition and not cues.strip_tail(gaps[k - 1]).endswith(preposition):
            break
        if match.group("word"):
            end = j
        elif gaps[j].strip() != "," and not preposition:
            break
        j += 1
    return end


def _takes_new_subject(before: list[str], gaps: list[str], end: int, total: int) -> bool:
    """Whether group ``end`` starts a clause of its own: 'A raises B and C lowers D'."""
    has_verb = len(before) > 1 and (
        cues.relation(last_segment(before[-1])) != 0 or bool(SUBORDINATE_START.search(before[0]))
    )
    rest = gaps[end + 1]
    return has_verb and end <= total and (starts_with_verb(rest) or bool(GAPPED.match(rest)))


def starts_with_verb(gap: str) -> bool:
    """Whether a phrase begins with a verb, adverbs aside."""
    head = _ADVERBS.sub("", BOUNDARY.split(gap, maxsplit=1)[0].strip())
    return bool(head) and cues.is_verbal(head.split(" ", 1)[0] + " .")


def last_segment(gap: str) -> str:
    """What stands after the last comma or conjunction of a phrase."""
    return BOUNDARY.split(gap)[-1].strip()
