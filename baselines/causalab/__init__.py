"""Reference solvers of the track causalab."""
