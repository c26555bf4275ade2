"""What the report says of causalab: aggregates recomputed, missing answers counted, pages safe."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from causalab_episodes import make_row, random_episode
from lab_tasks import grade, task_and_truth
from lab_verification import resealed

from causal_exams.laboratory.host import Host
from grader import pipeline
from grader.answers.collect import collect
from grader.answers.submission import submission_name, team_of
from grader.board.sessions import refuse_others
from grader.commands.main import main
from grader.errors import UsageError
from grader.io.jsonio import canonical_json
from grader.io.schemas import first_problem, schema
from grader.laboratory.episode import Episode
from grader.laboratory.session import Laboratory, RefusedRequest
from grader.opening import open_release
from grader.pages import page as draw
from grader.pages.terminal import console, in_terminal
from grader.release.exam import Exam, Split, choose_exam
from grader.reports.table import ScoreTable, TrackResults
from grader.scoring.model import RawAnswer, Score, TrackSummary
from grader.scoring.score import check
from grader.scoring.shape import Task
from grader.statistics.bootstrap import wilson
from grader.tracks.causalab import episode_problem, summarise
from grader.tracks.causalab.scoring import episode_of, verify_checked
from grader.tracks.causalab.session_page import session_page
from grader.tracks.causalab.shapes import true_hypothesis
from grader.tracks.causalab.tables import SPECIFICATION, accuracy_against_edges


def row_of(seed: int, suite: str, regime: str, **options: Any) -> dict[str, Any]:
    episode = random_episode(seed, 4, task_id=f"lab-{seed:016x}", **options)
    private = {**episode.private, "suite": suite, "regime": regime}
    return {"task_id": episode.task_id, "public": dict(episode.public), "private": private}


def answered(row: dict[str, Any], offset: float, known: bool, spent: int) -> Score:
    """A session with ``spent`` interventions and a prediction that is off by ``offset``."""
    episode = Episode.load(**row)
    task, truth = task_and_truth(row)
    session = Laboratory(episode)
    for k in range(spent):
        session.intervene(episode.names[k % 3], 13.0 * k)
    hypothesis = true_hypothesis(episode) if known else None
    session.predict(episode.frequency + offset, hypothesis)
    return grade(task, truth, session.transcript_text())


@pytest.fixture(scope="module")
def scores() -> list[Score]:
    """Two suites: one with a right, a wrong and a missing answer, one observed only."""
    missing = row_of(3, "main-4", "2o12i")
    found = [
        answered(row_of(1, "main-4", "2o12i"), 0, True, 3),
        answered(row_of(2, "main-4", "2o12i"), 50, False, 6),
        grade(*task_and_truth(missing), None),
    ]
    observed = row_of(4, "3o0i-4", "3o0i", records=3, budget=0, opening=False)
    task, truth = task_and_truth(observed)
    answer = {"prediction": 1.0, "hypothesis": true_hypothesis(Episode.load(**observed))}
    return [*found, grade(task, truth, json.dumps(answer))]


def summary_of(scores: list[Score]) -> TrackSummary:
    with ScoreTable(scores) as table:
        return summarise(TrackResults(table, scores, {}, {}))


def test_suites_have_one_denominator_and_wilson_intervals(scores: list[Score]) -> None:
    summary = summary_of(scores)
    suites = summary.members["suites"]
    assert list(suites) == ["3o0i-4 3o0i", "main-4 2o12i"]
    main_suite = suites["main-4 2o12i"]
    assert (main_suite["tasks"], main_suite["answered"]) == (3, 2)
    assert main_suite["accuracy"] == pytest.approx(1 / 3)
    assert main_suite["intervals"]["accuracy"] == wilson(1, 3)
    assert main_suite["edge_f1"] == pytest.approx(1 / 3)
    extras = [json.loads(score.extra_json) for score in scores]
    edges = [extra["true_edges"] for extra in extras[:3]]
    assert main_suite["shd"] == pytest.approx((0 + edges[1] + edges[2]) / 3)
    assert main_suite["budget_share"] == pytest.approx((3 / 12 + 6 / 12) / 2)
    assert main_suite["budget_share_accurate"] == 0.25
    assert main_suite["n_transcripts"] == 2 and main_suite["n_signed"] == 0
    observed = suites["3o0i-4 3o0i"]
    assert observed["n_transcripts"] == 0 and observed["budget_share"] is None
    assert (observed["accuracy"], observed["edge_f1"]) == (0, 1)


def test_who_has_no_experiment_is_no_case_of_stopping(scores: list[Score]) -> None:
    summary = summary_of(scores)
    observed = summary.members["suites"]["3o0i-4 3o0i"]
    assert json.loads(scores[3].extra_json)["premature"] is None
    assert (observed["n_stopping"], observed["premature"]) == (0, None)
    assert observed["intervals"]["premature"] is None
    assert summary.members["suites"]["main-4 2o12i"]["n_stopping"] == 2


@pytest.mark.parametrize(
    "name",
    ["accurate", "exact", "edge_precision", "edge_recall", "edge_f1",
     "skeleton_f1", "freq_edge_f1", "root_f1", "coefficient_f1", "graph_exact"],
)  # fmt: skip
def test_aggregates_are_means_over_all_tasks(scores: list[Score], name: str) -> None:
    extras = [json.loads(score.extra_json) for score in scores]
    mean = sum(extra.get(name) or 0 for extra in extras) / len(extras)
    key = "accuracy" if name == "accurate" else name
    assert summary_of(scores).metrics[key] == pytest.approx(mean)


def test_the_members_fit_the_reports_schema(scores: list[Score]) -> None:
    summary = summary_of(scores)
    track = {
        "points": 1.0, "points_interval": None, "tasks": 4, "attempted": 3, "readings": {},
        "slices": {}, "metrics": dict(summary.metrics), **summary.members,
    }  # fmt: skip
    assert "suites" in schema("report")["$defs"]["track"]["properties"]
    report = json.loads(json.dumps({"tracks": {"causalab": track}}))
    problem = first_problem("report", report)
    assert problem is not None and "tracks" not in problem, "only the report's own members lack"


def _reports(scores: list[Score], name: str) -> list[dict[str, Any]]:
    summary = summary_of(scores)
    track = {"attempted": 3, "metrics": dict(summary.metrics), **summary.members}
    return [{"submission": {"system": name}, "tracks": {"causalab": track}}]


def test_the_pages_sections_are_escaped_and_say_what_replay_proves(scores: list[Score]) -> None:
    text = draw.page(
        "title", "", SPECIFICATION.of_reports(_reports(scores, "<script>alert(1)</script>")), ""
    )
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert "possible session" in text and "--transcript-key" in text
    assert SPECIFICATION.of_reports([{"submission": {"system": "x"}, "tracks": {}}]) == []


def test_the_terminal_shows_every_suite(
    scores: list[Score], capsys: pytest.CaptureFixture[str]
) -> None:
    console().print(*map(in_terminal, SPECIFICATION.in_terminal(_reports(scores, "x")[0])))
    shown = capsys.readouterr().out
    assert "main-4 2o12i" in shown and "0.333" in shown and "possible" in shown


def test_an_arrow_leads_from_observed_to_mixed_of_one_size() -> None:
    """Figure 3: two observed regimes average to (0.9, 0.45), the mixed one is (0.8, 0.8)."""
    suites = {
        "3o0i-4 3o0i": {"accuracy": 1.0, "edge_f1": 0.5, "tasks": 10},
        "6o0i-4 6o0i": {"accuracy": 0.8, "edge_f1": 0.4, "tasks": 10},
        "3o6i-4 3o6i": {"accuracy": 0.8, "edge_f1": 0.8, "tasks": 10},
        "0o6i-4 0o6i": {"accuracy": 0.1, "edge_f1": 0.1, "tasks": 10},
        "main-6 2o20i": {"accuracy": 0.1, "edge_f1": 0.1, "tasks": 10},
    }
    (picture,) = accuracy_against_edges([{"system": "x", "suites": suites}])
    svg = picture.markup()
    assert svg.count('class="head"') == 1
    assert f'x1="{46 + 316 * 0.9:.1f}" y1="{12 + 316 * 0.55:.1f}"' in svg
    assert f'd="M{46 + 316 * 0.8:.1f} {12 + 316 * 0.2:.1f}L' in svg, "the tip of its head"
    assert svg.count("<circle") == len(suites) + 1


def test_a_session_is_drawn_with_both_graphs_and_its_metrics_by_step() -> None:
    row = make_row({"moisture": [("density", 2.0)], "frequency": [("moisture", 3.0)]})
    task, truth = task_and_truth(row)
    episode = Episode.load(**row)
    session = Laboratory(episode)
    session.hypothesise(
        {
            "edges": [["moisture", "density"]],
            "freq_equation": "base",
            "coefficients": {"base": None},
        }
    )
    session.intervene("density", 40)
    session.predict(episode.frequency, true_hypothesis(episode))
    raw = RawAnswer("answer", session.transcript_text().encode())
    html = session_page(verify_checked(task, truth, check(task, raw)).answer.laboratory)
    assert html.count('class="node') == 6, "three nodes in each graph"
    assert html.count("density → moisture") == 2 and 'class="right"' in html
    assert html.count("all-edge F1, 0: 0.000") == html.count("all-edge F1, 1: 1.000") == 1
    assert "within ±5" in html and "density := 40" in html
    assert "<script" not in html and "://" not in html.replace("http://www.w3.org/2000/svg", "")


def test_parse_failures_stand_in_the_table_of_suites() -> None:
    """A step's third refused hypothesis is its parse failure (A.5), and costs no experiment."""
    row = row_of(1, "main-4", "2o12i")
    task, truth = task_and_truth(row)
    session = Laboratory(Episode.load(**row))
    for name in session.episode.controllable[:2]:
        for _ in range(3):
            with pytest.raises(RefusedRequest):
                session.hypothesise({"edges": []})
        session.intervene(name, 10)
    session.predict(1)
    score = grade(task, truth, session.transcript_text())
    sections = SPECIFICATION.of_reports(_reports([score], "x"))
    (table,) = next(one for one in sections if "by suite and regime" in one.title).blocks
    cells = dict(zip(table.head, table.rows[0], strict=True))
    assert cells["parse failures"] == "2"


