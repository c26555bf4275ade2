"""Algorithm 1 on stated values, distributions of estimates, the test that compares systems, and the
report.
"""

import json
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import scipy.stats
from ccr_worlds import Exam

from baselines.__main__ import main
from grader.io.schemas import first_problem
from grader.opening import open_release
from grader.pages.leaderboard import board_page
from grader.pages.svg import Svg
from grader.pages.systems import part_of
from grader.pages.table import Table
from grader.pipeline import grade
from grader.release.exam import choose_exam
from grader.reports.build import GradedSubmission
from grader.scoring.model import CheckedAnswer, RawAnswer, TrackSummary
from grader.scoring.score import check
from grader.scoring.shape import Task
from grader.statistics.paired_tests import RANKED_EXACTLY, signed_rank
from grader.tracks import TRACKS
from grader.tracks.ccr.algorithm import additive_errors
from grader.tracks.ccr.contexts import StatedContext, stated_contexts
from grader.tracks.ccr.shapes import merge_units
from grader.tracks.ccr.tables import SPECIFICATION, commuting, cut_tree, name_of

Change = Callable[[str, tuple[str, ...], float], float | None]
"""(measure, path, exact value) -> what is stated."""
ADDITIVE: dict[str, Any] = {"purpose": "additive", "variant": "direct.additive", "sizes": (4, 4)}


@pytest.fixture(scope="module")
def stated() -> Exam:
    """Every pair of a tree of three components; two local pairs and the whole of two; a trap."""
    whole = {"purpose": "stated", "variant": "inductive.stated"}
    return Exam(
        {"seed": "s1", **whole},
        {"seed": "s2", "purpose": "direct", "variant": "direct.boolean", "sizes": (3, 3)},
        {"seed": "s3", "purpose": "linear", "variant": "direct.linear", "sizes": (3, 4)},
        {"seed": "s4", "purpose": "linear", "variant": "direct.trap", "sizes": (4, 4)},
    )


def answers(exam: Exam, change: Change) -> Callable[[Task], Any]:
    def solver(task: Task) -> Any:
        listed = exam.truths[task.task_id].target["quantities"]
        told = {
            name: change(q["measure"], tuple(q["path"]), float(Fraction(q["exact"])))
            for name, q in listed.items()
        }
        return {"quantities": {name: value for name, value in told.items() if value is not None}}

    return solver


def results(exam: Exam, change: Change) -> list[StatedContext]:
    scores, checked = exam.grade(answers(exam, change))
    return [*stated_contexts(scores, exam.truths, checked)]


def ends(exam: Exam) -> set[tuple[str, str]]:
    """The whole of each tree: a pair of which neither node stands on the other side of any."""
    found = set()
    for truth in exam.truths.values():
        pairs = {tuple(q["path"]) for q in truth.target["quantities"].values()
                 if len(q["path"]) == 2}  # fmt: skip
        causes, effects = {a for a, _ in pairs}, {b for _, b in pairs}
        found |= {(a, b) for a, b in pairs if a not in effects and b not in causes}
    return found


def test_the_four_classes_of_stated_values(stated: Exam) -> None:
    """Definitions 4.3 and 4.4, with the values that §6.2 gives as cases in point."""
    whole = ends(stated)
    cases: list[tuple[str, Change]] = [
        ("VC", lambda _, path, value: value),
        ("II", lambda _, path, value: value * (2 if path in whole else 1)),
        ("II", lambda _, path, value: value * 0.7),
        ("II", lambda _, path, value: None),
    ]
    for quadrant, change in cases:
        found = results(stated, change)
        assert [one.variant for one in found] == [
            "inductive.stated", "direct.boolean", "direct.linear",
        ]  # fmt: skip
        assert [len(one.errors.compositions) for one in found] == [3, 1, 1]
        assert {one.quadrant for one in found} == {quadrant}
    assert {one.quadrant for one in results(stated, lambda *_: 1.0)} == {"IC"}, "1 is 1 times 1"


