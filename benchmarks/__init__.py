"""Speed as ratios against a named reference, measured in one run."""
