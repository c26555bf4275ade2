"""The laboratory as MCP tools: the same protocol, over pipes and over HTTP."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from causalab_episodes import chain_episode
from lab_verification import over_http, verify

from causal_exams.laboratory.session import Session
from grader.laboratory.transcript import read_lines
from grader.tracks.causalab.shapes import true_hypothesis

KEY = b"0123456789abcdef0123456789abcdef"


def test_an_agent_may_run_the_laboratory_as_mcp_tools(tmp_path: Path) -> None:
    mcp_client = pytest.importorskip("mcp.client.client")
    from causal_exams.laboratory.front_ends import make_server

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


@pytest.mark.slow
def test_the_mcp_servers_run_over_pipes_and_over_http(tmp_path, episode_file, root):
    mcp_client = pytest.importorskip("mcp.client.client")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def agent(target: Any) -> None:
        async with mcp_client.Client(target) as client:
            reply = await client.call_tool("intervene", {"name": "density", "value": 40})
            assert reply.structured_content["ok"]

    kept = tmp_path / "kept"
    command = ["-m", "causal_exams", "lab", str(episode_file), "--transcript", str(kept), "--mcp"]
    anyio.run(
        agent, stdio_client(StdioServerParameters(command=sys.executable, args=command, cwd=root))
    )
    with over_http(episode_file, kept, root) as port:
        anyio.run(agent, f"http://127.0.0.1:{port}/mcp")
    events = [line["event"] for line in read_lines(kept.read_bytes())]
    assert events == ["opened", "reading", "resumed", "reading"]
