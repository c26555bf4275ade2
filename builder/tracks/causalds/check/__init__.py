"""Derive every truth a second time."""
