"""What is wrong with a copy of the public reference is said in one line, with file and fix."""

import json
from pathlib import Path
from typing import Any

import pytest
from reference_exam import MEDIATED, write_reference

from builder.commands.main import main as build
from builder.importing.exam import import_causalds


def damage_truth(main: Path, change: Any) -> None:
    file = main / "scenes_private" / MEDIATED / "ground_truth.json"
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))


def damage_item(main: Path, **members: Any) -> None:
    file = main / "exam.json"
    document = json.loads(file.read_text())
    document["items"][0].update(members)
    file.write_text(json.dumps(document))


DAMAGES: dict[str, tuple[Any, str]] = {
    "no exam": (lambda m: (m / "exam.json").unlink(), "no exam.json there"),
    "no items": (
        lambda m: (m / "exam.json").write_text("{}"),
        "exam.json: items: is absent; fetch the whole release again",
    ),
    "no JSON": (lambda m: (m / "exam.json").write_text("{"), "exam.json: no JSON"),
    "no truth": (
        lambda m: (m / "scenes_private" / MEDIATED / "ground_truth.json").unlink(),
        "ground_truth.json: not found; fetch the whole release again",
    ),
    "no ate": (
        lambda m: damage_truth(m, lambda d: d["causal"].pop("true_ate")),
        "ground_truth.json: causal.true_ate.value: is absent",
    ),
    "text for a number": (
        lambda m: damage_truth(m, lambda d: d["association"].update(value="0.3")),
        'association.value: "0.3": Input should be a valid number',
    ),
    "a pointer": (
        lambda m: (m / "scenes_private" / MEDIATED / "test.parquet").write_text(
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
        ),
        "a Git LFS pointer, not the table itself; run `git lfs pull`",
    ),
    "no data": (
        lambda m: (m / "scenes" / MEDIATED / "variants" / "clean" / "data.parquet").unlink(),
        "data.parquet: not found",
    ),
    "unknown variant": (
        lambda m: damage_item(m, output_variant="point_predicter"),
        "unknown variant prediction.point_predicter; did you mean 'prediction.point_predictor'?",
    ),
    "a path for a name": (
        lambda m: damage_item(m, answer_filename="../task1.csv"),
        'items[0].answer_filename: "../task1.csv" is not a plain name',
    ),
    "a scene elsewhere": (
        lambda m: damage_item(m, scene_id="../../etc"),
        'items[0].scene_id: "../../etc" is not a plain name',
    ),
    "a wrong ending": (
        lambda m: damage_item(m, answer_filename="task1.json"),
        "does not end in .csv",
    ),
    "a doubled name": (
        lambda m: damage_item(m, answer_filename="task2.csv"),
        "names another item's answer too",
    ),
    "other columns": (
        lambda m: damage_item(m, inputs={"required_csv_columns": ["yhat"]}),
        "inputs.required_csv_columns",
    ),
    "no private folder": (
        lambda m: (m / "scenes_private").rename(m / "away"),
        "scenes_private: not found",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_needed_and_absent_is_one_line_with_file_field_and_fix(damage, tmp_path, capsys):
    act, message = DAMAGES[damage]
    main = write_reference(tmp_path / "main")
    act(main)
    assert build(["import-causalds", str(main), "--out", str(tmp_path / "release")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    assert {file.name for file in tmp_path.iterdir()} == {"main"}, "nothing half-written stays"


def test_what_needs_the_hidden_worlds_is_refused_for_an_imported_release(tmp_path, capsys):
    release = tmp_path / "release"
    import_causalds(write_reference(tmp_path / "main"), release)
    exam = ["exam", "--from", str(release), "--exam", "splits/exams/mini.toml"]
    for command in (["check", str(release)], exam, ["inspect", str(release), "main/0"]):
        assert build(command) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "release" in error
