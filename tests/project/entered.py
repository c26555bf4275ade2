"""Run a command in this process and print how many functions of the project it enters, in how many
files: ``entered.py MODULE_OR_SCRIPT ARGUMENTS...`` from the project's root."""

import runpy
import sys
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = str(Path(__file__).parents[2])
PACKAGES = tuple(f"{ROOT}/{name}/" for name in ("grader", "builder"))
entered: set[tuple[str, str]] = set()


def note(frame: FrameType, event: str, _: Any) -> None:
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(PACKAGES) and code.co_name[0] != "<":
        entered.add((code.co_filename, code.co_qualname))


sys.path.insert(0, ROOT)
del sys.argv[0]
sys.setprofile(note)
try:
    run = runpy.run_path if sys.argv[0].endswith(".py") else runpy.run_module
    run(sys.argv[0], run_name="__main__")
except SystemExit:
    pass
finally:
    sys.setprofile(None)
    print(len(entered), len({file for file, _ in entered}), file=sys.stderr)
