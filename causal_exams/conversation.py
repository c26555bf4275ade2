"""One attempt at one task, as a protocol leads it with the parts of Inspect, and its tools."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

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
from inspect_ai.tool import ToolCall, ToolDef, ToolParams
from inspect_ai.util import JSONSchema, OutputLimitExceededError, collect, message_limit, sandbox

from causal_exams.attempts import ENDING, STOPS
from causal_exams.laboratory.host import Host
from causal_exams.laboratory.session import MEMBER_TYPES, OPERATIONS, TOOLS, Session
from causal_exams.words import OUTPUT, pinned_versions, wording
from grader.answers.submission import MAX_BYTES
from grader.io.jsonio import canonical_json
from grader.scoring.model import RawAnswer
from grader.scoring.score import check
from grader.scoring.shape import Task

ANSWER: Final = "answer"
"""The key of a sample's store for the text of an answer file that no sandbox holds."""
FOLDER: Final = "answers"
"""The answers folder in a sandbox's working directory."""
_VERSIONS: Final = (
    "from importlib.metadata import distributions as all\n"
    "print(*(f'{one.name} {one.version}' for one in all()), sep='\\n')"
)
_SHELL: Final[Mapping[str, tuple[list[str], str]]] = {
    "bash": (["bash", "-c", 'eval "$(cat)"'], "command"),
    "python": (["python3", "-"], "code"),
}
"""Tool to the program that runs its standard input, and the name of its one member."""


@dataclass(slots=True)
class Conversation:
    """One attempt at a task while it goes on; ``state`` is Inspect's record of it.

    ``host`` opens the laboratory's session. ``budget`` is how many characters of one command's
    output the model is shown. ``tools`` are those offered to it so far.
    """

    state: TaskState
    task: Task
    host: Host
    budget: int = OUTPUT
    tools: list[ToolDef] = field(default_factory=list)

    @property
    def in_laboratory(self) -> bool:
        """Whether the task is worked at in a laboratory."""
        return self.task.shape.kind == "session"

    @property
    def session(self) -> Session:
        """The laboratory's session of this attempt, opened if need be."""
        return self.host.session(self.task.task_id, self.state.epoch)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of tools in the last reply."""
        return self.state.output.message.tool_calls or []

    def offer_shell(self, *names: str) -> None:
        """Offer ``bash``, ``python`` or both from now on."""
        self.tools += [shell_tool(name, self.budget) for name in names]

    def offer_laboratory(self, *, recorded: bool = False) -> None:
        """Offer the laboratory's tools from now on, named as in :data:`TOOLS`.

        With ``recorded`` every intervention must come with the step's record, and every optional
        member must be given. A record that does not parse makes no intervention, but the third of a
        step is its recorded parse failure (CausaLab A.5), and the experiment is made all the same.
        """
        session = self.session

        def tool(name: str) -> ToolDef:
            async def run(**members: Any) -> str:
                if recorded and name == "intervene":
                    reply = session.use("hypothesise", members)
                    if not reply["ok"] and session.laboratory.transcript[-1]["event"] == "reprompt":
                        return canonical_json(reply)
                return canonical_json(session.use(name, members))

            needed, optional = OPERATIONS[TOOLS[name]]
            if recorded:
                needed, optional = (*needed, *optional), ()
                needed = ("record", *needed) if name == "intervene" else needed
            return _tool(name, run, (*needed, *optional), needed)

        self.tools += map(tool, TOOLS)

    def begin(self, *texts: str) -> None:
        """Insert the texts, one a line, as the system message."""
        self.state.messages.insert(0, ChatMessageSystem(content="\n".join(texts)))

    def say(self, text: str) -> None:
        """Append a message of the user's."""
        self.state.messages.append(ChatMessageUser(content=text))

    async def reply(self) -> str | None:
        """Append the model's next reply and return its text.

        None where the model refused or its context is full: the attempt must end, its ending is
        stored.
        """
        output = await get_model().generate(self.state.messages, tools=self.tools)
        self.state.output = output
        self.state.messages.append(output.message)
        if output.stop_reason in STOPS:
            self.end(STOPS[output.stop_reason])
            return None
        return output.completion

    async def act(self) -> str:
        """Carry out the calls of the last reply, append the results, and return the last one."""
        done = await execute_tools(self.state.messages, self.tools)
        self.state.messages.extend(done.messages)
        return done.messages[-1].text

    def refuse(self, text: str) -> None:
        """Append ``text`` as the result of every call of the last reply, else as the user's."""
        self.state.messages += [
            ChatMessageTool(content=text, tool_call_id=call.id, function=call.function)
            for call in self.calls
        ] or [ChatMessageUser(content=text)]

    async def ask_apart(self, texts: Sequence[str]) -> list[str] | None:
        """Ask each text in a conversation of its own, all at once; return the replies in order.

        They become the sample's messages. None, and the ending stored, where every reply was a
        refusal or did not fit into the context.
        """
        model = get_model()
        outputs = await collect(*(model.generate(text) for text in texts))
        with message_limit(None):  # --message-limit is of one conversation, and these are many
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
        """Return the replies, at temperature 0, of the model that plays ``role``; None without."""
        if role not in model_roles():
            return None
        model, config = get_model(role=role), GenerateConfig(temperature=0, max_tokens=16)
        outputs = await collect(*(model.generate(text, config=config) for text in texts))
        return [output.completion for output in outputs]

    def answer(self, text: str) -> None:
        """Store ``text`` as the content of the answer file; the sandbox need not hold it."""
        self.state.store.set(ANSWER, text)

    def end(self, why: str) -> None:
        """Store ``why``, one of ``ENDINGS``, as the reason why the attempt ended."""
        self.state.store.set(ENDING, why)

    async def answer_file(self) -> bytes | None:
        """Return the content of the answer file in the sandbox, None if there is none.

        It is looked for in the answers folder, then in the working directory, and cut off one byte
        above the largest size that a grader accepts. Spaces stand for a file that is too large.
        """
        most = MAX_BYTES[self.task.shape.suffix] + 1
        for path in (f"{FOLDER}/{self.task.answer_file}", self.task.answer_file):
            # Nobody writes into a pipe, so that reading it would take as long as reading may.
            if not (await sandbox().exec(["test", "-f", path])).success:
                continue
            try:
                data: bytes = await sandbox().read_file(path, text=False)
            except OutputLimitExceededError:
                data = b" " * most
            except (FileNotFoundError, IsADirectoryError, PermissionError, TimeoutError):
                continue
            return data[:most]
        return None

    async def problem(self, data: bytes) -> str | None:
        """Return the grader's message on an invalid answer, checked without the truth, or None."""
        raw = RawAnswer(self.task.answer_file, data)
        checked = await anyio.to_thread.run_sync(check, self.task, raw)
        return checked.message if checked.status == "invalid" else None

    async def packages(self) -> str:
        """Return those packages of our image that the sandbox's Python has, with their versions."""
        done = await sandbox().exec(["python3", "-c", _VERSIONS])
        found = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
        shown = [f"{name} {found[name]}" for name in pinned_versions() if name in found]
        return ", ".join(shown) or "its standard library only"


