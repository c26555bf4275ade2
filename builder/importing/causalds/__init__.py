"""The public CausalDS reference release as a release of ours.

``layout`` finds the files, ``scene`` reads a scene's private side, ``truth`` states the published
truth of each variant, ``tasks`` and ``tables`` make the rows,
``command`` puts a release together.
"""
