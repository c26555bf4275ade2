"""The commands of ``build_dataset.py``."""
