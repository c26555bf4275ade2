"""Answers and usage out of other harnesses' records: Inspect, Harbor, mini-swe-agent."""