@pytest.fixture
def lab_answers(mini_release: Path, tmp_path: Path) -> tuple[Path, str]:
    """One session of the small release with an intervention, and its task."""
    exam = choose_exam(open_release(mini_release), track="causalab")
    task = next(task for task in exam.tasks if task.inputs["budget"])
    episode = episode_of(task, exam.truths[task.task_id])
    laboratory = Laboratory(episode)
    laboratory.intervene(episode.controllable[0], 10)
    laboratory.predict(episode.frequency, true_hypothesis(episode))
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / task.answer_file).write_text(laboratory.transcript_text(), encoding="utf-8")
    return folder, task.task_id


def test_explain_draws_the_session_of_a_public_task(
    mini_release: Path, tmp_path: Path, lab_answers: tuple[Path, str]
) -> None:
    folder, task_id = lab_answers
    drawn = tmp_path / "session.html"
    release = ["--release", str(mini_release)]
    explain = ["explain", task_id, *release, "--answers", str(folder)]
    assert main([*explain, "--html", str(drawn)]) == 0
    assert task_id in drawn.read_text(encoding="utf-8")
    assert main(["explain", task_id, *release, "--html", str(drawn)]) == 2
    path = folder / f"{task_id}.jsonl"
    path.write_text(path.read_text("utf-8").replace('"remaining":', '"remaining":1'), "utf-8")
    assert main([*explain, "--html", str(drawn)]) == 2, "nothing to draw of what is invalid"


