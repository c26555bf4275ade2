"""The rules of the house: layers, lengths, names, and which functions print or make paths."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

TOP_FOLDERS = ("baselines", "benchmarks", "builder", "causal_exams", "grader")


@cache
def modules(root: Path) -> Mapping[str, Path]:
    """Every module of the project by its dotted name."""
    return {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for package in TOP_FOLDERS
        for file in (root / package).rglob("*.py")
    }


@cache
def names_imported(file: Path) -> frozenset[str]:
    """The dotted names that a file imports: of modules, and of what is taken out of modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def modules_imported(file: Path, known: Mapping[str, Path]) -> set[str]:
    """The project's modules that a file imports."""
    found = {name if name in known else name.rpartition(".")[0] for name in names_imported(file)}
    return found & known.keys()


ALLOWED = {
    "grader": {"grader", "duckdb", "jinja2", "jsonschema", "markdown_it", "markupsafe", "numpy",
               "rich"},
    "causal_exams": {"causal_exams", "grader", "rich", "mcp", "pydantic", "inspect_ai", "anyio",
                     "tenacity", "yaml"},
}  # fmt: skip


def imported(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files and the packages that they import."""
    for file in folder.rglob("*.py"):
        yield from ((file, name.partition(".")[0]) for name in names_imported(file))


def test_imports_flow_one_way(root: Path) -> None:
    """A grader that imports the builder drags truth code into every leaderboard, and a builder must
    not need a baseline or a sitting to state a truth."""
    for package, allowed in ALLOWED.items():
        for file, module in imported(root / package):
            # The Hub's client, and what it brings, wait until a command needs the Hub.
            hub = {"huggingface_hub", "yaml"} if file.parent == root / "grader/hub" else set()
            known = allowed | hub | sys.stdlib_module_names
            assert module in known, f"{file} imports {module}"
    for file, module in imported(root / "builder"):
        assert module not in {"causal_exams", "baselines"}, f"{file} imports {module}"


def test_the_reader_of_stories_shares_nothing_with_their_teller(root: Path) -> None:
    """A frame whose slots are swapped is wrong in every story, and agrees with itself."""
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
    refuse_circles({name: modules_imported(file, known) - {name} for name, file in known.items()})


def refuse_circles(graph: Mapping[str, set[str]]) -> None:
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
    unit = {name: name.rpartition(".")[0] for name in known}
    unit |= {name: name for name, file in known.items() if file.parent in beside}
    graph: dict[str, set[str]] = {folder: set() for folder in unit.values()}
    for name, file in known.items():
        graph[unit[name]] |= {unit[other] for other in modules_imported(file, known)} - {unit[name]}
    refuse_circles(graph)


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


@pytest.mark.parametrize(("name", "code"), [("duckdb", 2), ("grader.gone", 3)])
def test_an_absent_package_is_no_bug_but_an_absent_module_is(name, code, monkeypatch, capsys):
    """The system's Python, tried after ``make demo``, used to be told of a bug of ours."""
    from builder.commands import main as builder_cli
    from grader.commands import main as grader_cli

    def absent(*_: object) -> int:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(grader_cli, "_dispatch", absent)
    for main in (grader_cli.main, builder_cli.main):
        assert main(["x"]) == code
        assert ("activate" if code == 2 else "gone") in capsys.readouterr().err


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


BARE: Final = frozenset(
    re.findall(
        r"\w+",
        """
        about above across after again against among apart around aside at away back before
        behind below beside besides between beyond by down during each either every few for
        from in inside into least less like many more most near nearly neither next nice
        none of off on once onto other others out outside over partial past per rest same
        several since some such through to toward under until up upon via when where whole
        with within without

        asked begun bent bound built careless chosen cut dealt done drawn found given gone
        held hidden kept known laid led left lost made meant met put quiet said seen sent
        shown spoken stranger taken taught thought told understood written desk look glance
        parrot tame barren
        """,
    )
)
"""Prepositions and pronouns; participles without -ed, and words for moods."""
NOUNS: Final = frozenset({"embed", "feed", "need", "seed", "speed"})
"""Words that end in -ed and are no participles."""
EXCEPTED: Final = {"of": "the constructor of a record from one other value, as in `from_row`"}


def is_bare(name: str) -> bool:
    """Whether a name is one word that says neither what it holds nor what it does."""
    word = name.strip("_")
    if "_" in word or re.search("[a-z][A-Z]", word) or word in EXCEPTED:
        return False
    word = word.lower()
    return word in BARE or (word.endswith("ed") and word not in NOUNS)


DEFINED: Final = re.compile(r"^ *(?:def|async def|class) (\w+) *[(:\[]", re.MULTILINE)


def test_no_name_is_a_bare_participle_or_preposition(root: Path) -> None:
    """`found` stood 2,296 times in the code, and 14 functions were called `_told`."""
    for path in modules(root).values():
        for name in (path.stem, *DEFINED.findall(path.read_text(encoding="utf-8"))):
            assert not is_bare(name), f"{path.relative_to(root)}: {name}"


def test_public_classes_of_a_package_have_names_of_their_own(root: Path) -> None:
    """A reader who finds one of two classes of a name believes to have found the other."""
    for package in ("builder", "grader"):
        seen: dict[str, Path] = {}
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for name in re.findall(r"^class ([^_]\w*) *[(:\[]", text, re.MULTILINE):
                assert name not in seen, f"{name}: {path} and {seen[name]}"
                seen[name] = path


def test_a_bare_name_is_seen() -> None:
    """The test of names can fail."""
    assert all(map(is_bare, ("_told", "found", "Settled", "apart", "_wanted")))
    assert DEFINED.findall("class Told:\n    async def held(\n    def kept[T](self)")[2] == "kept"
    assert not any(map(is_bare, ("edges_in_story", "StoryFacts", "seed", "told_stories", "read")))


PACKAGES = ("grader", "causal_exams", "baselines", "builder/importing")
THE_ONE = "grader/io/paths.py"
PLACES = frozenset({
    "folder", "path", "place", "source", "out", "root", "answers", "work", "side", "parent",
    "directory", "repository", "release", "sessions", "scene", "variants", "variant", "workspaces",
    "file", "target", "name", "base", "private", "public",
})  # fmt: skip
"""What a variable that holds a folder is called; a quotient of numbers has none of these."""
OTHERS = frozenset({"joinpath", "with_name", "with_stem"})
GOOD_NAMES = {
    "grader/io/files.py": {
        "path.parent / f'.{path.name[:40]}.{digest}.part'",  # beside itself
        "Path(place) / name",  # the file system has listed it
    },
    "grader/release/side.py": {"root / file.relative_to(folder)"},  # checked by path_inside
    "grader/io/schemas.py": {"place / f'{name}.json'"},  # of a shape, which the code lists
    "grader/reports/table.py": {"folder / 'sql' / f'{file}.sql'"},  # of the code
    "grader/reports/ledger.py": {"path.with_name(path.name + '.lock')"},  # beside the ledger itself
    "grader/answers/collect.py": {"folder / name", "source / name"},  # the file system lists it
    "grader/workspace.py": {
        "place / f'{name}.parquet'",  # one of three tables
        "place / reading.name",  # of the code
    },
    "baselines/__main__.py": {"(arguments.out or Path('answers')) / name"},  # a system of the list
}


def joins(tree: ast.AST) -> Iterator[str]:
    """Every expression that puts a path together from something that is no constant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            text = ast.unparse(node)
            left = ast.unparse(node.left).lower()
            *_, last = ["", *re.findall(r"[a-z]+", left)]
            folder = last in PLACES or left.startswith(("path_inside(", "path("))
            if numbers(node.left):
                continue
            if (folder or isinstance(node.right, ast.JoinedStr)) and not constant(node.right):
                yield text
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            several = called == "Path" and len(node.args) > 1
            if called.startswith("os.path.join") or several or called.split(".")[-1] in OTHERS:
                if not all(map(constant, node.args)):
                    yield ast.unparse(node)
            elif called == "Path" and node.args and isinstance(node.args[0], ast.JoinedStr):
                yield ast.unparse(node)


def numbers(node: ast.expr) -> bool:
    """Whether something is added, multiplied or the like: no path is."""
    inner = [part for part in ast.walk(node) if isinstance(part, ast.BinOp)]
    return any(not isinstance(part.op, ast.Div) for part in inner)


def constant(node: ast.expr) -> bool:
    """A literal, or a name that says it is one."""
    if isinstance(node, ast.Name):
        return node.id.lstrip("_").isupper()
    return isinstance(node, ast.Constant)


def test_only_one_function_makes_paths_from_names(root: Path) -> None:
    """A task id ``../../evil`` wrote and overwrote files anywhere; one function looks at names."""
    strange = []
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            name = file.relative_to(root).as_posix()
            tree = ast.parse(file.read_text(encoding="utf-8"))
            found = set(joins(tree))
            if name != THE_ONE:
                good = GOOD_NAMES.get(name, set())
                strange += [f"{name}: {text}" for text in sorted(found - good)]
                assert good <= found, f"{name}: the list is out of date: {good - found}"
    assert not strange, "use grader.io.paths.path_inside:\n" + "\n".join(strange)


def test_the_reader_of_the_code_sees_joins_and_leaves_constants_and_numbers() -> None:
    """A net with holes catches nothing."""
    for line in (
        "folder / task.task_id", "(options.answers / name).read_text()", "Path(base, name)",
        "os.path.join(base, name)", "x / f'{name}.json'", "Path(f'{base}/{name}')",
        "file.with_name(name)", "out.joinpath(row['file'])", "self.path / name",
    ):  # fmt: skip
        assert list(joins(ast.parse(line))), line
    for line in ("folder / 'sql'", "total / count", "path / _SCHEMAS", "a / 2"):
        assert not list(joins(ast.parse(line))), line
