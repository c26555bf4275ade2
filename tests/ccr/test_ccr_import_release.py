"""What import-ccr writes is a release: graded, its right answers give the exact quantities."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_ccr_import import FLU, NOTE_ROW, PARTY, flu_sample, note_sample, row, write

from builder.ccr.ask.text import prompts
from builder.importing.ccr.tasks import import_tables
from grader import pipeline
from grader.cli import main as grade
from grader.exam import choose_exam
from grader.io.release import Release
from grader.verify import verify


def flu_rows(count: int) -> list[dict[str, str]]:
    """Samples with every pattern of symptoms above and below the thresholds, the first ones."""
    patterns = [
        flu_sample((9 if a else 1, 9 if b else 1, 9 if c else 1, 9 if d else 1))
        for a, b, c, d in product((False, True), repeat=4)
    ]
    return [
        row(**{"Sample ID": str(number), "Sample context": text})
        for number, text in enumerate(patterns[:count])
    ]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ccr")
    # Some samples more than once: an unweighted mean would be far from the truth.
    rows = flu_rows(16)
    rows += [cells | {"Sample ID": f"again {k}"} for k, cells in enumerate(rows[:7])]
    import_tables([write(folder, *rows)], folder / "release")
    return folder / "release"


def test_there_is_a_task_for_every_pair_and_all_checks_hold(release: Path) -> None:
    opened = Release.open(release)
    assert [check.detail for check in verify(opened) if not check.ok] == []
    tasks = opened.tasks("imported")
    assert {(task.inputs["cause"], task.inputs["effect"]) for task in tasks} == {
        ("Ann", "Cam"), ("Cam", "Dot"), ("Ann", "Dot"),
    }  # fmt: skip
    assert {task.inputs["units"] for task in tasks} == {23}
    assert (release / "contexts.jsonl").is_file() and (release / "samples.jsonl").is_file()


def test_right_answers_give_the_exact_value_whatever_was_sampled(
    release: Path, tmp_path: Path
) -> None:
    assert grade(["gold", "--release", str(release), "--out", str(tmp_path / "gold")]) == 0
    graded = pipeline.grade(choose_exam(Release.open(release)), tmp_path / "gold")
    assert graded.report["points"] == 100
    exact = {("Ann", "Cam"): Fraction(6, 10), ("Cam", "Dot"): Fraction(3, 10),
             ("Ann", "Dot"): Fraction(18, 100)}  # fmt: skip
    for task, score in zip(graded.exam.tasks, graded.scores, strict=True):
        extra = json.loads(score.extra_json)
        value = exact[task.inputs["cause"], task.inputs["effect"]]
        assert extra["estimate_pns"] == pytest.approx(float(value), abs=1e-15)


def test_every_cell_has_its_exact_probability(release: Path) -> None:
    for found in pq.read_table(release / "public" / "ccr_truth").to_pylist():
        target = json.loads(found["target_json"])
        cells = {name: Fraction(text) for name, text in target["weights"]["cells"].items()}
        assert sum(cells.values()) == 1
        assert str(cells["10"]) == target["exact"]["pns"]
        assert found["value"] == float(cells["10"])


def test_prompts_hold_the_published_texts_and_can_be_asked_one_by_one(release: Path) -> None:
    rows = pq.read_table(release / "public" / "ccr").to_pylist()
    asked = next(found for found in rows if '"cause":"Ann","effect":"Cam"' in found["inputs_json"])
    assert asked["prompt"].startswith(FLU.strip()[:60])
    assert "1. During the previous flu season, Ann had a cough for 9 days" in asked["prompt"]
    single = list(prompts(asked))
    assert len(single) == 3 * 23
    assert "Suppose it is made to hold that Ann gets vaccinated" in single[1].text
    assert "it is made to hold that Ann does not get vaccinated" in single[2].text
    assert "Does Cam get vaccinated?" in single[0].text


def test_a_pair_without_a_sample_in_a_likely_cell_is_no_task(tmp_path: Path) -> None:
    """Two samples cannot stand for three cells: right answers would miss the truth."""
    said = import_tables([write(tmp_path, *flu_rows(2))], tmp_path / "release")
    assert "1 tasks; not a task: a pair without a sample in the cell 10: 2;" in said
    assert "1 contexts and 2 samples from 2 rows" in said


def test_the_other_themes_are_asked_in_their_words(tmp_path: Path) -> None:
    notes = [
        row(**(NOTE_ROW | {
            "Context ID": "notes", "Sample ID": str(number),
            "Sample context": note_sample(codes).replace("YYY1", surgery).replace("UUU3", family),
        }))
        for number, (codes, family, surgery) in enumerate(
            product(("UUU1, UUU2", "UUU1", "UUU2", "XXX1"), ("UUU3", "YYY3"), ("UUU4", "YYY1"))
        )
    ]  # fmt: skip
    candies = [
        row(**{
            "Context ID": "party", "Sample ID": str(number), "Causal context": PARTY,
            "Sample context": f"After distributing the candies, Ann gets {9 * a}, Bea gets {9 * b},"
                              f" Cam gets {9 * c}, and Dot gets {9 * d}.",
        })
        for number, (a, b, c, d) in enumerate(product((0, 1), repeat=4))
    ]  # fmt: skip
    import_tables([write(tmp_path, *notes, *candies)], tmp_path / "release")
    rows = pq.read_table(tmp_path / "release" / "public" / "ccr").to_pylist()
    assert len({found["instance_id"] for found in rows}) == 2
    text = "\n".join(found["prompt"] for found in rows)
    for question in ("Is Cam happy?", "Is CD34 low?", "Does the surgeon recommend surgery?",
                     "made to hold that the patient does not report significant pain"):  # fmt: skip
        assert question in text
    assert (
        grade(["gold", "--release", str(tmp_path / "release"), "--out", str(tmp_path / "g")]) == 0
    )
    exam = choose_exam(Release.open(tmp_path / "release"))
    assert pipeline.grade(exam, tmp_path / "g").report["points"] == 100
