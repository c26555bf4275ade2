"""Compose exams of causalds: choose the task that each scene is asked (paper A.7 and A.8)."""