def test_transcripts_travel_in_every_form_of_a_submission(
    mini_release: Path, tmp_path: Path, lab_answers: tuple[Path, str]
) -> None:
    """As a file, a line of answers.jsonl, and packed: the same points."""
    folder, task_id = lab_answers
    text = (folder / f"{task_id}.jsonl").read_text(encoding="utf-8")
    lines = tmp_path / "lines"
    lines.mkdir()
    entry = json.dumps({"task_id": task_id, "answer": text})
    (lines / "answers.jsonl").write_text(entry + "\n", encoding="utf-8")
    packed = tmp_path / "packed.parquet"
    release = ["--release", str(mini_release)]
    assert main(["pack", str(folder), *release, "--name", "x", "--out", str(packed)]) == 0
    exam = choose_exam(open_release(mini_release), track="causalab")
    for source in (folder, lines, packed):
        found = collect(source, exam.split.tasks)
        assert found.answers[task_id].data == text.encode(), source
        census = pipeline.grade(exam, source).report["census"]
        assert (census["scored"], census["invalid"]) == (1, 0), source


def test_a_grader_with_a_key_refuses_unsigned_sessions_and_says_so(
    mini_release: Path, tmp_path: Path, lab_answers: tuple[Path, str]
) -> None:
    folder, _ = lab_answers
    key = tmp_path / "host.key"
    key.write_bytes(b"k" * 32)
    report = tmp_path / "report.json"
    command = [
        "grade", str(folder), "--release", str(mini_release), "--track", "causalab",
        "--json", str(report), "--quiet", "--transcript-key", str(key),
    ]  # fmt: skip
    assert main(command) == 0
    census = json.loads(report.read_text("utf-8"))["census"]
    assert census["invalid_reasons"] == {"signature": 1}
    assert main([*command[:-1], str(tmp_path / "absent")]) == 2


