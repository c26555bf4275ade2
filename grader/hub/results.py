"""The dataset of results: a row for each submission, and a log to which lines are only added.

``results/<id>.json`` holds everything about one submission, its (redacted) report included;
``log.jsonl`` has a line for each time that one was evaluated, and is what ``load_dataset`` reads.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from grader.errors import UsageError
from grader.hub.client import Address, explain_hub_errors, snapshot
from grader.io.files import file_sha256
from grader.io.jsonio import canonical_json, escape_unprintable, pretty_json
from grader.io.paths import is_plain
from grader.io.schemas import first_problem, schema_folder

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FOLDER: Final = "results"
LOG: Final = "log.jsonl"
CARD: Final = "README.md"
GRADED, FAILED, REFUSED = "graded", "failed", "refused"
_LOGGED: Final = (
    "id", "event", "day", "team", "system", "setting", "release", "release_sha256", "split", "exam",
    "status", "reason", "points", "skill", "skill_interval", "submission_sha256", "answers_sha256",
    "grader",
)  # fmt: skip
_CARD_TEXT: Final = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")

Row = dict[str, Any]


class ResultsDataset:
    """The state of the dataset of results, its ``rows`` by id, and the only way to add to it."""

    def __init__(self, api: "HfApi", repo: str, *, make: bool = False) -> None:
        """Read it, or make it where it is absent and ``make``. Raises ``UsageError``."""
        self._api, self.repo = api, repo
        with explain_hub_errors(repo):
            if make:
                api.create_repo(repo, repo_type="dataset", exist_ok=True)
            self._head = api.repo_info(repo, repo_type="dataset").sha
            folder = snapshot(api, Address(repo, self._head), (f"{FOLDER}/*.json", LOG, CARD))
        self.rows = rows_in(folder)
        log = folder / LOG
        self._log = log.read_text(encoding="utf-8") if log.is_file() else ""
        self._has_card = (folder / CARD).is_file()

    def add(self, rows: Sequence[Row], event: str) -> None:
        """Add rows and their lines of the log in one commit, all of it or nothing. Raises
        ``UsageError`` where somebody else has written meanwhile."""
        from huggingface_hub import CommitOperationAdd

        files = {f"{FOLDER}/{row['id']}.json": pretty_json(row) for row in rows}
        files |= {LOG: self._log} if self._has_card else {LOG: self._log, CARD: _CARD_TEXT}
        for row in rows:
            report, release = row["report"] or {}, row["release"]
            figures = {name: report.get(name) for name in ("points", "skill", "skill_interval")}
            line = {**row, **figures, "event": event, "release": release["name"]}
            line["release_sha256"] = release["sha256"]
            text = canonical_json({name: line[name] for name in _LOGGED})
            files[LOG] += f"{escape_unprintable(text)}\n"
        operations = [CommitOperationAdd(n, text.encode("utf-8")) for n, text in files.items()]
        with explain_hub_errors(self.repo):
            self._head = self._api.create_commit(
                self.repo,
                operations,
                repo_type="dataset",
                parent_commit=self._head,
                commit_message=f"{event}: {', '.join(row['id'] for row in rows)}"[:200],
            ).oid
        self._log, self._has_card = files[LOG], True
        self.rows |= {row["id"]: row for row in rows}


def rows_in(folder: Path) -> dict[str, Row]:
    """Return the rows of a copy of the dataset, by id. Raises ``UsageError`` for what is none."""
    found: dict[str, Row] = {}
    for file in sorted((folder / FOLDER).glob("*.json")):
        try:
            row = json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError):
            row = None
        problem = first_problem("result", row)
        if problem is None and row["report"] is not None:
            problem = first_problem("report", row["report"])
        # Whoever may write there is no reason to trust what a track is called.
        plain = problem is None and all(map(is_plain, (row["report"] or {}).get("tracks", ())))
        if not plain or row["id"] != file.stem:
            why = problem or "a file is named after its id, and tracks by plain names"
            raise UsageError(f"{file}: is not a row of results, {why}; remove it from the dataset")
        found[row["id"]] = row
    return found


@cache
def grader_sha256() -> str:
    """Return the hash of the code that grades: package, schemas, Python and DuckDB."""
    digest = hashlib.sha256(f"{sys.version} {duckdb.__version__}".encode())
    for root in (Path(__file__).parent.parent, schema_folder()):
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".sql", ".toml", ".json", ".css"):
                digest.update(f"{file.relative_to(root).as_posix()} {file_sha256(file)}\n".encode())
    return digest.hexdigest()
