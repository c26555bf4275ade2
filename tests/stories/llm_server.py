"""A local server that speaks chat completions: a model that does well unless its script says else.

The model understands what it is asked from the JSON in the first user message. ``script`` maps a
role to what its next replies are: a function that spoils the good reply, a text, or an ``Http``.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from builder.stories.llm import client

ROLES = {
    client.MAPPER: "mapper",
    client.PRE_AUDITOR: "pre-audit",
    client.AUDITOR: "auditor",
    client.WRITER: "writer",
    client.VERIFIER: "verifier",
}

NAMES = [
    f"{first} {second}"
    for second in ("supply", "record", "routine")
    for first in (
        "Barley", "Copper", "Dusk", "Ferry", "Grain", "Harbour", "Indigo", "Jetty", "Kiln", "Linen",
        "Mortar", "Nettle", "Orchard", "Pebble", "Quarry", "Rope", "Salt", "Timber", "Velvet",
    )
]  # fmt: skip

Answer = dict[str, Any]
Spoil = Callable[[Answer], Any]


@dataclass
class Http:
    """An HTTP answer that is no completion, or a late one."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0


Step = Spoil | str | Http


@dataclass
class Model:
    """The scripted model: its address, what it was asked, and what it will get wrong."""

    script: dict[str, list[Step]] = field(default_factory=dict)
    always: dict[str, Step] = field(default_factory=dict)
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def roles(self) -> Counter[str]:
        """How often each role was asked, failed requests included."""
        return Counter(ROLES[r["messages"][0]["content"]] for r in self.requests)

    def asked(self, role: str) -> list[list[dict[str, str]]]:
        """The conversations of a role."""
        found = [r["messages"] for r in self.requests]
        return [messages for messages in found if ROLES[messages[0]["content"]] == role]

    def reply(self, messages: list[dict[str, str]]) -> str | Http:
        """What the model answers."""
        role = ROLES[messages[0]["content"]]
        good = GOOD[role](json.loads(messages[1]["content"]))
        waiting = self.script.get(role, [])
        step = waiting.pop(0) if waiting else self.always.get(role)
        if step is None:
            return f"Here it is:\n```json\n{json.dumps(good)}\n```"
        if callable(step):
            return json.dumps(step(good))
        return step


def name_variables(shown: Answer) -> Answer:
    """A mapping that keeps every rule."""
    fixed = shown.get("fixed", {})
    taken = set(shown.get("forbidden_names", [])) | {entry["name"] for entry in fixed.values()}
    free = iter([name for name in NAMES if name not in taken])
    variables = []
    for entry in shown["variables"]:
        binary = entry["kind"] == "binary"
        named = {
            "id": entry["id"],
            "name": "",
            "observed": entry["observed"],
            "kind": entry["kind"],
            "unit": None if binary else "crates",
            "states": ["is low", "is high"] if binary else None,
            "meaning": "What the place keeps of it.",
        } | fixed.get(entry["id"], {})
        variables.append(named | {"name": named["name"] or next(free)})
    head = {"domain": "A harbour town", "record": "market day", "records": "market days"}
    return {key: shown.get(key, text) for key, text in head.items()} | {"variables": variables}


def judge_mapping(shown: Answer) -> Answer:
    """An auditor who is content."""
    pairs = [pair.split(", ") for pair in shown.get("no_direct_effect", [])]
    edges = [edge.split(" -> ") for edge in shown["direct_effects"]]
    return {
        "pairs": [{"a": a, "b": b, "direct": False, "why": "Apart."} for a, b in pairs],
        "effects": [{"cause": a, "effect": b, "plausible": True, "why": "Yes."} for a, b in edges],
        "warnings": [],
    }


def write(shown: Answer) -> Answer:
    """A dull story without a fault."""
    told = []
    for entry in shown["variables"]:
        name = entry["name"]
        if not entry["observed"]:
            text = f"There is {name} too, which was never measured."
        elif entry["states"]:
            text = f"A clerk notes whether {name} {entry['states'][0]} or {entry['states'][1]}."
        else:
            text = f"A clerk notes {name} in {entry['unit']}."
        told.append({"about": [name], "sentence": text})
    for edge in shown["direct_effects"]:
        cause, effect = edge.split(" -> ")
        text = f"On every market day {cause} bears on {effect} directly."
        told.append({"about": [cause, effect], "sentence": text})
    count = len(shown["variables"])
    parts = [" ".join(t["sentence"] for t in part) for part in (told[:count], told[count:])]
    return {"story": f"This is a harbour town. {parts[0]}\n\n{parts[1]}", "told": told}


def judge_story(shown: Answer) -> Answer:
    """A verifier who is content."""
    edges = [edge.split(" -> ") for edge in shown["direct_effects"]]
    return {
        "variables": [{"name": v["name"], "mentioned": True} for v in shown["variables"]],
        "effects": [{"cause": a, "effect": b, "verdict": "supported", "why": ""} for a, b in edges],
        "extra": [],
        "warnings": [],
    }


GOOD: dict[str, Callable[[Answer], Answer]] = {
    "mapper": name_variables,
    "pre-audit": lambda shown: {"feasible": True, "confidence": "high", "reason": "Fine."},
    "auditor": judge_mapping,
    "writer": write,
    "verifier": judge_story,
}


@contextmanager
def serve(model: Model) -> Iterator[Model]:
    """Runs the model behind an HTTP server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(request)
            model.times.append(time.monotonic())
            model.keys.append(self.headers.get("Authorization"))
            reply = model.reply(request["messages"])
            http = reply if isinstance(reply, Http) else Http(body=completion(reply))
            time.sleep(http.delay)
            payload = http.body or b'{"error": {"message": "scripted sk-secret"}}'
            try:
                self.send_response(http.status)
                plain = {"Content-Type": "application/json", "Content-Length": str(len(payload))}
                for name, value in (plain | http.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client has given up waiting

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(text: str) -> bytes:
    """A chat completion with this content."""
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    ).encode()
