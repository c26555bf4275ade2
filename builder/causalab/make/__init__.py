"""Sampling: episodes, and what experiments can decide about them."""
