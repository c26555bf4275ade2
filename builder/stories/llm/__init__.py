"""Names and stories by a language model, behind any OpenAI-compatible endpoint (paper A.3).

The package ``openai`` is imported only when a call is made that is not in the transcripts yet.
"""
