"""Builds that end themselves as they touch the disk for the n-th time, each in a fork of its own.

``python killed_builds.py SPLIT_FILE FOLDER POINT…`` builds into ``FOLDER/POINT`` once for each
point, with SIGKILL and SIGTERM in turn, prints what others could then read and what had its final
name, and goes on with each build to its end. A point is a share of the way, from 0 to 1.
"""

import json
import os
import signal
import stat
import sys
from pathlib import Path

import fake_builder
from fake_builder import tree

TOUCHES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod"}


class Killer:
    """Counts what is done to the disk, and ends this process at number ``last`` if it is not 0."""

    def __init__(self, last: int, how: int) -> None:
        self.last, self.how, self.count = last, how, 0

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        flags = arguments[2] if event == "open" else 0
        if event in TOUCHES or (isinstance(flags, int) and flags & os.O_ACCMODE):
            self.count += 1
            if self.count == self.last:
                os.kill(os.getpid(), self.how)


def forked_build(split_file: str | Path, out: Path, last: int, how: int) -> tuple[int, int]:
    """Build in a fork; return the number of touches and how it ended, minus the signal if killed.

    The touches are 0 where it was killed.
    """
    reader, writer = os.pipe()
    if not (child := os.fork()):
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1), os.dup2(null, 2)
        killer = Killer(last, how)
        sys.addaudithook(killer)
        code = fake_builder.main(["build", str(split_file), "--out", str(out), "--workers", "1"])
        os.write(writer, str(killer.count).encode())
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as told:
        count = int(told.read() or 0)
    return count, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def open_to_others(folder: Path) -> list[str]:
    """Return the files below ``folder`` that others can reach and that are not public."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [n for n in folders if (Path(place) / n).stat().st_mode & stat.S_IXOTH]
        found += [
            str(Path(place, name).relative_to(folder))
            for name in names
            if (Path(place) / name).stat().st_mode & stat.S_IROTH
        ]
    return [name for name in found if "/public/" not in name and not name.endswith("/GATE.md")]


if __name__ == "__main__":
    split_file, folder, *points = sys.argv[1:]
    os.umask(0o022)
    touches, code = forked_build(split_file, Path(folder) / "whole", 0, 0)
    assert code == 0, code
    whole = tree(Path(folder) / "whole")
    for number, point in enumerate(points):
        out = Path(folder, point) / "out"
        out.parent.mkdir()
        how = (signal.SIGKILL, signal.SIGTERM)[number % 2]
        last = max(1, round(float(point) * touches))
        _, killed = forked_build(split_file, out, last, how)
        seen = open_to_others(out.parent)
        named = sorted(tree(out)) == sorted(whole) if out.exists() else None
        _, code = forked_build(split_file, out, 0, 0)
        left = sorted(entry.name for entry in out.parent.iterdir())
        fact = {"at": last, "killed": killed, "open": seen, "whole": named, "code": code}
        print(json.dumps({**fact, "same": tree(out) == whole, "left": left}), flush=True)
