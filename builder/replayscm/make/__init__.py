"""Sampling: programs, worlds, evidence levels, and complete audits of what they determine."""
