"""What else a checkout of the reference may look like: ablations, other kinds, spellings, gaps."""

import json
from pathlib import Path

import pytest
from imported import graded
from reference_exam import ASKED, HIDDEN, MEDIATED, write_reference
from reference_layout import (
    ground_truth,
    item,
    write_exam,
    write_json,
    write_scene,
)

from builder.cli.main import main as build
from builder.importing.causalds.exams import import_causalds
from grader.exam import choose_exam
from grader.io.release import Release
from grader.pipeline import grade
from grader.verify import verify


def write_swap(folder: Path) -> None:
    """Two tellings of one problem, files beside the story, no view stated."""
    items = []
    for source in ("scene_000039", "scene_000415"):
        scene_id = f"bundle001__{source}"
        truth = ground_truth(scene_id, ["X Y", "Z X", "Z Y"], sets=[["Z"]], ate=0.5)
        task = item(scene_id, "effect_estimate__ate_point", x0=0.0, x1=1.0)
        write_scene(folder, truth, view=None, tasks=[task])
        items.append(
            task | {
                "observation_variant": None, "answer_file_stem": scene_id,
                "answer_filename": f"{scene_id}.json",
            }
        )  # fmt: skip
    write_json(folder / "exam" / "exam.json", {"exam_id": "causenet_seeding_seed1", "items": items})


def write_layer(folder: Path) -> None:
    """One task of a scene under three views, as scenes of their own."""
    items = []
    for number, view in enumerate(("proxy", "clean", "proxy_hard"), start=1):
        scene_id = f"obsabl_{number:05d}"
        truth = ground_truth(scene_id, ["X Y", "Z X", "Z Y"], sets=[["Z"]], ate=0.5)
        truth["metadata"]["ablation"] = {"name": "observation_layer", "pair_id": "pair001"}
        task = item(scene_id, "effect_estimate__ate_point", x0=0.0, x1=1.0)
        write_scene(folder, truth, view=view, tasks=[task])
        items.append(
            task | {"observation_variant": view, "answer_filename": f"task{number:05d}.json"}
        )
    write_exam(folder, items, exam_id="observation_layer_seed1")


def test_both_ablations_and_the_main_exam_become_splits_with_bundles_and_arms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_reference(tmp_path / "data" / "benchmark" / "main")
    write_swap(tmp_path / "data" / "ablations" / "causenet_seeding")
    write_layer(tmp_path / "data" / "ablations" / "observation_layer")
    release = tmp_path / "release"
    assert build(["import-causalds", str(tmp_path), "--out", str(release)]) == 0
    opened = Release.open(release)
    assert opened.splits == ("causenet_seeding", "main", "observation_layer")
    assert all(check.ok for check in verify(opened))
    assert opened.exam_bundles("causenet_seeding") == {
        "causenet_seeding_seed1": {
            "bundle001__scene_000039": ("bundle001", "scene_000039"),
            "bundle001__scene_000415": ("bundle001", "scene_000415"),
        }
    }
    assert opened.exam_bundles("observation_layer") == {
        "observation_layer_seed1": {
            "task00001": ("pair001", "proxy"),
            "task00002": ("pair001", "clean"),
            "task00003": ("pair001", "proxy_hard"),
        }
    }
    answers = tmp_path / "answers"
    answers.mkdir()
    for name, ate in (("bundle001__scene_000039", 0.5), ("bundle001__scene_000415", 0.8)):
        (answers / f"{name}.json").write_text(json.dumps({"ate": ate}))
    report = grade(choose_exam(opened, "causenet_seeding"), answers).report
    assert report["census"]["scored"] == 2
    ranges = report["tracks"]["causalds"]["matched"]["ranges"]
    assert ranges["max"] == pytest.approx(0.3 / 1.5, abs=1e-12)
    for number, ate in ((1, 1.0), (2, 0.5), (3, 2.0)):
        (answers / f"task{number:05d}.json").write_text(json.dumps({"ate": ate}))
    matched = grade(choose_exam(opened, "observation_layer"), answers).report["tracks"]["causalds"]
    means = {row["arm"]: row["mean"] for row in matched["matched"]["contrasts"]}
    assert means == pytest.approx({"proxy": 0.5 / 1.5, "proxy_hard": 1.0}, abs=1e-9)


def test_views_of_one_scene_are_a_bundle_where_nothing_else_is_said(tmp_path: Path) -> None:
    truth = ground_truth("scene_000009", ["X Y"], sets=[[]], ate=0.5)
    items = []
    for number, view in enumerate(("clean", "proxy"), start=1):
        task = item("scene_000009", "effect_estimate__ate_point", number, view, x0=0.0, x1=1.0)
        listed = [task, item("scene_000009", "association__sign_only")]
        write_scene(tmp_path / "main", truth, view=view, tasks=listed)
        items.append(task)
    write_exam(tmp_path / "main", items)
    import_causalds(tmp_path / "main", tmp_path / "release")
    release = Release.open(tmp_path / "release")
    assert set(release.exam_bundles("main")["exam_12345"].values()) == {
        ("scene_000009__effect_estimate__ate_point", "clean"),
        ("scene_000009__effect_estimate__ate_point", "proxy"),
    }
    # What no exam asks has the default name of the reference, and its view where there are several.
    assert {task.answer_file for task in release.tasks("main")} == {
        "task1.json",
        "task2.json",
        "scene_000009_association__sign_only.json",
        "scene_000009_proxy_association__sign_only.json",
    }


def test_names_are_spelt_as_the_question_spells_them(tmp_path: Path) -> None:
    main = tmp_path / "main"
    truth = ground_truth("scene_000001", ["X Y", "Z X", "Z Y"], sets=[["Z"]], ate=0.5)
    curly = json.dumps(truth).replace("Age (years)", "Patient\u2019s Age\u2013years")
    task = item("scene_000001", "identification__one_valid_adjustment_set", 1, available_vars=["Z"])
    task["prompt"] = 'Choose among "Patient\'s Age-years".'
    write_scene(main, truth, tasks=[task])
    write_json(main / "scenes_private" / "scene_000001" / "ground_truth.json", json.loads(curly))
    write_exam(main, [task])
    import_causalds(main, tmp_path / "release")
    exam = choose_exam(Release.open(tmp_path / "release"))
    row = graded(exam, "task1", {"adjust": ["Patient's Age-years"]})
    assert (row.paper_loss, row.message) == (0.0, "")


def test_extra_keys_and_absent_optional_files_do_no_harm(tmp_path: Path) -> None:
    main = write_reference(tmp_path / "main")
    clean = main / "scenes" / MEDIATED / "variants" / "clean"
    (clean / "schema.json").unlink()
    (clean / "tasks.json").unlink()
    (main / "scenes" / MEDIATED / "story.md").unlink()
    (main / "scenes" / HIDDEN / "variants" / "proxy" / "calibration.parquet").unlink()
    exam = json.loads((main / "exam.json").read_text())
    exam["surprise"] = {"deep": [1]}
    exam["items"][0]["surprise"] = None
    (main / "exam.json").write_text(json.dumps(exam))
    (read,) = import_causalds(main, tmp_path / "release")
    assert (read.scenes, len(read.order)) == (5, len(ASKED))
