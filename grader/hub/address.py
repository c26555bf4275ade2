"""Where something is on the Hub: ``hf://org/name@revision``, wherever a folder may be named."""

import re
from dataclasses import dataclass
from typing import Final, Self

from grader.errors import UsageError
from grader.io.jsonio import clip

_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(
    rf"(?:hf:/{{1,2}}(?:datasets/)?)?(?P<repo>{_NAME}/{_NAME})(?:@(?P<revision>[A-Za-z0-9._/-]+))?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A repository on the Hub, and a branch, tag or commit in it, None for its newest state."""

    repo: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str, what: str = "address") -> Self:
        """Read ``hf://org/name@revision`` or ``org/name@revision``. Raises ``UsageError``.

        ``what`` names the text in the error, such as the option that it came by.
        """
        found = _ADDRESS.fullmatch(text)
        if found is None or ".." in text or "--" in found["repo"]:
            raise UsageError(
                f"{what} {clip(text)}: not an address on the Hub; write hf://org/name@revision, "
                "such as hf://org/exams@v1"
            )
        return cls(found["repo"], found["revision"])

    def __str__(self) -> str:
        return f"hf://{self.repo}" + (f"@{self.revision}" if self.revision else "")
