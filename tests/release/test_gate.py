"""The gate over a small real release: it passes, and damage is caught by name wherever it is: in
files, rows, answers and exams."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from gate_release import Rows, edit, failures

from builder.build import check_release
from builder.commands.main import main
from builder.gate import exams as gate_exams
from builder.gate import part_check
from builder.gate.rules import Tables, schema_problems, secrecy_problems
from builder.gate.run import take_apart
from builder.release.parts import Part
from builder.release.reader import read_part, split_tables
from builder.tracks import TRACKS
from grader.opening import open_release
from grader.release.exam import Exam
from grader.reports.build import GradedSubmission
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.tracks.causalds import TRACK as GRADER


def test_a_fresh_build_passes_every_check(built: Path) -> None:
    """A gate that refuses good releases would be bypassed."""
    said: list[str] = []
    passed = check_release(built, said.append)
    assert passed.ok, passed.markdown
    assert str(built.parent) not in passed.markdown
    assert not re.search(r"\d\d:\d\d|20\d\d-|seconds", passed.markdown)
    assert said[0].startswith("gate:") and said[-1] == "gate: leak test"
    figures = {line.check: line.figure for line in passed.lines}
    assert "tasks, 100 points; through the whole grader" in figures["dev: gold answers"]
    assert figures["test: gold answers"].startswith("4 tasks, 100 points;")
    assert figures["dev: empty answers"] == "0 points"
    # How the answers of a private split came out would be told by one line. And a split whose
    # answers were drawn by chance must not be refused for what chance gave.
    assert {floor.split for floor in passed.floors} == {"dev"}
    assert "dev: no label is always the same" in figures
    assert "test: no label is always the same" not in figures
    told = [row[:3] for row in passed.compositions]
    assert ("dev", "causalds", "verdict") in told and not any("test" in row for row in told)


def test_an_exam_that_is_not_what_was_requested_is_caught(release: Path) -> None:
    """What was requested stands in the manifest; what came out is counted in the rows."""
    opened = open_release(release)
    entry = opened.public.manifest["splits"]["dev"]["tracks"]["causalds"]
    axes = {"practice: rung": {rung: {"requested": 90.0, "realised": 90} for rung in "123"}}
    entry["composition"] |= axes
    lines = gate_exams.exam_lines(opened, TRACKS, "dev")
    (line,) = [line for line in lines if not line.ok]
    assert line.check == "dev: exams as requested"
    assert "exam practice" in line.problems[0] and "another rung than" in line.problems[0]


def test_exams_name_existing_tasks_once(release: Path) -> None:
    """A repeated task counts twice; in a private split, two exams share one hidden world."""
    edit(release, "public", "causalds_exams/test", lambda rows: rows[1:])
    assert "in 0 exams of a private split" in failures(release)["exams"]
    edit(release, "public", "causalds_exams/test", lambda r: r[1].update(task_id=r[0]["task_id"]))
    assert "is there twice" in failures(release)["test tasks"]


def test_a_private_key_or_world_in_public_is_caught(release: Path) -> None:
    """A key in a log or a card opens the hidden world of its scene."""
    public, table = release / "public", split_tables(release, "causalds", "test")
    assert secrecy_problems(release) == []
    key = next(iter(table.worlds.values()))["world_key"]
    (public / "NOTES.txt").write_text(f"built 00{key}ff", encoding="utf-8")
    (problem,) = secrecy_problems(release)
    assert "its key is in the public repository" in problem
    (public / "NOTES.txt").unlink()
    world = next(iter(table.worlds.values()))["world_json"]
    edit(release, "public", "causalds_scenes/test", lambda r: r[0].update(story=f"It is {world}!"))
    (problem,) = secrecy_problems(release)
    assert "its world is in the public repository" in problem


@pytest.mark.parametrize("place", ["columns", "data"])
def test_a_private_key_in_a_cell_is_caught_at_any_depth(release: Path, place: str) -> None:
    """Of shards only columns of text are read, also of those with public truth."""
    key = next(iter(split_tables(release, "causalds", "test").worlds.values()))["world_key"]
    tell = {"name": f"x{key}"}
    edit(release, "public", "causalds_scenes/dev", lambda rows: rows[0][place][0].update(tell))
    (problem,) = secrecy_problems(release)
    assert "its key is in the public repository" in problem


def test_private_columns_and_salts_in_public_are_caught(release: Path) -> None:
    """A truth column pushed to the public repository by mistake ends the exam."""
    public, private = release / "public", release / "private"
    path = public / "causalds/test-00000-of-00001.parquet"
    tasks = pq.read_table(path)
    pq.write_table(tasks.append_column("should_abstain", [[False] * tasks.num_rows]), path)
    salts = json.loads((private / "manifest.json").read_bytes())["salts"]["test"]
    (public / "NOTES.txt").write_text(salts["rows"], encoding="utf-8")
    assert secrecy_problems(release) == ["the salt 'rows' of test is public"]
    (problem,) = schema_problems(release, TRACKS)
    assert "causalds/test-00000-of-00001.parquet: has the column should_abstain" in problem
    shutil.copytree(private / "causalds_worlds", public / "causalds_worlds", dirs_exist_ok=True)
    says = "public/causalds_worlds: private config of split test is public"
    assert secrecy_problems(release)[0] == says


def test_an_exam_drawn_later_is_in_the_gate_s_report_and_on_the_card(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GATE.md went on describing the release without it."""
    old = "# Gate: of the release without the exam"
    (release / "GATE.md").write_text(old, encoding="utf-8")
    file = tmp_path / "later.toml"
    file.write_text('kind = "balanced"\ntasks = 5\n', encoding="utf-8")
    assert main(["exam", "--from", str(release), "--exam", str(file), "--split", "dev"]) == 0
    report = (release / "GATE.md").read_text(encoding="utf-8")
    assert "| exams | ok | 3 exams, " in report
    assert "later (5)" in (release / "public" / "README.md").read_text(encoding="utf-8")
    shutil.rmtree(release / "private")
    again = ["exam", "--from", str(release), "--exam", str(file), "--split", "dev", "--name", "b"]
    assert main(again) == 0
    assert not (release / "GATE.md").exists(), "what cannot be checked again is not claimed"


