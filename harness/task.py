"""One workspace folder, as ``python -m grader workspace`` writes it, seen from a run loop."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.io import parquet
from grader.io.jsonio import BadJson, parse_strict
from grader.io.paths import inside, plain
from grader.io.schemas import first_problem
from grader.model import RawAnswer
from grader.shape import Task
from grader.submission.check import check
from grader.submission.submission import MAX_BYTES, Unreadable, open_regular
from grader.tracks import VARIANTS


@dataclass(frozen=True, slots=True)
class WorkspaceTask:
    """A task to be taken: its folder, prompt, and what a valid answer is.

    ``kind`` is ``json``, ``csv`` or ``jsonl``; ``rows`` is the number of held-out rows a CSV must
    have.
    """

    task_id: str
    folder: Path
    prompt: str
    shape: str
    rows: int

    @property
    def kind(self) -> str:
        """Format of the answer file, and the label of the block that holds it."""
        kind = self.shape.rpartition("_")[2]
        return kind if kind in ("csv", "jsonl") else "json"

    @property
    def answer_file(self) -> str:
        """Name of the answer file."""
        return f"{self.task_id}.{self.kind}"

    def answer_in(self, folder: Path) -> Path:
        """Where the answer stands in a folder of answers."""
        return inside(folder, self.task_id, f".{self.kind}")

    def problem(self, text: str) -> str | None:
        """What the grader will find wrong with an answer, ``None`` if nothing.

        Of a laboratory's answer only the short form can be looked at without its episode.
        """
        spec = next(variant for variant in VARIANTS if variant.shape.name == self.shape)
        if spec.track != "causalds":  # their full check needs inputs that only the grader has
            return self._schema_problem(text)
        # Variants of causalds with the same shape have the same field, labels and abstention.
        task = Task(
            self.task_id, "", spec, "", spec.shape.input_mode, "", self.shape, self.answer_file,
            {"rows": self.rows},
        )  # fmt: skip
        checked = check(task, RawAnswer(self.answer_file, text.encode("utf-8", "surrogatepass")))
        return checked.message if checked.status == "invalid" else None

    def _schema_problem(self, text: str) -> str | None:
        """What the schema beside the prompt finds wrong with an answer."""
        try:
            document = parse_strict(text.encode("utf-8", "surrogatepass"))
        except BadJson as problem:
            return f"{self.answer_file}: {problem.message}"
        problem_found = first_problem(f"answers/{self.shape}", document)
        return problem_found and f"{self.answer_file}: {problem_found}"

    def left_in(self, folder: Path) -> str | None:
        """The text of an answer file left in ``folder``; never through a link, never huge."""
        limit = MAX_BYTES[f".{self.kind}"]
        with (
            suppress(OSError, Unreadable, UnicodeDecodeError),
            open_regular(self.answer_in(folder)) as stream,
        ):
            data = stream.read(limit + 1)
            return data.decode() if len(data) <= limit else None
        return None


def open_workspaces(folder: Path) -> list[WorkspaceTask]:
    """The tasks in ``folder``, sorted by id; raises ``UsageError`` if there are none."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; make it with `python -m grader workspace`")
    found = sorted(path.parent for path in folder.glob("*/prompt.md"))
    if not found:
        raise UsageError(
            f"{folder}: no workspaces here; make them with `python -m grader workspace --out DIR`"
        )
    for path in found:
        plain(path.name, f"{folder}: the workspace")
    return [_open(path) for path in found]


def _open(folder: Path) -> WorkspaceTask:
    path = folder / "answer.schema.json"
    try:
        shape = str(json.loads(path.read_bytes())["$id"]).rsplit("/", 1)[-1].removesuffix(".json")
        prompt = (folder / "prompt.md").read_text(encoding="utf-8")
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(f"{path}: unreadable ({error}); write the workspaces again") from None
    if all(variant.shape.name != shape for variant in VARIANTS):
        raise UsageError(f"{path}: unknown answer shape {shape!r}; update causal-exams")
    held_out = folder / "test_features.parquet"
    rows = 0
    if held_out.exists():
        with parquet.connect() as connection:
            (rows,) = connection.execute(
                "SELECT count(*) FROM read_parquet(?)", [[parquet.literal(held_out)]]
            ).fetchall()[0]
    return WorkspaceTask(folder.name, folder, prompt, shape, rows)
