"""``publish``: a checked release to the Hub, or an erratum of one."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from builder.commands.command import FAILED, OK, Command, add_release, add_workers
from grader.errors import UsageError
from grader.opening import open_release

if TYPE_CHECKING:
    from pathlib import Path

    from huggingface_hub import HfApi

    from builder.publishing.contents import Files
    from builder.publishing.upload import Target


def _add(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
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
    parser.add_argument("--why", metavar="TEXT", help="of --deprecate: the entry in ERRATA.md")
    parser.add_argument("--version", help="of --deprecate: the release's from now on")
    parser.add_argument("--split", metavar="NAME", help="of --deprecate (default: the only one)")
    add_workers(parser)
    parser.add_argument("--quiet", action="store_true", help="show the result only")


def _publish(options: argparse.Namespace) -> int:
    from builder.publishing.contents import contents
    from builder.publishing.secrecy import refuse_private
    from builder.release.manifest import read_manifest
    from builder.release.reader import public_side
    from builder.tracks import TRACKS
    from grader.hub.client import connect, explain_hub_errors

    # What a typing error or an absent token stops is said before the gate, which takes its time.
    public_side(options.release)
    if options.deprecate is not None:
        _deprecate(options)
        if options.repo is None:
            return OK
    targets, api = list(_targets(options)), connect()
    if not options.dry_run:
        with explain_hub_errors(options.repo):
            api.whoami()
    if not _passes(options):
        print("nothing was sent; `check` prints the whole record")
        return FAILED
    opened = open_release(options.release)
    refuse_private(opened, TRACKS)
    found = [
        (target, contents(side, read_manifest(side), target.repo, target.tag))
        for target, side in targets
    ]
    for target, files in found:
        _bring(api, target, files, dry_run=options.dry_run)
    return OK


def _deprecate(options: argparse.Namespace) -> None:
    """List tasks as wrong in the release here."""
    from builder.publishing.errata import ERRATA, deprecate

    if options.why is None or options.version is None:
        raise UsageError("--deprecate: say why with --why, and the new version with --version")
    count = deprecate(
        options.release, options.split, options.deprecate, options.why, options.version
    )
    told = "task is" if count == 1 else "tasks are"
    print(f"{options.release} {options.version}: {count} {told} deprecated; see {ERRATA}")


def _bring(api: "HfApi", target: "Target", files: "Files", *, dry_run: bool) -> None:
    """Bring one repository to what it is to hold, or say what that would take."""
    from builder.publishing.upload import carry_out, plan

    work = plan(api, target, files)
    place = f"{target.repo} ({'private' if target.private else 'public'})"
    there, size = len(files) - len(work.send), f"{work.bytes / 1e6:.1f} MB"
    if work.done:
        print(f"{place}: {target.tag} is there whole, nothing to send")
    elif dry_run:
        print(
            f"{place}: {there} of {len(files)} files are there, {len(work.send)} to send ({size}), "
            f"{len(work.remove)} to remove"
        )
        for name in [*work.send, *(f"{name} (remove)" for name in work.remove)]:
            print(f"  {name}")
    else:
        carry_out(api, target, work)
        print(*(f"note: {note}" for note in work.notes), sep="\n", end="\n" if work.notes else "")
        print(
            f"{place}: {there} of {len(files)} files were there, {len(work.send)} sent ({size}), "
            f"{len(work.remove)} removed; tag {target.tag}"
        )


def _passes(options: argparse.Namespace) -> bool:
    """Whether gate and `verify` find nothing; what they find is printed."""
    from builder.build import check_release
    from builder.release.manifest import read_manifest
    from builder.release.progress import Reporter
    from grader.verify import verify

    imported = "imported" in read_manifest(options.release / "public")["configuration"]
    if not imported:
        report = check_release(options.release, Reporter(options.quiet).note, options.workers)
        for line in report.lines:
            if not line.ok:
                print(f"FAIL {line.check}: {line.figure}")
                print(*(f"  {problem}" for problem in line.problems), sep="\n")
        if not report.ok:
            return False
    broken = [one for one in verify(open_release(options.release)) if not one.ok]
    for one in broken:
        print(f"FAIL {one.name}: {one.detail}")
    return not broken


def _targets(options: argparse.Namespace) -> "Iterator[tuple[Target, Path]]":
    """What to write from which side, the private one first: what is committed to in public must be
    safe by then."""
    from builder.publishing.upload import Target
    from builder.release.manifest import read_manifest
    from grader.hub.address import Address

    public, private = options.release / "public", options.release / "private"
    tag = options.revision or f"v{read_manifest(public)['version']}"
    if options.repo is None:
        raise UsageError("--repo: name the dataset repository to publish to, as ORG/NAME")
    repo = _repo("--repo", options.repo)
    if options.private_repo is not None:
        hidden = _repo("--private-repo", options.private_repo)
        if hidden == repo:
            raise UsageError("--private-repo: is the public repository; name another one")
        if not private.is_dir():
            raise UsageError(f"--private-repo: {options.release} has no private side; leave it out")
        Address.parse(f"{hidden}@{tag}", "--revision")
        yield Target(hidden, tag, private=True), private
    Address.parse(f"{repo}@{tag}", "--revision")
    yield Target(repo, tag), public


def _repo(option: str, text: str) -> str:
    from grader.hub.address import Address

    address = Address.parse(text, option)
    if address.revision is not None:
        raise UsageError(f"{option} {text}: names a revision; give the tag with --revision")
    return address.repo


PUBLISH: Final = Command(
    "publish",
    "send a checked release to the Hub; only what changed travels",
    (
        "publish release --repo org/exams --dry-run",
        "publish release --repo org/exams --private-repo org/exams-private --revision v1",
        'publish release --deprecate cds-7f3a91c2d04be516 --why "two readings" --version 0.1.1',
    ),
    _add,
    _publish,
)
