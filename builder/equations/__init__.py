"""Structural causal models: worlds that can be run, and the true values asked of them."""
