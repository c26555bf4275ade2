"""Stories that imply their graph: what they state, a proof that it suffices, and how it is told.

A statement (:mod:`statements`) is a sentence's exact meaning over latent DAGs; only some name an
edge. :mod:`choose` finds a minimal set with exactly one model, proved by a SAT solver
(:mod:`encoding`); :mod:`telling` puts it into words and :mod:`verify` reads the words back.
"""
