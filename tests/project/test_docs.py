"""The quick ``bash`` and ``python`` blocks of README and guides, in this process.

test_every_block.py runs all of them as they stand in a fresh clone.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from smaller_splits import write_splits
from test_every_block import BLOCK

from baselines.__main__ import main as baselines
from builder.commands.main import main as builder
from builder.release.exams import EXAM_SCHEMA
from builder.release.rows import FLAT
from builder.tracks import TRACKS as BUILDERS
from causal_exams.cli import main as causal_exams
from grader.commands.main import main as grader
from grader.io.schemas import schema
from grader.scoring.model import Score
from grader.tracks import TRACKS

ROOT = Path(__file__).parent.parent.parent
LONG: Final = (
    "docs/tutorials/", "docs/private-exam.md", "docs/hub.md",
    "docs/causalab.md", "docs/causalds-exams.md",
)  # fmt: skip
"""Guides whose commands take seconds, such as builds of whole releases."""
DOCUMENTS = [
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if any(not block["mark"] for block in BLOCK.finditer(path.read_text(encoding="utf-8")))
    and not str(path.relative_to(ROOT)).startswith(LONG)
]
"""Those with code to run here."""
PROGRAMS: Final[dict[str, Callable[[list[str]], int]]] = {
    "python build_dataset.py": builder,
    "python -m grader": grader,
    "python -m baselines": baselines,
    "python -m causal_exams": causal_exams,
}
PLAIN = re.compile(rf"({'|'.join(map(re.escape, PROGRAMS))}) ([^|<>$&;]*?)(?: > ([\w.-]+))?")
"""A call of one of our programs, to which a shell adds nothing but where its output goes."""
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
    out = folder / "answers" / "naive"
    assert baselines(["naive", "--release", str(folder / "release"), "--out", str(out)]) == 0
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    shutil.copytree(out, folder / "answers", dirs_exist_ok=True)
    return folder


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_code_in_the_docs_runs(document, root, playground, monkeypatch):
    """A command in a guide that fails is the first thing a newcomer meets."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(playground))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(playground / "hf"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("CAUSAL_EXAMS_SECRET", raising=False)
    monkeypatch.chdir(playground)
    blocks = [b for b in BLOCK.finditer((root / document).read_text("utf-8")) if not b["mark"]]
    for block in blocks:
        if block["language"] == "bash":
            run_commands(block["code"], monkeypatch)
        elif "import load_dataset" in block["code"]:  # reads its settings where it is imported
            subprocess.run([sys.executable, "-c", block["code"]], check=True)
        else:
            exec(compile(block["code"], document, "exec"), {"__name__": "__main__"})


