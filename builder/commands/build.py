"""Build a release from a split file.

examples:
  python build_dataset.py build splits/mini.toml --out release
  python build_dataset.py build splits/mini.toml --out release --workers 8 --fresh
  python build_dataset.py build splits/mini.toml --only TRACK/SPLIT/INDEX
  python build_dataset.py build few.toml --out try --unchecked

A lock file holds the content hashes that a split file gave when its maintainer last looked. Only
public-truth splits are locked: their seeds are stated, so anyone can build them and compare. On
another operating system or architecture, or with other libraries, the last digits of a float may
differ; that is shown and is no error.
"""

import argparse
import json
import os
import platform
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from builder.build import Outcome, build_alone, build_release
from builder.commands.common import BUG, FAILED, OK, add, build_line, use_domains
from builder.commands.main import PROGRAM
from builder.release.attempts import list_counts
from builder.release.engine import InstanceFailed, WorkerDied
from builder.release.manifest import FORMAT
from builder.release.progress import Reporter
from builder.splits.config import ReleaseConfig, load_config
from builder.splits.roots import read_roots
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.io.files import write_text
from grader.io.jsonio import pretty_json
from grader.io.printing import print_lines
from grader.release.release import UNCHECKED


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``build``."""
    option = parser.add_argument
    option("toml", type=Path, metavar="TOML", help="the split file")
    option(
        "--out",
        type=Path,
        default=Path("release"),
        metavar="DIR",
        help="the release to write (default: release)",
    )
    add(parser, "--domains", "--workers")
    option(
        "--ray",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="let the workers of a Ray cluster make the parts (default: of one on this machine)",
    )
    option("--staging", metavar="URL", help="where these leave parts, such as s3://bucket/parts")
    option(
        "--fresh",
        action="store_true",
        help="use nothing of an earlier run; replace a finished release",
    )
    option(
        "--only",
        metavar="TRACK/SPLIT/INDEX",
        help="build this instance alone and print its rows' summary as JSON",
    )
    option(
        "--unchecked",
        action="store_true",
        help="for experiments: no gate; the release is named NAME-UNCHECKED, and can be neither "
        "published nor ranked",
    )
    option(
        "--update-lock", action="store_true", help="write the content hashes to TOML's .lock.json"
    )
    add(parser, "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Build the release, or one instance alone, report on it, and return the exit code."""
    use_domains(arguments.domains)
    reporter = Reporter(arguments.quiet)
    config = _read_config(arguments)
    roots = read_roots(config)
    only = f"{build_line(arguments.toml, arguments.domains)} --only"
    try:
        if arguments.only is not None:
            print_lines(*pretty_json(build_alone(config, roots, arguments.only)).splitlines())
            return OK
        outcome = build_release(
            config,
            arguments.out,
            roots,
            cluster=arguments.ray,
            staging=arguments.staging,
            workers=arguments.workers,
            fresh=arguments.fresh,
            reporter=reporter,
        )
    except InstanceFailed as error:
        trace = error.details.splitlines() if os.environ.get("CAUSAL_EXAMS_TRACEBACK") else ()
        print_lines(
            *trace,
            f"bug: {error.summary}; mend it if you changed such a file, else please report it "
            f"(CAUSAL_EXAMS_TRACEBACK=1 shows the trace); build it alone: {only} {error.label}",
            to_stderr=True,
        )
        return BUG
    except WorkerDied as error:
        print_lines(
            f"error: {error}; finished parts are kept: run the same command again, with fewer "
            f"--workers if memory ran out, or build one of them alone: {only} TRACK/SPLIT/INDEX",
            to_stderr=True,
        )
        return BUG
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(
            f"--out {arguments.out}: {error.strerror or error} ({error.filename or 'writing'}); "
            "make room or name another folder, then run the same command again"
        ) from None
    if outcome.status == "refused by the gate":
        assert outcome.gate is not None
        print_lines(*outcome.gate.markdown.splitlines(), to_stderr=True)
        print_lines(
            f"the gate refused the release, which stays in {outcome.folder}; {arguments.out} was "
            f"not touched: see {outcome.folder / 'GATE.md'}, mend, run the same command again",
            to_stderr=True,
        )
        return FAILED
    _report_lock(config, outcome.manifest, arguments.update_lock, reporter)
    _describe_outcome(outcome, arguments.out, reporter)
    return OK


def _read_config(arguments: argparse.Namespace) -> ReleaseConfig:
    """Return the split file; with ``--unchecked`` under the name of an unchecked release."""
    config = load_config(arguments.toml, TRACKS)
    if not arguments.unchecked:
        return config
    if arguments.update_lock:
        raise UsageError("--update-lock: a lock is of a release that passed; drop --unchecked")
    return replace(config, name=config.name + UNCHECKED)


def _describe_outcome(outcome: Outcome, out: Path, reporter: Reporter) -> None:
    """Report rejections and next steps of a finished build; with ``--quiet`` only where it is."""
    for split, entry in outcome.manifest["splits"].items():
        for track, counts in entry["tracks"].items():
            realised = counts["realised"]
            hidden = "counted in the private manifest" if "rejections" not in counts else "none"
            reporter.note(
                f"{split} {track}: {realised['instances']} instances, {realised['tasks']} tasks; "
                f"rejected attempts: {list_counts(counts.get('rejections', {})) or hidden}"
            )
    splits = outcome.manifest["splits"]
    private = [name for name, entry in splits.items() if entry["truth"] == "private"]
    choice = f" --split {(private or [*splits])[0]}" if len(splits) > 1 else ""
    side, hint = (out / "public", "; hand out public/ alone") if private else (out, "")
    release, folder = shlex.quote(str(side)), shlex.quote(str(out))
    reporter.result(f"{outcome.status}: {out}")
    reporter.note(
        f"next: python -m grader workspace --release {release}{choice} --out tasks"
        f"   (take the exam{hint})"
    )
    reporter.note(f"      {PROGRAM} check {folder}   (run the gate again)")


def lock_document(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a public manifest's lock: libraries, platform, hashes of configs of public splits."""
    public = [name for name, split in manifest["splits"].items() if split["truth"] == "public"]
    configs = manifest["configs"].items()
    return {
        "format": FORMAT,
        "release": manifest["release"],
        "version": manifest["version"],
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": manifest["libraries"],
        "splits": {
            name: {c: tables[name]["content_sha256"] for c, tables in configs if name in tables}
            for name in public
        },
    }


def _report_lock(
    config: ReleaseConfig, manifest: Mapping[str, Any], update: bool, reporter: Reporter
) -> None:
    """Warn where a build differs from its lock file; ``update`` writes that anew."""
    if config.name.endswith(UNCHECKED):
        return
    file, built = config.path.with_suffix(".lock.json"), lock_document(manifest)
    if update:
        write_text(file, pretty_json(built))
        reporter.note(f"wrote {file}")
        return
    try:
        locked, found = (
            {
                (f"{split}/{config}", sha)
                for split in splits
                for config, sha in splits[split].items()
            }
            for splits in (json.loads(file.read_bytes())["splits"], built["splits"])
        )
    except FileNotFoundError:
        reporter.note(f"no {file} to compare with; --update-lock writes it")
        return
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        reporter.warn(f"{file}: is no lock file; write it anew with --update-lock")
        return
    if differing := sorted({config for config, _ in locked ^ found}):
        reporter.warn(
            f"differs from {file} in {', '.join(differing)}; on the platform named there that is a "
            "change of content: see `diff`, and --update-lock if it is meant"
        )
    else:
        reporter.note(f"matches {file}")
