"""Rules across the parts of a release.

Most are queries over its Parquet files, in ``sql/``, that return a row for each problem. The tables
that they read, of all tracks and splits together: ``tasks``, ``places`` in exams, ``instances`` as
the public side shows them, ``worlds``, ``ids`` of every config as they stand in the files, and
``flat``, the config ``tasks``. ``answers`` has the SHA-256 of the right answer to each task of
public truth, as the grader reads truths; the checks of parts give it.

In Python are the rule that files have the columns of their configs, over which a query would fail,
and the search for anything private of a split in the public repository. Keys and salts are looked
for in every text there is; whole worlds in the papers and in the shards of private splits, as a
large split of public truth beside them is gigabytes of prompts.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from builder.release.exams import EXAM_SCHEMA
from builder.release.reader import (
    SHARD,
    SIDES,
    configs,
    open_shard,
    public_side,
    rows,
    shards,
    splits,
    truth_side,
)
from builder.release.rows import COMMITMENTS, FLAT, TASKS
from builder.release.shards import COMMITTED, CONFIG
from builder.splits.track import Track
from grader.errors import UsageError

_SQL: Final = Path(__file__).parent / "sql"
_CONTENT: Final = ", ".join(name for name in FLAT.names if name in TASKS.names)
_CONTENT_HASH: Final = f"md5(concat_ws(chr(1), {_CONTENT}))"
"""Of the columns that the flat table shares with the tracks': a join holds hashes, not prompts."""
_KEY_DIGITS: Final = 64
"""Hexadecimal digits of a key or a salt."""
_HEX: Final = rf"[0-9a-f]{{{_KEY_DIGITS},}}"


