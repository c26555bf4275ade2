"""The laboratory of causalab: a small exact engine, sessions with it, and their verification."""
