"""The complete prompt of a task: what ReplaySCM B.3 shows, in our own words."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_INTRODUCTION: Final = (
    "This is an exact puzzle about a small hidden program. Work from the tables alone; the names "
    "of the variables mean nothing, and their numbers say nothing about causes and effects."
)

_PROGRAM: Final = (
    "Every variable is 0 or 1 and every variable is observed. Three variables are **roots**: their "
    "values come from outside. Each of the others is **endogenous**: its value is computed by one "
    "fixed Boolean formula, its mechanism, from other variables. No mechanism depends on itself, "
    "directly or in a circle. The same mechanisms hold in every world."
)

_WORLDS: Final = (
    "A **world** is a table of rows (units) under one intervention. A variable that is set takes "
    "the value it is given, whatever its mechanism says; everything else follows from the roots "
    "and the mechanisms.\n\n"
    "- `none`: nothing is set.\n"
    "- `hard_constant`: each variable listed is set to one value in all rows.\n"
    "- `hard_assigned`: each variable listed is set row by row to the values in its column."
)

_SCORING: Final = (
    "Your mechanisms are replayed, row by row, on the worlds below and on further worlds of the "
    "same program that you do not see. In a row, variables that are set keep their values, roots "
    "that are not set are copied from the row, and every other variable is computed by your "
    "mechanisms. Only these computed cells are scored. The spelling of a formula does not matter, "
    "only its values."
)

_LANGUAGE: Final = (
    "```\n"
    "formula ::= NAME | (not formula) | (and formula formula ...) | (or formula formula ...)\n"
    "          | (xor formula formula ...) | (iff formula formula ...)\n"
    "```\n\n"
    "`not` takes one argument, the others two or more. `xor` is 1 when an odd number of its "
    "arguments are 1; `iff` is 1 when all its arguments are equal. There are no constants. "
    "Operators are written in lower case, names as in the list of variables. At most 2,000 "
    "operators and names, nested at most 200 deep, are read per formula."
)

_QUESTION: Final[Mapping[str, str]] = {
    "ordered": "Give a mechanism for every endogenous variable. The task is solved when they "
    "reproduce every scored cell, below and in the worlds you do not see.",
    "hidden_roots": "Find the three roots and give a mechanism for every other variable. The task "
    "is solved when the roots are right and the mechanisms reproduce every scored cell, below and "
    "in the worlds you do not see.",
    "alternative": "The reference program above reproduces every scored cell of the worlds below. "
    "Find **another** program that does so too: at least one mechanism must be a different "
    "function (another spelling of the same function does not count). Then show the difference: "
    "choose one variable and a constant to set it to, and values for the roots, such that in this "
    "single row the two programs differ in at least one endogenous variable that is not set.",
}


def write_prompt(inputs: Mapping[str, Any], variant: str, answer_file: str) -> str:
    """The prompt as Markdown, from the task's public inputs alone."""
    kind = variant if variant == "hidden_roots" else "ordered"
    if variant.startswith("alternative"):
        kind = "alternative"
    sections = [
        ("The program", _PROGRAM),
        ("What you know", _known(inputs)),
        ("Worlds", _WORLDS),
        ("Formulas", _LANGUAGE),
    ]
    if inputs.get("reference"):
        sections.append(("Reference program", _reference(inputs["reference"])))
    sections += [
        ("Question", _QUESTION[kind]),
        ("Scoring", _SCORING if kind != "alternative" else _alternative_scoring()),
        ("Answer", _answer(kind, answer_file)),
        ("Tables", _tables(inputs["variables"], inputs["worlds"])),
    ]
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Task\n\n{_INTRODUCTION}\n\n{body}\n"


