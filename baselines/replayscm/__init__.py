"""Reference solvers of the track replayscm."""
