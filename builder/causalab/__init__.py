"""causalab: episodes of an interactive laboratory over small hidden SCMs."""

from builder.causalab.track import TRACK

__all__ = ["TRACK"]
