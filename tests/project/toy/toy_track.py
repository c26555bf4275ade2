"""A whole track in one module: springs that follow a line, and two questions about each of them.

What a builder needs of it is ``BUILDER``, what a grader needs ``GRADER``
(``docs/adding-a-track.md``).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import Field

from builder.release import rows
from builder.release.rows import TASKS, TRUTH, worlds_schema
from builder.splits import track as building
from builder.splits.seeds import InstancePlan, keyed_specs, public_id, stream
from builder.splits.settings import TomlModel, TomlTable, check
from grader.answers.check import check_json
from grader.io.jsonio import canonical_json, pretty_json
from grader.pages import svg
from grader.pages.page import Section
from grader.pages.specification import TrackPages
from grader.pages.table import Table
from grader.scoring import track as grading
from grader.scoring.model import Mark, Truth
from grader.scoring.shape import Shape, Task, Variant
from grader.tracks.ccr.shapes import QUANTITIES

# --- The grader's side: a shape of its own, two variants, a figure on the page --------------------


def _score_law(task: Task, truth: Truth, answer: Mapping[str, Any]) -> Mark:
    """Half for the slope, half for the intercept, each within a tenth."""
    given, law = answer["law"], truth.target["law"]
    right = sum(abs(given[name] - law[name]) <= 0.1 for name in law) / len(law)
    return Mark("share_right", right, 1 - right, extra={"half": float(right == 0.5)})


LAW: Final = Shape(
    "law", "quantities", "law", "f1", "share_right", check_json, _score_law,
    lambda task, truth: pretty_json({"law": truth.target["law"]}), input_mode="prompt",
)  # fmt: skip
STRETCH: Final = Variant(
    "toy", "spring", "stretch", 2, QUANTITIES, "Right when the length is within a tenth of it."
)
WHOLE: Final = Variant("toy", "spring", "law", 1, LAW, "Half for the slope, half for the rest.")


def _sections(reports: Sequence[grading.Report]) -> Sequence[Section]:
    systems = [report["submission"]["system"] for report in reports]
    points = [report["tracks"]["toy"]["points"] for report in reports]
    marks = [svg.mark(k, 40 + 30 * k, 120 - value) for k, value in enumerate(points)]
    picture = svg.Svg("points of each system", 400, 140, marks)
    table = Table(
        "toy: springs", ["system", "points"],
        [[name, f"{value:.1f}"] for name, value in zip(systems, points, strict=True)],
    )  # fmt: skip
    return [Section("toy: the springs of every system", [picture, table])]


GRADER: Final = grading.Track(
    name="toy",
    variants=(STRETCH, WHOLE),
    schemas=Path(__file__).parent,
    pages=lambda: TrackPages(
        tables=lambda report: [
            Table("toy springs", ["springs asked"], [[str(report["tracks"]["toy"]["tasks"])]])
        ],
        sections=_sections,
    ),
)

# --- The builder's side: a generator, prompts, a second derivation, floors ------------------------


@dataclass(frozen=True)
class Plan(InstancePlan):
    """Which question a spring is for; with public truth it is for both."""

    variants: tuple[str, ...]

    @property
    def task_plan(self) -> building.TaskPlan:
        """As many tasks as variants."""
        return building.TaskPlan((len(self.variants), len(self.variants)))


class Settings(TomlModel):
    """The keys of the track's table."""

    springs: int = Field(ge=1, le=1000)


def parse(table: TomlTable) -> int:
    """How many springs."""
    return check(Settings, table).springs


def plan(count: int, split: str, root: bytes, private: bool) -> list[building.InstanceSpec]:
    """Springs in a row; with private truth each is asked one question."""
    both = (STRETCH.key, WHOLE.key)
    plans = [Plan((both[index % 2],) if private else both) for index in range(count)]
    return keyed_specs(plans, ("toy", split), ("toy", "spring"), root, private)


def build(spec: building.InstanceSpec) -> building.BuiltInstance:
    """One spring: its law, what five weights do to it, and its questions."""
    rng = stream(spec.key, "law")
    law = {"slope": int(rng.integers(1, 9)), "intercept": int(rng.integers(10, 90))}
    weights = [int(weight) for weight in rng.choice(np.arange(1, 30), size=6, replace=False)]
    lengths = [law["intercept"] + law["slope"] * weight for weight in weights]
    built: dict[str, list[building.Row]] = {"toy": [], "toy_truth": []}
    for variant in (STRETCH, WHOLE):
        if variant.key not in json.loads(spec.config_json)["variants"]:
            continue
        name = public_id("toy", spec.id_key, variant.key)
        facts = ", ".join(
            f"{w} kg: {n} cm" for w, n in list(zip(weights, lengths, strict=True))[:5]
        )
        question = (
            f'"Q1", its length under {weights[5]} kg, as {{"quantities": {{"Q1": …}}}}'
            if variant is STRETCH
            else 'its law, as {"law": {"slope": …, "intercept": …}}'
        )
        target: dict[str, object] = (
            {
                "quantities": {
                    "Q1": {"measure": "ate", "path": ["weight", "length"], "exact": str(lengths[5])}
                }
            }
            if variant is STRETCH
            else {"law": law}
        )
        inputs: dict[str, object] = (
            {"quantities": {"Q1": str(weights[5])}}
            if variant is STRETCH
            else {"weights": weights[:5]}
        )
        text = f"A spring was loaded ({facts}).\nState {question}.\nWrite it into {name}.json.\n"
        built["toy"].append(rows.task_row(name, spec.instance_id, variant, text, inputs))
        built["toy_truth"].append(rows.truth_row(name, spec.instance_id, "line", target))
    world = {"law": law, "weights": weights}
    return building.BuiltInstance(built | {"toy_worlds": [rows.world_row(spec, 0, "line", world)]})


def audit(
    world: Mapping[str, Any], truths: Sequence[Mapping[str, Any]], _: object, shown: Any
) -> list[str]:
    """The law once more, by least squares on what the prompts show."""
    problems = []
    targets = {row["task_id"]: json.loads(row["target_json"]) for row in truths}
    for task in shown["tasks"]:
        facts = task["prompt"].partition("(")[2].partition(")")[0].split(", ")
        points = [[float(word.split()[0]) for word in fact.split(": ")] for fact in facts]
        slope, intercept = np.polyfit(*zip(*points, strict=True), 1)
        target, inputs = targets[task["task_id"]], json.loads(task["inputs_json"])
        if "law" in target:
            off = abs(target["law"]["slope"] - slope) + abs(target["law"]["intercept"] - intercept)
        else:
            at = float(inputs["quantities"]["Q1"])
            off = abs(float(target["quantities"]["Q1"]["exact"]) - intercept - slope * at)
        if off > 1e-6:
            problems.append(f"{task['task_id']}: least squares differ by {off:g}")
    return problems


def constants(task: Task, _: Truth) -> Iterator[tuple[str, str]]:
    """0 throughout, or 50."""
    for number in (0.0, 50.0):
        law = {"slope": number, "intercept": number}
        told = {"quantities": {"Q1": number}} if task.spec == STRETCH else {"law": law}
        yield f"always {number:g}", canonical_json(told)


BUILDER: Final = building.Track(
    name="toy",
    grader=GRADER,
    tables={"toy": TASKS, "toy_truth": TRUTH, "toy_worlds": worlds_schema()},
    private=frozenset({"toy_truth", "toy_worlds"}),
    parse=parse,
    plan=plan,
    build=build,
    audit=audit,
    floors=building.Floors(
        constants=constants,
        twin=lambda _, springs: springs,
        variants_of=lambda _: (STRETCH.key, WHOLE.key),
    ),
    inputs=lambda variant: frozenset({"quantities" if variant == STRETCH else "weights"}),
)
