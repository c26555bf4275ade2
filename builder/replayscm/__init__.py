"""The replayscm track: programs, worlds, complete audits, prompts (ReplaySCM appendix B)."""

from builder.replayscm.track import TRACK

__all__ = ["TRACK"]
