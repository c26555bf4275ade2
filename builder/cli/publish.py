"""``publish``: a checked release to the Hub."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from builder.cli import command
from builder.cli.command import FAILED, OK, Command, add_release, add_workers, need_release
from grader.errors import UsageError

if TYPE_CHECKING:
    from builder.hub.contents import Files
    from builder.hub.upload import Target


def _add(parser: argparse.ArgumentParser) -> None:
    add_release(parser)
    parser.add_argument(
        "--repo", required=True, metavar="ORG/NAME", help="dataset repository of the public side"
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
    add_workers(parser)
    parser.add_argument("--quiet", action="store_true", help="show the result only")


def _publish(options: argparse.Namespace) -> int:
    from builder.hub.secrecy import refuse_private
    from builder.hub.upload import carry_out, plan
    from grader.hub.client import connect
    from grader.io.release import Release

    need_release(options.release)
    if not _passes(options):
        return FAILED
    opened = Release.open(options.release)
    refuse_private(opened)
    api = connect()
    for target, files in list(_targets(options)):
        work = plan(api, target, files)
        kind = "private" if target.private else "public"
        there = f"{len(files) - len(work.send)} of {len(files)} files are there"
        if work.done:
            print(f"{target.repo} ({kind}): {target.tag} is there whole, nothing to send")
            continue
        told = f"{len(work.send)} to send ({work.bytes / 1e6:.1f} MB), {len(work.remove)} to remove"
        if options.dry_run:
            print(f"{target.repo} ({kind}): {there}, {told}")
            for name in [*work.send, *(f"{name} (remove)" for name in work.remove)]:
                print(f"  {name}")
            continue
        carry_out(api, target, work)
        for note in work.notes:
            print(f"note: {note}")
        told = f"{len(work.send)} sent ({work.bytes / 1e6:.1f} MB), {len(work.remove)} removed"
        print(f"{target.repo} ({kind}): {there.replace('are', 'were')}, {told}; tag {target.tag}")
    return OK


def _passes(options: argparse.Namespace) -> bool:
    """Whether gate and `verify` find nothing; what they find is printed."""
    from builder.release.manifest import read_manifest
    from builder.release.show.progress import Reporter
    from grader.io.release import Release
    from grader.verify import verify

    imported = "imported" in read_manifest(options.release / "public")["configuration"]
    if not imported:
        report = command.gate(options.release, Reporter(options.quiet), workers=options.workers)
        if not report.ok:
            print(report.markdown)
            return False
    broken = [one for one in verify(Release.open(options.release)) if not one.ok]
    for one in broken:
        print(f"FAIL {one.name}: {one.detail}")
    return not broken


def _targets(options: argparse.Namespace) -> "Iterator[tuple[Target, Files]]":
    """The private side first: what is committed to in public must be safe by then."""
    from builder.hub.contents import contents
    from builder.hub.upload import Target
    from builder.release.manifest import read_manifest
    from grader.hub.address import Address

    public, private = options.release / "public", options.release / "private"
    manifest = read_manifest(public)
    tag = options.revision or f"v{manifest['version']}"
    repo = _repo("--repo", options.repo)
    if options.private_repo is not None:
        hidden = _repo("--private-repo", options.private_repo)
        if hidden == repo:
            raise UsageError("--private-repo: is the public repository; name another one")
        if not private.is_dir():
            raise UsageError(f"--private-repo: {options.release} has no private side; leave it out")
        Address.of(f"{hidden}@{tag}", "--revision")
        found = contents(private, read_manifest(private), hidden, tag)
        yield Target(hidden, tag, private=True), found
    Address.of(f"{repo}@{tag}", "--revision")
    yield Target(repo, tag), contents(public, manifest, repo, tag)


def _repo(option: str, text: str) -> str:
    from grader.hub.address import Address

    address = Address.of(text, option)
    if address.revision is not None:
        raise UsageError(f"{option} {text}: names a revision; give the tag with --revision")
    return address.repo


PUBLISH: Final = Command(
    "publish",
    "send a checked release to the Hub; only what changed travels",
    (
        "publish release --repo org/exams --dry-run",
        "publish release --repo org/exams --private-repo org/exams-private --revision v1",
    ),
    _add,
    _publish,
)
