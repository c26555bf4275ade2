"""Structural causal models: worlds that can be run, and the true values of what is asked of them.

``sampling`` draws a world over a graph; ``world`` simulates, intervenes and answers counterfactuals
on explicit noise; the quantities are population values with numerical errors.
"""
