"""Second derivations of every truth."""
