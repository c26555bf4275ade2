"""The folder of a build: ``OUT.partial`` beside ``OUT``.

Nothing under the final name is ever half-written: a release is assembled in ``OUT.partial`` and
gets its name in one step, after the gate. Until then staged parts stay there, readable by us alone.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from builder.release.manifest import MANIFEST, read_manifest
from grader.errors import UsageError
from grader.io.files import LOCK, lock_folder
from grader.release.side import Side

GATE_FILE: Final = "GATE.md"
"""The file with the gate's findings, beside both sides of a release."""

_STATE: Final = "fingerprint"
_REPLACED: Final = "replaced"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one build. ``out`` is absolute and will be the release."""

    out: Path

    @property
    def folder(self) -> Path:
        """The folder ``OUT.partial``, in which everything of a build lies until it is finished."""
        return self.out.with_name(self.out.name + ".partial")

    @property
    def parts(self) -> Path:
        """The folder of staged parts."""
        return self.folder / "parts"

    @property
    def release(self) -> Path:
        """The folder of the release that is assembled."""
        return self.folder / "release"


def workspace_at(out: Path) -> Workspace:
    """Return the workspace of an output folder; raises ``UsageError`` if ``out`` cannot be one."""
    try:
        resolved = out.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"--out {out}: no usable path ({error}); name a new folder") from None
    if not resolved.name:
        raise UsageError(f"--out {out}: is the root of the file system; name a new folder")
    if resolved == Path.cwd():
        raise UsageError(f"--out {out}: is the folder you are in; name a new folder")
    if resolved.exists() and not resolved.is_dir():
        raise UsageError(f"--out {out}: is a file; name a new folder")
    return Workspace(resolved)


def finished_release(
    workspace: Workspace, fingerprint: str, fresh: bool
) -> Mapping[str, Any] | None:
    """Return the public manifest if ``out`` already holds this very release, whole; else None.

    What a build that was killed after it named the release left in ``OUT.partial`` is removed. With
    ``fresh`` an older release is to be replaced, and the result is None. Raises ``UsageError`` when
    ``out`` holds other things or, unless ``fresh``, another or a damaged release.
    """
    out = workspace.out
    if not out.exists() or not any(out.iterdir()):
        return None
    if not (out / "public" / MANIFEST).is_file():
        raise UsageError(
            f"--out {out}: is a folder with other things in it, which no build replaces; name a "
            "new folder with --out"
        )
    if fresh:
        others = sorted({file.name for file in out.iterdir()} - {"public", "private", GATE_FILE})
        if others:
            raise UsageError(
                f"--out {out}: --fresh would remove {', '.join(others)}, which no build writes; "
                "move them elsewhere or name another --out"
            )
        return None
    manifest = read_manifest(out / "public")
    if manifest["fingerprint"] != fingerprint:
        raise UsageError(
            f"--out {out}: holds {manifest['release']} {manifest['version']} from another "
            "configuration, secret or code; replace it with --fresh or name another --out"
        )
    private = any(split["truth"] == "private" for split in manifest["splits"].values())
    for repository in (out / "public", out / "private") if private else (out / "public",):
        side = Side.open(repository)
        for name in side.manifest["shards"]:
            try:
                side.check(name)
            except UsageError:
                raise UsageError(
                    f"--out {out}: {repository.name}/{name} is absent or changed; build it again "
                    "with --fresh"
                ) from None
    if workspace.folder.is_dir():
        with suppress(UsageError), open_workspace(workspace, fingerprint, fresh=True):
            _remove_staged(workspace)
    return manifest


@contextmanager
def open_workspace(workspace: Workspace, fingerprint: str, fresh: bool) -> Iterator[bool]:
    """Lock and prepare ``OUT.partial``; yield whether staged parts of the same build may be there.

    Other parts are removed, as are all with ``fresh`` and any half-assembled release. Raises
    ``UsageError`` when another build is at work there, or it holds other things.
    """
    folder = workspace.folder
    held = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    if held - {LOCK} and _STATE not in held:
        raise UsageError(
            f"--out {workspace.out}: {folder} holds other things; move it or name another --out"
        )
    with lock_folder(folder, f"--out {workspace.out}", 0o700):
        folder.chmod(0o700)
        state = folder / _STATE
        same = not fresh and state.is_file() and state.read_bytes() == fingerprint.encode()
        if not same:
            shutil.rmtree(workspace.parts, ignore_errors=True)
            state.write_text(fingerprint, encoding="utf-8")
        shutil.rmtree(workspace.release, ignore_errors=True)
        shutil.rmtree(folder / _REPLACED, ignore_errors=True)
        (workspace.release / "public").mkdir(parents=True)
        yield same


def name_release(workspace: Workspace) -> None:
    """Move the assembled release to ``out``, in place of an older one; remove everything staged."""
    out = workspace.out
    if out.exists():
        # Out of the way first: a folder cannot be renamed onto one that is not empty.
        out.rename(workspace.folder / _REPLACED)
    workspace.release.rename(out)
    _remove_staged(workspace)


def _remove_staged(workspace: Workspace) -> None:
    """Remove ``OUT.partial``, its state last: what a kill leaves is known as a build's."""
    for entry in workspace.folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
    shutil.rmtree(workspace.folder)
