"""From a response to an executable program: the stages of ReplaySCM's Table C.1, one by one.

strict JSON, extracted JSON, schema, keys, parse, legal, acyclic. The first stage that fails names
the answer's reason; a program that passes them all is valid. Of several objects in a response the
first that is valid counts (Table A.3); if none is, the best by form: one that fits the schema
before others, then the longest, then the earliest. Nothing here looks at a truth, and formulas are
never rewritten or repaired.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError
from typing import Any, Final

from grader.errors import Invalid
from grader.io.jsonio import PIECE, BadJson, clip, parse_strict
from grader.io.schemas import first_problem
from grader.scoring.model import CheckedAnswer, RawAnswer, Truth
from grader.scoring.shape import Task
from grader.tracks.replayscm.boolean import Formula, FormulaError, parse, variables
from grader.tracks.replayscm.problem import (
    ROOTS,
    BooleanProgram,
    Problem,
    make_program,
    pack,
    read_problem,
)

MAX_STARTS: Final = 5_000
"""Opening braces that are tried: the first ones of the text."""
MAX_SCANNED: Final = 3 << 20
"""Characters looked at in all, three times the largest answer."""
MAX_PASSES: Final = 100
"""And no more than so often the text's own length: each brace that is never closed costs a pass
over all that follows, which would make the work quadratic."""

_REFUSED: Final = frozenset({"duplicate_key", "non_finite", "huge_number", "too_deep"})
"""Reasons for which an object that is one in form is refused, with all that is in it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An object of a response and its length in characters; ``strict``: there is nothing else."""

    document: dict[str, Any]
    span: int
    strict: bool = False


def candidates(data: bytes) -> Iterator[Candidate]:
    """Yield the complete JSON objects of a response in the order they begin, nested ones too.

    A response that is a JSON string is read as the text in it. Raises ``BadJson`` at the end when
    there was no object, and at once where the response is empty, is no UTF-8, or is one object that
    is refused.
    """
    problem = BadJson("not_object", "JSON, but not an object")
    whole: Any = None
    try:
        whole = parse_strict(data)
    except BadJson as found:
        bare = data.strip().startswith(b"{") and data.strip().endswith(b"}")
        if found.reason in ("encoding", "empty") or (bare and found.reason in _REFUSED):
            raise
        problem = found
    if isinstance(whole, str):
        yield from candidates(whole.encode("utf-8"))
        return
    text = data.decode("utf-8")
    strict = isinstance(whole, dict)
    if strict:
        yield Candidate(whole, len(text), strict=True)
    yield from _search(text, problem, nested=strict)


def _search(text: str, problem: BadJson, *, nested: bool) -> Iterator[Candidate]:
    """Yield the objects in a text, nested ones too, within limits of work.

    With ``nested`` the first brace opens the whole text, an object that is known and left out.
    Raises ``BadJson`` at the end if there is no object: ``problem``, or the last one met.
    """
    budget, behind, found = min(MAX_SCANNED, MAX_PASSES * len(text)), 0, nested
    for place, match in enumerate(re.finditer(r"\{", text)):
        start = match.start()
        if start < behind or (nested and place == 0):
            continue
        end, scanned = _end_of_object(text, start, budget)
        budget -= scanned
        if budget <= 0 or place == MAX_STARTS:
            break
        if end is None:
            continue
        try:
            document = parse_strict(text[start:end].encode("utf-8", errors="replace"))
        except BadJson as bad:
            problem = bad
            if bad.reason in _REFUSED:
                behind = end  # an object, but a bad one: its parts are no answers either
            continue
        found = True
        yield Candidate(document, end - start)
    if not found:
        raise BadJson(problem.reason, f"no complete JSON object: {problem.message}")


def _end_of_object(text: str, start: int, budget: int) -> tuple[int | None, int]:
    """Return the place after the object that opens at ``start`` (``None`` if it does not close
    within ``budget`` characters), and how many characters were read."""
    depth = 0
    limit = start + budget
    for piece in PIECE.finditer(text, start, min(len(text), limit)):
        token = piece.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return piece.end(), piece.end() - start
    return None, min(len(text), limit) - start


STAGES: Final = ("extracted_json", "schema", "keys", "parse", "legal", "acyclic")
"""After ``strict_json``, which stands apart: a response in wrapper text can pass all of these."""
_STAGE_OF: Final = {
    "schema": "schema",
    "wrong_roots": "keys",
    "wrong_variables": "keys",
    "formula": "parse",
    "formula_limit": "parse",
    "illegal_reference": "legal",
    "too_many_variables": "legal",
    "cyclic": "acyclic",
}
"""The stage that an object has not passed, by the reason why it is no answer."""


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """A valid program; if asked, (variable, value) to set and a witness: root to value."""

    problem: Problem
    program: BooleanProgram
    intervention: tuple[str, int] | None = None
    witness: Mapping[str, int] | None = None


def check(task: Task, raw: RawAnswer) -> CheckedAnswer:
    """Run an answer through all stages; ``extra`` of the result has 1 or 0 for each."""
    strict, stage = False, "extracted_json"
    try:
        if raw.data is None:
            raise Invalid(raw.reason, raw.message)
        chosen, found = _select_candidate(task, raw.data)
        strict = chosen.strict
        if isinstance(found, Invalid):
            stage = _STAGE_OF[found.reason]
            raise found
    except Invalid as problem:
        passed, message = _funnel(strict, STAGES.index(stage)), f"{raw.source}: {problem.message}"
        return CheckedAnswer("invalid", reason=problem.reason, message=message, extra=passed)
    told = ""
    if found.intervention and (name := found.intervention[0]) not in found.problem.names:
        told = f"counts as wrong: the intervention's {clip(name)} is no variable of the task"
    return CheckedAnswer("scored", found, message=told, extra=_funnel(strict, len(STAGES)))


def _select_candidate(task: Task, data: bytes) -> tuple[Candidate, ProgramAnswer | Invalid]:
    """Return the first valid object and its answer, else the best by form and why it is none;
    raises ``BadJson`` for a response without an object."""
    failures: list[tuple[Candidate, Invalid]] = []
    for candidate in candidates(data):
        try:
            return candidate, _read_program(task, candidate.document)
        except Invalid as problem:
            failures.append((candidate, problem))
    return max(failures, key=lambda failure: (failure[1].reason != "schema", failure[0].span))


def _funnel(strict: bool, passed: int) -> dict[str, int]:
    """Return 1 for each of the first ``passed`` stages, else 0, and ``strict_json`` beside."""
    return {"strict_json": int(strict)} | {
        stage: int(place < passed) for place, stage in enumerate(STAGES)
    }


def _read_program(task: Task, document: dict[str, Any]) -> ProgramAnswer:
    """Return the valid answer in an object; raises ``Invalid`` at the first stage it fails."""
    problem_text = first_problem(f"answers/{task.shape.name}", document)
    if problem_text is not None:
        raise Invalid("schema", problem_text)
    problem = read_problem(task.inputs)
    roots = problem.roots if problem.roots is not None else _declared_roots(problem, document)
    program = _legal_program(problem, roots, document["mechanisms"])
    if task.shape.kind != "alternative":
        return ProgramAnswer(problem, program)
    given = document["intervention"]
    witness = {root: int(value) for root, value in document["witness"].items()}
    return ProgramAnswer(problem, program, (given["variable"], int(given["value"])), witness)


def _legal_program(
    problem: Problem, roots: tuple[str, ...], mechanisms: Mapping[str, str]
) -> BooleanProgram:
    """Return the program of these roots and mechanisms, or raise ``Invalid`` if not legal."""
    wanted = set(problem.names) - set(roots)
    absent, extra = sorted(wanted - mechanisms.keys()), sorted(mechanisms.keys() - wanted)
    if absent:
        raise Invalid("wrong_variables", f"at /mechanisms: no mechanism for {', '.join(absent)}")
    if extra:
        raise Invalid(
            "wrong_variables",
            f"at /mechanisms: {clip(extra[0])} is a root or no variable of the task; remove it",
        )
    formulas = {}
    for child, text in sorted(mechanisms.items()):
        try:
            formulas[child] = parse(text)
        except FormulaError as error:
            reason = "formula" if error.kind == "syntax" else "formula_limit"
            raise Invalid(reason, f"at /mechanisms/{child}: {error}") from None
    for child, formula in formulas.items():
        _check_legal(problem, child, formula)
    try:
        return make_program(roots, formulas)
    except CycleError as error:
        listed = ", ".join(sorted(set(error.args[1])))
        raise Invalid(
            "cyclic", f"the mechanisms of {listed} depend on a circle; break it"
        ) from None


def check_inputs(inputs: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` for inputs that state no problem, or a reference that is not legal."""
    problem = read_problem(inputs)
    if problem.reference is not None and problem.roots is not None:
        try:
            _legal_program(problem, problem.roots, inputs["reference"])
        except Invalid as failure:
            raise ValueError(f"reference: {failure}") from None


