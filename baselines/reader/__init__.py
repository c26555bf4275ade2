"""A reader of stories, written without a look at how they are told."""

from baselines.reader.story import Reading, read_story

__all__ = ["Reading", "read_story"]
