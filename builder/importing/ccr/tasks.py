"""Contexts and samples of the public ccr reference as a release: one task per context and pair.

The imported samples are the units. Their weights are post-stratified: each cell of (effect under
do(cause true), effect under do(cause false)) has its exact probability, shared by the samples in
it, so that right answers give the exact quantities.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from builder.ccr.ask.tasks import pair_task
from builder.ccr.ask.themes import Words
from builder.ccr.make.graph import Pair, cut_tree
from builder.ccr.make.model import Bits, evaluate
from builder.ccr.make.quantities import exact_quantities, responses
from builder.ccr.make.sampling import Sampled
from builder.ccr.make.units import Units, cell_probabilities
from builder.ccr.plan.contexts import TRACK_NAME
from builder.ccr.rows import PREFIX, quantities_json
from builder.importing.ccr.reading import ImportedContext, read_tables
from builder.importing.release import (
    ImportedSplit,
    RowSource,
    Source,
    check_free,
    grouped,
    write_release,
)
from builder.release.rows import TrueValue, task_row, truth_row
from builder.release.schemas import TRUTH
from builder.seeds import public_id
from builder.track import DrawnExam, Row
from grader.io.jsonio import canonical
from grader.tracks import variant

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


def import_tables(paths: Sequence[Path], out: Path) -> str:
    """Read raw tables (CSV or Parquet) and write a release that can be graded.

    Beside it lie ``contexts.jsonl`` (graph, functions, probabilities, cut tree and the exact
    quantities of every pair) and ``samples.jsonl`` (bits and recomputed answers). A pair is left
    out where no sample falls into a cell that has a probability. Returns a summary; raises
    ``UsageError`` naming file and row.
    """
    check_free(out)
    contexts, rows = read_tables(paths)
    tasks: list[Row] = []
    truths: list[Row] = []
    left_out: Counter[str] = Counter()
    for context in contexts:
        for task, truth in _pairs(context, left_out):
            tasks.append(task)
            truths.append(truth)
    split = ImportedSplit(
        name=SPLIT,
        track=TRACK_NAME,
        seed="as published",
        configs={f"{TRACK_NAME}_truth": RowSource(TRUTH, grouped(truths, ["task_id"]))},
        exams={EXAM: DrawnExam(tuple(str(task["task_id"]) for task in tasks))},
        tasks=tasks,
        structures=Counter(str(truth["structure"]) for truth in truths),
        left_out=left_out,
    )
    samples = [record for context in contexts for record in _samples(context)]
    write_release(
        out,
        SOURCE,
        [split],
        {
            "contexts.jsonl": _lines(_context(context) for context in contexts),
            "samples.jsonl": _lines(samples),
        },
    )
    without = "".join(f"; not a task: {reason}: {n}" for reason, n in sorted(left_out.items()))
    return (
        f"{out}: {len(tasks)} tasks{without}; {len(contexts)} contexts and {len(samples)} samples "
        f"from {rows} rows"
    )


def _lines(records: Iterable[Mapping[str, object]]) -> str:
    return "".join(canonical(dict(record)) + "\n" for record in records)


def _context(context: ImportedContext) -> dict[str, object]:
    """A line of ``contexts.jsonl``."""
    tree = cut_tree(context.model.dag)
    return {
        "context": context.name,
        "theme": context.theme,
        "model": context.model.to_json(),
        "tree": list(tree.nodes),
        "needs": {node: rule.need for node, rule in context.rules.items()},
        "quantities": quantities_json(exact_quantities(context.model, tree)),
    }


def _samples(context: ImportedContext) -> Iterator[dict[str, object]]:
    """The lines of ``samples.jsonl`` about a context, by the samples' ids."""
    pairs = {pair: _answers(context, pair) for pair in cut_tree(context.model.dag).pairs}
    place = {name: number for number, name in enumerate(context.samples)}
    for name, sample in sorted(context.samples.items()):
        yield {
            "context": context.name,
            "sample": name,
            "bits": "".join(str(int(bit)) for bit in sample.bits),
            "answers": [
                {
                    "cause": cause,
                    "effect": effect,
                    **{kind: bool(values[place[name]]) for kind, values in answers.items()},
                }
                for (cause, effect), answers in pairs.items()
            ],
        }


def _answers(context: ImportedContext, pair: Pair) -> dict[str, Bits]:
    """What is true of the effect in every sample, factually and under both interventions."""
    model, bits = context.model, _bits(context)
    cause, effect = (model.dag.index[name] for name in pair)
    return {
        "factual": evaluate(model, bits)[effect],
        "do_true": evaluate(model, bits, {cause: True})[effect],
        "do_false": evaluate(model, bits, {cause: False})[effect],
    }


def _bits(context: ImportedContext) -> Bits:
    """The bits of all samples, shape (nodes, samples)."""
    return np.array([sample.bits for sample in context.samples.values()], dtype=bool).T


def _pairs(context: ImportedContext, left_out: Counter[str]) -> Iterator[tuple[Row, Row]]:
    """The task and the truth of every pair that the samples can answer."""
    tree = cut_tree(context.model.dag)
    sampled = Sampled(context.model, tree, exact_quantities(context.model, tree), {})
    key = hashlib.sha256(context.name.encode("utf-8")).digest()
    instance = public_id("context", key, "context")
    words = _words(context)
    cases = [" ".join(sample.text.split()) for sample in context.samples.values()]
    for pair, response in responses(context.model, tree).items():
        cells = cell_probabilities(response)
        answers = _answers(context, pair)
        high, low = answers["do_true"], answers["do_false"]
        units = Units(_bits(context), answers["factual"], high, low, (), 1, cells)
        sizes = Counter(f"{int(a)}{int(b)}" for a, b in zip(high, low, strict=True))
        empty = [name for name, _ in cells if not sizes[name]]
        if empty:
            left_out[f"a pair without a sample in the cell {empty[0]}"] += 1
            continue
        label = f"{PAIR.key}/{pair[0]}/{pair[1]}"
        name = public_id(PREFIX, key, label)
        task = pair_task(
            sampled, words, context.text, pair, units, cases,
            label=label, file=f"{name}.json", reference=pair == tree.whole,
        )  # fmt: skip
        structure = f"{len(tree.components)} components"
        value = TrueValue(float(sampled.quantities[pair]["pns"]))
        yield (
            task_row(name, instance, PAIR, task.prompt, task.inputs),
            truth_row(name, instance, structure, task.target, value),
        )


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
