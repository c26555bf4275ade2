"""What files of the project import, functions and types included, as their text says it."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PACKAGES = ("baselines", "benchmarks", "builder", "causal_exams", "grader")


@cache
def modules(root: Path) -> Mapping[str, Path]:
    """Every module of the project by its dotted name."""
    return {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for package in PACKAGES
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
