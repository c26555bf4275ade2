"""Shapes (the form of an answer), variants (one way of asking a question), and tasks."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from pathlib import Path
from types import EllipsisType
from typing import Any, Final, Literal

from grader.errors import UsageError
from grader.scoring.model import CheckedAnswer, InputMode, Mark, Pool, RawAnswer, Truth

LOSS_CAP: Final = 10.0
"""The cap c on one numeric loss (CausalDS Eq. 3)."""

Kind = Literal[
    "predictions", "sign", "signs", "boolean", "label", "count", "name", "number", "interval",
    "edges", "set", "sets", "names", "units", "quantities", "deduction", "program", "alternative",
    "session",
]  # fmt: skip
"""The sort of thing that an answer is. Whatever depends on it is a ``match`` over all kinds that
ends in ``assert_never``, so that no shape falls through to the rule of another."""


NEVER: Final = ...
"""The abstention of a shape that has none; None cannot say so: ``null`` is an abstention."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How an answer of one form is read and scored: all but what is asked, and by which rule.

    ``name`` is that of its JSON Schema (``schemas/answers/<name>.json``); shapes that end in
    ``_csv`` are CSV files, their schema describes one row; those in ``_jsonl`` are transcripts of
    a laboratory, their schema describes the short form without one. ``field`` is the member of
    the answer that holds the answer proper (and the abstention).

    ``labels`` are the words that may stand in ``field``, the abstention among them, compared after
    trimming and case-folding; besides the equivalents of null any other word is invalid.
    ``abstention`` is what the prompt asks for in ``field`` where the target is not identifiable;
    null and its equivalents then always count too. With :data:`NEVER` nobody may abstain.

    ``check`` turns bytes into a checked answer without looking at the truth; ``score`` marks a
    *committed* answer (validated, not abstaining) to an identifiable target; ``gold`` writes the
    right answer in the answer format. ``merge`` joins repeated attempts at a task where they are
    scored together; elsewhere the first counts. ``verify`` says what of an answer's validity only
    the truth can tell, before it is scored; ``sign`` takes ``(checked, source, key)`` and gives an
    answer after its signatures were compared with the host's key, and the names of the submissions
    whose work it records; ``facts`` are what ``extra_json`` of a score row says of a task whether
    or not it was answered; ``check_inputs`` raises ``ValueError`` for inputs that no answer can be
    read by, and ``check_truth`` for a truth that none can be held against, where their schemas
    alone do not say so. They are functions of a module (or partials of one), so that a task can be
    sent to another process.
    """

    name: str
    kind: Kind
    field: str
    pool: Pool
    metric: str
    check: Callable[["Task", RawAnswer], CheckedAnswer] = member(compare=False)
    score: Callable[["Task", Truth, Any], Mark] = member(compare=False)
    gold: Callable[["Task", Truth], str] = member(compare=False)
    labels: tuple[str, ...] = ()
    abstention: str | bool | EllipsisType | None = NEVER
    input_mode: InputMode = "data"
    merge: Callable[[Sequence[CheckedAnswer]], CheckedAnswer] | None = member(
        default=None, compare=False
    )
    verify: Callable[["Task", Truth, CheckedAnswer], CheckedAnswer] | None = member(
        default=None, compare=False
    )
    sign: Callable[[CheckedAnswer, str, bytes], tuple[CheckedAnswer, frozenset[str]]] | None = (
        member(default=None, compare=False)
    )
    facts: Callable[[Truth], Mapping[str, Any]] | None = member(default=None, compare=False)
    check_inputs: Callable[[Mapping[str, Any]], object] | None = member(default=None, compare=False)
    check_truth: Callable[["Task", Truth], None] | None = member(default=None, compare=False)

    @property
    def abstainable(self) -> bool:
        """True if an answer may abstain."""
        return self.abstention is not NEVER

    @property
    def suffix(self) -> str:
        """The file ending of an answer, with its dot."""
        kind = self.name.rpartition("_")[2]
        return f".{kind}" if kind in ("csv", "jsonl") else ".json"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking: ``name`` in its ``family``, ``rung`` 1 to 3, ``rule`` in words."""

    track: str
    family: str
    name: str
    rung: int
    shape: Shape
    rule: str

    @property
    def key(self) -> str:
        """``family.variant``, unique inside a track."""
        return f"{self.family}.{self.name}"


def read_variants(track: str, table: Path, shapes: Iterable[object]) -> tuple[Variant, ...]:
    """Return the variants in a TOML file of tables ``[family.name]`` with rung, shape and rule.

    ``shapes`` are looked up by name; other values among them are left out, so that the members of a
    module will do. Raises ``UsageError`` for a table that cannot be read so.
    """
    named = {shape.name: shape for shape in shapes if isinstance(shape, Shape)}
    try:
        return tuple(
            Variant(track, family, name, row["rung"], named[row["shape"]], row["rule"])
            for family, rows in tomllib.loads(table.read_text(encoding="utf-8")).items()
            for name, row in rows.items()
        )
    except (tomllib.TOMLDecodeError, KeyError) as error:
        form = "it is TOML, and each row has rung, rule and the name of a shape of shapes.py"
        raise UsageError(f"grader/tracks/{track}/{table.name}: {error}; {form}") from None


@dataclass(frozen=True, slots=True)
class Task:
    """One question, as the public side states it.

    ``spec`` is its variant, ``view`` the observer whose data it comes with. ``answer_schema`` is
    the name of its shape, and ``answer_file`` the task id with the shape's suffix. ``inputs`` are
    the public inputs that checks and scorers read. ``prompt`` is empty where a reader that needs
    none left it out (:meth:`grader.release.release.ReleaseFolder.with_prompts`).
    """

    task_id: str
    instance_id: str
    spec: Variant
    view: str
    input_mode: InputMode
    prompt: str
    answer_schema: str
    answer_file: str
    inputs: Mapping[str, Any]

    @property
    def track(self) -> str:
        """The track it belongs to."""
        return self.spec.track

    @property
    def family(self) -> str:
        """The family of its variant."""
        return self.spec.family

    @property
    def variant(self) -> str:
        """The name of its variant inside the family."""
        return self.spec.name

    @property
    def rung(self) -> int:
        """Association 1, intervention 2, counterfactual 3."""
        return self.spec.rung

    @property
    def shape(self) -> Shape:
        """The form of its answer."""
        return self.spec.shape

    def members(self) -> dict[str, Any]:
        """Return the task's public fields by name, without instance, ``inputs`` and schema."""
        names = ("task_id", "track", "family", "variant", "rung", "view", "input_mode", "prompt")
        return {name: getattr(self, name) for name in (*names, "answer_file")}
