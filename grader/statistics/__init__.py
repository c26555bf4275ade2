"""Resampling, paired comparisons, floors and skill."""
