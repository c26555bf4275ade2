"""Scenes for a desk, and somebody who answers there as the scripted model would."""

from pathlib import Path
from typing import Any

from llm_server import Model

from builder.causalds.plan.scenes import plan_scenes
from builder.causalds.track import TRACK
from builder.release.show.progress import Reporter
from builder.settings import TomlTable
from builder.track import InstanceSpec

ROOT = b"a root of a test, 32 bytes long."


def specs(folder: Path, private: bool = False, **llm: Any) -> list[InstanceSpec]:
    """Three small scenes whose words come from the desk in ``folder``."""
    table = {
        "scenes": 3,
        "rows": {"train": 60, "test": 20},
        "motifs": {"chain": 1, "iv": 1, "mediation": 1},
        "words": "llm",
        "llm": {
            "desk": str(folder / "desk"),
            "model": "scripted",
            "transcripts": str(folder / "kept"),
            "budgets": {"mapping": 2, "story": 2, "seeds": 1},
            **llm,
        },
    }
    config = TRACK.parse(TomlTable(table, "test.toml: splits.dev.causalds."))
    return plan_scenes(config, "dev", ROOT, private)


def requests(folder: Path) -> list[Path]:
    """The requests that lie on the desk."""
    return sorted((folder / "desk").glob("*.request.txt"))


def messages(request: Path) -> list[dict[str, str]]:
    """The conversation that a request shows."""
    parts = request.read_text(encoding="utf-8").split("\n=== ")[1:]
    found = [part.partition(" ===\n\n") for part in parts]
    return [{"role": role, "content": text.strip()} for role, _, text in found]


def reply_file(request: Path) -> Path:
    """Where the reply to a request belongs."""
    return request.with_name(request.name.replace(".request.", ".reply."))


def answer(request: Path, model: Model, content: str | None = None) -> None:
    """Writes the scripted model's reply, or ``content``, with the line that it must begin with."""
    name = request.name.removesuffix(".request.txt")
    text = model.reply(messages(request)) if content is None else content
    assert isinstance(text, str)
    reply_file(request).write_text(f"Reply to {name}\n{text}\n", encoding="utf-8")


class Answering(Reporter):
    """Answers all that lies on the desk whenever it is said that something waits."""

    def __init__(self, folder: Path, model: Model) -> None:
        super().__init__(quiet=True)
        self.folder, self.model, self.said = folder, model, list[str]()
        self.open: list[int] = []

    def note(self, text: str) -> None:
        """Keeps the line and answers."""
        self.said.append(text)
        waiting = requests(self.folder)
        self.open.append(len(waiting))
        for request in waiting:
            answer(request, self.model)
