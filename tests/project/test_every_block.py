"""README and every guide in a fresh clone and a fresh environment: each block as it stands.

``pytest -m slow -rP tests/project/test_every_block.py`` also shows the times of all blocks. The
blocks that ask a model or the Hub ask one on this machine.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from chat_server import Reply, serve
from rehearsal import environment_of, hub_with_users

ROOT = Path(__file__).parent.parent.parent
BLOCK: Final = re.compile(
    r"^(?:<!-- (?P<mark>[a-z ]+): [^\n]+ -->\n)?```(?P<language>bash|python)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
"""A block, with ``not run`` or ``slow`` as its mark if a comment above says so and why."""
END: Final = "END_OF_THE_BLOCK"
PAGES = [
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if any(block["mark"] != "not run" for block in BLOCK.finditer(path.read_text("utf-8")))
]


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
            code = f"python - <<'{END}'\n{code}{END}\n"
        script.append(code)
    script.append("echo '== end' after $SECONDS s")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=folder, env=dict(environment), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:  # pytest would add the whole script to an assert
        raise AssertionError(done.stdout[-4000:])
    return done.stdout


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``git clone`` and ``make demo`` leave, with nothing of this process's environment."""
    folder = tmp_path_factory.mktemp("fresh") / "causal-exams"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run(["make", "demo"], cwd=folder, env=environment, check=True)
    return folder


@pytest.fixture(scope="session")
def newcomer(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a shell that has activated the clone's, with a model and a Hub at hand."""
    with serve(lambda _: Reply("I do not know."), port=8000), hub_with_users() as hub:
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        yield {
            **kept, **environment_of(hub, tmp_path_factory.mktemp("home")),
            "PATH": f"{clone / '.venv' / 'bin'}:{os.environ['PATH']}", "OPENAI_API_KEY": "none",
        }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs_as_it_stands(page: str, clone: Path, newcomer: dict[str, str]) -> None:
    told = walk(page, (clone / page).read_text(encoding="utf-8"), clone, newcomer)
    print(*(line for line in told.splitlines() if line.startswith("== ")), sep="\n")


BROKEN = """
```bash
NAME=here
```
<!-- not run: it would fail -->
```bash
false
```
```{language}
{code}
```
"""


@pytest.mark.parametrize(
    ("language", "code", "says"),
    [
        ("bash", 'test "$NAME" = there', "== page.md:9 "),
        ("bash", "python -m no_such_module", "No module named no_such_module"),
        ("python", "raise SystemExit(3)", "== page.md:9 "),
        ("python", "import no_such_module", "No module named 'no_such_module'"),
    ],
)
def test_a_broken_block_is_named(language: str, code: str, says: str, tmp_path: Path) -> None:
    text = BROKEN.format(language=language, code=code)
    with pytest.raises(AssertionError) as failure:
        walk("page.md", text, tmp_path, os.environ)
    assert says in str(failure.value) and "== end" not in str(failure.value)
    text = BROKEN.format(language="python", code="print('it runs')")
    told = walk("page.md", text, tmp_path, os.environ)
    assert "it runs" in told and "page.md:6" not in told
