"""Names and stories by a language model, behind any OpenAI-compatible endpoint (paper A.3).

``tell`` is Algorithm 1, ``seeding`` Algorithm 2, ``mapping`` Algorithm 3, ``story`` Algorithm 4.
Nothing here is imported unless a split file says ``words = "llm"``, and the package ``openai``
only when a call is not in the transcripts yet.
"""
