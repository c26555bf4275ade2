"""Second derivations of every truth, and what uninformed answers deserve."""
