"""What must hold before a release gets its name."""
