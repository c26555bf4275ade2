"""The task variants of each track, one module a track; ``grader.spec`` joins them."""
