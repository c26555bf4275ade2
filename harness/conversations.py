"""Conversations as pages that open without a server: one a task and attempt, and a list of all."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool

from grader.draw.page import Block, Code, Section, page, way_back
from grader.draw.table import Cell, Table
from grader.io.files import write_text
from grader.io.jsonio import pretty
from grader.io.paths import inside
from harness.importers.taken import Taken

FOLDER: Final = "conversations"
_INDEX: Final = "index.html"
_FOOTER: Final = (
    "Messages, calls and outputs as Inspect's log holds them; `inspect view` shows more."
)
_STYLE: Final = "pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 .6rem;font-size:.85rem}"


def page_of(folder: Path, task_id: str, attempt: int) -> Path:
    """The page of a conversation."""
    return inside(folder, f"{task_id}-{attempt}", ".html")


def write_conversation(folder: Path, sample: EvalSample, told: Taken) -> None:
    """Write the page of a sample into ``folder``."""
    parts = [(_heading(message), _body(message)) for message in sample.messages]
    if sample.error is not None:
        parts.append(("error, not the model's", sample.error.message))
    if told.answer is not None:
        parts.append(("answer file", told.answer.decode("utf-8", "replace")))
    cost = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in told.usage.items())
    sections = [Section(heading, [Code(text)]) for heading, text in parts]
    subtitle = f"attempt {told.attempt}: {cost}"
    back = way_back(_INDEX, "all conversations")
    text = page(told.task_id, subtitle, sections, _FOOTER, _STYLE, ahead=back)
    write_text(page_of(folder, told.task_id, told.attempt), text)


def _heading(message: ChatMessage) -> str:
    if isinstance(message, ChatMessageTool):
        failed = " failed" if message.error else ""
        return f"tool {message.function or ''}{failed}"
    return str(message.role)


def _body(message: ChatMessage) -> str:
    """The text of a message, its reasoning before and its calls after it."""
    parts = []
    if not isinstance(message.content, str):
        parts += [
            f"[reasoning]\n{part.reasoning}\n[/reasoning]"
            for part in message.content
            if part.type == "reasoning"
        ]
    parts.append(message.text)
    if isinstance(message, ChatMessageTool) and message.error:
        parts.append(f"{message.error.type}: {message.error.message}")
    for call in (message.tool_calls or ()) if isinstance(message, ChatMessageAssistant) else ():
        parts.append(f"→ {call.function}\n" + _arguments(call.arguments))
    return "\n\n".join(filter(None, parts)) or "(nothing)"


def _arguments(arguments: dict[str, object]) -> str:
    if list(arguments) in (["command"], ["code"]):
        return str(next(iter(arguments.values())))
    return pretty(arguments)


def write_index(folder: Path, told: Sequence[Taken]) -> None:
    """Write the list of all conversations into ``folder``."""
    rows: list[list[str | Cell]] = [
        [
            Cell(one.task_id, "id", link=page_of(folder, one.task_id, one.attempt).name),
            str(one.attempt),
            str(one.usage.get("ending", "")),
            str(one.usage.get("tool_calls", "–")),
            str(one.usage.get("output_tokens", "–")),
        ]
        for one in told
    ]
    head = ["task", "attempt", "how it ended", "tool calls", "output tokens"]
    blocks: list[Block] = [Table("", head, rows, left=3)]
    text = page("Conversations", f"{len(told):,} attempts", [Section("All", blocks)], _FOOTER)
    write_text(folder / _INDEX, text)