def test_errors_of_stated_values_by_hand(stated: Exam) -> None:
    """A whole stated as twice its value: ε is 0, γ a half, η a whole."""
    whole = ends(stated)
    for one in results(stated, lambda _, path, value: value * (2 if path in whole else 1)):
        for composition in one.errors.compositions:
            assert composition.external == pytest.approx(0, abs=1e-9)
            assert composition.internal == pytest.approx(0.5)
        worst = {pair: eta for pair, eta in one.errors.eta.items() if eta is None or eta > 1e-9}
        assert [*worst] == [next(p for p in one.errors.eta if p in whole)]
        assert [*worst.values()] == [pytest.approx(1)]


SUMS: list[tuple[str, str, dict[str, Change]]] = [
    ("VC", "VC VC", {}),
    ("II", "II II", {"nde": lambda _, path, value: 3 * value}),
    ("II", "II II", {"nde": lambda _, path, value: None}),
    ("II", "VI VI", {"te": lambda _, path, value: 2 * value}),
    ("IC", "IC IC", {name: lambda _, path, value: 2 * value for name in ("te", "nde", "nie")}),
]
"""Of the task, of its compositions, and what is stated instead of the exact value."""


@pytest.mark.parametrize(("quadrant", "classes", "changes"), SUMS)
def test_the_classes_of_sums_are_as_defined(quadrant, classes, changes):
    """Definitions 4.3 and 4.4 on TE = NDE + NIE (Example 3.2)."""
    exam = Exam({"seed": "sums", **ADDITIVE})
    exact = lambda _, path, value: value  # noqa: E731
    (one,) = results(exam, lambda name, *rest: changes.get(name, exact)(name, *rest))
    assert one.variant == "direct.additive" and one.quadrant == quadrant
    assert " ".join(row["class"] for row in one.rows()) == classes


def test_errors_of_sums_by_hand_are_relative_and_absolute() -> None:
    """G.2 to G.5. An NDE that is wrong and small beside the TE leaves a valid and consistent sum,
    and two errors that cancel each other do: the quantities are invalid all the same (IC)."""
    exact = {("te", "X", "Y"): 10.0, ("nde", "X", "M", "Y"): 2.0, ("nie", "X", "M", "Y"): 8.0}
    for direct, indirect, total, classes in (
        (2.0, 8.0, 10.0, "VC VC"), (2.4, 8.0, 10.0, "IC VC"), (5.0, 5.0, 10.0, "IC VC"),
        (6.0, 8.0, 10.0, "II II"), (6.0, 8.0, 14.0, "IC IC"), (2.0, 8.0, 14.0, "II VI"),
    ):  # fmt: skip
        errors = additive_errors(exact, dict(zip(exact, (total, direct, indirect), strict=True)))
        one = StatedContext("c", "direct.additive", errors)
        (row,) = one.rows()
        assert f"{one.quadrant} {row['class']}" == classes
        assert errors.eta["nde", "X", "M", "Y"] == pytest.approx(abs(direct - 2) / 2)
        sizes = [abs(direct + indirect - whole) for whole in (10, total)]
        assert [row["epsilon_absolute"], row["gamma_absolute"]] == pytest.approx(sizes)
        assert [row["epsilon"], row["gamma"]] == pytest.approx([sizes[0] / 10, sizes[1] / total])


def noisy(exam: Exam, rate: float, replicates: int) -> dict[str, CheckedAnswer]:
    """Right answers, each flipped at a rate, so many times."""
    rng = random.Random(f"{rate}/{replicates}")
    checked = {}
    for task, truth in exam.pairs:
        sets = []
        for _ in range(replicates):
            flipped = {
                rung: [(bit == "1") != (rng.random() < rate) for bit in bits]
                for rung, bits in truth.target["answers"].items()
            }
            sets.append(check(task, RawAnswer(task.answer_file, json.dumps(flipped).encode())))
        checked[task.task_id] = merge_units(sets) if replicates > 1 else sets[0]
    return checked


def part(name: str, found: TrackSummary, points: float = 1.0) -> dict[str, Any]:
    return {"system": name, "points": points, "metrics": found.metrics, "attempted": 1,
            **found.members}  # fmt: skip


