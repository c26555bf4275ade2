"""What Inspect keeps to the end, DuckDB's binding would complain about on a page of its own."""

import atexit

from harness.commands.run import silent

atexit.register(silent)
