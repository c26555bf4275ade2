"""The laboratory as MCP tools, by the protocol's Python SDK (the optional extra ``mcp``)."""

from typing import TYPE_CHECKING, Annotated, Any

from causal_exams.lab_session import Reply, Session
from grader.errors import UsageError
from grader.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer

INSTRUCTIONS = (
    "A causal discovery laboratory. Look at what is given with `observe`, experiment on the "
    "manipulator crystal with `intervene` while the budget lasts, state what you believe with "
    "`hypothesise`, open the reactor (which ends the experiments) and predict its crystal's "
    "frequency once with `predict`."
)


def make_server(session: Session) -> "MCPServer[Any]":
    """An MCP server over one session; raises ``UsageError`` when the SDK is not installed.

    Arguments reach the session as they are: what is wrong with them is answered and logged by the
    laboratory. Tools run one after the other.
    """
    try:
        from mcp.server import MCPServer
        from pydantic import Field
    except ImportError:
        raise UsageError(
            "--mcp: the MCP SDK is not installed; pip install 'causal-exams[mcp]'"
        ) from None

    def member(kind: str, meaning: str) -> Any:
        return Field(description=meaning, json_schema_extra={"type": kind})

    # Named at run time, so that the module can be read without the SDK.
    name_of = Annotated[Any, member("string", "a controllable property")]
    number = Annotated[Any, member("number", "a number in the declared range")]
    record = Annotated[
        Any,
        member(
            "object",
            "a step record (memory, thought, past_data, hypothesis, experiment), or a hypothesis "
            "(edges, freq_equation, coefficients) alone",
        ),
    ]
    final = Annotated[Any, member("object", "the final hypothesis, if it was not given yet")]

    server: MCPServer[Any] = MCPServer(
        "causalab", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR"
    )

    async def observe() -> dict[str, Any]:
        """What is given, the interventions so far, and what is left of the budget."""
        return session.greeting()

    async def intervene(name: name_of = None, value: number = None) -> dict[str, Any]:
        """Set a property of the manipulator crystal; costs one of the budget."""
        return session.request({"op": "intervene", "name": name, "value": value})

    async def hypothesise(record: record = None) -> dict[str, Any]:
        """State the current hypothesis; it is scored at every step."""
        return session.request({"op": "hypothesis", "record": record})

    async def open_reactor() -> dict[str, Any]:
        """Open the reactor. No intervention is possible afterwards."""
        return session.request({"op": "reactor"})

    async def predict(value: number = None, hypothesis: final = None) -> dict[str, Any]:
        """Predict the reactor crystal's frequency, once; this ends the session."""
        stated: Reply = {} if hypothesis is None else {"hypothesis": hypothesis}
        return session.request({"op": "predict", "value": value, **stated})

    for tool in (observe, intervene, hypothesise, open_reactor, predict):
        server.tool()(tool)
    return server


def serve_mcp(session: Session, port: int | None) -> None:
    """Serve on standard input and output, or over streamable HTTP on 127.0.0.1:``port``."""
    server = make_server(session)
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)
