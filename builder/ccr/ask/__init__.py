"""Asking: questions with their truths, themes and prompts."""
