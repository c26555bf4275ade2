"""What tests of the release share: a split file, secrets, and a folder as a mapping."""

import hashlib
import os
from pathlib import Path

import fake_builder
import pytest

ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parents[2], Path(__file__).parent)))
}
"""What a process of its own needs to find the builder and the small track."""

SECRET = hashlib.sha256(b"a secret for tests").hexdigest()
OTHER_SECRET = hashlib.sha256(b"another secret for tests").hexdigest()

SPLIT_FILE = """
name = "tiny"
version = "0.1.0"

[splits.dev]
truth = "public"
seed = "tiny 1"
[splits.dev.causalds]
scenes = 45
[splits.dev.exams.mini]
causalds = { tasks = 20 }

[splits.test]
truth = "private"
secret_env = "TINY_SECRET"
[splits.test.causalds]
scenes = 45
[splits.test.exams.demo]
causalds = { tasks = "all" }
"""


def build(out: Path) -> None:
    """Builds the release of ``SPLIT_FILE`` in this process; its split file lies beside it."""
    file = out.parent / "tiny.toml"
    file.write_text(SPLIT_FILE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TINY_SECRET", SECRET)
        arguments = ["build", str(file), "--out", str(out), "--workers", "1", "--quiet"]
        assert fake_builder.main(arguments) == 0


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder`` by relative path."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
