"""The causalds track: scenes of a hidden causal world, a story, data, and questions about them.

``TRACK`` is what the release machinery uses.
"""

from builder.causalds.track import TRACK

__all__ = ["TRACK"]
