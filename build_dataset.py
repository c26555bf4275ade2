"""Builds, plans, checks and compares releases: ``python build_dataset.py --help``."""

from builder.commands.main import main
from grader.io.process import exit_with

if __name__ == "__main__":
    exit_with(main)
