"""The replayscm track: programs, worlds, complete audits, prompts (ReplaySCM appendix B)."""
