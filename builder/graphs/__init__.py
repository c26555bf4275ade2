"""Graphs with latent nodes and what can be read off them: the conceptual truth of a scene."""
