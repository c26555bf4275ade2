"""Where a release will be read from: what its card's examples and its addresses name."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Place:
    """``dataset`` is what ``load_dataset`` is given, ``release`` what ``--release`` is; ``url`` is
    the repository's page at the release's revision, empty for a folder."""

    dataset: str
    release: str
    url: str = ""

    def file(self, name: str) -> str:
        """Where a file of the repository is; in a folder, relative to it."""
        return f"{self.url.replace('/tree/', '/resolve/')}/{name}" if self.url else name


def folder(visibility: str) -> Place:
    """One side of a release as it was built, in the folder ``release``."""
    return Place(f"release/{visibility}", "release")


def on_hub(repo: str, revision: str) -> Place:
    """A repository on the Hub, at a tag."""
    return Place(repo, f"hf://{repo}@{revision}", f"{PAGE}/datasets/{repo}/tree/{revision}")


PAGE: Final = "https://huggingface.co"
