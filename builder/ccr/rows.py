"""Contexts and their tasks as rows of the release (``docs/ccr.md``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa

from builder.ccr.make.graph import Pair
from builder.ccr.make.model import Bits
from builder.ccr.make.quantities import Quantities
from builder.ccr.make.units import Units
from builder.ccr.plan.contexts import TRACK_NAME, ContextPlan
from builder.release import rows
from builder.release.schemas import TASKS, TRUTH, worlds_schema
from builder.seeds import public_id
from builder.track import InstanceSpec, Row
from grader.spec import variant as variant_of

PREFIX: Final = "ccr"


SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "ccr": TASKS,
    "ccr_truth": TRUTH,
    "ccr_worlds": worlds_schema("purpose"),
}
PRIVATE_CONFIGS: Final = frozenset({"ccr_truth", "ccr_worlds"})


@dataclass(frozen=True, slots=True)
class Question:
    """One task: its public parts, its truth, and what the world row keeps for the audit.

    ``label`` is unique inside the context; ``value`` is the exact answer where it is one number.
    """

    label: str
    variant: str
    prompt: str
    inputs: Mapping[str, object]
    value: Fraction | None
    target: Mapping[str, object]
    audit: Mapping[str, object]


def task_id(spec: InstanceSpec, label: str) -> str:
    """The public id of a task."""
    return public_id(PREFIX, spec.id_key, label)


def task_row(spec: InstanceSpec, question: Question) -> Row:
    """A row of ``ccr``."""
    variant = variant_of(TRACK_NAME, question.variant)
    name = task_id(spec, question.label)
    return rows.task_row(name, spec.instance_id, variant, question.prompt, question.inputs)


def truth_row(spec: InstanceSpec, plan: ContextPlan, question: Question) -> Row:
    """A row of ``ccr_truth``: values are exact."""
    exact = None if question.value is None else rows.TrueValue(float(question.value))
    name = task_id(spec, question.label)
    return rows.truth_row(name, spec.instance_id, structure(plan), question.target, exact)


def world_row(
    spec: InstanceSpec,
    plan: ContextPlan,
    world: Mapping[str, object],
    questions: Sequence[Question],
) -> Row:
    """A row of ``ccr_worlds``: everything needed to regenerate and to audit the context."""
    tasks = {
        task_id(spec, question.label): {
            "variant": question.variant,
            "label": question.label,
            **question.audit,
        }
        for question in questions
    }
    return rows.world_row(spec, 0, structure(plan), {**world, "tasks": tasks}, purpose=plan.purpose)


def structure(plan: ContextPlan) -> str:
    """The slice that a context belongs to."""
    kind = "linear, " if plan.purpose == "linear" else ""
    return f"{kind}{len(plan.sizes)} components"


def fractions(quantities: Mapping[str, Fraction]) -> dict[str, str]:
    """Exact values as text, ``numerator/denominator``."""
    return {name: str(value) for name, value in quantities.items()}


def quantities_json(quantities: Mapping[Pair, Quantities]) -> list[dict[str, object]]:
    """All quantities of a context, one record a pair."""
    return [
        {"cause": pair[0], "effect": pair[1], **fractions(values)}
        for pair, values in quantities.items()
    ]


def answer_bits(answers: Bits) -> str:
    """True answers as text: 1 for yes, 0 for no, in unit order."""
    return "".join("1" if answer else "0" for answer in answers.tolist())


def weights_json(units: Units) -> dict[str, Any]:
    """Exact weights: whole numerators over one denominator, or the probability of each cell."""
    if units.exhaustive:
        return {"numerators": list(units.numerators), "denominator": units.denominator}
    return {"cells": {name: str(value) for name, value in units.cells}}


def packed(bits: Bits) -> list[str]:
    """Each node's bits over the units, eight to a byte, in hexadecimal."""
    return [np.packbits(row).tobytes().hex() for row in bits]


def unpacked(packed_bits: Sequence[str], count: int) -> Bits:
    """What :func:`packed` packed, shape (nodes, ``count``)."""
    octets = [np.frombuffer(bytes.fromhex(row), dtype=np.uint8) for row in packed_bits]
    return np.array([np.unpackbits(row, count=count) for row in octets]).astype(bool)
