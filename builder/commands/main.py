"""The command line of ``build_dataset.py``: its commands, run as the grader runs its own."""

from collections.abc import Sequence
from typing import Final

from grader.commands import main as cli
from grader.commands.main import Program

PROGRAM: Final = "python build_dataset.py"
COMMANDS: Final = {
    "build": "build a release from a split file",
    "plan": "show what a split file asks for; needs no secret",
    "check": "run the gate over a finished release",
    "diff": "what changed between two releases, per column",
    "inspect": "how a release was generated; of a scene graph, equations, truths, tables",
    "exam": "draw another exam from a release that is built",
    "publish": "send a checked release to the Hub; only what changed travels",
    "new-secret": "print a new secret of 256 random bits",
    "new-domain": "begin a story domain of your own, a file to fill in; or check such files",
    "new-variant": "begin a question on scenes: the pieces of every file that it needs",
    "import-causalds": "turn a checkout of the public causalds exam into a release",
}
_EXAMPLES: Final = f"""examples:
  {PROGRAM} build splits/mini.toml --out release
  {PROGRAM} plan splits/mini.toml
  {PROGRAM} check release
  {PROGRAM} diff release-a release-b
  {PROGRAM} inspect release dev/0
  {PROGRAM} publish release --repo org/exams --dry-run
  {PROGRAM} new-secret > ~/.causal-exams-secret

exit codes: 0 done; 1 a gate failed or releases differ; 2 unusable input; 3 a bug of ours;
130 interrupted
"""

BUILDER: Final = Program(
    PROGRAM,
    {"builder.commands": COMMANDS},
    examples=_EXAMPLES,
    interrupted="interrupted; finished parts are kept: run the same command again to go on",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in ``arguments`` (default: the process's own) and return its exit code."""
    return cli.main(arguments, BUILDER)
