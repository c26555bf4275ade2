"""The rules of the house that a reader cannot see at a glance."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from imported import modules, modules_imported, names_imported

ALLOWED = {
    "grader": {"grader", "duckdb", "jinja2", "jsonschema", "markdown_it", "markupsafe",
               "numpy", "rich"},
    "causal_exams": {
        "causal_exams", "grader", "rich", "mcp", "pydantic", "inspect_ai", "anyio", "tenacity",
        "yaml", "pandas",
    },
}  # fmt: skip


def imported(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files and the packages that they import."""
    for file in folder.rglob("*.py"):
        yield from ((file, name.partition(".")[0]) for name in names_imported(file))


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_imports_flow_one_way(root: Path, package: str) -> None:
    """A grader that imports the builder drags truth code into every leaderboard."""
    for file, module in imported(root / package):
        # The Hub's client, and what it brings, wait until a command needs the Hub.
        hub = {"huggingface_hub", "yaml"} if file.parent == root / "grader/hub" else set()
        known = ALLOWED[package] | hub | sys.stdlib_module_names
        assert module in known, f"{file} imports {module}"


def test_the_builder_imports_no_consumer(root: Path) -> None:
    """The builder must not need a baseline or a sitting to state a truth."""
    for file, module in imported(root / "builder"):
        assert module not in {"causal_exams", "baselines"}, f"{file} imports {module}"


def test_the_reader_of_stories_shares_nothing_with_their_teller(root: Path) -> None:
    """A frame whose slots are swapped is wrong in every story, and agrees with itself: the gate's
    reader must know no frame, nor anything else of the project."""
    known = modules(root)
    reader = {name for name in known if name.startswith("builder.reader")}
    assert reader
    for name in reader:
        assert modules_imported(known[name], known) <= reader, name


def test_modules_and_functions_stay_small_enough_to_read(root: Path) -> None:
    """Beyond 400 lines there is usually a second idea in a file, beyond 60 in a function."""
    for file in modules(root).values():
        text = file.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400, file
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                assert node.end_lineno - node.lineno < 60, f"{file}: {node.name}"
    assert len(modules(root)) <= 420
    assert len(list((root / "grader").glob("[!_]*.py"))) <= 7


def test_no_module_imports_itself_by_a_detour(root: Path) -> None:
    """An import inside a function hides a circle from Python, not from whoever reads the code."""
    known = modules(root)
    graph = {name: modules_imported(file, known) - {name} for name, file in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


LAYERS = {
    "grader": (
        "version", "errors", "io", "scoring", "statistics", "laboratory", "release", "answers",
        "reports", "pages", "tracks", "pipeline", "verify", "workspace", "board", "hub", "opening",
        "api", "commands",
    ),
    "builder": (
        "splits", "graphs", "equations", "stories", "reader", "release", "gate", "tracks",
        "importing", "publishing", "build", "commands",
    ),
}  # fmt: skip
"""The folders of a package, and the modules beside them, in the order in which they may be
imported: each imports only what stands before it."""


@pytest.mark.parametrize("package", sorted(LAYERS))
def test_a_folder_imports_only_folders_before_it(root: Path, package: str) -> None:
    """Two folders that import each other can only be understood, and changed, together."""
    place = {f"{package}.{name}": number for number, name in enumerate(LAYERS[package])}
    known = {name: file for name, file in modules(root).items() if name.startswith(package)}
    del known[package]
    known.pop(f"{package}.__main__", None)
    unit = {name: ".".join(name.split(".")[:2]) for name in known}
    assert set(unit.values()) == set(place)
    wrong = [
        f"{name} imports {other}"
        for name, file in known.items()
        for other in modules_imported(file, known)
        if place[unit[other]] > place[unit[name]]
    ]
    assert not wrong, "\n".join(sorted(wrong))


def test_no_folder_imports_itself_by_a_detour(root: Path) -> None:
    """A module that stands beside folders counts as one."""
    known = modules(root)
    beside = {file.parent.parent for file in known.values()}
    unit = {
        name: name if file.parent in beside else name.rpartition(".")[0]
        for name, file in known.items()
    }
    graph: dict[str, set[str]] = {folder: set() for folder in unit.values()}
    for name, file in known.items():
        graph[unit[name]] |= {unit[other] for other in modules_imported(file, known)} - {unit[name]}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


TRACK_WORDS = re.compile(r"\b(causalds|replayscm|ccr|causalab)\b")
"""As the code writes them; a paper is cited by its own name, such as CausalDS."""
ROOMS = (
    "grader/tracks/", "grader/laboratory/", "causal_exams/tracks/", "causal_exams/laboratory/",
    "builder/tracks/", "builder/importing/", "builder/commands/import_causalds.py",
    "builder/commands/main.py",
)  # fmt: skip


def test_only_a_track_and_the_two_lists_name_a_track(root: Path) -> None:
    """A fifth track touches no machinery, so the machinery must know none of the four."""
    named = [
        f"{file.relative_to(root)}:{number}: {line.strip()}"
        for package in ("grader", "causal_exams", "builder")
        for file in sorted((root / package).rglob("*.py"))
        if not file.relative_to(root).as_posix().startswith(ROOMS)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if TRACK_WORDS.search(line)
    ]
    assert not named, "\n".join(named)


@pytest.mark.parametrize(
    ("name", "code", "says"), [("duckdb", 2, "activate"), ("grader.gone", 3, "gone")]
)
def test_an_absent_package_is_no_bug_of_ours_but_an_absent_module_is(
    name: str,
    code: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The system's Python, tried after ``make demo``, used to be told of a bug of ours."""
    from builder.commands import main as builder_cli
    from grader.commands import main as grader_cli

    def absent(*_: object) -> int:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(grader_cli, "_dispatch", absent)
    for main in (grader_cli.main, builder_cli.main):
        assert main(["x"]) == code
        assert says in capsys.readouterr().err


def test_text_is_printed_by_the_two_doors_that_make_it_printable(root: Path) -> None:
    """A command that prints by itself prints what a stranger wrote as it is."""
    doors = {"grader/io/printing.py", "grader/io/process.py", "grader/pages/terminal.py"}
    for file in modules(root).values():
        place = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        if place.startswith("benchmarks/") or not re.search(r"\b(print|Console)\b", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and node.id in {"print", "Console"}:
                assert place in doors, f"{place}:{node.lineno}: use print_lines or console()"
