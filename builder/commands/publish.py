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

from builder.build import check_release
from builder.commands.common import FAILED, OK, add
from builder.publishing.errata import ERRATA, deprecate
from builder.publishing.secrecy import private_in_public
from builder.publishing.upload import Target, files_to_send, upload
from builder.release.manifest import built_manifest, read_manifest
from builder.release.progress import Reporter
from builder.tracks import TRACKS
from grader.errors import UsageError
from grader.hub.client import Address, connect, explain_hub_errors
from grader.io.printing import plural, print_lines
from grader.opening import open_release
from grader.verify import verify


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
    parser.add_argument("--dry-run", action="store_true", help="check, list the files, and stop")
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
    built_manifest(arguments.release)
    open_release(arguments.release).refuse_unchecked("is not published")
    if arguments.deprecate is not None:
        _deprecate(arguments)
        if arguments.repo is None:
            return OK
    targets = list(_targets(arguments))
    api = None if arguments.dry_run else connect()
    if api is not None:
        with explain_hub_errors(arguments.repo):
            api.whoami()
    if not _check(arguments):
        print_lines("nothing was sent; `check` prints the whole record")
        return FAILED
    opened = open_release(arguments.release)
    for problem in private_in_public(opened, TRACKS):
        raise UsageError(f"{opened.public.path}: {problem}; nothing was sent")
    for target, files in [(target, files_to_send(target)) for target in targets]:
        if api is None:
            print_lines(f"{target}: {len(files)} files to send", *(f"  {name}" for name in files))
        else:
            print_lines(f"{target}: {upload(api, target, files)}")
    return OK


def _deprecate(arguments: argparse.Namespace) -> None:
    """List tasks as wrong in the release on disk under ``--version``; print their number."""
    if arguments.why is None or arguments.version is None:
        raise UsageError("--deprecate: say why with --why, and the new version with --version")
    count = deprecate(
        arguments.release, arguments.split, arguments.deprecate, arguments.why, arguments.version
    )
    print_lines(
        f"{arguments.release} {arguments.version}: {plural(count, 'task')} deprecated; see {ERRATA}"
    )


def _check(arguments: argparse.Namespace) -> bool:
    """Run gate and `verify`, print problems; True if there are none."""
    with Reporter(arguments.quiet).working() as tell:
        report = check_release(arguments.release, tell, arguments.workers)
    for line in report.lines:
        if not line.ok:
            print_lines(f"FAIL {line.check}: {line.figure}")
            print_lines(*(f"  {problem}" for problem in line.problems))
    if not report.ok:
        return False
    broken = [one for one in verify(open_release(arguments.release)) if not one.ok]
    print_lines(*(f"FAIL {one.name}: {one.detail}" for one in broken))
    return not broken


def _targets(arguments: argparse.Namespace) -> Iterator[Target]:
    """Yield each repository with the side of the release that it is to hold.

    The private one comes first: what is committed to in public must be safe by then.
    """
    public, private = arguments.release / "public", arguments.release / "private"
    tag = arguments.revision or f"v{read_manifest(public)['version']}"
    if arguments.repo is None:
        raise UsageError("--repo: name the dataset repository to publish to, as ORG/NAME")
    repo = _repo("--repo", arguments.repo, tag)
    if arguments.private_repo is not None:
        hidden = _repo("--private-repo", arguments.private_repo, tag)
        if hidden == repo:
            raise UsageError("--private-repo: is the public repository; name another one")
        if not private.is_dir():
            raise UsageError(
                f"--private-repo: {arguments.release} has no private side; leave it out"
            )
        yield Target(hidden, tag, private, private=True)
    yield Target(repo, tag, public)


def _repo(option: str, text: str, tag: str) -> str:
    """Return the repository "org/name" in an option, where ``tag`` can be a tag."""
    address = Address.parse(text, option)
    if address.revision is not None:
        raise UsageError(f"{option} {text}: names a revision; give the tag with --revision")
    Address.parse(f"{address.repo}@{tag}", "--revision")
    return address.repo
