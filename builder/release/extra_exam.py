"""Another exam from a release that is already built: ``build_dataset.py exam``.

Only the list of exams changes: one small shard, the manifest and the card. What the gate found is
true no longer and goes; the command runs the gate again.
Where truth is private an exam's scenes are planned for it, so there is nothing to draw from.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from builder.release.exams import EXAM_SCHEMA, compositions_of, exam_table, shuffle_exam
from builder.release.manifest import listing, read_manifest, refuse_imported
from builder.release.papers import write_papers
from builder.release.reader import naming_damage, open_shard, public_side, rows, shards
from builder.release.shards import schema_with_canary, write_groups
from builder.release.workspace import GATE_FILE
from builder.splits.seeds import hmac_key
from builder.splits.settings import read_toml
from builder.splits.track import DrawnExam, Track
from grader.errors import UsageError
from grader.io.names import did_you_mean


def draw_extra_exam(
    release: Path,
    tracks: Mapping[str, Track],
    file: Path,
    *,
    split: str | None,
    name: str | None,
    seed: str | None,
) -> tuple[str, DrawnExam]:
    """Draw the exam that ``file`` describes from a split with public truth, add it to the release,
    and return its name with it.

    The shard of exams, the manifest and the papers are written again, and both gate reports
    removed. ``name`` defaults to the file's, ``seed`` to the split's own: the same release, file
    and seed give the same exam. Raises ``UsageError`` for a split that is absent or private, a name
    that is taken, and an exam that the release cannot fill.
    """
    public = public_side(release)
    manifest = read_manifest(public)
    refuse_imported(manifest, release)
    chosen, track = _split(manifest, tracks, split, release)
    exams = tracks[track].exams
    assert exams is not None
    entry = manifest["splits"][chosen]
    name = name or file.stem
    if name in entry["exams"]:
        raise UsageError(f"--name {name}: {chosen} has an exam of this name; choose another")
    table = read_toml(file)
    model = exams.parse(table)
    key = hmac_key((seed or entry["seed"]).encode("utf-8"), f"{track}/{chosen}/exam/{name}")

    def read(config: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        return rows(shards(public, config, chosen), columns)

    with naming_damage(f"{public}: split {chosen}", track):
        able = exams.built(read)
    exam = shuffle_exam(exams.compose(model, able, key, str(file)), key)
    config = f"{track}_exams"
    for side in (release, release / "private"):
        (side / GATE_FILE).unlink(missing_ok=True)  # it speaks of the release without this exam
    held = (open_shard(path).read() for path in shards(public, config, chosen))
    table_of_exams = pa.concat_tables(
        [exam_table({name: exam}), *(one.replace_schema_metadata(None) for one in held)]
    ).sort_by([("exam", "ascending"), ("position", "ascending")])
    schema = schema_with_canary(EXAM_SCHEMA, manifest["canary"])
    listed = listing(write_groups(config, chosen, public, schema, [table_of_exams]))
    manifest["shards"].update(listed["shards"])
    manifest["configs"].setdefault(config, {}).update(listed["configs"][config])
    entry["exams"][name] = {track: len(exam.task_ids)}
    entry["tracks"][track].setdefault("composition", {}).update(compositions_of({name: exam}))
    asked = {"exam": file.name, "model": table.values} | ({} if seed is None else {"seed": seed})
    manifest["configuration"]["splits"][chosen].setdefault("exams", {})[name] = {track: asked}
    write_papers(manifest, public)
    return name, exam


def _split(
    manifest: Mapping[str, Any], tracks: Mapping[str, Track], wanted: str | None, release: Path
) -> tuple[str, str]:
    """Return the split to draw from and its track that composes exams.

    It is the split ``wanted`` or, without one, the only split with public truth. Raises
    ``UsageError`` if there is no such split, or several.
    """
    splits = manifest["splits"]
    able = {
        name: track
        for name, entry in splits.items()
        if entry["truth"] == "public"
        for track in entry["tracks"]
        if tracks[track].exams is not None
    }
    if wanted is not None and wanted not in splits:
        hint = did_you_mean(wanted, able)
        raise UsageError(f"--split {wanted}: {release} has no such split{hint}")
    if wanted is not None and wanted not in able:
        raise UsageError(
            f"--split {wanted}: drawing an exam needs truth rows, and these are private; "
            "name its exams in the split file instead and build again"
        )
    if wanted is None and len(able) != 1:
        raise UsageError(f"--split: name one of {', '.join(able) or 'none: no public truth here'}")
    chosen = wanted or next(iter(able))
    return chosen, able[chosen]
