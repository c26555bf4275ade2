"""``make hub-rehearsal``: every command of docs/hub.md, in order, against a Hub on this machine."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from local_hub import LocalHub, serving

PAGE = Path(__file__).parents[2] / "docs" / "hub.md"


@contextmanager
def hub_with_users() -> Iterator[LocalHub]:
    """A Hub with ``ann``, who is of ``org``, its dataset of submissions, and a model."""
    hub = LocalHub()
    hub.add_user("ann", "org")
    hub.store.create("ann", "dataset", "org/submissions", {})
    hub.store.create("ann", "model", "org/model", {})
    with serving(hub):
        yield hub


def environment_of(hub: LocalHub, home: Path) -> dict[str, str]:
    """The settings of a client that is ``ann``, with nothing in its cache."""
    return {
        "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": "hf_ann", "HF_HOME": str(home),
        "HF_HUB_CACHE": str(home / "hub"), "HF_HUB_DISABLE_XET": "1",
    }  # fmt: skip


def main() -> int:
    with hub_with_users() as hub, TemporaryDirectory() as home:
        environment = {**os.environ, **environment_of(hub, Path(home))}
        for code in re.findall(r"^```bash\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S):
            print(*(f"\n$ {line}" for line in code.splitlines()), sep="", flush=True)
            if subprocess.run(["bash", "-euc", code], env=environment).returncode:
                print("rehearsal: the command above failed", file=sys.stderr)
                return 1
    print("\nrehearsal: every command of docs/hub.md ran against a Hub on this machine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
