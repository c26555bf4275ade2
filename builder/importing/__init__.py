"""The public CausalDS exam as a release of ours (``build_dataset.py import-causalds``).

``files`` opens what may be damaged, ``item`` reads a task and its scene, ``truth`` states the
published truth of each variant, ``exam`` makes the rows and writes them.
"""
