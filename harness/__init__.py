"""Ways to hand an exam to a test taker. ``python -m harness run --help`` is the smallest one."""
