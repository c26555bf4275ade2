"""A laboratory in its host's hands: its episode, and one agent's session."""
