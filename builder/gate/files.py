"""What the gate checks of the files of a side: the columns of its shards, and its dataset card.

A reader that meets other columns than a config has fails far from here, or reads the wrong one. The
card's YAML is what the Hub loads by, and its examples are what people copy.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import yaml

from builder.release.exams import EXAM_SCHEMA
from builder.release.flat import CONFIG
from builder.release.reader import SIDES, configs, open_shard, shards, splits
from builder.release.schemas import COMMITMENTS, FLAT
from builder.release.shards import COMMITTED
from builder.splits.track import Track
from grader.errors import UsageError

_CARD: Final = "README.md"
_BLOCK: Final = re.compile(r"^```(python|sql)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def schema_problems(release: Path, tracks: Mapping[str, Track]) -> Iterator[str]:
    """Yield a line for each shard with columns that are absent, of another type, or nobody's. What
    is no Parquet file fails by its hash."""
    expected = {CONFIG: FLAT, COMMITTED: COMMITMENTS}
    for name, track in tracks.items():
        expected |= {**track.tables, f"{name}_exams": EXAM_SCHEMA}
    for side in SIDES:
        for config in configs(release / side):
            for split in splits(release / side, config):
                for path in shards(release / side, config, split):
                    try:
                        schema = open_shard(path).schema_arrow
                    except UsageError:
                        continue
                    if (problem := _difference(schema, expected.get(config))) is not None:
                        yield f"{side}/{config}/{path.name}: {problem}"


def _difference(schema: pa.Schema, expected: pa.Schema | None) -> str | None:
    if expected is None:
        return "no config of a release"
    for name in [*expected.names, *schema.names]:
        if name not in schema.names:
            return f"lacks the column {name}"
        if name not in expected.names:
            return f"has the column {name}, which its config has not"
        if (own := schema.field(name).type) != (given := expected.field(name).type):
            return f"the column {name} is {own}, not {given}"
    return None if schema.names == expected.names else "its columns are in another order"


def card_problems(root: Path) -> list[str]:
    """Return where the card's YAML configs do not name each shard exactly once, under its config
    and split."""
    file = root / _CARD
    parts = file.read_text(encoding="utf-8").split("---\n") if file.is_file() else []
    if len(parts) < 3 or parts[0]:
        return [f"{root.name}/{_CARD}: no YAML front matter"]
    declared: Counter[str] = Counter()
    problems = []
    for entry in (yaml.safe_load(parts[1]) or {}).get("configs", []):
        for files in entry.get("data_files", []):
            found = sorted(root.glob(files["path"]))
            expected = shards(root, entry["config_name"], files["split"])
            if not found or found != expected:
                problems.append(
                    f"{root.name}/{_CARD}: {files['path']} matches {len(found)} files, "
                    f"{entry['config_name']} has {len(expected)} of split {files['split']}"
                )
            declared.update(path.relative_to(root).as_posix() for path in found)
    present = {path.relative_to(root).as_posix() for path in root.glob("*/*.parquet")}
    problems += [
        f"{root.name}/{_CARD}: {declared[path]} configs hold {path}, not 1"
        for path in sorted(present)
        if declared[path] != 1
    ]
    return problems


def example_problems(root: Path) -> tuple[int, list[str]]:
    """Return how many examples the card has, and what who copies them would run into.

    SQL is run, as long as it only selects. Python is not: whoever checks a release would run what
    a stranger wrote. Each config, split and column that it names is looked up instead.
    """
    text = (root / _CARD).read_text(encoding="utf-8")
    examples, problems = _BLOCK.findall(text), list[str]()
    for language, code in examples:
        check = _sql_problems if language == "sql" else _python_problems
        problems += [f"{root.name}/{_CARD}: {problem}" for problem in check(root, code)]
    return len(examples), problems


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
    """Yield configs and splits that are not there, and columns that no config named has."""
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
            for shard in found[:1]:
                with open_shard(shard) as file:
                    # Paths of leaves, which name columns and the members inside them.
                    paths = [file.schema.column(k).path for k in range(len(file.schema))]
                fields |= {name for path in paths for name in path.split(".")}
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key = node.slice.value
            if isinstance(key, str) and key not in fields:
                yield f"an example reads {key}, which no config that it loads has"
