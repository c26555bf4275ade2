"""One function makes paths from names that strangers chose; here the code is read for others."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    "grader/board/grading.py": {"Path(place) / name"},  # the file system has listed it
    "grader/io/files.py": {
        "path.parent / f'.{path.name[:40]}.{digest}.part'",  # beside itself
        "Path(place) / name",  # the file system has listed it
    },
    "grader/release/side.py": {"root / file.relative_to(folder)"},  # checked by path_inside
    "grader/io/schemas.py": {"place / f'{name}.json'"},  # of a shape, which the code lists
    "grader/reports/table.py": {"folder / 'sql' / f'{file}.sql'"},  # of the code
    "grader/reports/ledger.py": {"path.with_name(path.name + '.lock')"},  # beside the ledger itself
    "grader/answers/attempts.py": {"source / name"},  # the file system has listed it
    "grader/answers/collect.py": {"folder / name", "source / f'attempt-{k}'"},  # the same
    "grader/workspace.py": {
        "place / f'{name}.parquet'",  # one of three tables
        "place / reading.name",  # of the code
    },
    "baselines/__main__.py": {"out / names[0]"},  # a system of the list
    "baselines/systems.py": {"out / name"},  # the same
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


@pytest.mark.parametrize(
    "line",
    [
        "folder / task.task_id", "(options.answers / name).read_text()", "Path(base, name)",
        "os.path.join(base, name)", "x / f'{name}.json'", "Path(f'{base}/{name}')",
        "file.with_name(name)", "out.joinpath(row['file'])", "self.path / name",
    ],
)  # fmt: skip
def test_the_reader_of_the_code_sees_joins(line: str) -> None:
    """A net with holes catches nothing."""
    assert list(joins(ast.parse(line)))


@pytest.mark.parametrize("line", ["folder / 'sql'", "total / count", "path / _SCHEMAS", "a / 2"])
def test_the_reader_of_the_code_leaves_the_rest(line: str) -> None:
    """Constants and numbers are no names of strangers."""
    assert not list(joins(ast.parse(line)))
