"""Reference solvers of the track causalds."""
