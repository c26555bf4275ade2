"""Send a checked release to the Hub; only what changed travels. Or list tasks as wrong.

examples:
  python build_dataset.py publish release --repo org/exams --dry-run
  python build_dataset.py publish release --repo org/exams --private-repo org/exams-private \\
      --revision v1
  python build_dataset.py publish release --deprecate cds-7f3a91c2d04be516 --why "two readings" \\
      --version 0.1.1
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from builder.build import check_release
from builder.commands.common import FAILED, OK, add
from builder.publishing.contents import Files, files_to_send, private_in_public
from builder.publishing.errata import ERRATA, deprecate
from builder.publishing.upload import Target, compare, make_changes
from builder.release.manifest import read_manifest
from builder.release.progress import Reporter
from builder.release.reader import public_side
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.hub.client import Address, connect, explain_hub_errors
from grader.io.printing import print_lines
from grader.opening import open_release
from grader.verify import verify

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``publish``."""
    add(parser, "release")
    parser.add_argument(
        "--repo",
        metavar="ORG/NAME",
        help="dataset repository of the public side; may be left out with --deprecate",
    )
    parser.add_argument(
        "--private-repo",
        metavar="ORG/NAME",
        help="dataset repository of the private side, made private and gated",
    )
    parser.add_argument(
        "--revision", metavar="TAG", help="tag of this release (default: v and its version)"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be sent, and stop")
    parser.add_argument(
        "--deprecate",
        nargs="+",
        metavar="TASK",
        help="first list these tasks as wrong: they count no more, their rows stay",
    )
    parser.add_argument("--why", metavar="TEXT", help="with --deprecate: the entry in ERRATA.md")
    parser.add_argument("--version", help="with --deprecate: the new version of the release")
    parser.add_argument("--split", metavar="NAME", help="with --deprecate (default: the only one)")
    add(parser, "--workers", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Deprecate, check and send as asked; send nothing and return 1 where a check fails."""
    # What a typing error, no token or no network stops is said before the gate takes its time.
    public_side(arguments.release)
    open_release(arguments.release).refuse_unchecked("is not published")
    if arguments.deprecate is not None:
        _deprecate(arguments)
        if arguments.repo is None:
            return OK
    targets, api = list(_targets(arguments)), connect()
    with explain_hub_errors(arguments.repo):
        if arguments.dry_run:
            api.repo_exists(arguments.repo, repo_type="dataset")
        else:
            api.whoami()
    if not _check(arguments):
        print_lines("nothing was sent; `check` prints the whole record")
        return FAILED
    opened = open_release(arguments.release)
    for problem in private_in_public(opened, TRACKS):
        raise UsageError(f"{opened.public.path}: {problem}; nothing was sent")
    found = [
        (target, files_to_send(side, read_manifest(side), target.repo, target.tag))
        for target, side in targets
    ]
    for target, files in found:
        _update(api, target, files, dry_run=arguments.dry_run)
    return OK


def _deprecate(arguments: argparse.Namespace) -> None:
    """List tasks as wrong in the release on disk under ``--version``; print their number."""
    if arguments.why is None or arguments.version is None:
        raise UsageError("--deprecate: say why with --why, and the new version with --version")
    count = deprecate(
        arguments.release, arguments.split, arguments.deprecate, arguments.why, arguments.version
    )
    tasks = "task is" if count == 1 else "tasks are"
    print_lines(
        f"{arguments.release} {arguments.version}: {count} {tasks} deprecated; see {ERRATA}"
    )


def _update(api: "HfApi", target: Target, files: Files, *, dry_run: bool) -> None:
    """Make one repository hold ``files``; with ``dry_run`` only print what that would take."""
    changes = compare(api, target, files)
    place = f"{target.repo} ({'private' if target.private else 'public'})"
    count, size = len(changes.send), f"{changes.bytes / 1e6:.1f} MB"
    there = f"{len(files) - count} of {len(files)} files"
    if changes.is_empty:
        print_lines(f"{place}: {target.tag} is there whole, nothing to send")
    elif dry_run:
        print_lines(
            f"{place}: {there} are there, {count} to send ({size}), {len(changes.remove)} to remove"
        )
        for name in [*changes.send, *(f"{name} (remove)" for name in changes.remove)]:
            print_lines(f"  {name}")
    else:
        make_changes(api, target, changes)
        print_lines(*(f"note: {note}" for note in changes.notes))
        print_lines(
            f"{place}: {there} were there, {count} sent ({size}), "
            f"{len(changes.remove)} removed; tag {target.tag}"
        )


def _check(arguments: argparse.Namespace) -> bool:
    """Run gate and `verify` (imports have no gate), print problems; True if there are none."""
    imported = "imported" in read_manifest(arguments.release / "public")["configuration"]
    if not imported:
        with Reporter(arguments.quiet).working() as tell:
            report = check_release(arguments.release, tell, arguments.workers)
        for line in report.lines:
            if not line.ok:
                print_lines(f"FAIL {line.check}: {line.figure}")
                print_lines(*(f"  {problem}" for problem in line.problems))
        if not report.ok:
            return False
    broken = [one for one in verify(open_release(arguments.release)) if not one.ok]
    for one in broken:
        print_lines(f"FAIL {one.name}: {one.detail}")
    return not broken


def _targets(arguments: argparse.Namespace) -> Iterator[tuple[Target, Path]]:
    """Yield each repository with the side of the release that it is to hold.

    The private one comes first: what is committed to in public must be safe by then.
    """
    public, private = arguments.release / "public", arguments.release / "private"
    tag = arguments.revision or f"v{read_manifest(public)['version']}"
    if arguments.repo is None:
        raise UsageError("--repo: name the dataset repository to publish to, as ORG/NAME")
    repo = _repo("--repo", arguments.repo)
    if arguments.private_repo is not None:
        hidden = _repo("--private-repo", arguments.private_repo)
        if hidden == repo:
            raise UsageError("--private-repo: is the public repository; name another one")
        if not private.is_dir():
            raise UsageError(
                f"--private-repo: {arguments.release} has no private side; leave it out"
            )
        Address.parse(f"{hidden}@{tag}", "--revision")  # refuses what is no tag
        yield Target(hidden, tag, private=True), private
    Address.parse(f"{repo}@{tag}", "--revision")
    yield Target(repo, tag), public


def _repo(option: str, text: str) -> str:
    """Return the repository "org/name" in an option; ``UsageError`` with a revision or for none."""
    address = Address.parse(text, option)
    if address.revision is not None:
        raise UsageError(f"{option} {text}: names a revision; give the tag with --revision")
    return address.repo
