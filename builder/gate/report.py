"""The gate's findings and their text, ``GATE.md``: no times and no paths, so that the same release
gives the same bytes. A check either holds or lists its first problems."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.gate.known_answers import CEILING, CEILING_TASKS, FLOOR_TASKS, GUESSES
from builder.gate.leak import LeakReport
from builder.track import Guess
from grader.shape import Variant


@dataclass(frozen=True, slots=True)
class Floor:
    """What uninformed answers to one variant score, in points (0-100): by guess the grader's, and
    the floor's own derivation."""

    split: str
    variant: Variant
    tasks: int
    why: str
    points: Mapping[Guess, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class GateLine:
    """One check: its name, whether it holds, its figure, and the first problems if it fails."""

    check: str
    ok: bool
    figure: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateReport:
    """All findings about a release."""

    lines: tuple[GateLine, ...]
    floors: tuple[Floor, ...] = ()
    leaks: LeakReport | None = None
    compositions: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Every check holds."""
        return all(line.ok for line in self.lines)

    @property
    def markdown(self) -> str:
        """The text of ``GATE.md``."""
        head = "The release passed its gate." if self.ok else "**The release did not pass.**"
        text = ["# Gate", "", head, "", "| check | result | figure |", "|---|---|---|"]
        for line in self.lines:
            text.append(f"| {line.check} | {'ok' if line.ok else '**FAIL**'} | {line.figure} |")
        for line in self.lines:
            if line.problems:
                text += ["", f"## Problems: {line.check}", ""]
                text += [f"- {problem}" for problem in line.problems]
        if self.compositions:
            text += ["", *_COMPOSITION, *self.compositions]
        if self.floors:
            text += ["", *_floor_table(self.floors)]
        if self.leaks is not None:
            text += ["", "## Leak test", "", self.leaks.markdown().rstrip("\n")]
        return "\n".join(text) + "\n"


def line_of(name: str, problems: Iterable[Any], figure: str) -> GateLine:
    """The line of a check that fails where there is a problem."""
    found = first(problems)
    return GateLine(name, not found, figure, tuple(found))


def first(problems: Iterable[Any], limit: int = 5) -> list[str]:
    """The first few problems, and how many more there are."""
    found = [str(problem) for problem in problems]
    more = [f"and {len(found) - limit} more"] if len(found) > limit else []
    return [*found[:limit], *more]


_COMPOSITION: Final = (
    "## Composition",
    "",
    "What was requested, beside what came out, as numbers of instances or tasks.",
    "",
    "| split | track | axis | requested / realised |",
    "|---|---|---|---|",
)


def _floor_table(floors: Sequence[Floor]) -> list[str]:
    lines = [
        "## Floors",
        "",
        "What answers that know nothing score, in points. Each is graded and, independently, "
        "derived from the truths by the variant's published rule; the gate fails when the two "
        "differ, or when a guess at a label or set reaches "
        f"{100 * CEILING['pass']:g} points and a standard error over at least {CEILING_TASKS} "
        f"tasks. Of more than {FLOOR_TASKS} tasks, about as many are drawn by a hash of their ids.",
        "",
        "| split | variant | tasks | constant | random | the constant answer scores |",
        "|---|---|--:|--:|--:|---|",
    ]
    for floor in floors:
        points = " | ".join(f"{floor.points[kind][0]:.1f}" for kind in GUESSES)
        why = floor.why.replace("|", r"\|")
        lines.append(f"| {floor.split} | {floor.variant.key} | {floor.tasks} | {points} | {why} |")
    return lines