def _known(inputs: Mapping[str, Any]) -> str:
    lines = [f"Variables: {', '.join(inputs['variables'])}"]
    roots = inputs["roots"]
    if roots is None:
        lines.append("Roots: exactly three of the variables; which ones is not told")
    else:
        others = [name for name in inputs["variables"] if name not in roots]
        lines += [f"Roots: {', '.join(roots)}", f"Endogenous: {', '.join(others)}"]
    if inputs["order"] is not None:
        lines.append(
            f"Causal order: {', '.join(inputs['order'])}; a mechanism may mention earlier "
            "variables only"
        )
    elif inputs["blocks"] is not None:
        blocks = "; ".join("{" + ", ".join(block) + "}" for block in inputs["blocks"])
        lines.append(
            f"Blocks in causal order: {blocks}; a mechanism may mention variables of earlier "
            "blocks and others of its own block (the order inside a block is not told)"
        )
    else:
        lines.append("Causal order: not told; a mechanism may mention any other variable")
    lines.append(
        f"Each mechanism mentions at most {inputs['max_parents']} different variables. This holds "
        "for the hidden program, and an answer that breaks it is invalid, as is one whose "
        "mechanisms refer to each other in a circle"
    )
    return "\n".join(f"- {line}." for line in lines)


def _reference(reference: Mapping[str, str]) -> str:
    lines = "\n".join(f"{name} = {text}" for name, text in reference.items())
    return f"```\n{lines}\n```"


def _alternative_scoring() -> str:
    return (
        "Your mechanisms are replayed, row by row, on the worlds below. In a row, variables that "
        "are set keep their values, roots that are not set are copied from the row, and every "
        "other variable is computed by your mechanisms. Only these computed cells count, and all "
        "of them must be right. Whether two mechanisms are the same function is decided exactly."
    )


_EXAMPLES: Final = {
    "ordered": '{"mechanisms": {"X91": "(or X90 (not X92))", "X93": "(xor X90 X91 X92)"}}',
    "hidden_roots": '{"roots": ["X90", "X92", "X94"], "mechanisms": {"X91": "(or X90 (not X92))", '
    '"X93": "(xor X90 X91 X92)"}}',
    "alternative": '{"mechanisms": {"X91": "(or X90 (not X92))", "X93": "(xor X90 X91 X92)"}, '
    '"intervention": {"variable": "X91", "value": 1}, "witness": {"X90": 0, "X92": 1, "X94": 1}}',
}


def _answer(kind: str, answer_file: str) -> str:
    members = {
        "ordered": "`mechanisms`: one formula for each endogenous variable and for no other",
        "hidden_roots": "`roots`: the three roots; `mechanisms`: one formula for each other "
        "variable and for no root",
        "alternative": "`mechanisms`: all mechanisms of the other program, changed or not; "
        "`intervention`: the variable that is set and its value; `witness`: a value for every "
        "root that is not set",
    }[kind]
    return (
        f"Exactly one JSON object and nothing else, with the members {members}. An example of the "
        f"form only, with variables of another task:\n\n```json\n{_EXAMPLES[kind]}\n```\n\n"
        f"Write it to `{answer_file}`, a file in UTF-8, directly in your answers folder."
    )


def _tables(names: Sequence[str], worlds: Sequence[Mapping[str, Any]]) -> str:
    return "\n\n".join(_table(names, world) for world in worlds)


def _table(names: Sequence[str], world: Mapping[str, Any]) -> str:
    width = max(len(name) for name in names)
    head = " ".join(name.rjust(width) for name in names)
    rows = "\n".join(
        f"u{unit:02d}  " + " ".join(bit.rjust(width) for bit in row)
        for unit, row in enumerate(world["rows"])
    )
    return f"World `{world['id']}`, {_intervention(names, world)}\n\n```\nunit {head}\n{rows}\n```"


def _intervention(names: Sequence[str], world: Mapping[str, Any]) -> str:
    if world["mode"] == "none":
        return "mode `none`"
    if world["mode"] == "hard_assigned":
        return f"mode `hard_assigned`, set row by row: {', '.join(world['targets'])}"
    first = world["rows"][0]
    settings = [f"{name} = {first[list(names).index(name)]}" for name in world["targets"]]
    return f"mode `hard_constant`, set: {', '.join(settings)}"
