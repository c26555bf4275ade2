"""The public CausalDS exam as a release of ours (``build_dataset.py import-causalds``)."""
