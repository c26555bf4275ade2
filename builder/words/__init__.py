"""Names and stories: how a hidden graph becomes something a person can read.

``invent_scene`` draws an invented place and one name for every variable, ``tell`` writes the story
of a graph in two to four paragraphs, ``verify`` re-reads a finished story against its facts.
"""

from builder.words.fictional import Setting, invent_scene
from builder.words.story import UnfaithfulStoryError, tell
from builder.words.types import Attestation, Facts, Kind, Telling, Variable, facts_from_json
from builder.words.verify import read_edges, verify

__all__ = [
    "Attestation",
    "Facts",
    "Kind",
    "Setting",
    "Telling",
    "UnfaithfulStoryError",
    "Variable",
    "facts_from_json",
    "invent_scene",
    "read_edges",
    "tell",
    "verify",
]
