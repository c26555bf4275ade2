"""What the gate checks of a dataset card: its YAML and its examples."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import yaml

from builder.release.reader import open_shard, shards

_CARD: Final = "README.md"
_BLOCK: Final = re.compile(r"^```(python|sql)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def card_problems(root: Path) -> list[str]:
    """Whether the card's YAML configs name each shard exactly once, under its config and split."""
    text = (
        (root / "README.md").read_text(encoding="utf-8") if (root / "README.md").is_file() else ""
    )
    parts = text.split("---\n")
    if len(parts) < 3 or parts[0]:
        return [f"{root.name}/README.md: no YAML front matter"]
    declared: Counter[str] = Counter()
    problems = []
    for entry in (yaml.safe_load(parts[1]) or {}).get("configs", []):
        for files in entry.get("data_files", []):
            found = sorted(root.glob(files["path"]))
            expected = shards(root, entry["config_name"], files["split"])
            if not found or found != expected:
                problems.append(
                    f"{root.name}/README.md: {files['path']} matches {len(found)} files, "
                    f"{entry['config_name']} has {len(expected)} of split {files['split']}"
                )
            declared.update(path.relative_to(root).as_posix() for path in found)
    present = {path.relative_to(root).as_posix() for path in root.glob("*/*.parquet")}
    for path in sorted(present ^ declared.keys()):
        problems.append(f"{root.name}/README.md: no config holds {path}")
    problems += [
        f"{root.name}/README.md: two configs hold {p}" for p, n in declared.items() if n > 1
    ]
    return problems


def example_problems(root: Path) -> list[str]:
    """What a reader who copies the card's examples would run into.

    SQL is run, as long as it only selects. Python is not: whoever checks a release would run what
    a stranger wrote. Each config, split and column that it names is looked up instead.
    """
    text = (root / _CARD).read_text(encoding="utf-8")
    problems = []
    for language, code in _BLOCK.findall(text):
        found = _sql_problems(root, code) if language == "sql" else _python_problems(root, code)
        problems += [f"{root.name}/{_CARD}: {problem}" for problem in found]
    return problems


def examples(root: Path) -> int:
    """How many examples the card has."""
    return len(_BLOCK.findall((root / _CARD).read_text(encoding="utf-8")))


def _sql_problems(root: Path, code: str) -> Iterator[str]:
    offline: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "autoinstall_known_extensions": False,
    }
    with duckdb.connect(config=offline) as connection:
        connection.execute("SET file_search_path = ?", [str(root.resolve())])
        try:
            for statement in connection.extract_statements(code):
                if statement.type != duckdb.StatementType.SELECT:
                    yield f"an example does more than select: {code.strip().splitlines()[0]}"
                elif not connection.execute(statement).fetchall():
                    yield f"an example finds nothing: {code.strip().splitlines()[0]}"
        except duckdb.Error as error:
            yield f"an example fails: {str(error).splitlines()[0].replace(str(root), root.name)}"


def _python_problems(root: Path, code: str) -> Iterator[str]:
    """Configs and splits that are not there, and columns that none of the configs named has."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError as error:
        yield f"an example is no Python: {error.msg}"
        return
    fields: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "load_dataset":
            told = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "split")]
            config, split = (ast.unparse(value).strip("'") for value in told)
            found = shards(root, config, split)
            if not found:
                yield f"an example loads {config}, split {split}, which is not there"
            fields |= {name for path in found[:1] for name in _fields(path)}
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key = node.slice.value
            if isinstance(key, str) and key not in fields:
                yield f"an example reads {key}, which no config that it loads has"


def _fields(path: Path) -> Iterator[str]:
    """The names of a shard's columns, and of the members inside them."""
    with open_shard(path) as file:
        waiting = list(file.schema_arrow)
    while waiting:
        field = waiting.pop()
        yield field.name
        inner = field.type
        while pa.types.is_list(inner):
            inner = inner.value_type
        if pa.types.is_struct(inner):
            waiting += list(inner)
