"""The prompt of a task (ReplaySCM B.3), in the words of ``ask.toml``, and its constant answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from builder.stories.texts import Texts
from builder.tracks.replayscm.plan import ProgramSettings
from grader.io.jsonio import canonical_json
from grader.scoring.model import Truth
from grader.scoring.shape import Task, Variant

_TEXTS: Final = Texts(__file__)


def write_prompt(inputs: Mapping[str, Any], variant: Variant, answer_file: str) -> str:
    """Return the prompt as Markdown, from the task's public inputs alone."""
    kind = variant.name if variant.name == "hidden_roots" else "program"
    if variant.family == "alternative":
        kind = "alternative"
    sections = [
        ("The program", _TEXTS["program"]),
        ("What you know", _disclosure_text(inputs)),
        ("Worlds", _TEXTS["worlds"]),
        ("Formulas", _TEXTS["formulas"]),
    ]
    if inputs.get("reference"):
        lines = "\n".join(f"{name} = {text}" for name, text in inputs["reference"].items())
        sections.append(("Reference program", f"```\n{lines}\n```"))
    told = {name: _TEXTS(f"answer.{name}.{kind}") for name in ("members", "example")}
    settled = kind if kind == "alternative" else f"{kind}_{'yes' if inputs['determined'] else 'no'}"
    sections += [
        ("Question", _TEXTS(f"question.{kind}")),
        ("Scoring", _TEXTS(f"scoring.{kind}")),
        ("Do the tables determine the answer?", _TEXTS(f"determined.{settled}")),
        ("Answer", _TEXTS("answer.text", answer_file=answer_file, **told)),
        ("Tables", "\n\n".join(_table(inputs["variables"], world) for world in inputs["worlds"])),
    ]
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Task\n\n{_TEXTS['introduction']}\n\n{body}\n"


def _disclosure_text(inputs: Mapping[str, Any]) -> str:
    """Return the Markdown list of what is disclosed and hidden, then what breaks these rules."""
    names, roots = inputs["variables"], inputs["roots"]
    told: dict[str, object] = {"variables": ", ".join(names)}
    if roots is None:
        told["roots_hidden"] = ""
    else:
        told["roots"] = ", ".join(roots)
        told["endogenous"] = ", ".join(name for name in names if name not in roots)
    if inputs["order"] is not None:
        told["order"] = ", ".join(inputs["order"])
    elif inputs["blocks"] is not None:
        told["blocks"] = "; ".join("{" + ", ".join(block) + "}" for block in inputs["blocks"])
    else:
        told["order_hidden"] = ""
    told["max_parents"] = inputs["max_parents"]
    lines = (f"- {_TEXTS(f'known.{key}', value=value)}." for key, value in told.items())
    return "\n".join([*lines, "", _TEXTS("known.rules")])


def _table(names: Sequence[str], world: Mapping[str, Any]) -> str:
    """Return one world as Markdown: its intervention, then a table with a row for each unit."""
    width = max(len(name) for name in names)
    head = " ".join(name.rjust(width) for name in names)
    rows = "\n".join(
        f"u{unit:02d}  " + " ".join(bit.rjust(width) for bit in row)
        for unit, row in enumerate(world["rows"])
    )
    told = f"mode `{world['mode']}`"
    if world["mode"] == "hard_assigned":
        told += f", set row by row: {', '.join(world['targets'])}"
    elif world["mode"] == "hard_constant":
        first = dict(zip(names, world["rows"][0], strict=True))
        told += f", set: {', '.join(f'{name} = {first[name]}' for name in world['targets'])}"
    return f"World `{world['id']}`, {told}\n\n```\nunit {head}\n{rows}\n```"


_FORMULAS: Final = {
    "the first root": "{0}",
    "not the first root": "(not {0})",
    "0": "(xor {0} {0})",
    "1": "(iff {0} {0})",
    "the first two roots, both": "(and {0} {1})",
    "the first two roots, either": "(or {0} {1})",
    "the first two roots, one": "(xor {0} {1})",
}


def twin(config: ProgramSettings, tasks: int) -> ProgramSettings:
    """Return the floors' settings: ``tasks`` records a pool, their worlds not chosen with care."""
    quick = replace(
        config.generation, proposals=8, survivor_reduction=(0.0, 1.0), disambiguation=False
    )
    return ProgramSettings(per_pool=tasks, generation=quick)


def constants(task: Task, _: Truth) -> Iterator[tuple[str, str]]:
    """Yield name and text of answers whose mechanisms are all one formula of the first roots."""
    names = list(task.inputs["variables"])
    roots = list(task.inputs["roots"] or names[:3])
    children = [name for name in names if name not in roots]
    for name, formula in _FORMULAS.items():
        text = formula.format(*roots)
        answer: dict[str, Any] = {"mechanisms": dict.fromkeys(children, text)}
        if task.shape.kind == "alternative":
            last = {**task.inputs["reference"], children[-1]: text}
            witness = dict.fromkeys(roots[1:], 0)
            experiment = {"variable": roots[0], "value": 1}
            answer = {"mechanisms": last, "intervention": experiment, "witness": witness}
        elif task.shape.name == "roots_mechanisms":
            answer["roots"] = roots
        yield f"always {name}", canonical_json(answer)
