"""Read stories without knowing how they are told.

The gate holds every story against what it reads, and baselines read by it. So it imports nothing of
this project, least of all :mod:`builder.stories`.
"""

from builder.reader.story import Reading, read_story, told_unmeasured

__all__ = ["Reading", "read_story", "told_unmeasured"]
