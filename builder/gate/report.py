"""The gate's findings and their text, ``GATE.md``: no times and no paths, so that the same release
gives the same bytes. A check either holds or lists its first problems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.gate.leak import LeakReport
from builder.release.floors import SAMPLE, FloorRow
from builder.stories.texts import markdown_table
from grader.io.printing import plural, printable
from grader.pages.words import clip_text

_BEGINNING: Final = 60
LISTED: Final = 5
"""Problems of a check that a report lists."""


@dataclass(frozen=True, slots=True)
class GateLine:
    """One check: name, result, what was measured, first problems, whether anything was tested."""

    check: str
    ok: bool
    figure: str
    problems: tuple[str, ...] = ()
    is_tested: bool = True


@dataclass(frozen=True, slots=True)
class GateReport:
    """All findings about a release.

    ``floors`` are those of splits with public truth, ``compositions`` cells of a table. These and
    ``leaks`` are absent where an early check failed and ended the gate.
    """

    lines: tuple[GateLine, ...]
    floors: tuple[FloorRow, ...] = ()
    leaks: LeakReport | None = None
    compositions: tuple[tuple[str, ...], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(line.ok for line in self.lines)

    @property
    def markdown(self) -> str:
        """The text of ``GATE.md``."""
        head = "The release passed its gate." if self.ok else "**The release did not pass.**"
        text = ["# Gate", "", head, "", "| check | result | figure |", "|---|---|---|"]
        for line in self.lines:
            result = "**FAIL**" if not line.ok else "ok" if line.is_tested else "not tested"
            text.append(f"| {line.check} | {result} | {_one_line(line.figure)} |")
        for line in self.lines:
            if line.problems:
                text += ["", f"## Problems: {line.check}", ""]
                text += [f"- {_one_line(problem)}" for problem in line.problems]
        if self.compositions:
            columns = ("split", "track", "axis", "requested / realised")
            rows = [[*map(_one_line, row)] for row in self.compositions]
            text += ["", markdown_table("Composition of instances and tasks", columns, rows)]
        if self.floors:
            text += ["", _floor_table(self.floors)]
        if self.leaks is not None:
            text += ["", self.leaks.markdown().rstrip("\n")]
        return "\n".join(text) + "\n"


def _one_line(text: str) -> str:
    """Return text with words of a release, which may be a stranger's, as one line without tags."""
    return printable(text).replace("<", "\\<")


def line_of(name: str, problems: Iterable[Any], figure: str) -> GateLine:
    """Return the line of a check, which holds if there is no problem. Else it lists the first
    ``LISTED``, and their number and beginning stand in place of ``figure``."""
    found = [str(problem) for problem in problems]
    if found:
        figure = f"{plural(len(found), 'problem')} (below): {clip_text(found[0], _BEGINNING)}"
    more = [f"and {len(found) - LISTED} more"] if len(found) > LISTED else []
    return GateLine(name, not found, figure, (*found[:LISTED], *more))


def _floor_table(floors: Sequence[FloorRow]) -> str:
    """Return the section on floors: the best constant answer to each variant, its points (0 to 100)
    on a public twin, and what it earns on the release's own tasks."""
    title = f"Floors, on a public twin and on at most about {SAMPLE} own tasks a variant"
    head = ("split", "variant", "answer", "floor", "tasks", "own", "tasks")
    rows = []
    for row in floors:
        points = (f"{100 * row.points:.1f}", str(row.tasks), f"{100 * row.own:.1f}")
        rows.append((row.split, row.variant, row.answer, *points, str(row.own_tasks)))
    return markdown_table(title, head, rows)
