"""Names and stories: how a hidden graph becomes something a person can read.

A verbaliser names the variables of a scene and tells its story: ``knowledge`` finds the scene in a
domain's graph, ``fictional`` invents a place, ``anonymous`` uses letters. ``tell`` writes a story
of two to four paragraphs, ``verify`` re-reads a finished one against its facts.
"""