def test_estimates_are_shares_of_the_truth_and_are_error_tests() -> None:
    """Of two contexts with repeated answers all 1,000 resampled estimates are kept, as in the
    paper; a single answer set is one estimate, which stands beside each of the other's."""
    exam = Exam({"seed": "d1", "sizes": (3, 3)}, {"seed": "d2", "sizes": (3, 3)})
    right = part("right", exam.summary_of(noisy(exam, 0.0, 1)))
    often = part("often", exam.summary_of(noisy(exam, 0.1, 5)))
    kept = {len(row["ratios"]) for row in often["details"]["estimates"]}
    assert kept == {1000} and len(often["details"]["estimates"]) == 8
    assert all(row["ratios"] == [1.0] for row in right["details"]["estimates"])
    for row in often["quantities"]:
        ratios = [r for line in often["details"]["estimates"] for r in line["ratios"]
                  if name_of(line) == name_of(row)]  # fmt: skip
        assert len(ratios) == 2000
        near = [abs(ratio - 1) <= 0.1 for ratio in ratios]
        assert row["share"] == pytest.approx(sum(near) / 2000, abs=2e-3)
    table = SPECIFICATION.table("error_tests", [right, often])
    names = ["X1X3, whole", "X1X2", "X2X3", "X1X2·X2X3"]
    assert [line[0] for line in table.rows] == names == [*map(name_of, right["quantities"])]
    for line in table.rows:
        assert line[1].kind == "good" and line[1].aside == "n = 2000"  # type: ignore[union-attr]
    same = SPECIFICATION.table("error_tests", [right, {**right, "system": "again"}])
    assert {str(line[1]) for line in same.rows} == {"1.000  n = 2"}
    several = Exam(*({"seed": f"e{k}", "sizes": (3, 3)} for k in range(3)))
    found = several.summary_of(noisy(several, 0.1, 2)).members["details"]["estimates"]
    assert {len(row["ratios"]) for row in found} == {1}


def test_the_page_shows_stated_values_even_alone(stated: Exam) -> None:
    """An exam of direct tasks has no context to simulate, and compositions all the same."""
    found = stated.summary(answers(stated, lambda _, path, value: value))
    rows = {row["variant"]: row for row in found.members["stated"]}
    assert rows["inductive.stated"]["contexts_vc"] == 1 and rows["inductive.stated"]["vc"] == 1
    report = {
        "tracks": {"ccr": part("x", found)}, "submission": {"system": "x"},
    }  # fmt: skip
    (table,) = SPECIFICATION.in_terminal(report)
    assert table.head[0] == "variant" and len(table.rows) == 3
    *_, own = SPECIFICATION.of_reports([report])
    text = "".join(block.markup() for block in own.blocks if hasattr(block, "markup"))
    assert own.blocks and text.count("<circle") == 6


@pytest.mark.parametrize("count", [3, 8, 25, RANKED_EXACTLY, RANKED_EXACTLY + 1, 300])
@pytest.mark.parametrize("tied", [False, True])
def test_the_signed_rank_test_is_scipys(count: int, tied: bool) -> None:
    """Exact where sizes differ, the normal approximation beyond; zeros and ties as there."""
    rng = random.Random(f"{count}/{tied}")
    for shift in (0.0, 0.4, 2.0):
        values = [rng.gauss(shift, 1) for _ in range(count)]
        if tied:
            values = [round(value, 1 if count > RANKED_EXACTLY else 0) for value in values] + [0.0]
        exact = count <= RANKED_EXACTLY
        if tied and exact:
            continue  # scipy's exact distribution knows no ties: below, by counting
        wanted = scipy.stats.wilcoxon(
            values, zero_method="wilcox", correction=False, method="exact" if exact else "approx"
        ).pvalue
        assert signed_rank(values) == pytest.approx(wanted, rel=1e-9)


def test_ties_of_few_differences_are_counted() -> None:
    """Every way of giving the sizes a sign, by hand."""
    rng = random.Random(4)
    for _ in range(40):
        values = [rng.choice((-2, -1, -1, 0, 1, 2, 2, 3)) for _ in range(rng.randint(1, 9))]
        present = [value for value in values if value]
        if not present:
            assert signed_rank(values) == 1
            continue
        ranks = scipy.stats.rankdata([abs(value) for value in present])
        total = sum(ranks)

        def distance(signs: tuple[int, ...], ranks: Any = ranks, total: float = total) -> float:
            positive = sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign > 0)
            return float(abs(positive - total / 2))

        own = distance(tuple(present))
        every = [distance(signs) for signs in product((-1, 1), repeat=len(present))]
        wanted = sum(far >= own - 1e-9 for far in every) / len(every)
        assert signed_rank(values) == pytest.approx(wanted)


