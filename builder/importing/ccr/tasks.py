"""Contexts and samples of the public ccr reference as a release: one task per context and pair.

The imported samples are the units. Their weights are post-stratified: each cell of (effect under
do(cause true), effect under do(cause false)) has its exact probability, shared by the samples in
it, so that right answers give the exact quantities.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from builder.ccr.ask.text import simulation_prompt
from builder.ccr.ask.themes import Words
from builder.ccr.make.graph import CutTree, Pair, cut_tree, distance
from builder.ccr.make.model import BooleanContext, evaluate
from builder.ccr.make.quantities import Quantities, exact_quantities, responses
from builder.ccr.make.units import CELLS, cell_probabilities
from builder.ccr.plan.contexts import TRACK_NAME
from builder.ccr.rows import PREFIX, answer_bits, fractions
from builder.importing.release import Config, ImportedSplit, Source, finish, grouped, write_release
from builder.release.rows import TrueValue, task_row, truth_row
from builder.release.schemas import TRUTH
from builder.seeds import public_id
from builder.track import DrawnExam, Row
from grader.spec import variant

SPLIT: Final = "imported"
EXAM: Final = "imported"
PAIR: Final = variant(TRACK_NAME, "simulation.pair")

SOURCE: Final = Source(
    release="ccr-reference",
    version="1",
    title="CCR reference contexts (imported)",
    about="Contexts and samples of the public compositional-reasoning reference's raw tables. "
    "Their functions were read from the sentences, and every truth was recomputed exactly.",
    licence="other",
    licence_text="The texts of contexts and samples keep the licence of the imported tables.",
)


@dataclass(frozen=True, slots=True)
class ImportedContext:
    """A context: its name, theme, model, the published text, and its samples in order.

    ``samples`` are (bits by node in node order, the published text).
    """

    name: str
    theme: str
    model: BooleanContext
    text: str
    samples: Sequence[tuple[Sequence[bool], str]]


def write_contexts(
    contexts: Sequence[ImportedContext], out: Path, beside: Mapping[str, str]
) -> tuple[int, Counter[str]]:
    """Write the release, with the files ``beside`` it; the number of tasks, and what is left out.

    A pair is left out where no sample falls into a cell that has a probability.
    """
    tasks: list[Row] = []
    truths: list[Row] = []
    left_out: Counter[str] = Counter()
    for context in contexts:
        for task, truth in _pairs(context, left_out):
            tasks.append(task)
            truths.append(truth)
    order = tuple(str(task["task_id"]) for task in tasks)
    split = ImportedSplit(
        name=SPLIT,
        track=TRACK_NAME,
        seed="as published",
        configs={f"{TRACK_NAME}_truth": Config(TRUTH, grouped(truths, ["task_id"]))},
        exams={EXAM: DrawnExam(order)},
        tasks=tasks,
        structures=Counter(str(truth["structure"]) for truth in truths),
        left_out=left_out,
    )
    write_release(out, SOURCE, [split])
    for name, text in beside.items():
        (out.with_name(out.name + ".unfinished") / name).write_text(text, encoding="utf-8")
    finish(out)
    return len(tasks), left_out


def _pairs(context: ImportedContext, left_out: Counter[str]) -> list[tuple[Row, Row]]:
    tree = cut_tree(context.model.dag)
    quantities = exact_quantities(context.model, tree)
    key = hashlib.sha256(context.name.encode("utf-8")).digest()
    instance = public_id("context", key, "context")
    words = _words(context)
    bits = np.array([bits for bits, _ in context.samples], dtype=bool).T
    cases = [" ".join(text.split()) for _, text in context.samples]
    found = []
    for pair, response in responses(context.model, tree).items():
        cells = dict(cell_probabilities(response))
        cause, effect = (context.model.dag.index[name] for name in pair)
        high, low = (
            evaluate(context.model, bits, {cause: level})[effect] for level in (True, False)
        )
        sizes = Counter(f"{int(a)}{int(b)}" for a, b in zip(high, low, strict=True))
        empty = [cell for cell in CELLS if cell in cells and not sizes[cell]]
        if empty:
            left_out[f"a pair without a sample in the cell {empty[0]}"] += 1
            continue
        name = public_id(PREFIX, key, f"{PAIR.key}/{pair[0]}/{pair[1]}")
        target = {
            **_facts(context.model, tree, pair, quantities[pair]),
            "answers": {
                "factual": answer_bits(evaluate(context.model, bits)[effect]),
                "do_true": answer_bits(high),
                "do_false": answer_bits(low),
            },
            "weights": {"cells": {cell: str(value) for cell, value in cells.items()}},
        }
        prompt = simulation_prompt(words, context.text, (cause, effect), cases, f"{name}.json")
        inputs = {"cause": pair[0], "effect": pair[1], "units": len(cases)}
        structure = f"{len(tree.components)} components"
        value = TrueValue(float(quantities[pair]["pns"]))
        found.append(
            (
                task_row(name, instance, PAIR, prompt, inputs),
                truth_row(name, instance, structure, target, value),
            )
        )
    return found


def _facts(
    model: BooleanContext, tree: CutTree, pair: Pair, values: Quantities
) -> dict[str, object]:
    """What the truth row says of the pair whatever the samples are."""
    return {
        "cause": pair[0],
        "effect": pair[1],
        "tree": list(tree.nodes),
        "reference": pair == tree.whole,
        "mediators": len(model.dag.mediators(*pair)),
        "shortest_path": distance(model.dag, pair),
        "exact": fractions(values),
    }


_STATES: Final[Mapping[str, tuple[str, str, str]]] = {
    "FluVaccine": ("{} gets vaccinated", "{} does not get vaccinated", "Does {} get vaccinated?"),
    "CandyParty": ("{} is happy", "{} is not happy", "Is {} happy?"),
}
"""Theme to how a node is stated, denied and asked about."""

_NOTES: Final[Mapping[str, tuple[str, str, str]]] = {
    "pain": (
        "the patient reports significant pain",
        "the patient does not report significant pain",
        "Does the patient report significant pain?",
    ),
    "surgery": (
        "the surgeon recommends surgery",
        "the surgeon does not recommend surgery",
        "Does the surgeon recommend surgery?",
    ),
}


def _words(context: ImportedContext) -> Words:
    """What the questions need of a theme; everything else is told by the published texts."""
    names = context.model.dag.nodes
    told = [_told(context, name) for name in names]
    return Words(
        theme=context.theme,
        names=names,
        states=tuple(states for states, _, _ in told),
        negations=tuple(negations for _, negations, _ in told),
        questions=tuple(questions for _, _, questions in told),
        owns=(),
        items=(),
        extras=(),
        intro="",
        case_note="Each line below describes one case.",
        regardless="whatever the circumstances",
    )


def _told(context: ImportedContext, name: str) -> tuple[str, str, str]:
    if context.theme in _STATES:
        state, negation, question = (text.format(name) for text in _STATES[context.theme])
        return state, negation, question
    if name in _NOTES:
        return _NOTES[name]
    level = re.search(rf"(?:lab|vital) {re.escape(name)} will be (\w+)", context.text)
    word = level[1] if level else "abnormal"
    return f"{name} is {word}", f"{name} is not {word}", f"Is {name} {word}?"