class Tables:
    """The tables of a release in an in-memory database, which closes at the end of a ``with``."""

    def __init__(self, release: Path, known: Mapping[str, Track]) -> None:
        """Make a view of each table over the release's shards, and an empty table of answers.

        Raises ``UsageError`` when there is no release, or the truth of a split is not there.
        """
        self._database = duckdb.connect()
        public = public_side(release)
        self.splits = [(split, track) for track in known for split in splits(public, track)]
        """Split and track, in the grader's order of tracks."""
        sides = {key: truth_side(release, key[1], key[0]) for key in self.splits}
        self.private = [key for key, side in sides.items() if side != public]
        """The entries of ``splits`` whose truth is private."""
        # A release may have no exam.
        no_place = "SELECT '' AS split, '' AS track, '' AS exam, 0 AS position, '' AS task_id"
        made = defaultdict(list, {"places": [f"{no_place} WHERE false"]})
        for split, track in self.splits:
            record, side = known[track], sides[split, track]
            own = (
                f"'{split}' AS split, '{track}' AS track, {side != public} AS private, "
                f"{record.protocol} AS protocol"
            )
            tasks, worlds = shards(public, track, split), shards(side, f"{track}_worlds", split)
            shown = shards(public, f"{track}_scenes", split) if record.scenes else tasks
            view = "view" if record.scenes else "'' AS view"
            exams = shards(public, f"{track}_exams", split)
            made["tasks"].append(
                f"SELECT {own}, task_id, instance_id, view, family, variant, prompt, "
                f"{_CONTENT_HASH} AS content FROM {_read(tasks)}"
            )
            made["instances"].append(
                f"SELECT DISTINCT {own}, instance_id, {view} FROM {_read(shown)}"
            )
            made["worlds"].append(f"SELECT {own}, instance_id, index FROM {_read(worlds)}")
            if exams:
                made["places"].append(
                    f"SELECT '{split}' AS split, '{track}' AS track, exam, position, task_id "
                    f"FROM {_read(exams)}"
                )
        made["ids"] = list(_ids(release))
        made["flat"] = [
            f"SELECT '{split}' AS split, task_id, answer, {_CONTENT_HASH} AS content "
            f"FROM {_read(shards(public, CONFIG, split))}"
            for split in splits(public, CONFIG)
        ] or ["SELECT '' AS split, '' AS task_id, '' AS answer, '' AS content WHERE false"]
        for name, queries in made.items():
            self._database.execute(f"CREATE VIEW {name} AS {' UNION ALL '.join(queries)}")
        self._database.execute("CREATE TABLE answers (task_id VARCHAR, sha256 VARCHAR)")

    def __enter__(self) -> "Tables":
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def problems(self, rule: str) -> list[str]:
        """Return what the rule in ``sql/<rule>.sql`` finds, a line for each problem."""
        return [problem for (problem,) in self.rows((_SQL / f"{rule}.sql").read_text("utf-8"))]

    def count(self, what: str) -> int:
        """Return the number of rows of a table, or of any text that may follow a FROM."""
        ((number,),) = self.rows(f"SELECT count(*) FROM {what}")
        return int(number)

    def rows(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query. ``values`` are its parameters by name."""
        return self._database.execute(query, dict(values or {})).fetchall()

    def give_answers(self, answers: Iterable[tuple[str, str]]) -> None:
        """Add pairs of task id and SHA-256 of its right answer to the table ``answers``."""
        if rows := [list(pair) for pair in answers]:
            self._database.executemany("INSERT INTO answers VALUES (?, ?)", rows)


def _ids(release: Path) -> Iterator[str]:
    """Yield a query for each config and split of both sides: the ids (first column) of its rows.
    Exams and commitments have none of their own, and a scene has a row for each view."""
    for side in SIDES:
        for config in configs(release / side):
            if config != COMMITTED and not config.endswith(("_exams", "_scenes")):
                for split in splits(release / side, config):
                    paths = shards(release / side, config, split)
                    first = open_shard(paths[0]).schema_arrow.names[0]
                    yield (
                        f"SELECT '{config}/{split}' AS place, {first} AS id, "
                        f"filename, file_row_number FROM "
                        f"{_read(paths, ', filename = true, file_row_number = true')}"
                    )


def _read(paths: Iterable[Path], options: str = "") -> str:
    """Return the SQL that reads some shards as one table, with their paths quoted."""
    quoted = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"read_parquet([{quoted}]{options})"


def schema_problems(release: Path, tracks: Mapping[str, Track]) -> Iterator[str]:
    """Yield a line for each shard of an unknown config, or with other columns than its config."""
    expected = {CONFIG: FLAT, COMMITTED: COMMITMENTS}
    for name, track in tracks.items():
        expected |= {**track.tables, f"{name}_exams": EXAM_SCHEMA}
    for side in SIDES:
        for path in sorted((release / side).glob("*/*.parquet")):
            try:
                schema = open_shard(path).schema_arrow
            except UsageError:
                continue  # no Parquet, so its hash is wrong
            config = path.parent.name
            if (problem := _difference(schema, expected.get(config))) is not None:
                yield f"{side}/{config}/{path.name}: {problem}"


def _difference(schema: pa.Schema, expected: pa.Schema | None) -> str | None:
    """Return as text the first difference of a shard's columns from the ``expected`` ones of its
    config, None if there is none. ``expected`` is None for an unknown config."""
    if expected is None:
        return "no config of a release"
    for name in [*expected.names, *schema.names]:
        if name not in schema.names:
            return f"lacks the column {name}"
        if name not in expected.names:
            return f"has the column {name}, which is not in its config"
        if (own := schema.field(name).type) != (given := expected.field(name).type):
            return f"the column {name} is {own}, not {given}"
    return None if schema.names == expected.names else "its columns are in another order"


def secrecy_problems(release: Path) -> list[str]:
    """Return a line for each private thing in the public side of a release: configs first.

    A private column in a public config is not looked for here, as the rule of schemas finds it.
    """
    public, private = release / "public", release / "private"
    keys, worlds = _secrets(private)
    hidden = {(split, config) for config in configs(private) for split in splits(private, config)}
    published = [
        f"public/{config}: private config of split {split} is public"
        for split, config in sorted(hidden)
        if shards(public, config, split)
    ]
    found = set[str]()
    for path in sorted(path for path in public.rglob("*") if path.is_file()):
        shard = SHARD.fullmatch(path.name)
        whole = shard is None or shard["split"] in {split for split, _ in hidden}
        for text in _texts(path, os.path.commonprefix([*worlds])):  # noqa: RUF071
            for run in re.findall(_HEX, text):  # a key may begin anywhere in a run of digits
                parts = (run[at : at + _KEY_DIGITS] for at in range(len(run) - _KEY_DIGITS + 1))
                found |= {keys[part] for part in parts if part in keys}
            if whole:
                found |= {told for world, told in worlds.items() if world in text}
    return [*published, *sorted(found)]


def _secrets(private: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of the private side that must not be public, each with the line that reports
    it: keys of instances and salts of commitments, and whole worlds as JSON."""
    keys, worlds = dict[str, str](), dict[str, str]()
    columns = ("instance_id", "world_key", "world_json")
    for row in rows([*private.glob("*_worlds/*.parquet")], columns):
        name, key, world = (row[column] for column in columns)
        keys[key] = f"{name}: its key is in the public repository"
        worlds[world] = f"{name}: its world is in the public repository"
    salts = json.loads((private / "manifest.json").read_bytes()).get("salts", {})
    for split, own in salts.items():
        keys |= {salt: f"the salt '{name}' of {split} is public" for name, salt in own.items()}
    return keys, worlds


def _texts(path: Path, begin: str) -> Iterator[str]:
    """Yield the texts of a public file in which a secret may be: a paper or, of a shard, metadata
    and the cells with a run of digits as long as a key, or ``begin``, as all worlds begin."""
    if path.suffix != ".parquet":
        yield path.read_text(encoding="utf-8", errors="replace")
        return
    with open_shard(path) as file:
        yield repr(file.metadata.metadata or {})
        leaves = (file.schema.column(place) for place in range(len(file.schema)))
        names = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        for number in range(file.num_row_groups):
            for column in file.read_row_group(number, columns=names).columns:
                for cells in _strings(column.combine_chunks()):
                    may_be = pc.or_(
                        pc.match_substring_regex(cells, _HEX), pc.match_substring(cells, begin)
                    )
                    yield from cells.filter(may_be).to_pylist()


def _strings(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the arrays of text inside an array, at any depth."""
    if pa.types.is_string(array.type):
        yield array
    elif pa.types.is_list(array.type):
        yield from _strings(array.flatten())
    elif pa.types.is_struct(array.type):
        for child in array.flatten():
            yield from _strings(child)
