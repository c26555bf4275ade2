"""Exams in the formats of other harnesses: Harbor's folders, and lines of JSON."""
