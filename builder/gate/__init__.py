"""The checks that must hold before a release gets its name."""
