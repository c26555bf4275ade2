"""Every ``bash``, ``python`` and ``sql`` block in the README and the guides is run, in order."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = re.compile(
    r"^(?P<skip><!-- not run: [^\n]+ -->\n)?```(?P<language>bash|python)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if any(not block["skip"] for block in BLOCK.finditer(path.read_text(encoding="utf-8")))
]
"""Those with code to run."""
TREES = ("grader", "builder", "baselines", "harness", "causal_exams", "schemas", "dataset_card")
SMALLER = {
    "private-example.toml": {"scenes = 30": "scenes = 8", "scenes = 66": "scenes = 33"},
    "exams/private-example.toml": {"tasks = 66": "tasks = 33"},
}
"""Split files that a guide builds, made small enough to build in a test."""


@pytest.fixture(scope="session")
def playground(tmp_path_factory: pytest.TempPathFactory, root: Path, mini_release: Path) -> Path:
    """A working copy as ``make demo`` leaves it: release, answers, and ``python`` on the path."""
    folder = tmp_path_factory.mktemp("docs")
    for name in TREES:
        (folder / name).symlink_to(root / name)
    shutil.copytree(root / "splits", folder / "splits")
    for name, changes in SMALLER.items():
        file = folder / "splits" / name
        text = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    shutil.copy(root / "build_dataset.py", folder)
    shutil.copytree(mini_release, folder / "release")
    command = [sys.executable, "-m", "baselines", "naive", "--release", "release"]
    subprocess.run([*command, "--out", "answers/naive"], cwd=folder, check=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    shutil.copytree(folder / "answers" / "naive", folder / "answers", dirs_exist_ok=True)
    return folder


@pytest.mark.parametrize("document", DOCUMENTS)
def test_code_in_the_docs_runs(document: str, root: Path, playground: Path) -> None:
    """A command in a guide that fails is the first thing a newcomer meets."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment |= {"PYTHONPATH": str(playground), "HF_HUB_OFFLINE": "1", "COLUMNS": "100"}
    environment |= {"HF_HOME": str(playground / "hf")}
    environment.pop("CAUSAL_EXAMS_SECRET", None)
    script = []
    for block in BLOCK.finditer((root / document).read_text(encoding="utf-8")):
        if block["skip"]:
            continue
        code = block["code"]
        script.append(code if block["language"] == "bash" else f"python - <<'CODE'\n{code}CODE\n")
    assert script
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(script)],
        cwd=playground,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    """A renamed guide leaves dead links behind."""
    for document in [*DOCUMENTS, "CONTRIBUTING.md"]:
        text = (root / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert ((root / document).parent / target).exists(), f"{document} links to {target}"
