"""Releases to the Hub: what may travel, what has to, and the steps in which it does."""