def apart(release: Path, folder: Path) -> list[Part]:
    """The parts of the public split."""
    with Tables(release, TRACKS) as tables:
        return take_apart(release, tables, TRACKS["causalds"], "dev", folder)


def _wrong_label(rows: Rows) -> None:
    row = next(row for row in rows if "trivial_zero" in row["target_json"])
    row["target_json"] = '{"accepted":["backdoor"]}'


def test_a_wrong_label_is_caught_though_it_grades_itself_right(release, tmp_path):
    """Gold answers come from the truth: only a second derivation sees that it is wrong."""
    for edited in (False, True):
        if edited:
            edit(release, "public", "causalds_truth/dev", _wrong_label)
        checked = [
            part_check.findings(p, TRACKS["causalds"])
            for p in apart(release, tmp_path / f"{edited}")
        ]
        assert not any(found.problems[part_check.GOLD] for found in checked)
        assert any(found.problems[part_check.TRUTHS] for found in checked) is edited


def _longer(column: str) -> Callable[[Rows], None]:
    return lambda rows: rows[0].update({column: rows[0][column] + " "})


@pytest.mark.parametrize(
    ("split", "change", "says"),
    [
        ("dev", _longer("answer"), "the answer to {} is not the right one"),
        ("dev", _longer("prompt"), "{} is not as its track's config has it"),
        ("dev", lambda rows: rows[1:], "{} is absent"),
        ("test", lambda rows: rows[0].update(answer="{}"), "{} has an answer, and its truth is"),
    ],
)
def test_the_flat_table_says_what_the_tracks_say(release, split, change, says):
    """It is what most people will load."""
    path = release / "public" / "tasks" / "dev-00000-of-00001.parquet"
    answers = pq.read_table(path, columns=["task_id", "answer"]).to_pylist()
    right = [(a["task_id"], sha256(a["answer"].encode()).hexdigest()) for a in answers]
    name = pq.read_table(path.with_name(path.name.replace("dev", split)))["task_id"][0].as_py()
    for edited in (False, True):
        if edited:
            edit(release, "public", f"tasks/{split}", change)
        with Tables(release, TRACKS) as tables:
            tables.give_answers(right)
            problems = " / ".join(tables.problems("flat"))
        assert (says.format(name) in problems) is edited, problems


