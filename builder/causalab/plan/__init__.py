"""Deciding: settings, suites, and which named graph carries which episodes."""
