"""General English cues of cause and effect: which way a phrase between two names points.

The lists name common words of causal English in general; they were not written from, and share
nothing with, the phrases of any story generator. :func:`relation` reads what stands between two
variables; the other functions answer small questions about a phrase. All phrases are lower-case
words separated by single spaces.
"""

import re
from typing import Final, Literal

Direction = Literal[-1, 0, 1]
"""+1: left causes right; -1: right causes left; 0: no direct effect is stated."""


def words(text: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(text.split())


def _any(text: str) -> str:
    return "(?:" + "|".join(text.split()) + ")"


CHANGE_NOUNS: Final = _any(
    "changes? rises? rise shifts? increases? falls? drops? decreases? levels? amounts? values? "
    "movements? variations? variation swings? gains? loss losses size strength state degree "
    "differences? fluctuations? readings? declines? reductions? growth uptick jumps? moves? "
    "surges? quantity quantities presence absence bouts? spells? units? extent share half much part"
)
_PREFIX: Final = re.compile(
    r"(?:^|(?<= ))(?:(?:any|a|an|the|every|each|some|no|more|less|larger|smaller|further|extra|"
    r"added|single|small|large|bigger|sudden|its|their|same|own|higher|lower|greater|given|overall|"
    rf"current|average|typical|one|how) )*{CHANGE_NOUNS} (?:in|of)$"
)
_FILLER: Final = words(
    "a an the both either directly only partly mainly chiefly mostly largely also itself "
    "more less higher lower greater larger smaller much many how what immediately in-part "
    "each every high low its any some strong weak heavy light little rising falling "
    "growing alone current good poor two three four several too as-well straight extra "
    "further where whether unmeasured unrecorded unobserved unseen hidden unlogged unknown "
    "invisible"
)
_LOWER_AS_VERB: Final = re.compile(
    r"^(?:(?:\w+ly|both|each|also|all|can|may|will|would|could|to|then|in turn) )*lower$"
)
_NEGATION: Final = re.compile(
    r"\b(?:not|never|no|neither|nor|nothing|none|cannot|without|independent|independently|"
    r"unaffected|irrelevant|unrelated|ignores?|unchanged|untouched|unmoved|rather than|instead of|"
    r"regardless|hardly|indifferent|immune|separate(?:ly)? from|apart from|aside from|"
    r"other than|distinct from|over and above|\w+n't)\b"
)
_HARMLESS_NEGATION: Final = re.compile(
    r"\b(?:not (?:only|just|merely|simply|least)|no(?:thing| one)? else|no other|no doubt|"
    r"nothing (?:but|more than)|no less|no longer|without (?:delay|doubt|fail|detour|intermediary|"
    r"exception)|with nothing (?:in )?between|with no (?:intermediary|detour|steps? between))\b"
)
_THROUGH: Final = re.compile(
    r"\b(?:(?:only|solely|entirely|wholly|purely|exclusively|just) )?"
    r"(?:through|via|by way of|by means of|by (?:altering|changing|shifting|moving|first \w+ing))$"
)
_DEPEND_ON: Final = re.compile(
    r"\b(?:depend\w*|rel(?:y|ies|ied|iant|iance|ying)|hing\w+|rests?|resting|rides?|riding|turns?|"
    r"contingent|conditional|conditioned|based|builds?|building|feeds?|draws?|drawing|dependent|"
    r"dependence|predicated|lives?|runs?)"
    r"(?: (?:\w+ly|in|turn|also|only|both|part|for|its|level|most|least|much))* (?:up)?on$"
)
_TO_REVERSE: Final = re.compile(
    r"\b(?:respond\w*|response|reacts?|reacting|reaction|reacted|sensitive|sensitivity|subject|owes?|"
    r"owed|owing|due|attribut\w+|responsive|adjusts?|adjusting|adapts?|adapting|answers?|exposed|"
    r"bound|beholden|susceptible|vulnerable|prone|traced|traces?|tied|tuned|thanks|obeys?|"
    r"listens?|bends?|yields?|reacts|tracks back)\b.*\bto$"
)
_TO_NEUTRAL: Final = re.compile(
    r"\b(?:compared|next|related|equal|similar|close|opposed|linked)\b.*\bto$"
)
_WITH_REVERSE: Final = re.compile(
    r"\b(?:var\w+|chang\w+|mov\w+|ris\w+|fall\w+|grow\w*|shift\w*|increas\w+|decreas\w+|climb\w*|"
    r"drop\w*|scal\w+|fluctuat\w+|improv\w+|worsen\w*|start\w*|begin\w*|swing\w*|drift\w*|builds?|"
    r"declin\w+|shrink\w*|swell\w*|thin\w*|sinks?|go(?:es)? (?:up|down)|strengthen\w*|weaken\w*)\b"
    r".*\bwith$"
)
_WITH_FORWARD: Final = re.compile(r"\b(?:interfer\w+|meddl\w+|tamper\w+)\b.*\bwith$")
_FROM_NEUTRAL: Final = re.compile(
    r"\b(?:differ\w*|separate\w*|apart|distinct|aside|independent)\b.*\bfrom$"
)
_FROM_FORWARD: Final = re.compile(
    r"\b(?:removes?|subtracts?|detracts?|strips?|takes? away)\b.*\bfrom$"
)
_EFFECT_NOUN_OF: Final = re.compile(
    r"\b(?:effects?|results?|consequences?|products?|functions?|outcomes?|mercy|influences?|control|"
    r"action|pull|sway|because|impacts?|account|work|upshot|reflections?|expressions?|outgrowth|"
    r"force|pressure|grip|weight|push|combination|sum|mix|mixture|imprint|mark|by-product|"
    r"downstream) of$"
)
_CAUSE_NOUN: Final = (
    r"(?:causes?|drivers?|determinants?|sources?|inputs?|reasons?|factors?|parents?|origins?|roots?|"
    r"influences?|movers?|antecedents?|levers?|forces?|contributors?|triggers?)"
)
_HAS_CAUSES: Final = re.compile(
    rf"(?:\b(?:has|have|had|with|takes?|counts?|knows?)\b|'s) "
    rf".*\b{_CAUSE_NOUN}\b(?! (?:of|on|over))"
)
_CAUSES_OF_BEFORE: Final = re.compile(
    rf"\b{_CAUSE_NOUN} (?:of|behind|for|on)(?: the| a| any| changes in)*$|\b(?:upstream of|behind)$"
)
_OF_NEUTRAL: Final = re.compile(
    r"\b(?:ahead|instead|independent|regardless|spite|irrespective|kind|sort) of$"
)
_OF_REVERSE: Final = re.compile(r"\b(?:consists?|made|born|composed|out) of$|\bdownstream of$")
_SUBORDINATE_END: Final = re.compile(
    r"\b(?:when|as|if|once|whenever|after|because|since|wherever|where|every time|each time|"
    r"the moment|as soon as|in step with|in line with|under|in proportion to)$"
)
_TRANSITIVE_REVERSE: Final = re.compile(
    r"\b(?:follows?|following|tracks?|tracking|reflects?|reflecting|mirrors?|mirroring|needs?|"
    r"requires?|receives?|receiving|inherits?|inheriting|echoes|absorbs?|absorbing|obeys?|"
    r"registers?|registering|feels?|feeling|shadows?|heeds?|hears?)$"
)
_NEUTRAL_VERB: Final = re.compile(
    r"\b(?:record\w*|measur\w+|noted?|notes|logged|logs?|listed|lists?|read|reads|counted|counts?|"
    r"observ\w+|cover\w*|hold|holds|held|named?|names|describ\w+|called|calls|denot\w+|"
    r"express\w*|report\w*|compar\w+|accompan\w+|belongs?|stands?|sits?|appears?|differs?|"
    r"known|knows?|considers?|includ\w+|contain\w*|correlat\w+|associat\w+|coincid\w+|co-occur\w*|"
    r"tabulat\w+|collected|sampled|survey\w*|written|entered|alongside|beside|besides|between|than|"
    r"like|such as|range|ranges|coded|takes the values?|is about|estimat\w+)\b"
)
_EXISTENTIAL: Final = re.compile(r"\bthere (?:is|are|was|were)(?: also)?$")
_COPULA: Final = re.compile(
    r"^(?:,? ?)(?:is|are|was|were|be|include|includes|come|comes|lies?|:|—|-)$"
)
_VERB_LIKE: Final = re.compile(
    r"\b(?:\w{2,}(?:s|ed|en)|can|may|will|would|could|do|did|has|have|had|is|are|was|were|\w+ing|"
    r"act|set|raise|lower|push|pull|drive|shape|affect|feed|move|change|lead|put|cut|let|make|help|"
    r"bear|weigh|work|influence|determine|govern|cause|alter|depend|respond|react|rise|fall|"
    r"contribute|combine|decide|control|produce|increase|reduce|decrease|boost|tilt|steer|press)\b"
)
_NOT_VERBS: Final = words(
    "this thus its as its across besides always sometimes perhaps plus various others is- "
    "not less results-in-no towards afterwards besides when then often even seven ten "
    "levels yes whereas units values days hours minutes weeks years things conditions"
)
_FUNCTION_WORDS: Final = (
    _NOT_VERBS
    | _FILLER
    | words(
        "and but for nor yet the with from into onto over under about above after again "
        "against along among around before behind below beyond down during except inside near "
        "off out outside past per round since than through throughout till toward until upon "
        "via within while whereas who whom whose which that these those there here not only "
        "now once then too very own same such other another him her them they you our his she"
    )
)


def strip_tail(span: str) -> str:
    """``span`` without the words that belong to the next name: articles, 'changes in' …"""
    if _LOWER_AS_VERB.search(span):
        return span
    while True:
        shorter = span
        match = _PREFIX.search(shorter)
        if match and not re.search(r"\bresult(?:s|ed)? in$", shorter):
            shorter = shorter[: match.start()].rstrip()
        last = shorter.rsplit(" ", 1)
        if last[-1] in _FILLER:
            shorter = last[0] if len(last) == 2 else ""
        if shorter == span:
            return span
        span = shorter


def is_negated(span: str) -> bool:
    """Whether the phrase denies what it says."""
    return bool(_NEGATION.search(_HARMLESS_NEGATION.sub(" ", span)))


def is_through(span: str) -> bool:
    """Whether the next name is the way by which an effect passes ('only through')."""
    return bool(_THROUGH.search(strip_tail(span)))


def is_copula(span: str) -> bool:
    """Whether the phrase only equates: 'is', 'are', a colon."""
    return bool(_COPULA.match(span.strip()))


def asks_for_causes(before: str) -> bool:
    """Whether a noun phrase before a name makes what follows its causes ('the causes of')."""
    return bool(_CAUSES_OF_BEFORE.search(strip_tail(before)))


def is_verbal(span: str) -> bool:
    """Whether the phrase holds something like a verb."""
    bare = _EXISTENTIAL.sub("", strip_tail(span))
    return any(word not in _NOT_VERBS for word in _VERB_LIKE.findall(bare))


def relation(span: str) -> Direction:
    """Which way the phrase between two names points.

    English puts the cause first unless a closed set of words says otherwise (passives, 'depends
    on', 'responds to', 'because of', 'a function of' …), so a verb phrase that is not on any list
    points forward, and a phrase without a verb says nothing.
    """
    span = span.strip()
    if not span or is_negated(span) or (_HAS_CAUSES.search(span) and not span.endswith(" of")):
        return -1 if span and not is_negated(span) else 0
    bare = _EXISTENTIAL.sub("", strip_tail(span)).rstrip()
    if _SUBORDINATE_END.search(bare) and is_verbal(bare):
        return -1
    ending = bare.rsplit(" ", 1)[-1]
    special: Direction | None = _by_preposition(ending, bare)
    if special is not None:
        return special
    if _TRANSITIVE_REVERSE.search(bare):
        return -1
    if _NEUTRAL_VERB.search(bare) or is_copula(bare):
        return 0
    return 1 if is_verbal(bare) or any(_content(word) for word in bare.split()) else 0


def _content(word: str) -> bool:
    """Whether a word is neither a function word nor punctuation, so perhaps an unlisted verb."""
    return len(word) > 2 and word.isalpha() and word not in _FUNCTION_WORDS


def _by_preposition(ending: str, bare: str) -> Direction | None:
    """What a final preposition decides, or ``None`` if it decides nothing."""
    if ending == "by":
        return 0 if _NEUTRAL_VERB.search(bare) else -1
    if ending in ("on", "upon"):
        return -1 if _DEPEND_ON.search(bare) else None
    if ending == "to":
        if _TO_NEUTRAL.search(bare):
            return 0
        return -1 if _TO_REVERSE.search(bare) else None
    if ending == "with":
        if _WITH_FORWARD.search(bare):
            return 1
        return -1 if _WITH_REVERSE.search(bare) else 0
    if ending == "from":
        if _FROM_NEUTRAL.search(bare):
            return 0
        return 1 if _FROM_FORWARD.search(bare) else -1
    if ending == "of":
        if _OF_NEUTRAL.search(bare):
            return 0
        return -1 if _EFFECT_NOUN_OF.search(bare) or _OF_REVERSE.search(bare) else None
    return None
