"""What a person is told after a build: whether it is as locked, what was made, what comes next."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.release.build import Outcome
from builder.release.config import ReleaseConfig
from builder.release.lock import compare_with_lock, write_lock
from builder.release.show.progress import Reporter, human_size
from grader.errors import UsageError


def report_lock(
    config: ReleaseConfig, manifest: Mapping[str, Any], update: bool, reporter: Reporter
) -> None:
    """Compares a build with its lock file, or writes the lock file; differences are a warning."""
    file = config.lock_path
    if update:
        write_lock(file, manifest)
        reporter.note(f"wrote {file}")
        return
    try:
        differing = compare_with_lock(file, manifest)
    except FileNotFoundError:
        reporter.note(f"no {file} to compare with; --update-lock writes it")
        return
    except UsageError as error:
        reporter.warn(str(error))
        return
    if differing:
        reporter.warn(
            f"differs from {file} in {', '.join(differing)}; on the platform named there that is a "
            "change of content: see `diff`, and --update-lock if it is meant"
        )
    else:
        reporter.note(f"matches {file}")


def describe_outcome(outcome: Outcome, out: Path, reporter: Reporter) -> None:
    """Times, rejections, sizes and the next steps."""
    reporter.table_of_times()
    for split, entry in outcome.manifest["splits"].items():
        for track, counts in entry["tracks"].items():
            realised = counts["realised"]
            rejected = counts.get("rejections", {})
            listed = ", ".join(f"{reason} {count}" for reason, count in rejected.items())
            hidden = "counted in the private manifest" if "rejections" not in counts else "none"
            reporter.note(
                f"{split} {track}: {realised['instances']} instances, {realised['tasks']} tasks; "
                f"rejected attempts: {listed or hidden}"
            )
    for repository in sorted(path for path in outcome.folder.iterdir() if path.is_dir()):
        files = [file for file in repository.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
        reporter.note(f"{repository.name}: {len(files)} files, {human_size(size)}")
    reporter.note(f"{outcome.status}: {out}")
    folder = shlex.quote(str(out))
    reporter.note(
        f"next: python -m grader workspace --release {folder} --out tasks   (take the exam)\n"
        f"      python build_dataset.py check {folder}   (run the gate again)"
    )
