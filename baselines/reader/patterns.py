"""Patterns of general English that :mod:`baselines.reader` looks for between two names."""

import re
from typing import Final

QUESTION: Final = re.compile(
    r"\?|\b(?:know|knows|asks?|wonder\w*|question|learn|see|find out|tell|decide|unclear|unsure|"
    r"sure|doubt\w*|debate\w*|establish\w*|check\w*|test\w*)(?: is| of| about)? whether\b|"
    r"\bwant(?:s|ed)? to (?:know|learn|see|find|understand)|\bthe question\b|"
    r"\b(?:ask(?:s|ed)? (?:whether|if|how|what|about)\b|wonder\w*|curious|of interest|"
    r"hopes? to|interested in|aims? to|would like to|goal|task is|tries to learn|trying to)\b"
)
FRONTED: Final = re.compile(
    r"(?:^|[,;:—] ?|\b(?:and|but) )(?:\w+ly )?(on|upon|to|from|by|with|into|under|"
    r"because of|due to|thanks to|owing to|in response to|out of)$"
)
ADDITIVE: Final = re.compile(
    r"\b(along with|together with|alongside|like|besides|aside from|apart from|in addition to|"
    r"beyond|as well as)$"
)
SAME: Final = re.compile(
    r"\b(?:so (?:do|does|did|is|are)|as (?:do|does|did|is|are)|nor|"
    r"the same (?:is true of|goes for|holds for|applies to|can be said of))$"
)
SAME_AFTER: Final = re.compile(
    r"^,? ?(?:(?:does|do) (?:the same|so|too|likewise)|(?:is|are) (?:(?:the|an) ?other|another|"
    r"a second|one too|as well))\b"
)
PRONOUN: Final = re.compile(
    r"^(?:\w+ly |then |in turn |also |likewise |next |for its part |and )*"
    r"(?!(?:it|this|that|these|those) (?:is|was|are) (?:why|how|where|when|what)\b)"
    r"(it|they|this|that|these|those|the same (?:quantity|variable|factor|thing)|the former|"
    r"the latter|both(?: of (?:them|these))?|the two|each(?: of (?:them|these))?)\b"
)
RELATIVE: Final = re.compile(
    r"^(?:in turn )?(?:which|that|who|what|whose)\b(?! (?:is|was) (?:why|how|where|when)\b)"
)
ASIDE: Final = re.compile(r"^,? ?(?:and |but )?not(?: \w+){0,2}$")
EFFECT_OF: Final = re.compile(
    r"\b(?:effects?|influence|impact|pull|bearing|force|pressure|action|hold|imprint|push|"
    r"consequences?)(?: of)?$"
)
PARTICIPLE_BY: Final = re.compile(
    r"^(?:(?:\w+ly|itself|in turn|in part) )*\w+(?:ed|en|et|un|ut|ught|rne) (?:\w+ly )?by\b"
)
OBJECT_RELATIVE: Final = re.compile(r"\b(?:where|what|that|which)$")
ON: Final = re.compile(r"^(?:(?:up)?on|over|for|in|(?:in)?to|reach(?:es)?|extends? to|lands? on)$")
PREPOSITIONS: Final = frozenset(
    ["on", "upon", "to", "by", "from", "with", "of", "in", "for", "into"]
)
ADVERBIAL: Final = re.compile(
    r"^(?:(?:quite|just|all|at|in|on|by|for|from|besides|beside|alongside|along) \w+(?: \w+)?|"
    r"\w+ly|elsewhere|there|here|besides that)$"
)
WHETHER: Final = re.compile(r"\bwhether(?: the| an?)?$")
CLAUSE_CLOSED: Final = re.compile(r"^[^,;:]* (?:is|are|was|were)$")
