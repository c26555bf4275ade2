"""causalab: episodes of an interactive laboratory over small hidden SCMs."""