def check_truth(task: Task, truth: Truth) -> None:
    """Raise ``ValueError`` where a hidden program is not legal, or worlds do not fit the task."""
    target, problem = truth.target, read_problem(task.inputs)
    try:
        roots = _declared_roots(problem, target)
        _legal_program(problem, roots, target["gold"])
        pack(problem.names, target["heldout"])
        if "shifted" in target:
            pack(problem.names, target["shifted"]["worlds"])
    except (Invalid, ValueError) as error:
        raise ValueError(f"column target_json: {error}") from None


def _declared_roots(problem: Problem, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ``ROOTS`` different variables that the answer names, or raise ``Invalid``."""
    roots = document["roots"]
    unknown = [name for name in roots if name not in problem.names]
    if unknown or len(roots) != ROOTS or len(set(roots)) != ROOTS:
        raise Invalid(
            "wrong_roots",
            f"at /roots: {clip(roots)} is not {ROOTS} different variables of the task",
        )
    return tuple(roots)


def _check_legal(problem: Problem, child: str, formula: Formula) -> None:
    """Raise ``Invalid`` unless a formula keeps to ``max_parents`` possible parents."""
    where = f"at /mechanisms/{child}"
    mentioned = variables(formula)
    unknown = sorted(mentioned - set(problem.names))
    if unknown:
        raise Invalid(
            "illegal_reference", f"{where}: {clip(unknown[0])} is no variable of the task"
        )
    if child in mentioned:
        raise Invalid("illegal_reference", f"{where}: refers to {child} itself")
    later = sorted(mentioned - problem.possible_parents(child))
    if later:
        raise Invalid("illegal_reference", f"{where}: {later[0]} comes after {child} in the task")
    if len(mentioned) > problem.max_parents:
        raise Invalid(
            "too_many_variables",
            f"{where}: mentions {len(mentioned)} variables; at most {problem.max_parents}",
        )
