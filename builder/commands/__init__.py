"""The commands of ``build_dataset.py``: the module of a command has its name."""
