"""Measuring floors: what the best answer that knows nothing earns, variant by variant.

``twin`` draws a public-seed twin of an exam and grades every policy on it, ``measure`` averages
over the tasks as the exam would draw them.
"""
