"""The report's ccr part: its drawings, its figures, its JSON."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

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
from grader.tracks import TRACKS
from grader.tracks.ccr.tables import SPECIFICATION, commuting, cut_tree


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
    """Figure G.17, smallest first. What is no size is none, and without an estimate there is no
    error: empty answers have none."""
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


def test_truth_rows_fit_their_schema(mini_release: Path) -> None:
    exam = choose_exam(open_release(mini_release), None, None, "ccr")
    for truth in exam.truths.values():
        assert first_problem("truth/ccr", dict(truth.target)) is None
