"""Resampling, paired comparisons and repeated attempts."""