def shorten_output(text: str, most: int = OUTPUT) -> str:
    """Return a text, of one above ``most`` characters head and tail with advice between them."""
    if len(text) <= most:
        return text
    half = most // 2
    left = wording("shell.long", left=len(text) - 2 * half)
    return f"{text[:half]}\n{left}\n{text[len(text) - half :]}"


async def execute(name: str, text: str, seconds: int = 600) -> tuple[str, int | None]:
    """Run ``text`` with ``bash`` or ``python`` in the sandbox; return its output and exit status.

    Standard error follows standard output. The status is None where the command was killed for its
    time or its output.
    """
    data = text.encode("utf-8", "replace")
    try:
        done = await sandbox().exec(_SHELL[name][0], data, timeout=seconds, timeout_retry=False)
    except TimeoutError:
        return wording("shell.killed", seconds=seconds), None
    except OutputLimitExceededError as error:
        return error.truncated_output or "", None
    return done.stdout + done.stderr, done.returncode


def shell_tool(name: str, budget: int) -> ToolDef:
    """Return the tool ``bash`` or ``python``, which shows ``budget`` characters and the status."""
    member = _SHELL[name][1]

    async def run(**members: Any) -> str:
        output, status = await execute(name, str(members.get(member, "")))
        end = "" if status is None else "\n" + wording("shell.status", code=status)
        return shorten_output(output, budget) + end

    return _tool(name, run, [member], [member])


def _tool(
    name: str, run: Callable[..., Awaitable[str]], members: Sequence[str], needed: Sequence[str]
) -> ToolDef:
    """Return a tool whose arguments ``run`` takes by name, unchecked; ``needed`` are required."""
    parameters = ToolParams(required=list(needed))
    for key in members:
        kind, about = MEMBER_TYPES.get(key, "string"), wording(f"parameters.{key}")
        parameters.properties[key] = JSONSchema(type=kind, description=about)
    return ToolDef(run, name, wording(f"tools.{name}"), parameters, max_output=0)
