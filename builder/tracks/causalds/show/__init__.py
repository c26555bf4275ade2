"""Scenes and stories for a person to look at."""
