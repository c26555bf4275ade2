"""The ways into a session for an agent of any kind: JSON lines, and the tools of MCP.

MCP needs the protocol's Python SDK (the optional extra ``mcp``).
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final

from causal_exams.laboratory.session import MEMBER_TYPES, OPERATIONS, TOOLS, Reply, Session
from causal_exams.words import wording
from grader.errors import UsageError
from grader.io.jsonio import BadJson, canonical_json, escape_unprintable, parse_strict
from grader.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer

MAX_REQUEST: Final = 1 << 16


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
    """Return an MCP server over one session, which checks what tools are given and logs refusals.

    Raises ``UsageError`` without the SDK.
    """
    try:
        from mcp.server import MCPServer
        from pydantic import Field
    except ImportError:
        raise UsageError(
            "--mcp: the MCP SDK is not installed; pip install 'causal-exams[mcp]'"
        ) from None

    server: MCPServer[Any] = MCPServer(
        "causalab", version=__version__, instructions=wording("mcp.instructions"), log_level="ERROR"
    )
    for name in TOOLS:
        server.tool(name, description=wording(f"tools.{name}"))(_mcp_tool(session, name, Field))
    return server


def _mcp_tool(session: Session, name: str, field: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of one tool, whose signature the SDK reads; ``field`` is pydantic's."""

    async def tool(**members: Any) -> Reply:
        return session.use(name, members)

    parameters = []
    for member in chain(*OPERATIONS[TOOLS[name]]):
        kind = {"type": MEMBER_TYPES[member]}
        described = field(description=wording(f"parameters.{member}"), json_schema_extra=kind)
        annotation = Annotated[Any, described]
        parameters.append(
            Parameter(member, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        )
    tool.__signature__ = Signature(parameters, return_annotation=Reply)  # type: ignore[attr-defined]
    return tool
