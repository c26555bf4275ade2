"""Builds, plans, checks and compares releases: ``python build_dataset.py --help``."""

import sys

from builder.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
