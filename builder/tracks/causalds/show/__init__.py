"""Show scenes, and the pieces of a new variant, to a person."""
