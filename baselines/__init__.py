"""Reference solvers that need no language model; each writes an ordinary answers folder.

``python -m baselines --list`` names them. They see what a test taker sees, except ``gold``,
which copies the published truth of a public-truth split.
"""
