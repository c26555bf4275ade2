"""A reader of stories, written without a look at how they are told.

The gate holds every story against what it reads, and baselines read by it; so it imports nothing of
this project, least of all :mod:`builder.words`.
"""

from builder.reader.deduce import Deduction, deduce
from builder.reader.logician import reason
from builder.reader.names import told_unmeasured
from builder.reader.remarks import claims_of
from builder.reader.story import Reading, read_story

__all__ = [
    "Deduction",
    "Reading",
    "claims_of",
    "deduce",
    "read_story",
    "reason",
    "told_unmeasured",
]
