"""The text of a task: the laboratory explained, then everything the agent is told.

The prompt is a function of the public side alone, so it cannot say more than that.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grader.laboratory.model import Mode

MODE_SENTENCES: Final[Mapping[Mode, str]] = {
    "shift": (
        "Setting a property to v makes v its own base from then on: what its causes add still "
        "comes on top, so it shows v only if nothing acts on it."
    ),
    "pin": (
        "Setting a property to v changes its own base so that it shows v at that moment: its "
        "causes keep acting, so later settings of them move it again."
    ),
    "do": (
        "Setting a property to v holds it at v from then on: its causes no longer act on it, "
        "while it goes on acting on others."
    ),
}
"""What an intervention does, in one sentence per mode (paper, section 3.2, for ``shift``)."""

_FORMS: Final[Mapping[str, str]] = {
    "linear": "each of its causes P adds w·P, with a coefficient w for that pair",
    "quadratic": "each of its causes P adds u·P² + w·P, with coefficients u and w for that pair",
}


def write_prompt(public: Mapping[str, Any], task_id: str, answer_file: str) -> str:
    """The whole prompt of an episode."""
    parts = [
        "# A laboratory of crystals",
        _law(public),
        _acts(public),
        _told(public),
        _experiments(public) if public["budget"] else _no_experiments(),
        _answer(public, task_id, answer_file),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _law(public: Mapping[str, Any]) -> str:
    names = ", ".join(entry["name"] for entry in public["variables"])
    return (
        f"All crystals here obey one hidden law. A crystal has the properties {names} and a "
        f"{public['target']['name']}. Each of these is its own base plus what its causes add: "
        f"{_FORMS[public['family']]}. Which of them act on which, the coefficients and the base "
        "of frequency are the same for every crystal; the bases of the properties differ from "
        "crystal to crystal. Nothing acts on itself, directly or through others. Every value is "
        "rounded to 2 decimals, and what it adds to others is computed from the rounded value."
    )


def _acts(public: Mapping[str, Any]) -> str:
    if public["frequency_may_be_parent"]:
        return "Frequency may act on properties."
    return "Frequency acts on nothing."


def _told(public: Mapping[str, Any]) -> str:
    nodes = [*(entry["name"] for entry in public["variables"]), public["target"]["name"]]
    lines = ["## What is known"]
    if public["records"]:
        lines += ["Earlier measurements, each of another crystal:", ""]
        lines += _table(nodes, [(f"{i}", r) for i, r in enumerate(public["records"], start=1)])
    else:
        lines += ["There are no earlier measurements."]
    if public["chain"]:
        lines += [
            "",
            "On the crystal of measurement 1 somebody then made these settings, one after the "
            f"other, each staying in force. {MODE_SENTENCES[public['mode']]}",
            "",
        ]
        steps = [
            (f"{step['set']['name']} = {_number(step['set']['value'])}", step["reading"])
            for step in public["chain"]
        ]
        lines += _table(nodes, steps)
    if public["opening"] is not None:
        lines += ["", "The crystal in the manipulator, before anything is set:", ""]
        lines += _table(nodes, [("opening", public["opening"])])
    lines += ["", "The crystal in the reactor, whose frequency is not shown:", ""]
    lines += _table(nodes[:-1], [("reactor", public["reactor"])])
    return "\n".join(lines)


def _table(nodes: Sequence[str], rows: Sequence[tuple[str, Mapping[str, float]]]) -> list[str]:
    lines = [f"| | {' | '.join(nodes)} |", "|---" * (len(nodes) + 1) + "|"]
    lines += [f"| {head} | {' | '.join(_number(row[n]) for n in nodes)} |" for head, row in rows]
    return lines


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _experiments(public: Mapping[str, Any]) -> str:
    free = [entry for entry in public["variables"] if entry["controllable"]]
    low, high = _number(free[0]["low"]), _number(free[0]["high"])
    others = [entry["name"] for entry in public["variables"] if not entry["controllable"]]
    barred = f" {', '.join(others)} cannot be set." if others else ""
    hidden = (
        " After each setting a hidden influence may shift some of the values; it does not stay, "
        "and neither the measurements above nor the reactor crystal have it."
        if public["disturbed"]
        else ""
    )
    return (
        "## Experiments\n\n"
        f"You can make up to {public['budget']} settings on the crystal in the manipulator: "
        f"{', '.join(entry['name'] for entry in free)}, each to a number from {low} to {high}."
        f"{barred} {MODE_SENTENCES[public['mode']]} Settings stay in force; after each, all "
        f"values are shown.{hidden} Once the reactor is opened, or a prediction is made, "
        "experimenting is over."
    )


def _no_experiments() -> str:
    return "## Experiments\n\nNone can be made: what is known above is all there is."


def _answer(public: Mapping[str, Any], task_id: str, answer_file: str) -> str:
    low, high = (_number(value) for value in public["reactor_range"])
    target = public["target"]["name"]
    names = [entry["name"] for entry in public["variables"]]
    first, second = names[0], names[1]
    if public["family"] == "linear":
        equation = f"base + c_{first}*{first}"
        numbers = f'{{"base": 12, "c_{first}": 1.5}}'
    else:
        equation = f"base + c2_{first}*{first}^2 + c_{first}*{first}"
        numbers = f'{{"base": 12, "c2_{first}": 0.01, "c_{first}": -1}}'
    lines = [
        "## Answer",
        "",
        f"Predict the {target} of the reactor crystal: one number from {low} to {high}, right if "
        f"at most {_number(public['tolerance'])} off. Only one prediction is taken. Say with it "
        "which law you believe in: all edges, and the equation of frequency.",
        "",
        f"Work in the laboratory (`python -m harness lab {task_id} --transcript {answer_file}`, or "
        "the tools you were given). It reads one JSON object a line:",
        "",
    ]
    hypothesis = (
        f'{{"edges": [{{"from": "{second}", "to": "{first}"}}, '
        f'{{"from": "{first}", "to": "{target}"}}], '
        f'"freq_equation": "{equation}", "coefficients": {numbers}}}'
    )
    requests = []
    if public["budget"]:
        free = next(entry["name"] for entry in public["variables"] if entry["controllable"])
        requests.append(f'{{"op": "intervene", "name": "{free}", "value": 40}}')
    requests += [
        f'{{"op": "hypothesis", "record": {{"hypothesis": {hypothesis}}}}}',
        '{"op": "reactor"}',
        f'{{"op": "predict", "value": 123.4, "hypothesis": {hypothesis}}}',
    ]
    lines += ["```", *requests, "```", ""]
    lines.append(
        f"The transcript it writes is your answer: `{answer_file}`. Hypotheses may be stated at "
        "any step and are scored as a trajectory; the last one counts."
    )
    if not public["budget"]:
        lines.append(
            "Since there is nothing to set, the file may instead hold one line "
            '`{"prediction": 123.4, "hypothesis": {…}}`.'
        )
    return "\n".join(lines)
