"""A folder into a static Space: what changed, in one commit."""

from pathlib import Path
from typing import TYPE_CHECKING

from grader.hub.client import told

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def send(api: "HfApi", repo: str, folder: Path) -> str:
    """Bring the Space to the folder's state, and say what was done; raises ``UsageError``."""
    with told(repo):
        api.create_repo(repo, repo_type="space", space_sdk="static", exist_ok=True)
        before = api.repo_info(repo, repo_type="space").sha
        commit = api.upload_folder(
            repo_id=repo, folder_path=folder, repo_type="space", commit_message="The board",
            delete_patterns=["*.html", "s/*.html"],
        )  # fmt: skip
    return "nothing to send" if commit.oid == before else f"sent, {commit.commit_url}"