def run_commands(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run plain calls of our programs in this process and all else by bash, in order."""
    for plain, text in parts(code):
        if plain is None:
            script = f"set -aeuo pipefail\n{text}\nenv -0 > .environment"
            subprocess.run(["bash", "-c", script], check=True)
            for entry in Path(".environment").read_text("utf-8").split("\0"):
                name, sign, value = entry.partition("=")
                if sign:
                    monkeypatch.setenv(name, value)
            continue
        program, words, file = plain.groups()
        with (
            Path(file or os.devnull).open("w", encoding="utf-8") as stream,
            redirect_stdout(stream),
        ):
            assert PROGRAMS[program](shlex.split(words)) == 0, text


def parts(code: str) -> Iterator[tuple[re.Match[str] | None, str]]:
    """Yield each plain call with its match, and what stands between them without one."""
    rest: list[str] = []
    for line in code.replace("\\\n", " ").splitlines():
        continued = rest and rest[-1].endswith("|")
        plain = None if continued else PLAIN.fullmatch(line.strip())
        if plain is None:
            rest.append(line)
            continue
        if rest:
            yield None, "\n".join(rest)
        rest = []
        yield plain, line
    if rest:
        yield None, "\n".join(rest)


@pytest.fixture(autouse=True)
def _one_processor() -> Iterator[None]:
    """Commands begin as many workers as they may use processors, each with seconds of imports."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    mine = sorted(os.sched_getaffinity(0))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.sched_setaffinity(0, {mine[number % len(mine)]})
    yield
    os.sched_setaffinity(0, mine)


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    """A renamed guide leaves dead links behind."""
    pages = [str(path.relative_to(root)) for path in sorted((root / "docs").rglob("*.md"))]
    for document in ["README.md", "CONTRIBUTING.md", *pages]:
        text = (root / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert ((root / document).parent / target).exists(), f"{document} links to {target}"


def test_address_and_doi_stand_in_the_citation_alone(root: Path) -> None:
    """They are placeholders until the release is public: each is one line to change."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    own = [citation["repository-code"], citation["doi"]]
    suffixes = {".md", ".py", ".toml", ".yml", ".json"}
    folders = (root, root / "docs", root / "grader", root / "builder", root / "dataset_card")
    found = [file for folder in folders for file in folder.glob("*") if file.suffix in suffixes]
    assert len(found) > 30
    for text in (file.read_text(encoding="utf-8") for file in found):
        assert not any(word in text for word in own)
    version, date = citation["version"], f"{citation['date-released']:%-d %B %Y}"
    assert f"## {version} ({date})" in (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f'version = "{version}"' in (root / "pyproject.toml").read_text(encoding="utf-8")
    assert f"{version} is of {date}" in (root / "docs" / "upkeep.md").read_text(encoding="utf-8")
    assert len(citation["references"]) == len(TRACKS)


def test_the_format_of_releases_names_every_column(root: Path) -> None:
    """Under the heading of each table; of truths and inputs the members that schemas list, too."""
    parts = (root / "docs" / "release-format.md").read_text("utf-8").split("\n**`")[1:]
    about = {name: part for part in parts for name in re.findall(r"\w+", part.partition("**")[0])}
    tables = {"tasks": FLAT.names, "scores": [*(f.name for f in fields(Score)), "truth_json"]}
    for track, record in BUILDERS.items():
        tables |= {name: table.names for name, table in record.tables.items()}
        tables[f"{track}_exams"] = EXAM_SCHEMA.names
        for kind, name in (("truth", f"{track}_truth"), ("inputs", track)):
            tables[name] = [*tables[name], *schema(f"{kind}/{track}")["properties"]]
    for name, columns in tables.items():
        lacking = [one for one in columns if f"`{one}`" not in about.get(name, "")]
        assert not lacking, name


@pytest.mark.slow
def test_the_notebook_runs(root: Path, playground: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code cell in order, in a folder below the release; what they gave is stored, too."""
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="extra 'notebook' is not installed")
    notebook = json.loads((root / "docs" / "explore.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] or "import" in cell["source"][0] for cell in cells)
    stored = [
        one for cell in cells for one in cell["outputs"] if "image/png" in one.get("data", ())
    ]
    (playground / "docs").mkdir(exist_ok=True)
    monkeypatch.chdir(playground / "docs")
    monkeypatch.delenv("CAUSAL_EXAMS_RELEASE", raising=False)
    pyplot.switch_backend("Agg")
    names: dict[str, Any] = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), "explore.ipynb", "exec"), names)
    assert len(stored) == len(pyplot.get_fignums()) == 3
    pyplot.close("all")
    assert names["edges"] and len(names["lost"]) > 10 and set(names["asked"].track) == set(TRACKS)
    guides = ("docs/release-format.md", "docs/causalab.md")  # they name each member of extra_json
    named = set(re.findall(r"`(\w+)`", "".join((root / g).read_text("utf-8") for g in guides)))
    for row in names["scores"].extra_json:
        assert {re.sub("_[0-9]+$", "_N", member) for member in json.loads(row)} <= named


def test_a_workflow_publishes_the_site_that_one_command_builds(root: Path) -> None:
    """With a search: the theme adds none where ``plugins`` names others."""
    text = (root / ".github" / "workflows" / "docs.yml").read_text(encoding="utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    assert {"run": "make docs"} in job["steps"]
    assert {"path": "site"} in [step.get("with") for step in job["steps"]]
    settings = (root / "mkdocs.yml").read_text(encoding="utf-8")
    assert "site_dir: site\n" in settings and "plugins: [search]\n" in settings


@pytest.mark.slow
def test_the_guides_become_a_site(root: Path, tmp_path: Path) -> None:
    """A page outside the navigation, or a link to nowhere, ends a strict build."""
    pytest.importorskip("material", reason="mkdocs-material is not installed: extra 'docs'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.relative_to(root / "docs").with_suffix(".html") for path in
             (root / "docs").rglob("*.md")}  # fmt: skip
    assert pages <= {path.relative_to(tmp_path) for path in tmp_path.rglob("*.html")}
    navigation = (root / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (root / "docs").rglob("*.md"):
        assert f"{page.relative_to(root / 'docs')}" in navigation, f"{page} is not in mkdocs.yml"
