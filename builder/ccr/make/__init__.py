"""Sampling: graphs with cutpoints, contexts, their exact quantities and units."""
