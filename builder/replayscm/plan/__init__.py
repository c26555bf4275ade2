"""Deciding: settings, pools, and which program is asked in which of them."""
