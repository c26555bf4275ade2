"""Sampling: worlds, data and what the views show of them."""
