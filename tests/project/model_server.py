"""A model on this machine that knows nothing, at the address that the guides name."""

import json
from contextlib import AbstractContextManager
from typing import Any

from chat_server import Reply, Server, serve

WORDS = "I do not know."


def reply(messages: list[Any]) -> Reply:
    """What the server says: a chat completion, or, to a request without messages, a response."""
    if messages:
        return Reply(WORDS)
    text = {"type": "output_text", "text": WORDS, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
               "content": [text]}  # fmt: skip
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    response = {"id": "r", "object": "response", "created_at": 0, "model": "any",
                "output": [message], "status": "completed", "parallel_tool_calls": True,
                "tool_choice": "auto", "tools": [], "usage": usage}  # fmt: skip
    return Reply(body=json.dumps(response).encode())


def serving_a_model(port: int) -> AbstractContextManager[Server]:
    """Serve at this port."""
    return serve(reply, port=port)
