"""Let an agent experiment in an episode of a laboratory and keep its transcript.

examples:
  python -m causal_exams lab lab-7f3a91c2d04be516 --transcript answers/clab-7f3a91c2d04be516.jsonl
  python -m causal_exams lab episode.json --mcp
  python -m causal_exams lab lab-7f3a91c2d04be516 --sessions /safe/sessions --submission team-a \\
      --key /safe/host.key --private /safe/release

Requests come as JSON lines on standard input and are answered on standard output, or as tool
calls (--mcp). The transcript is the answer file. The same file, or the same
submission, resumes the session with what is left of its budget.
"""

import argparse
import sys
from pathlib import Path

from causal_exams.laboratory.front_ends import make_server, serve
from causal_exams.laboratory.host import open_episode
from causal_exams.laboratory.session import Session, session_path
from grader.commands.common import RELEASE, add, read_key
from grader.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``lab``."""
    parser.add_argument("episode", help="task id, or a .json file that holds an episode")
    add(parser, *RELEASE)
    kept = parser.add_argument_group("where the transcript is kept")
    kept.add_argument("--transcript", type=Path, metavar="FILE", help="file of the transcript")
    kept.add_argument("--sessions", type=Path, metavar="DIR", help="DIR/SUBMISSION/<task id>.jsonl")
    kept.add_argument("--submission", default="", metavar="NAME", help="TEAM or TEAM@N")
    kept.add_argument("--key", type=Path, metavar="FILE", help="sign every line with this key")
    parser.add_argument("--mcp", action="store_true", help="MCP instead of JSON lines")


def run(arguments: argparse.Namespace) -> int:
    """Serve one session until its agent stops asking, then close its transcript and return 0."""
    episode = open_episode(arguments.episode, arguments.release, arguments.private, arguments.split)
    path: Path | None = arguments.transcript
    if arguments.sessions is not None:
        if path is not None or not arguments.submission:
            raise UsageError("--sessions needs --submission NAME and takes no --transcript")
        path = session_path(arguments.sessions, arguments.submission, episode)
    if path is None:
        raise UsageError("say where the transcript is kept: --transcript FILE or --sessions DIR")
    key = read_key(arguments.key) if arguments.key is not None else None
    session = Session(episode, path, arguments.submission, key)
    try:
        if arguments.mcp:
            make_server(session).run("stdio")
        else:
            serve(session, sys.stdin.buffer, sys.stdout.buffer)
    finally:
        session.close()
    return 0
