"""The tables of a scene as a row of ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa

from builder.importing.causalds.layout import ExamFolder
from builder.importing.files import FETCH, Floats, read_columns, read_object
from builder.release.schemas import labels_schema, scenes_schema
from builder.track import Row
from grader.errors import UsageError

SCENES: Final = scenes_schema(pa.float64())
"""As in a built release, in the double precision that was published."""

LABELS: Final = labels_schema(pa.float64())


def scene_row(folder: ExamFolder, scene_id: str, view: str, *, with_data: bool) -> Row:
    """Story and tables of a scene under a view.

    With ``with_data`` (a task of the exam is about them) ``data.parquet`` must be there; a story,
    held-out features and calibration rows may be absent.
    """
    place = folder.view_folder(scene_id, view)
    file = place / "data.parquet"
    data = read_columns(file) if with_data or file.is_file() else {}
    if with_data and not data:
        raise UsageError(f"{file}: no columns; {FETCH}")
    binary = _declared_binary(place / "schema.json")
    return {
        "instance_id": scene_id,
        "view": view,
        "story": _story(folder, scene_id, view),
        "columns": [{"name": name, "kind": _kind(name, data[name], binary)} for name in data],
        "data": _nested(data),
        "test_features": _optional(place / "test_features.parquet"),
        "calibration": _optional(place / "calibration.parquet"),
    }


def _nested(columns: Mapping[str, Floats]) -> list[dict[str, object]]:
    return [{"name": name, "values": values} for name, values in columns.items()]


def _optional(path: Path) -> list[dict[str, object]]:
    return _nested(read_columns(path)) if path.is_file() else []


def _story(folder: ExamFolder, scene_id: str, view: str) -> str:
    """The prose without the heading that names the scene."""
    for place in (folder.scene_folder(scene_id), folder.view_folder(scene_id, view)):
        file = place / "story.md"
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: cannot be read ({error}); fetch it again") from None
        heading, _, prose = text.partition("\n")
        return (prose if heading.strip() == f"# {scene_id}" else text).strip()
    return ""


def _declared_binary(path: Path) -> Mapping[str, bool]:
    """What ``schema.json`` says of the columns, where it is there."""
    if not path.is_file():
        return {}
    document = read_object(path)
    columns = document.get("columns")
    return {
        name: document.get("columns", name, "is_binary") is True
        for name in (columns if isinstance(columns, Mapping) else ())
    }


def _kind(name: str, values: Floats, declared: Mapping[str, bool]) -> str:
    binary = declared.get(name) or bool(((values == 0) | (values == 1)).all())
    return "binary" if binary else "continuous"
