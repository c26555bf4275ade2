"""The generation report."""
