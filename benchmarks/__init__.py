"""Simulations of the papers, measured figures of the guides, and a small model."""
