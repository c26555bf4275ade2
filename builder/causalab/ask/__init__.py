"""Asking: the prompts."""
