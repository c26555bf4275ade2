"""One attempt at one task as a protocol leads it, over the parts of Inspect."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio.to_thread
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    execute_tools,
    get_model,
    model_roles,
)
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolDef
from inspect_ai.util import OutputLimitExceededError, collect, sandbox

from causal_exams.attempts import ENDING, STOPS
from causal_exams.laboratory.host import Host
from causal_exams.laboratory.session import Session
from causal_exams.tools import laboratory_tools, shell_tool
from causal_exams.words import packages, pinned
from grader.answers.submission import MAX_BYTES
from grader.scoring.model import RawAnswer
from grader.scoring.score import check
from grader.scoring.shape import Task

ANSWER: Final = "answer"
"""Where a sample's store has the text of an answer file that was not written in a sandbox."""
FOLDER: Final = "answers"
"""The answers folder in a sandbox's working directory."""
_VERSIONS: Final = (
    "import sys\n"
    "from importlib.metadata import PackageNotFoundError, version\n"
    "for name in sys.argv[1:]:\n"
    "    try: print(name, version(name))\n"
    "    except PackageNotFoundError: pass\n"
)


@dataclass(slots=True)
class Conversation:
    """A sample of Inspect, its task, the host of laboratories, and the tools that are offered."""

    state: TaskState
    task: Task
    host: Host
    tools: list[ToolDef] = field(default_factory=list)

    @property
    def in_laboratory(self) -> bool:
        """Whether the task is worked at in a laboratory."""
        return self.task.shape.kind == "session"

    @property
    def session(self) -> Session:
        """The session of this attempt with its laboratory."""
        return self.host.session(self.task.task_id, self.state.epoch)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of tools in the last reply."""
        return self.state.output.message.tool_calls or []

    def offer_shell(self, *names: str) -> None:
        """Offer ``bash``, ``python`` or both from now on."""
        self.tools += map(shell_tool, names)

    def offer_laboratory(self, *, recorded: bool = False) -> None:
        """Offer the laboratory's tools from now on."""
        self.tools += laboratory_tools(self.session, recorded=recorded)

    def begin(self, *texts: str) -> None:
        """Put the system message before the prompt."""
        self.state.messages.insert(0, ChatMessageSystem(content="\n".join(texts)))

    def say(self, text: str) -> None:
        """Append a message of the user's."""
        self.state.messages.append(ChatMessageUser(content=text))

    async def reply(self) -> str | None:
        """Append the model's next reply and return its text; None where it ended the attempt."""
        output = await get_model().generate(self.state.messages, tools=self.tools)
        self.state.output = output
        self.state.messages.append(output.message)
        if output.stop_reason in STOPS:
            self.end(STOPS[output.stop_reason])
            return None
        return output.completion

    async def act(self) -> str:
        """Carry out the calls of the last reply; return what the last of them returned."""
        done = await execute_tools(self.state.messages, self.tools)
        self.state.messages.extend(done.messages)
        return done.messages[-1].text

    def refuse(self, text: str) -> None:
        """Answer every call of the last reply with a text; without a call, say it."""
        self.state.messages += [
            ChatMessageTool(content=text, tool_call_id=call.id, function=call.function)
            for call in self.calls
        ] or [ChatMessageUser(content=text)]

    async def ask_apart(self, texts: Sequence[str]) -> list[str] | None:
        """Ask each text in a conversation of its own; return the replies.

        None, the ending written down, where every one of them was refused or did not fit.
        """
        model = get_model()
        outputs = await collect(*(model.generate(text) for text in texts))
        self.state.messages = [
            message
            for text, output in zip(texts, outputs, strict=True)
            for message in (ChatMessageUser(content=text), output.message)
        ]
        self.state.output = outputs[-1]
        if all(output.stop_reason in STOPS for output in outputs):
            self.end(STOPS[outputs[-1].stop_reason])
            return None
        return [output.completion for output in outputs]

    async def ask_role(self, role: str, texts: Sequence[str]) -> list[str] | None:
        """Ask the model that plays ``role`` each text for a word or two, at temperature 0.

        Returns the replies; None where no model plays the role.
        """
        if role not in model_roles():
            return None
        model, config = get_model(role=role), GenerateConfig(temperature=0, max_tokens=16)
        outputs = await collect(*(model.generate(text, config=config) for text in texts))
        return [output.completion for output in outputs]

    def answer(self, text: str) -> None:
        """Leave the text of the answer file."""
        self.state.store.set(ANSWER, text)

    def end(self, why: str) -> None:
        """Write down why the attempt ended."""
        self.state.store.set(ENDING, why)

    async def answer_file(self) -> bytes | None:
        """Return the answer file in the sandbox, None if there is none.

        It is cut off after what a grader would call too large.
        """
        most = MAX_BYTES[self.task.shape.suffix] + 1
        for path in (f"{FOLDER}/{self.task.answer_file}", self.task.answer_file):
            try:
                data: bytes = await sandbox().read_file(path, text=False)
            except OutputLimitExceededError:
                data = b" " * most
            except (FileNotFoundError, IsADirectoryError, PermissionError, TimeoutError):
                continue
            return data[:most]
        return None

    async def problem(self, data: bytes) -> str | None:
        """Return what the grader finds wrong with an answer without the truth, None if nothing."""
        raw = RawAnswer(self.task.answer_file, data)
        checked = await anyio.to_thread.run_sync(partial(check, self.task, raw))
        return checked.message if checked.status == "invalid" else None

    async def packages(self) -> str:
        """Return the packages of the image's stack that the sandbox's Python has, in words."""
        done = await sandbox().exec(["python3", "-c", _VERSIONS, *pinned()])
        found = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if " " in line)
        return packages({name: found.get(name) for name in pinned()}) or "its standard library only"
