"""Solvers of Inspect, one protocol a module: ``make(exam, …)`` of each gives the solver."""