def _other_rung(rows: Rows) -> None:
    rows[0]["rung"] = 3 if rows[0]["rung"] != 3 else 1


def _strange_name(rows: Rows) -> None:
    row = next(row for row in rows if row["variant"] == "method_label")
    inputs = json.loads(row["inputs_json"])
    inputs["observed"][0] = "Nobody"
    row["inputs_json"] = json.dumps(inputs)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_other_rung, "rung is "),
        (lambda rows: rows[0].update(inputs_json='{"hint":1}'), "inputs_json is "),
        (lambda rows: rows[0].update(prompt=rows[0]["answer_file"]), "does not hold the story"),
        (_strange_name, "Nobody"),
    ],
)
def test_damaged_task_rows_are_named(release, tmp_path, change, says):
    """Each of these would reach test takers as an unfair or unanswerable question."""
    edit(release, "public", "causalds/dev", change)
    track = TRACKS["causalds"]
    parts = [read_part(part) for part in apart(release, tmp_path)]
    problems = [line for rows in parts for line in part_check.task_row_problems(track, rows)]
    assert says in " / ".join(problems)


def test_a_damaged_task_row_and_rows_out_of_order_stop_the_gate(release: Path) -> None:
    """What comes after reads rows by their ids and labels."""
    edit(release, "public", "causalds/dev", _other_rung)
    assert list(failures(release)) == ["task rows"]
    edit(release, "public", "causalds/dev", lambda rows: rows[::-1])
    assert "rows are not sorted by id" in failures(release)["ids"]


def test_points_of_parts_add_up() -> None:
    """A mean of parts' means would weigh tasks of small parts more."""
    found = part_check.Findings()
    for tasks, gold, lost in ((3, 3.0, []), (1, 0.5, ["late: lost"])):
        found.add(part_check.Findings({"tasks": tasks, "gold": gold}, {part_check.GOLD: lost}))
    assert (found.counts["tasks"], found.counts["gold"]) == (4, 3.5)
    assert found.problems[part_check.GOLD] == ["late: lost"]


def test_right_answers_are_written_where_somebody_else_removes_them(built, monkeypatch, tmp_path):
    """A worker that Ctrl-C ends has no time to: a part of a private key stayed in /tmp."""
    given = []

    def grade(exam: Exam, folder: Path, **settings: bool) -> GradedSubmission:
        given.append((folder.parent, len(list(folder.iterdir()))))
        return real(exam, folder, **settings)

    real = gate_exams.grade
    monkeypatch.setattr(gate_exams, "grade", grade)
    *place, found = gate_exams.points_of_exam((built, "dev", "practice", tmp_path))
    assert place == ["dev", "practice"] and not any(found.problems.values())
    (parent, none), (same, all_of_them) = given
    assert parent == same == tmp_path and none == 0 < all_of_them
    assert list(tmp_path.iterdir()) == []


