"""The tools that a model may be offered: bash and python in a sandbox, and the laboratory's.

Of a command's output a model is shown what does not fill its context.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

from inspect_ai.tool import ToolDef, ToolParams
from inspect_ai.util import JSONSchema, OutputLimitExceededError, sandbox

from causal_exams.laboratory.session import OPERATIONS, TOOLS, Session
from causal_exams.words import told
from grader.io.jsonio import canonical

OUTPUT: Final = 10_000
"""Characters of one command's output that a model is shown, half of them from the end (A.15)."""
SECONDS: Final = 600
"""What a command may take."""
_ARGUMENT: Final = 100_000
"""Bytes that the system takes as one argument, with some to spare."""
_SCRIPT: Final = ".script"
_SHELL: Final[Mapping[str, tuple[str, str]]] = {
    "bash": ("bash", "command"),
    "python": ("python3", "code"),
}
"""Tool to the program that it runs, and the name of its one member."""
_TYPES: Final[Mapping[str, Literal["string", "number", "object"]]] = {
    "command": "string", "code": "string", "name": "string", "value": "number",
    "record": "object", "hypothesis": "object",
}  # fmt: skip

Members = Mapping[str, Any]


def shown(text: str) -> str:
    """Return head and tail of a command's output, with the advice to look at less."""
    if len(text) <= OUTPUT:
        return text
    half = OUTPUT // 2
    return "\n".join(
        (text[:half], told("shell.long", left=len(text) - 2 * half), text[len(text) - half :])
    )


async def execute(program: str, text: str, seconds: int) -> tuple[str, int | None]:
    """Run ``text`` with ``program -c`` in the sandbox; return its output and its exit status.

    The status is None where the command was killed for its time or could not be started.
    """
    text = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    command = [program, "-c", text]
    try:
        if len(text.encode("utf-8")) > _ARGUMENT:
            await sandbox().write_file(_SCRIPT, text)
            command = [program, _SCRIPT]
        done = await sandbox().exec(command, timeout=seconds, timeout_retry=False)
    except TimeoutError:
        return told("shell.killed", seconds=seconds), None
    except OutputLimitExceededError as error:
        return error.truncated_output or "", None
    except (UnicodeDecodeError, PermissionError) as error:
        return told("shell.unusable", error=type(error).__name__), None
    return done.stdout + done.stderr, done.returncode


def shell_tool(name: str) -> ToolDef:
    """Return the tool ``bash`` or ``python``."""
    program, member = _SHELL[name]

    async def run(members: Members) -> str:
        output, status = await execute(program, str(members.get(member, "")), SECONDS)
        end = "" if status is None else "\n" + told("shell.status", code=status)
        return shown(output) + end

    return _tool(name, run, [member], [member])


def laboratory_tools(session: Session, *, recorded: bool = False) -> list[ToolDef]:
    """Return the tools of one session.

    What is wrong with an argument is answered and logged by the laboratory. With ``recorded``
    every intervention comes with the step's record, which is checked first: a record that is
    refused makes no intervention. The third record that does not parse is the step's recorded
    parse failure (CausaLab A.5), and the experiment is made all the same.
    """

    def use(name: str, members: Members) -> Mapping[str, Any]:
        if recorded and name == "intervene":
            reply = session.use("hypothesise", members)
            if not reply["ok"] and session.laboratory.transcript[-1]["event"] == "reprompt":
                return reply
        return session.use(name, members)

    def tool(name: str) -> ToolDef:
        async def run(members: Members) -> str:
            return canonical(use(name, members))

        needed, optional = OPERATIONS[TOOLS[name]]
        if recorded:
            needed, optional = (*needed, *optional), ()
            needed = ("record", *needed) if name == "intervene" else needed
        return _tool(name, run, (*needed, *optional), needed)

    return [tool(name) for name in TOOLS]


def _tool(
    name: str,
    work: Callable[[Members], Awaitable[str]],
    members: Sequence[str],
    needed: Sequence[str],
) -> ToolDef:
    """Return a tool whose arguments reach ``work`` as they are."""

    async def execute(**kwargs: Any) -> str:
        return await work(kwargs)

    described = {
        key: JSONSchema(type=_TYPES[key], description=told(f"parameters.{key}")) for key in members
    }
    parameters = ToolParams(properties=described, required=list(needed))
    return ToolDef(execute, name, told(f"tools.{name}"), parameters, max_output=0)
