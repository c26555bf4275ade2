"""The one exception that means "the input cannot be used"; everything else is our own bug."""


class UsageError(Exception):
    """Unusable input: a one-line message saying what is wrong, where, and how to fix it.

    Commands print it and exit with 2. A submitter's broken answer is *not* a ``UsageError``: it
    becomes a row with status ``invalid`` (:mod:`grader.answers.collect`).
    """


class Invalid(Exception):
    """An answer's fault: a reason code of ``grader.answers.check.REASONS`` and a message.

    ``paper_abstained`` is whether the paper's reading counts such an answer as an abstention.
    """

    def __init__(self, reason: str, message: str, *, paper_abstained: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.paper_abstained = paper_abstained
