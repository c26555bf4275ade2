"""Episodes whose readings have errors: the planner, and what its policy decides."""
