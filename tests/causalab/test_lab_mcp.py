"""The laboratory as MCP tools: nothing stops it, gives budget back or leaves its session."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from laboratories import KEY, chain_episode, verify

from causal_exams.laboratory.session import Session
from grader.laboratory.transcript import read_lines
from grader.tracks.causalab.shapes import true_hypothesis

mcp_client = pytest.importorskip("mcp.client.client")


def test_an_agent_may_run_the_laboratory_as_mcp_tools(tmp_path: Path) -> None:
    from causal_exams.commands.lab import make_server

    episode, path = chain_episode(), tmp_path / "t.jsonl"
    session = Session(episode, path, "team", KEY)
    replies: list[Any] = []

    async def agent() -> None:
        async with mcp_client.Client(make_server(session)) as client:
            tools = (await client.list_tools()).tools
            assert [t.name for t in tools] == [
                "observe", "intervene", "hypothesise", "open_reactor", "predict",
            ]  # fmt: skip
            assert tools[1].input_schema["properties"]["value"]["type"] == "number"
            for name, arguments in (
                ("observe", {}),
                ("intervene", {"name": "density", "value": 40}),
                ("intervene", {"name": "density", "value": "much"}),
                ("intervene", {"name": "density"}),
                ("hypothesise", {"record": true_hypothesis(episode)}),
                ("open_reactor", {}),
                ("intervene", {"name": "density", "value": 40}),
                ("predict", {"value": episode.frequency}),
                ("predict", {"value": 1}),
            ):
                replies.append((await client.call_tool(name, arguments)).structured_content)

    anyio.run(agent)
    session.close()
    assert [reply["ok"] for reply in replies] == [
        True, True, False, False, True, True, False, True, False,
    ]  # fmt: skip
    assert replies[0]["episode"] == episode.public
    assert replies[1]["reading"]["moisture"] == 112.0
    assert "from 0 to 100" in replies[2]["error"] and replies[2]["remaining"] == 7
    verified = verify(episode, path.read_bytes(), KEY)
    assert (verified.prediction, verified.refusals) == (episode.frequency, 3)


def message(number: object, method: str, /, **params: object) -> bytes:
    """A request of JSON-RPC, as one line."""
    document = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(document).encode() + b"\n"


def call(number: object, tool: str, /, **arguments: object) -> bytes:
    return message(number, "tools/call", name=tool, arguments=arguments)


HELLO = message(
    0, "initialize", protocolVersion="2025-06-18", capabilities={},
    clientInfo={"name": "x", "version": "1"},
) + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'  # fmt: skip

TOOL = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n'
HOSTILE = [
    b"nonsense\n", b"\n", b"[]\n", b"{}\n", b"null\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n",
    b'{"jsonrpc":"2.0","id":NaN,"method":"tools/list"}\n',
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}\n',
    b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[]}\n',
    b"x" * (20 << 20) + b"\n",
    message(5, "no/such"), message(6, "resources/read", uri="file:///etc/passwd"),
    call(7, "../../evil"), call(8, "stop"), call("i" * 100_000, "observe"),
    call(9, "intervene", name="../../etc/passwd", value=1),
    call(10, "intervene", name="density", value="1e999"),
    TOOL % (11, b"intervene", b'{"name":"density","value":1e999}'),
    TOOL % (12, b"intervene", b'{"name":"density","value":NaN}'),
    TOOL % (13, b"intervene", b'{"name":"density","value":' + b"9" * 5000 + b"}"),
    TOOL % (14, b"hypothesise", b'{"record":' + b'{"a":' * 3000 + b"1" + b"}" * 3001),
    call(15, "hypothesise", record={"edges": [], "x": "y" * 200_000}),
    call(16, "hypothesise", record={"\x1b]52;": "\u202e"}),
    call(17, "intervene", name="density", value=2, op="stop", path="/etc/passwd", self=1),
]  # fmt: skip


@pytest.mark.slow
def test_no_message_stops_the_server_or_changes_more_than_it_may(tmp_path, episode_file, root):
    """Over pipes, in the raw: of all of it one intervention is valid, and one is made."""
    kept = tmp_path / "kept"
    command = [sys.executable, "-m", "causal_exams", "lab", str(episode_file), "--mcp"]
    sent = HELLO + b"".join(HOSTILE) + call(99, "observe")
    server = subprocess.Popen(
        [*command, "--transcript", str(kept)], cwd=root,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin is not None and server.stdout is not None and server.stderr is not None
    server.stdin.write(sent)
    server.stdin.flush()
    replies: dict[Any, Any] = {}
    for line in server.stdout:
        reply = json.loads(line)
        replies[str(reply.get("id"))[:8]] = reply
        if reply.get("id") == 99:
            break
    server.stdin.close()
    assert server.wait(30) == 0
    assert b"Traceback" not in server.stderr.read()
    seen = replies["99"]["result"]["structuredContent"]
    assert seen["remaining"] == 7 and [h["set"]["value"] for h in seen["history"]] == [2.0]
    assert replies["7"]["result"]["isError"] and replies["8"]["result"]["isError"]
    assert "error" in replies["6"] and replies["17"]["result"]["structuredContent"]["ok"]
    lines = read_lines(kept.read_bytes())
    assert {line["event"] for line in lines} == {"opened", "refused", "reprompt", "reading"}
    assert b"\x1b" not in kept.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["episode.json", "kept"]


def test_clients_at_once_share_one_session_and_one_budget(tmp_path: Path) -> None:
    """Five clients ask for four interventions each, of a budget of eight."""
    from causal_exams.commands.lab import make_server

    episode, path = chain_episode(), tmp_path / "t.jsonl"
    session = Session(episode, path, "team")
    server = make_server(session)
    replies: list[dict[str, Any]] = []

    async def agent(number: int) -> None:
        async with mcp_client.Client(server) as client:
            for step in range(4):
                arguments = {"name": "density", "value": number * 10 + step}
                reply = await client.call_tool("intervene", arguments)
                replies.append(reply.structured_content)

    async def together() -> None:
        async with anyio.create_task_group() as group:
            for number in range(5):
                group.start_soon(agent, number)

    anyio.run(together)
    session.request({"op": "predict", "value": 5})
    session.close()
    assert sum(reply["ok"] for reply in replies) == 8
    assert sorted(r["remaining"] for r in replies if r["ok"]) == list(range(8))
    assert {reply["code"] for reply in replies if not reply["ok"]} == {"budget"}
    assert len(verify(episode, path.read_bytes()).readings) == 8
