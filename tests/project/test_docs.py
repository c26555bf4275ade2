"""Every ``bash``, ``python`` and ``sql`` block in the README and the guides is run, in order."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from smaller_splits import write_splits

BLOCK = re.compile(
    r"^(?P<skip><!-- not run: [^\n]+ -->\n)?```(?P<language>bash|python)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if any(not block["skip"] for block in BLOCK.finditer(path.read_text(encoding="utf-8")))
]
"""Those with code to run."""
TREES = ("grader", "builder", "baselines", "causal_exams", "schemas", "dataset_card")


@pytest.fixture(scope="session")
def playground(tmp_path_factory: pytest.TempPathFactory, root: Path, mini_release: Path) -> Path:
    """A working copy as ``make demo`` leaves it: release, answers, and ``python`` on the path."""
    folder = tmp_path_factory.mktemp("docs")
    for name in TREES:
        (folder / name).symlink_to(root / name)
    write_splits(root / "splits", folder / "splits")
    shutil.copy(root / "build_dataset.py", folder)
    shutil.copytree(mini_release, folder / "release")
    command = [sys.executable, "-m", "baselines", "naive", "--release", "release"]
    subprocess.run([*command, "--out", "answers/naive"], cwd=folder, check=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    shutil.copytree(folder / "answers" / "naive", folder / "answers", dirs_exist_ok=True)
    return folder


@pytest.mark.parametrize(
    "document",
    [
        # A tutorial walks through whole commands, gate included.
        pytest.param(one, marks=pytest.mark.slow if "tutorials/" in one else ())
        for one in DOCUMENTS
    ],
)
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
        preexec_fn=_on_one_processor,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def _on_one_processor() -> None:
    """Commands begin as many workers as they may use processors, each with seconds of imports; the
    other processor is busy with tests of its own."""
    if hasattr(os, "sched_setaffinity"):
        mine = sorted(os.sched_getaffinity(0))
        number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        os.sched_setaffinity(0, {mine[number % len(mine)]})


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    """A renamed guide leaves dead links behind."""
    pages = [str(path.relative_to(root)) for path in sorted((root / "docs").rglob("*.md"))]
    for document in ["README.md", "CONTRIBUTING.md", *pages]:
        text = (root / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert ((root / document).parent / target).exists(), f"{document} links to {target}"


def test_the_notebook_runs(root: Path, playground: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code cell in order, as a kernel would run them: no cell may need what is not above."""
    notebook = json.loads((root / "docs" / "explore.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert len(cells) > 4 and not any(cell.get("outputs") for cell in notebook["cells"])
    monkeypatch.chdir(playground)
    monkeypatch.setenv("PYTHONPATH", str(playground))
    names: dict[str, Any] = {}
    for cell in cells:
        exec(compile(cell, "explore.ipynb", "exec"), names)
    assert names["lost"] and names["edges"] and set(names["counts"]) == set(names["tracks"])


@pytest.mark.slow
def test_the_guides_become_a_site(root: Path, tmp_path: Path) -> None:
    """A page outside the navigation, or a link to nowhere, ends a strict build."""
    pytest.importorskip("material", reason="mkdocs-material is not installed: extra 'docs'")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.relative_to(root / "docs").with_suffix(".html") for path in
             (root / "docs").rglob("*.md")}  # fmt: skip
    assert pages <= {path.relative_to(tmp_path) for path in tmp_path.rglob("*.html")}
    navigation = (root / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (root / "docs").rglob("*.md"):
        assert f"{page.relative_to(root / 'docs')}" in navigation, f"{page} is not in mkdocs.yml"
