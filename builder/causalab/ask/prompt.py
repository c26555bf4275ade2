"""The text of a task: the laboratory explained, then everything the agent is told.

The prompt is a function of the public side alone, so it cannot say more than that. Its texts stand
in ``prompt.toml``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from builder.texts import Texts

_TEXTS: Final = Texts(__file__)

MODE_SENTENCES: Final[Mapping[str, str]] = _TEXTS["mode"]
"""What an intervention does, in one sentence per mode."""

Rows = Sequence[tuple[str, Mapping[str, float]]]


def write_prompt(public: Mapping[str, Any], task_id: str, answer_file: str) -> str:
    """The whole prompt of an episode."""
    fields = _fields(public) | {"task_id": task_id, "answer_file": answer_file}
    acts = "may_act" if public["frequency_may_be_parent"] else "may_not_act"
    experiments = "experiments" if public["budget"] else "no_experiments"
    return "\n\n".join(
        [
            *(_TEXTS(name, **fields).strip("\n") for name in ("law", acts)),
            *_told(public, fields),
            *(_TEXTS(name, **fields) for name in (experiments, "answer")),
        ]
    )


def _fields(public: Mapping[str, Any]) -> dict[str, object]:
    """What the texts name, by the name they use."""
    family = public["family"]
    names = [entry["name"] for entry in public["variables"]]
    free = [entry for entry in public["variables"] if entry["controllable"]]
    fixed = [entry["name"] for entry in public["variables"] if not entry["controllable"]]
    low, high = public["reactor_range"]
    fields: dict[str, object] = {
        "names": ", ".join(names),
        "first": names[0],
        "second": names[1],
        "target": public["target"]["name"],
        "form": _TEXTS(f"form.{family}", target=public["target"]["name"]),
        "mode": MODE_SENTENCES[public["mode"]],
        "low": _number(low),
        "high": _number(high),
        "tolerance": _number(public["tolerance"]),
        "budget": public["budget"],
        "free": ", ".join(entry["name"] for entry in free),
        "settable": free[0]["name"],
        "lowest": _number(free[0]["low"]),
        "highest": _number(free[0]["high"]),
        "fixed": ", ".join(fixed),
        "shifts": _any_of([_number(value) for value in public["shifts"]]),
    }
    for name in ("equation", "numbers", "terms"):
        fields[name] = _TEXTS(f"{name}.{family}", **fields)
    fields["hypothesis"] = _TEXTS("hypothesis", **fields)
    optional = {
        "barred": fixed,
        "held": public["mode"] == "do",
        "hidden": public["shifts"],
        "intervene": public["budget"],
        "short": not public["budget"],
        "sink": not public["frequency_may_be_parent"],
    }
    for name, said in optional.items():
        fields[name] = _TEXTS(name, **fields) if said else ""
    return fields


def _told(public: Mapping[str, Any], fields: Mapping[str, object]) -> list[str]:
    """What is known: each text with the table under it."""
    names = [entry["name"] for entry in public["variables"]]
    nodes = [*names, public["target"]["name"]]
    records = [(f"{i}", record) for i, record in enumerate(public["records"], start=1)]
    chain = [
        (f"{step['set']['name']} = {_number(step['set']['value'])}", step["reading"])
        for step in public["chain"]
    ]
    opening = [] if public["opening"] is None else [("opening", public["opening"])]
    tables: Mapping[str, tuple[Sequence[str], Rows]] = {
        "records": (nodes, records),
        "chain": (nodes, chain),
        "opening": (nodes, opening),
        "reactor": (names, [("reactor", public["reactor"])]),
    }
    parts = [] if records else [_TEXTS["no_records"]]
    for name, (columns, rows) in tables.items():
        if rows:
            parts += [_TEXTS(name, **fields), _table(columns, rows)]
    return parts


def _table(nodes: Sequence[str], rows: Rows) -> str:
    lines = [f"| | {' | '.join(nodes)} |", "|---" * (len(nodes) + 1) + "|"]
    lines += [f"| {head} | {' | '.join(_number(row[n]) for n in nodes)} |" for head, row in rows]
    return "\n".join(lines)


def _any_of(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
