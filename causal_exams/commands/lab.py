"""Let an agent experiment in an episode of a laboratory and keep its transcript.

examples:
  python -m causal_exams lab lab-7f3a91c2d04be516 --transcript answers/lab-7f3a91c2d04be516.jsonl
  python -m causal_exams lab episode.json --mcp
  python -m causal_exams lab lab-7f3a91c2d04be516 --sessions /safe/sessions --submission team-a \\
      --key /safe/host.key --private /safe/release

Requests come as JSON lines on standard input and are answered on standard output, or as tool
calls (--mcp). The transcript is the answer file. The same file, or the same
submission, resumes the session with what is left of its budget.
"""

import argparse
import sys
from collections.abc import Callable
from inspect import Parameter, Signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final

from causal_exams.laboratory.host import open_episode
from causal_exams.laboratory.session import (
    MEMBER_TYPES,
    OPERATIONS,
    TOOLS,
    Reply,
    Session,
    session_path,
)
from causal_exams.words import wording
from grader.commands.common import RELEASE, add, read_key
from grader.errors import UsageError
from grader.io.jsonio import BadJson, canonical_json, escape_unprintable, parse_strict
from grader.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer

MAX_REQUEST: Final = 1 << 16


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


def _reply_to(session: Session, line: bytes) -> Reply:
    """Return the reply to a request; one that is too long or not JSON is refused and noted."""
    if len(line) > MAX_REQUEST:
        error = f"a line of over {MAX_REQUEST >> 10} KiB; shorten it"
        return session.refuse("request", error, "a line that is too long")
    try:
        return session.request(parse_strict(line))
    except BadJson as problem:
        shown = ascii(line[:80].decode("utf-8", errors="replace"))
        error = f'not JSON ({problem.message}); send one object a line, such as {{"op":"status"}}'
        return session.refuse("request", error, shown)


def serve(session: Session, requests: BinaryIO, replies: BinaryIO) -> None:
    """Write the greeting, then a reply to each line of ``requests``; blank lines are skipped.

    Returns when the requests end or nobody reads the replies. The session stays open.
    """
    try:
        _write(replies, session.greeting())
        while line := requests.readline(MAX_REQUEST + 2):
            part = line
            while len(part) >= MAX_REQUEST and not part.endswith(b"\n"):  # the rest is skipped
                part = requests.readline(MAX_REQUEST)
            if line.strip():
                _write(replies, _reply_to(session, line.rstrip(b"\r\n")))
    except BrokenPipeError:
        return  # the agent is gone; its transcript is on disk and can be resumed


def _write(replies: BinaryIO, reply: Reply) -> None:
    text = escape_unprintable(canonical_json(reply))  # a terminal may read it
    replies.write(text.encode("utf-8") + b"\n")
    replies.flush()


def make_server(session: Session) -> "MCPServer[Any]":
    """Return an MCP server over one session; raises ``UsageError`` without the SDK."""
    try:
        from mcp.server import MCPServer
        from pydantic import Field
    except ImportError:
        raise UsageError(
            "--mcp: the MCP SDK is not installed; pip install 'causal-exams[mcp]'"
        ) from None

    def parameter(member: str) -> Parameter:
        kind, about = {"type": MEMBER_TYPES[member]}, wording(f"parameters.{member}")
        annotation = Annotated[Any, Field(description=about, json_schema_extra=kind)]
        return Parameter(member, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    def make_tool(name: str) -> Callable[..., Any]:
        async def tool(**members: Any) -> Reply:
            return session.use(name, members)

        # The SDK reads the members off the signature.
        parameters = [parameter(member) for member in chain(*OPERATIONS[TOOLS[name]])]
        tool.__signature__ = Signature(parameters, return_annotation=Reply)  # type: ignore[attr-defined]
        return tool

    instructions = wording("mcp.instructions")
    server: MCPServer[Any] = MCPServer(
        "laboratory", version=__version__, instructions=instructions, log_level="ERROR"
    )
    for name in TOOLS:
        server.tool(name, description=wording(f"tools.{name}"))(make_tool(name))
    return server
