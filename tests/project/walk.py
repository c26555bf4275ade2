"""Run the blocks of a page as a newcomer pastes them, one after the other into one shell."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

BLOCK: Final = re.compile(
    r"^(?:<!-- (?P<mark>[a-z ]+): [^\n]+ -->\n)?```(?P<language>bash|python)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
"""A block, with ``not run`` or ``slow`` as its mark if a comment above says so and why."""
_END: Final = "END_OF_THE_BLOCK"


def walk(page: str, text: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run every block that is not marked ``not run``; the output, with a line before each block.

    Raises ``AssertionError`` with the end of the output, which names the block, where one fails.
    """
    script = ["set -eu"]
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("language")) + 1
        if block["mark"] == "not run":
            continue
        script.append(f"echo '== {page}:{line}' after $SECONDS s")
        code = block["code"]
        if block["language"] == "python":
            code = f"python - <<'{_END}'\n{code}{_END}\n"
        script.append(code)
    script.append("echo '== end' after $SECONDS s")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=folder, env=dict(environment), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout
