"""Estimand formulas: functionals of the observed distribution, read, evaluated and graded."""
