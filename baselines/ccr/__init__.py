"""Reference solvers of the track ccr."""
