"""Deciding: settings, and what each context is for."""
