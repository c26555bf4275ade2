"""Where the files of the public CausalDS reference release are.

An exam folder holds ``exam.json`` (or ``exam/exam.json``), ``scenes/`` and ``scenes_private/``. A
scene's public files lie in ``variants/<view>/``, or beside its story where there is one view only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder.importing.files import FETCH, Document, read_object
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.io.paths import GRAMMAR, inside, is_plain

CLEAN: Final = "clean"
_EXAM: Final = ("exam.json", "exam/exam.json")
_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class ExamFolder:
    """One exam of the reference: its folder, the name of its split here, its ``exam.json``."""

    folder: Path
    split: str
    exam: Document

    def scene_folder(self, scene_id: str) -> Path:
        """The public folder of a scene."""
        return inside(self.folder / "scenes", scene_id)

    def private(self, scene_id: str, name: str) -> Path:
        """A private file of a scene."""
        return inside(self.folder / "scenes_private", scene_id) / name

    def view_folder(self, scene_id: str, view: str) -> Path:
        """Where the public files of a scene under a view are."""
        scene = self.scene_folder(scene_id)
        variant = inside(scene / "variants", view)
        return variant if variant.is_dir() or (scene / "variants").is_dir() else scene

    def listed(self) -> Iterator[tuple[str, Document]]:
        """Every task that a scene lists, exam or not, with its scene's id."""
        scenes = self.folder / "scenes"
        for scene in sorted(scenes.iterdir()) if scenes.is_dir() else ():
            files = [*sorted(scene.glob("variants/*/tasks.json")), scene / "tasks.json"]
            for file in files:
                if file.is_file():
                    yield from ((scene.name, item) for item in _tasks(file, scene.name))


def _tasks(file: Path, scene_id: str) -> Iterator[Document]:
    document = read_object(file)
    view = document.get("observation_variant")
    if view is None and file.parent.parent.name == "variants":
        view = file.parent.name
    for item in items_of(document, "tasks"):
        content = {"scene_id": scene_id, "observation_variant": view, **item.content}
        if content["observation_variant"] is None:
            content["observation_variant"] = view
        yield Document(item.file, content, item.path)


def items_of(document: Document, key: str) -> list[Document]:
    """The objects of a list that must be there, each with its place."""
    items = document.need(key)
    if not isinstance(items, list):
        raise document.problem((key,), f"{clip(items)} is no list")
    return [document.within(item, f"{key}[{place}]") for place, item in enumerate(items)]


def find_exams(folder: Path) -> list[ExamFolder]:
    """The exams at ``folder``: its own, or else those of the folders inside it.

    Raises ``UsageError`` where there is none.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name a checkout of the reference release")
    own = _exam_at(folder)
    found = [own] if own else list(_inside(folder, _DEPTH))
    if not found:
        raise UsageError(
            f"{folder}: no exam.json there, nor in a folder inside; name a folder like "
            "data/benchmark/main, with exam.json, scenes/ and scenes_private/"
        )
    names: dict[str, Path] = {}
    for exam in found:
        other = names.setdefault(exam.split, exam.folder)
        if other != exam.folder:
            raise UsageError(
                f"{exam.folder}: would be the split {exam.split}, and so would {other}; import "
                "them one at a time"
            )
    return found


def _inside(folder: Path, depth: int) -> Iterator[ExamFolder]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.name.startswith("."):
            exam = _exam_at(entry)
            if exam is not None:
                yield exam
            elif depth > 0:
                yield from _inside(entry, depth - 1)


def _exam_at(folder: Path) -> ExamFolder | None:
    for name in _EXAM:
        if (folder / name).is_file():
            if not (folder / "scenes_private").is_dir():
                raise UsageError(
                    f"{folder / 'scenes_private'}: not found; the truths are in there: {FETCH}"
                )
            # Splits are called by lower case letters, digits and underscores.
            split = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.casefold()).strip("_")
            return ExamFolder(folder, split or "imported", read_object(folder / name))
    return None


def public_name(text: str) -> str:
    """A name as a manifest may hold it."""
    return re.sub(r"[^a-z0-9_.-]+", "_", text.casefold()).strip("_.-") or "exam"


def scene_id_of(item: Document) -> str:
    """The scene of an item: a plain folder name."""
    return plain(item, item.text("scene_id"), "scene_id")


def plain(item: Document, value: str, key: str) -> str:
    """``value`` if it is a plain file name, without path or space."""
    if not is_plain(value):
        raise item.problem((key,), f"{clip(value)} is no plain name; use {GRAMMAR}")
    return value


def view_of(item: Document) -> str:
    """The observation view of an item; none stated means clean."""
    key = "observation_variant"
    return CLEAN if item.get(key) is None else plain(item, item.text(key), key)