@pytest.fixture(scope="module")
def graded(
    mini_release: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, GradedSubmission]:
    """Three reference reasoners on the mini exam's ccr tasks."""
    exam = choose_exam(open_release(mini_release), None, None, "ccr")
    found = {}
    for name in ("ccr-perfect", "ccr-global-wrong", "empty"):
        out = tmp_path_factory.mktemp(name) / name
        assert main([name, "--release", str(mini_release), "--out", str(out)]) == 0
        found[name] = grade(exam, out)
    return found


def test_reports_fit_the_schema_and_hold_the_headline(graded: dict[str, GradedSubmission]) -> None:
    points = {name: one.report["tracks"]["ccr"]["points"] for name, one in graded.items()}
    assert points == {"ccr-perfect": 100.0, "ccr-global-wrong": 50.0, "empty": 0.0}
    for one in graded.values():
        assert first_problem("report", one.report) is None
        assert one.report["points"] == one.report["tracks"]["ccr"]["points"]
        json.dumps(one.report, allow_nan=False)


def test_the_page_draws_every_context(graded: dict[str, GradedSubmission]) -> None:
    """Cut trees and quadrants are inline SVG that a parser reads."""
    reports = [one.report for one in graded.values()]
    text = board_page(list(enumerate(reports, start=1)), TRACKS, "title")
    assert "reasoning quadrants" in text and "which paths of each cut tree commute" in text
    assert "<script" not in text and "://" not in text.replace("http://www.w3.org/2000/svg", "")
    contexts = graded["ccr-perfect"].report["tracks"]["ccr"]["details"]["contexts"]
    assert len(contexts) == 3
    for context in contexts:
        drawing = ElementTree.fromstring(cut_tree(context).markup())
        tag = "{http://www.w3.org/2000/svg}"
        valid = sum(len(line["path"]) - 1 for line in context["compositions"] if line["valid"])
        assert len(drawing.findall(f"{tag}path")) == len(context["pairs"]) + valid
        assert len(drawing.findall(f"{tag}circle")) == len(context["nodes"])
        assert commuting(context)[0] == commuting(context)[1]


def test_commuting_paths_count_the_direct_one(graded: dict[str, GradedSubmission]) -> None:
    """With the global pair wrong, all compositions commute and the direct path does not."""
    for context in graded["ccr-global-wrong"].report["tracks"]["ccr"]["details"]["contexts"]:
        right, total = commuting(context)
        assert (right, total) == (
            2 ** (len(context["nodes"]) - 2) - 1,
            2 ** (len(context["nodes"]) - 2),
        )


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [((8.03, 0.5, 70), ["0.5", "8.03"]), ((8, None, 7), []), ((8, True, 7), []), ((8, "7", 7), []),
     ((8, -1, 7), []), ((8, 1e300, 7), [])],
)  # fmt: skip
def test_errors_by_model_size_are_drawn_where_two_systems_state_one(graded, sizes, shown):
    """Figure G.17, smallest first."""
    reports = [
        {**one.report, "submission": {"system": name, "run": {"billion_parameters": size}}}
        for (name, one), size in zip(graded.items(), sizes, strict=True)
    ]
    parts = [part_of(report, "ccr") for report in reports]
    blocks = [
        b for name in ("size_chart", "size_errors") for b in SPECIFICATION.blocks(name, parts)
    ]
    if not shown:
        assert blocks == []
        return
    picture, table = blocks
    assert isinstance(picture, Svg) and isinstance(table, Table)
    assert table.head == ["system", "size", "global", "local", "composition"]
    assert [row[1] for row in table.rows] == shown
    assert str(table.rows[1][2]) == "0.000" and str(table.rows[0][2]) != "0.000"
    drawing = ElementTree.fromstring(picture.markup())
    assert "billions of parameters" in "".join(drawing.itertext())
