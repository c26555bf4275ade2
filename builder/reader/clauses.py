"""A masked sentence as groups of names and the phrases between them.

Marks that English joins ('A, B and C'; 'on A and on B') become one group, except where the last
of them is the subject of a clause of its own ('A raises B and C lowers D').
"""

from builder.reader import cues
from builder.reader.english import PATTERNS, find
from builder.reader.names import MARK

Group = tuple[int, ...]
"""Indices of names that stand together."""


def split(sentence: str) -> tuple[list[str], list[Group]]:
    """Phrases and marks in turn: ``len(gaps) == len(groups) + 1``."""
    gaps: list[list[str]] = [[]]
    groups: list[Group] = []
    for token in PATTERNS["token"].findall(sentence.replace("’", "'").replace("'s", " 's")):
        match = MARK.fullmatch(token)
        if match:
            groups.append((int(match.group(1)),))
            gaps.append([])
        else:
            gaps[-1].append("—" if token in ("–", " - ") else token.lower())
    return [PATTERNS["aside_commas"].sub(r"\1", " ".join(gap)) for gap in gaps], groups


def merge(gaps: list[str], groups: list[Group]) -> tuple[list[str], list[Group]]:
    """Join groups that English coordinates: 'A, B and C', 'on A and on B'."""
    new_gaps, new_groups = [gaps[0]], [groups[0]]
    k = 1
    while k < len(groups):
        end = _list_end(gaps, k, len(groups))
        if end and _takes_new_subject(new_gaps, gaps, end, len(groups)):
            first_comma = find("subordinate_start", new_gaps[0]) or find("concession", new_gaps[0])
            end = 0 if first_comma or end == k else end - 1
            if end and all(gaps[j] == "," for j in range(k, end + 1)):
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


def _list_end(gaps: list[str], k: int, total: int) -> int:
    """Index of the last group of the list whose second member is group ``k``, or 0."""
    end = 0
    j = k
    while j < total:
        match = find("coordinator", cues.strip_tail(gaps[j]))
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
        cues.relation(last_segment(before[-1])) != 0 or bool(find("subordinate_start", before[0]))
    )
    rest = gaps[end + 1]
    return has_verb and end <= total and (starts_with_verb(rest) or bool(find("gapped", rest)))


def starts_with_verb(gap: str) -> bool:
    """Whether a phrase begins with a verb, adverbs aside."""
    head = PATTERNS["adverbs"].sub("", first_segment(gap))
    return bool(head) and cues.is_verbal(head.split(" ", 1)[0] + " .")


def last_segment(gap: str) -> str:
    """What stands after the last comma or conjunction of a phrase."""
    return segments(gap)[-1]


def first_segment(gap: str) -> str:
    """What stands before the first comma or conjunction of a phrase."""
    return segments(gap)[0]


def segments(gap: str) -> list[str]:
    """What the commas and conjunctions of a phrase divide, each without blanks around it."""
    return [part.strip() for part in PATTERNS["boundary"].split(gap)]
