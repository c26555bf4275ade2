"""The frontier exam: contexts where seeing and doing differ, bounds, and deductions on a graph."""