def test_a_right_answer_that_loses_points_is_named(built, tmp_path, monkeypatch):
    """One wrong gold answer among thousands must not drown."""
    rows = read_part(apart(built, tmp_path)[0])
    victim = min(rows.tables.tasks)
    score = part_check.score_answer

    def spoilt(task: Task, truth: Any, raw: Any) -> Any:
        return score(
            task, truth, replace(raw, data=b"{}") if raw and task.task_id == victim else raw
        )

    monkeypatch.setattr(part_check, "score_answer", spoilt)
    found = part_check.Findings()
    part_check.grade_known_answers(TRACKS["causalds"], rows, found)
    (problem,) = found.problems[part_check.GOLD]
    assert problem.startswith(f"{victim}: (")
    assert found.counts["gold"] < len(rows.tables.tasks)


BOOLEAN = "collider_phenomenon.induced_association_boolean"
FAMILIES = {"family": {"collider_phenomenon": {"requested": 9.0, "realised": 9}}}


def _task(number: int, key: str = BOOLEAN, instance: int | None = None) -> Task:
    spec = GRADER.variant(key)
    name = f"cds-{number:016x}"
    told = (name, f"scene-{number if instance is None else instance}", spec, "clean")
    return Task(*told, spec.shape.input_mode, "", spec.shape.name, name + spec.shape.suffix, {})


CONSTANT = [
    ([True] * 9, {}, True),  # who answers true without looking has them all
    ([True] * 8 + [False], {}, False),
    ([True] * 5, {}, False),  # five labels may well be alike
    ([True] * 9, {"instances": 3}, False),  # so may nine of three scenes in three views
    ([True] * 9, {"composed": False}, False),  # a split of one motif is a fair wish
    ([True] * 9, {"matched": True}, False),
]


@pytest.mark.parametrize(("answers", "kind", "refused"), CONSTANT)
def test_a_constant_label_is_a_problem_of_a_composed_exam(answers, kind, refused) -> None:
    """Of exams that take what there is it is only told."""
    tasks = [_task(i, instance=i % kind.get("instances", 99)) for i in range(len(answers))]
    truths = {
        t.task_id: Truth(t.task_id, t.instance_id, False, "fork", None, None, {"accepted": [a]})
        for t, a in zip(tasks, answers, strict=True)
    }
    composed = kind.get("composed", True)
    exam = gate_exams.HeldExam(
        "x", tasks, {"causalds": FAMILIES} if composed else {}, kind.get("matched", False)
    )
    line = gate_exams.constant_labels("dev", [exam], truths)
    said = f"{len(answers)} tasks of causalds {BOOLEAN} have one answer"
    assert any(said in problem for problem in line.problems) is refused is not line.ok
    assert (said in line.figure) is not composed


def test_moved_tasks_are_counted_beyond_rounding() -> None:
    """6.96 requested, 7 or 6 planned is rounding; 1 planned is five tasks elsewhere."""
    requested = {"mediation_effect": 6.96, "prediction": 93.04}
    assert gate_exams.share_elsewhere(requested, {"mediation_effect": 6, "prediction": 94}) == 0
    share = gate_exams.share_elsewhere(requested, {"mediation_effect": 1, "prediction": 99})
    assert share == pytest.approx((4.96 + 4.96) / 2 / 100)
    assert gate_exams.share_elsewhere({"a": 50.0}, {"a": 40, "b": 10}) == pytest.approx(
        (9 + 9) / 2 / 50
    )


def test_an_exam_far_from_its_prior_is_a_problem() -> None:
    """The tasks are counted again: what a plan promised is not what was built."""
    tasks = [_task(i) for i in range(17)] + [_task(99, "prediction.point_predictor")]
    share = {"requested": 9.0, "realised": 9}
    axes = {"family": {"collider_phenomenon": share, "prediction": share}}
    for matched in (False, True):
        line = gate_exams.as_requested(
            "dev", [gate_exams.HeldExam("x", tasks, {"causalds": axes}, matched)]
        )
        assert line.ok is matched
        assert matched or "39% of the tasks of causalds are of another family" in line.problems[0]
