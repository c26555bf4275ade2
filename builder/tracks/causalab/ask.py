"""The prompt of a task, a function of its public side alone, and its constant answers.

The texts stand in ``ask.toml``. Sessions without experiments follow from what the agent is told, so
no laboratory is needed to write one.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import Any, Final

from builder.splits.track import InstanceSpec
from builder.stories.texts import Texts
from builder.tracks.causalab.plan import MOST_OF_THREE, EpisodeSettings, GraphPlan
from grader.io.jsonio import canonical_json
from grader.laboratory.hypothesis import write_hypothesis
from grader.laboratory.session import ENGINE_VERSION
from grader.laboratory.transcript import seal, write_line
from grader.scoring.model import Truth
from grader.scoring.shape import Task

_TEXTS: Final = Texts(__file__)

MODE_SENTENCES: Final[Mapping[str, str]] = _TEXTS["mode"]

_TableRows = Sequence[tuple[str, Mapping[str, float]]]


def write_prompt(public: Mapping[str, Any], task_id: str, answer_file: str) -> str:
    """Return the whole prompt of an episode, as Markdown, from its public side."""
    fields = _fields(public) | {"task_id": task_id, "answer_file": answer_file}
    acts = "may_act" if public["frequency_may_be_parent"] else "may_not_act"
    experiments = "experiments" if public["budget"] else "no_experiments"
    return "\n\n".join(
        [
            *(_TEXTS(name, **fields).strip("\n") for name in ("law", acts)),
            *_known_parts(public, fields),
            *(_TEXTS(name, **fields) for name in (experiments, "answer")),
        ]
    )


def _fields(public: Mapping[str, Any]) -> dict[str, object]:
    """Return the values of the slots of the texts, by name."""
    family = public["family"]
    names = [entry["name"] for entry in public["variables"]]
    free = [entry for entry in public["variables"] if entry["controllable"]]
    fixed = [entry["name"] for entry in public["variables"] if not entry["controllable"]]
    low, high = public["reactor_range"]
    shifts = [_number(value) for value in public["shifts"] or ()]
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
        "shifts": " or ".join(filter(None, [", ".join(shifts[:-1]), *shifts[-1:]])),
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


def _known_parts(public: Mapping[str, Any], fields: Mapping[str, object]) -> list[str]:
    """Return the parts on records, trace, opening and reactor that exist, each with its table."""
    names = [entry["name"] for entry in public["variables"]]
    nodes = [*names, public["target"]["name"]]
    records = [(f"{i}", record) for i, record in enumerate(public["records"], start=1)]
    chain = [
        (f"{step['set']['name']} = {_number(step['set']['value'])}", step["reading"])
        for step in public["chain"]
    ]
    opening = [] if public["opening"] is None else [("opening", public["opening"])]
    tables: Mapping[str, tuple[Sequence[str], _TableRows]] = {
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


def _table(nodes: Sequence[str], rows: _TableRows) -> str:
    """Return a Markdown table: a column a node, a row for each head with its reading by node."""
    lines = [f"| | {' | '.join(nodes)} |", "|---" * (len(nodes) + 1) + "|"]
    lines += [f"| {head} | {' | '.join(_number(row[n]) for n in nodes)} |" for head, row in rows]
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def twin(config: EpisodeSettings, tasks: int) -> EpisodeSettings:
    """Return the settings of floors: matched suites of ``tasks`` graphs a size, bounded."""
    return config.model_copy(update={"graphs": min(tasks, MOST_OF_THREE), "per_suite": 0})


def variants_of(spec: InstanceSpec) -> list[str]:
    """Return the variant of each episode of a graph, in the order of its plan."""
    return [suite.variant for suite, _ in GraphPlan.from_json(spec.config_json).episodes]


def constants(task: Task, _: Truth) -> Iterator[tuple[str, str]]:
    """Yield name and transcript of constant answers: a fixed graph and number, no experiment."""
    target = task.inputs["target"]["name"]
    names = [entry["name"] for entry in task.inputs["variables"]]
    chain, star = list(pairwise([*names, target])), [(name, target) for name in names]
    graphs: dict[str, list[tuple[str, str]]] = {
        "no edge": [],
        "every property acts on the target": star,
        "a chain": chain,
        "a chain and every property on the target": list(dict.fromkeys([*chain, *star])),
        "every pair forwards": list(combinations([*names, target], 2)),
    }
    for (graph, edges), frequency in product(graphs.items(), (0.0, 50.0, 100.0, 200.0)):
        causes = {cause: (1.0, 0.0) for cause, effect in edges if effect == target}
        stated = write_hypothesis(target, "linear", edges, frequency, causes)
        yield f"{graph}, always {frequency:g}", _transcript(task, stated, frequency)


def _transcript(task: Task, hypothesis: Mapping[str, Any], prediction: float) -> str:
    """Return a session that states a hypothesis and predicts, each line sealed by a digest."""
    inputs = task.inputs
    told = canonical_json({"task_id": task.task_id, "public": inputs})
    events: list[dict[str, Any]] = [
        {
            "event": "opened",
            "engine": ENGINE_VERSION,
            "task_id": task.task_id,
            "episode": hashlib.sha256(told.encode("utf-8")).hexdigest(),
            "submission": "",
            "mode": inputs["mode"],
            "budget": inputs["budget"],
            "opening": inputs["opening"],
        },
        {"event": "hypothesis", "step": 0, "record": hypothesis},
        {"event": "reactor", "properties": inputs["reactor"]},
        {"event": "prediction", "value": prediction},
        {"event": "closed", "lines": 5},
    ]
    text = digest = ""
    for index, event in enumerate(events):
        line = seal({"index": index, **event}, digest, None)
        digest = line["digest"]
        text += write_line(line)
    return text
