"""Bring into the site of the guides what they link to beside docs/ (a hook of mkdocs.yml)."""

import posixpath
import re
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
BESIDE: Final = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md",
    "splits/causalds-paper.toml", "splits/prose.toml",
)  # fmt: skip
_LINK: Final = re.compile(r"\[([^\]]+)\]\(([\w./-]+)(#[\w-]+)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Return the files of the site with those of ``BESIDE``."""
    from mkdocs.structure.files import File

    for name in BESIDE:
        files.append(File(name, str(ROOT), config.site_dir, use_directory_urls=False))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return a page's text, its links leading to places in the site: to the README, to the first
    page. Files of the repository that are not in the site are named without a link."""
    place = page.file.src_uri
    folder = posixpath.dirname(place if place in BESIDE else f"docs/{place}")

    def lead(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[2]))
        name = "index.md" if path == "README.md" else path.removeprefix("docs/")
        if not (ROOT / path).exists():
            return link[0]
        if files.get_file_from_path(name) is None:
            return link[1]
        target = posixpath.relpath(name, posixpath.dirname(place) or ".")
        return f"[{link[1]}]({target}{link[3] or ''})"

    return _LINK.sub(lead, markdown)
