"""A laboratory in its host's hands: its episode, one agent's session, and the ways in."""
