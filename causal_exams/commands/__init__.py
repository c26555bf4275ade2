"""What ``causal-exams`` has besides the commands of the grader: one module each."""
