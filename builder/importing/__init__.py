"""The public CausalDS exam as a release of ours.

``files`` opens what may be damaged, ``scene`` reads a scene, ``item`` a task of the exam, ``truth``
states the published truth of each variant, ``exam`` makes the rows, ``release`` writes them.
"""
