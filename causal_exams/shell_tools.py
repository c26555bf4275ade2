"""bash and python in a sandbox of Inspect, with output that does not fill a model's context."""

from typing import Final

from inspect_ai.tool import ToolDef
from inspect_ai.util import OutputLimitExceededError, sandbox

from causal_exams.words import told

OUTPUT: Final = 10_000
"""Characters of one command's output that a model is shown, half of them from the end (A.15)."""
SECONDS: Final = 600
"""What a command may take."""
_ARGUMENT: Final = 100_000
"""Bytes that the system takes as one argument, with some to spare."""
_SCRIPT: Final = ".script"


def shown(text: str) -> str:
    """Head and tail of a command's output, with the advice to look at less."""
    if len(text) <= OUTPUT:
        return text
    half = OUTPUT // 2
    return "\n".join(
        (text[:half], told("shell.long", left=len(text) - 2 * half), text[len(text) - half :])
    )


async def execute(program: list[str], text: str, seconds: int) -> tuple[str, int | None]:
    """Run ``text`` with ``program -c`` in the sandbox: its output, and its exit status.

    The status is None where the command was killed for its time or could not be started.
    """
    text = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    command = [*program, "-c", text]
    try:
        if len(text.encode("utf-8")) > _ARGUMENT:
            await sandbox().write_file(_SCRIPT, text)
            command = [*program, _SCRIPT]
        done = await sandbox().exec(command, timeout=seconds, timeout_retry=False)
    except TimeoutError:
        return told("shell.killed", seconds=seconds), None
    except OutputLimitExceededError as error:
        return error.truncated_output or "", None
    except (UnicodeDecodeError, PermissionError) as error:
        return told("shell.unusable", error=type(error).__name__), None
    return done.stdout + done.stderr, done.returncode


def _tool(name: str, program: list[str], parameter: str, seconds: int) -> ToolDef:
    async def run(text: str) -> str:
        output, status = await execute(program, text, seconds)
        end = "" if status is None else "\n" + told("shell.status", code=status)
        return shown(output) + end

    async def command(command: str) -> str:
        return await run(command)

    async def code(code: str) -> str:
        return await run(code)

    function = {"command": command, "code": code}[parameter]
    described = {parameter: told(f"parameters.{parameter}")}
    return ToolDef(function, name, told(f"tools.{name}"), described, max_output=0)


def bash(seconds: int = SECONDS) -> ToolDef:
    """The tool ``bash``."""
    return _tool("bash", ["bash"], "command", seconds)


def python(seconds: int = SECONDS) -> ToolDef:
    """The tool ``python``."""
    return _tool("python", ["python3"], "code", seconds)
