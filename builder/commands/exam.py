"""Draw another exam from a release that is built, and run the gate over it again.

Only the list of exams changes: one small shard, the manifest and the card. Where truth is private
an exam's scenes are planned for it, so there is nothing to draw from.

examples:
  python build_dataset.py exam --from release --exam splits/exams/realistic.toml
  python build_dataset.py exam --from release --exam my-exam.toml --name hard-2
"""

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from builder.build import check_release
from builder.commands.common import FAILED, OK, add, composition_table
from builder.release.exams import EXAM_SCHEMA, compositions_of, exam_table, shuffle_exam
from builder.release.manifest import built_manifest, listing
from builder.release.papers import write_papers
from builder.release.progress import Reporter
from builder.release.reader import naming_damage, open_shard, public_side, rows, shards
from builder.release.shards import ConfigJob, schema_with_canary, write_shard
from builder.release.workspace import GATE_FILE
from builder.splits.seeds import hmac_key
from builder.splits.settings import read_toml
from builder.splits.track import DrawnExam
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.names import did_you_mean
from grader.io.printing import print_lines
from grader.pages.terminal import console


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``exam``."""
    option = parser.add_argument
    option("--from", dest="release", type=Path, required=True, metavar="RELEASE", help="its folder")
    option("--exam", type=Path, required=True, metavar="TOML", help="the exam file")
    option("--split", metavar="NAME", help="default: the only one with public truth")
    option("--name", metavar="NAME", help="default: the exam file's; another gives another draw")
    add(parser, "--workers", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Add the exam, print its composition, write the gate's record; 1 where that refuses it. Of a
    public side alone no gate is run."""
    release, name = arguments.release, arguments.name or arguments.exam.stem
    exam = _add_exam(release, arguments.split, name, arguments.exam)
    out = console(soft_wrap=True)
    out.print(composition_table(f"exam {name}: composition", exam.composition))
    out.print(f"{release}: exam {name} has {len(exam.task_ids)} tasks")
    words = shlex.join(["--release", str(release), "--exam", name])
    out.print(f"next: python -m grader workspace {words} --out tasks")
    reporter = Reporter(arguments.quiet)
    try:
        report = check_release(release, reporter.note, arguments.workers)
    except UsageError as error:  # a public side alone, as it is downloaded
        reporter.warn(f"without a {GATE_FILE}: {error}")
        return OK
    write_text(release / GATE_FILE, report.markdown)
    if report.ok:
        return OK
    print_lines(
        f"the gate refuses the release with exam {name} in it: see {release / GATE_FILE}",
        to_stderr=True,
    )
    return FAILED


def _add_exam(release: Path, wanted: str | None, name: str, file: Path) -> DrawnExam:
    """Draw the exam that ``file`` describes, called ``name``, from a split with public truth, add
    it to the release, and return it. The gate's report, true no longer, is removed on both sides.

    The same release, file and name give the same exam. Raises ``UsageError`` for a split that is
    absent or private, a name that is taken, and an exam that the release cannot fill.
    """
    public, manifest = public_side(release), built_manifest(release)
    split, track = _split(manifest, wanted, release)
    exams, entry = TRACKS[track].exams, manifest["splits"][split]
    assert exams is not None
    if name in entry["exams"]:
        raise UsageError(f"--name {name}: {split} has an exam of this name; choose another")
    table = read_toml(file)
    model = exams.parse(table)
    key = hmac_key(entry["seed"].encode("utf-8"), f"{track}/{split}/exam/{name}")

    def read(config: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        return rows(shards(public, config, split), columns)

    with naming_damage(f"{public}: split {split}", track):
        able = exams.built(read)
    exam = shuffle_exam(exams.compose(model, able, key, str(file)), key)
    for side in (release, release / "private"):
        (side / GATE_FILE).unlink(missing_ok=True)
    config = f"{track}_exams"
    held = (open_shard(path).read() for path in shards(public, config, split))
    table_of_exams = pa.concat_tables(
        [exam_table({name: exam}), *(one.replace_schema_metadata(None) for one in held)]
    ).sort_by([("exam", "ascending"), ("position", "ascending")])
    job = ConfigJob(config, split, public, schema_with_canary(EXAM_SCHEMA, manifest["canary"]))
    listed = listing([write_shard(job, (0, 1), [table_of_exams])])
    manifest["shards"].update(listed["shards"])
    manifest["configs"].setdefault(config, {}).update(listed["configs"][config])
    entry["exams"][name] = {track: len(exam.task_ids)}
    entry["tracks"][track].setdefault("composition", {}).update(compositions_of({name: exam}))
    asked = {track: {"exam": file.name, "model": table.values}}
    manifest["configuration"]["splits"][split].setdefault("exams", {})[name] = asked
    write_papers(manifest, public)
    return exam


def _split(manifest: Mapping[str, Any], wanted: str | None, release: Path) -> tuple[str, str]:
    """Return the split to draw from and its track that composes exams: the split ``wanted`` or,
    without one, the only split with public truth. Raises ``UsageError``."""
    able = {
        name: track
        for name, entry in manifest["splits"].items()
        if entry["truth"] == "public"
        for track in entry["tracks"]
        if TRACKS[track].exams is not None
    }
    if wanted is None and len(able) != 1:
        raise UsageError(f"--split: name one of {', '.join(able) or 'none: no public truth here'}")
    split = wanted or next(iter(able))
    if split not in manifest["splits"]:
        raise UsageError(f"--split {split}: {release} has no such split{did_you_mean(split, able)}")
    if split not in able:
        raise UsageError(
            f"--split {split}: drawing an exam needs truth rows, and these are private; "
            "name its exams in the split file instead and build again"
        )
    return split, able[split]