KEY = b"k" * 32


def hosted(exam: Exam, task: Task, name: str, key: bytes = KEY) -> str:
    """A signed session of a system that only predicts."""
    laboratory = Laboratory(episode_of(task, exam.truths[task.task_id]), name, key)
    laboratory.predict(1)
    return laboratory.transcript_text()


def test_signed_sessions_of_several_submissions_are_refused(
    mini_release: Path, tmp_path: Path
) -> None:
    """A host signs for everyone; one system's answers should be one system's sessions."""
    exam = choose_exam(open_release(mini_release), track="causalab", transcript_key=KEY)
    folder, tasks = tmp_path / "answers", exam.tasks
    folder.mkdir()
    for name, task in zip(("team-a", "team-b"), tasks, strict=False):
        (folder / task.answer_file).write_text(hosted(exam, task, name), encoding="utf-8")
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
def test_a_submission_holds_sessions_of_its_team(
    mini_release: Path, tmp_path: Path, opened: str, file: str
) -> None:
    """Host, packing, board and ledger name a team alike: by what stands before the first `@`."""
    exam = choose_exam(open_release(mini_release), track="causalab", transcript_key=KEY)
    source, (task, *_) = tmp_path / file.removesuffix(".parquet"), exam.tasks
    source.mkdir()
    (source / task.answer_file).write_text(hosted(exam, task, opened), encoding="utf-8")
    if file.endswith(".parquet"):
        packed = tmp_path / file
        release = ["--release", str(mini_release), "--track", "causalab"]
        assert main(["pack", str(source), *release, "--name", "x", "--out", str(packed)]) == 0
        source = packed
    refuse_others(pipeline.grade(exam, source))
    assert team_of(submission_name(source)) == team_of(opened) == "acme"


