"""The commands of ``causal-exams`` besides those of the grader: one module each."""
