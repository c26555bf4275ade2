"""Sessions of the laboratory in a submission: every form of it, whose they are, what is shown."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from laboratories import resealed

from causal_exams.laboratory.host import Host
from grader import pipeline
from grader.answers.collect import read_submission
from grader.answers.submission import submission_name, team_of
from grader.board.grading import refuse_others
from grader.commands.main import main
from grader.errors import UsageError
from grader.io.jsonio import canonical_json
from grader.laboratory.session import Laboratory
from grader.opening import open_release
from grader.release.exam import Exam, Split, choose_exam
from grader.scoring.model import CheckedAnswer, RawAnswer
from grader.scoring.score import check
from grader.scoring.shape import Task
from grader.tracks.causalab.shapes import LabAnswer, episode_of, true_hypothesis
from grader.tracks.causalab.tables import diagnose

KEY = b"k" * 32


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The file of a host's key."""
    file = tmp_path / "host.key"
    file.write_bytes(KEY)
    return file


@pytest.fixture
def exam(mini_release: Path) -> Exam:
    return choose_exam(open_release(mini_release), track="causalab", transcript_key=KEY)


def handed_in(folder: Path, texts: Mapping[str, str]) -> Path:
    """A folder with answers by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def hosted(exam: Exam, task: Task, name: str, key: bytes = KEY) -> str:
    """A signed session of a system that only predicts."""
    laboratory = Laboratory(episode_of(task, exam.truths[task.task_id]), name, key)
    laboratory.predict(1)
    return laboratory.transcript_text()


@pytest.fixture
def lab_answers(exam: Exam, tmp_path: Path) -> tuple[Path, str]:
    """One session of the small release with an intervention, and its task."""
    task = next(task for task in exam.tasks if task.inputs["budget"])
    episode = episode_of(task, exam.truths[task.task_id])
    laboratory = Laboratory(episode)
    laboratory.intervene(episode.controllable[0], 10)
    laboratory.predict(episode.frequency, true_hypothesis(episode))
    answers = {task.answer_file: laboratory.transcript_text()}
    return handed_in(tmp_path / "answers", answers), task.task_id


def test_explain_draws_the_session_of_a_public_task(
    mini_release, tmp_path, exam, lab_answers, capsys
):
    folder, task_id = lab_answers
    drawn = tmp_path / "session.html"
    release = ["--release", str(mini_release)]
    explain = ["explain", task_id, *release, "--answers", str(folder)]
    assert main([*explain, "--html", str(drawn)]) == 0
    assert task_id in drawn.read_text(encoding="utf-8")
    assert main([*explain, "--reveal"]) == 0
    lines = [line.partition(" ")[::2] for line in capsys.readouterr().out.splitlines()]
    told = {label: text.strip() for label, text in lines}
    assert told["edges"] == "all right" and told["answer"] == told["truth"]
    (task,) = [one for one in exam.tasks if one.task_id == task_id]
    laboratory = Laboratory(episode_of(task, exam.truths[task_id]))
    stated = true_hypothesis(laboratory.episode)
    (turned, value), *_ = [pair for pair in stated["coefficients"].items() if pair[0] != "base"]
    laboratory.predict(5.0, {**stated, "coefficients": {**stated["coefficients"], turned: -value}})
    checked = CheckedAnswer("scored", LabAnswer((), laboratory=laboratory))
    lines = dict(diagnose(task, exam.truths[task_id], checked))
    assert lines["wrong sign"] == f"{turned} {-value:g}, not {value:g}"
    assert main(["explain", task_id, *release, "--html", str(drawn)]) == 2
    path = folder / f"{task_id}.jsonl"
    path.write_text(path.read_text("utf-8").replace('"remaining":', '"remaining":1'), "utf-8")
    assert main([*explain, "--html", str(drawn)]) == 2, "nothing to draw of what is invalid"


def test_transcripts_travel_in_every_form_of_a_submission(mini_release, tmp_path, lab_answers):
    """As a file, a line of answers.jsonl, and packed: the same points."""
    folder, task_id = lab_answers
    text = (folder / f"{task_id}.jsonl").read_text(encoding="utf-8")
    entry = json.dumps({"task_id": task_id, "answer": text})
    lines = handed_in(tmp_path / "lines", {"answers.jsonl": entry + "\n"})
    packed = tmp_path / "packed.parquet"
    release = ["--release", str(mini_release)]
    assert main(["pack", str(folder), *release, "--name", "x", "--out", str(packed)]) == 0
    exam = choose_exam(open_release(mini_release), track="causalab")
    for source in (folder, lines, packed):
        found = read_submission(source, exam.split.tasks)
        assert found.answers[task_id].data == text.encode(), source
        census = pipeline.grade(exam, source).report["census"]
        assert (census["scored"], census["invalid"]) == (1, 0), source


def test_a_grader_with_a_key_refuses_unsigned_sessions_and_says_so(
    mini_release, tmp_path, key, lab_answers
):
    folder, _ = lab_answers
    report = tmp_path / "report.json"
    command = [
        "grade", str(folder), "--release", str(mini_release), "--track", "causalab",
        "--json", str(report), "--quiet", "--transcript-key", str(key),
    ]  # fmt: skip
    assert main(command) == 0
    census = json.loads(report.read_text("utf-8"))["census"]
    assert census["invalid_reasons"] == {"signature": 1}
    assert main([*command[:-1], str(tmp_path / "absent")]) == 2


def test_signed_sessions_of_several_submissions_are_refused(exam, tmp_path):
    """A host signs for everyone; one system's answers should be one system's sessions."""
    tasks = exam.tasks
    pairs = zip(("team-a", "team-b"), tasks, strict=False)
    texts = {task.answer_file: hosted(exam, task, name) for name, task in pairs}
    folder = handed_in(tmp_path / "answers", texts)
    with pytest.raises(UsageError, match=r'2 submissions ."team-a", "team-b"'):
        pipeline.grade(exam, folder)
    (folder / tasks[1].answer_file).unlink()
    graded = pipeline.grade(exam, folder)
    assert graded.report["census"]["scored"] == 1
    with pytest.raises(UsageError, match=r'sessions of "team-a", not of "answers"'):
        refuse_others(graded)
    refuse_others(pipeline.grade(exam, folder.rename(tmp_path / "team-a")))


@pytest.mark.parametrize(
    ("opened", "file"),
    [
        ("acme", "acme@2.parquet"),
        ("acme@1", "acme.parquet"),
        ("acme@2", "acme"),
        ("acme@2", "acme@2"),
    ],
)
def test_a_submission_holds_sessions_of_its_team(mini_release, exam, tmp_path, opened, file):
    """Host, packing, board and ledger name a team alike: by what stands before the first `@`."""
    text = {exam.tasks[0].answer_file: hosted(exam, exam.tasks[0], opened)}
    source = handed_in(tmp_path / file.removesuffix(".parquet"), text)
    if file.endswith(".parquet"):
        packed = tmp_path / file
        release = ["--release", str(mini_release), "--track", "causalab"]
        assert main(["pack", str(source), *release, "--name", "x", "--out", str(packed)]) == 0
        source = packed
    refuse_others(pipeline.grade(exam, source))
    assert team_of(submission_name(source)) == team_of(opened) == "acme"


def test_a_session_counts_in_one_attempt_alone(exam: Exam, tmp_path: Path) -> None:
    """A good session copied into every attempt made a system look reliable."""
    task, other, *_ = exam.tasks
    texts = {"1": hosted(exam, task, "acme"), "2": hosted(exam, task, "acme")}
    host = Host(exam, None, "acme", KEY)
    for attempt in (1, 2):
        host.session(task.task_id, attempt).request({"op": "predict", "value": 1})
        texts[f"own {attempt}"] = host.finish(task.task_id, attempt)[0]

    def reasons(*attempts: str) -> list[str]:
        checked = [
            {task.task_id: check(task, RawAnswer(task.answer_file, texts[name].encode()))}
            for name in attempts
        ]
        signed, _ = pipeline.sign_attempts(replace(exam, tasks=(task,)), tmp_path, checked)
        return [answers[task.task_id].reason for answers in signed]

    assert reasons("1", "2") == reasons("own 1", "1") == ["", "signature"]
    assert reasons("own 1", "own 2", "own 2", "own 1") == ["", "", "signature", "signature"]
    away = check(other, RawAnswer(other.answer_file, texts["1"].encode()))
    assert (away.status, away.reason) == ("invalid", "transcript")


def test_a_board_says_how_many_sessions_were_started(
    mini_release: Path, exam: Exam, key: Path, tmp_path: Path
) -> None:
    """Best of many shows: a session that was moved aside to start anew still counts, and so does
    one for another submission of the team."""
    kept, board = tmp_path / "hosted" / "team-a", tmp_path / "board" / "team-a@1"
    for task, tries in zip(exam.tasks, (1, 3), strict=False):
        for number in range(tries):
            text = hosted(exam, task, f"team-a@{number % 2 + 1}")
            handed_in(kept, {f"{task.task_id}.jsonl{'.old' * number}": text})
            handed_in(board, {task.answer_file: text})
    handed_in(kept, {"forged.jsonl": hosted(exam, task, "team-a", b"x" * 32)})
    out = tmp_path / "board.json"
    command = [
        "leaderboard", str(board.parent), "--release", str(mini_release), "--track", "causalab",
        "--json", str(out), "--transcript-key", str(key), "--sessions", str(kept.parent),
    ]  # fmt: skip
    assert main(command) == 0
    (row,) = json.loads(out.read_text("utf-8"))
    assert row["report"]["submission"]["sessions"] == {"started": 4, "tasks": 2, "most": 3}


def test_a_private_report_does_not_say_whether_a_made_up_session_replays(mini_release, tmp_path):
    """Else each transcript asks the hidden mechanism; equal answers have one hash all the same."""
    split = Split.open(open_release(mini_release), None, "mini", "causalab")
    known, private = (replace(split, reveal=r).choose_exam_for() for r in (True, False))
    task = known.tasks[0]
    session = Laboratory(episode_of(task, known.truths[task.task_id]))
    session.intervene(session.episode.names[0], 50)
    session.predict(1)
    lines = [json.loads(canonical_json(line)) for line in session.transcript]
    lines[1]["reading"][session.episode.names[1]] += 1
    shown, hashes = [], []
    for number, text in enumerate((session.transcript_text(), resealed(lines).decode())):
        folder = handed_in(tmp_path / str(number) / "team", {task.answer_file: text})
        assert pipeline.grade(known, folder).report["census"]["invalid"] == number
        report = pipeline.grade(private, folder).report
        shown.append({**report, "submission": {}})
        hashes.append([pipeline.grade(private, folder).answers_sha256 for _ in range(2)])
    assert shown[0] == shown[1] and shown[0]["census"]["scored"] == 1
    assert hashes[0][0] == hashes[0][1] != hashes[1][0] == hashes[1][1]


def test_a_board_shows_the_folder_of_another_teams_sessions_as_failed(
    mini_release, exam, key, tmp_path, capsys
):
    """One row is withheld with its reason, and the board is written."""
    for name in ("team-a", "team-b"):
        text = hosted(exam, exam.tasks[0], "team-a")
        handed_in(tmp_path / "board" / name, {exam.tasks[0].answer_file: text})
    command = [
        "leaderboard", str(tmp_path / "board"), "--release", str(mini_release), "--track",
        "causalab", "--transcript-key", str(key),
    ]  # fmt: skip
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "│ team-b" in told and 'sessions of "team-a", not of "team-b"' in told
    assert "│ team-a" not in told