def test_a_session_counts_in_one_attempt_alone(mini_release: Path, tmp_path: Path) -> None:
    """A good session copied into every attempt made a system look reliable; a run signs the
    sessions of each attempt by a name of its own."""
    exam = choose_exam(open_release(mini_release), track="causalab", transcript_key=KEY)
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


def test_a_board_says_how_many_sessions_were_started(mini_release: Path, tmp_path: Path) -> None:
    """Best of many shows: a session that was moved aside to start anew still counts, and so does
    one for another submission of the team."""
    key = tmp_path / "host.key"
    key.write_bytes(KEY)
    exam = choose_exam(open_release(mini_release), track="causalab", transcript_key=KEY)
    kept, board = tmp_path / "hosted" / "team-a", tmp_path / "board" / "team-a@1"
    kept.mkdir(parents=True)
    board.mkdir(parents=True)
    for task, tries in zip(exam.tasks, (1, 3), strict=False):
        for number in range(tries):
            text = hosted(exam, task, f"team-a@{number % 2 + 1}")
            (kept / f"{task.task_id}.jsonl{'.old' * number}").write_text(text, encoding="utf-8")
            (board / task.answer_file).write_text(text, encoding="utf-8")
    (kept / "forged.jsonl").write_text(hosted(exam, task, "team-a", b"x" * 32), encoding="utf-8")
    out = tmp_path / "board.json"
    command = [
        "leaderboard", str(board.parent), "--release", str(mini_release), "--track", "causalab",
        "--json", str(out), "--transcript-key", str(key), "--sessions", str(kept.parent),
    ]  # fmt: skip
    assert main(command) == 0
    (row,) = json.loads(out.read_text("utf-8"))
    assert row["report"]["submission"]["sessions"] == {"started": 4, "tasks": 2, "most": 3}


def test_a_private_report_does_not_say_whether_a_made_up_session_replays(
    mini_release: Path, tmp_path: Path
) -> None:
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
        folder = tmp_path / str(number) / "team"
        folder.mkdir(parents=True)
        (folder / task.answer_file).write_text(text, encoding="utf-8")
        assert pipeline.grade(known, folder).report["census"]["invalid"] == number
        report = pipeline.grade(private, folder).report
        shown.append({**report, "submission": {}})
        hashes.append([pipeline.grade(private, folder).answers_sha256 for _ in range(2)])
    assert shown[0] == shown[1] and shown[0]["census"]["scored"] == 1
    assert hashes[0][0] == hashes[0][1] != hashes[1][0] == hashes[1][1]


def test_verify_finds_an_episode_that_contradicts_itself() -> None:
    row = row_of(1, "main-4", "2o12i")
    task, truth = task_and_truth(row)
    assert episode_problem(task, truth) is None
    changed = json.loads(json.dumps(row))
    changed["public"]["records"][0]["density"] += 1
    assert "records[0]" in (episode_problem(*task_and_truth(changed)) or "")
    assert "value" in (episode_problem(task, replace(truth, value=1.5)) or "")


def test_a_board_shows_the_folder_of_another_teams_sessions_as_failed(
    mini_release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One row is withheld with its reason, and the board is written."""
    key = tmp_path / "host.key"
    key.write_bytes(KEY)
    exam = choose_exam(open_release(mini_release), track="causalab", transcript_key=KEY)
    (task, *_) = exam.tasks
    for name in ("team-a", "team-b"):
        folder = tmp_path / "board" / name
        folder.mkdir(parents=True)
        (folder / task.answer_file).write_text(hosted(exam, task, "team-a"), encoding="utf-8")
    command = [
        "leaderboard", str(tmp_path / "board"), "--release", str(mini_release), "--track",
        "causalab", "--transcript-key", str(key),
    ]  # fmt: skip
    assert main(command) == 0
    told = capsys.readouterr()
    assert "failed: team-b:" in told.err and 'sessions of "team-a", not of "team-b"' in told.err
    assert "failed: team-a" not in told.err
