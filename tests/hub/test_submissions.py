"""Handing in and the maintainer's loop: one pass over a Hub, and everything that can go wrong."""

import fcntl
import hashlib
import json
import shutil
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import pytest
from hostile_text import EVIL, check_files, check_printable
from hub_store import Blob
from local_hub import LocalHub, Says, put

from grader.board.grading import NotGraded

ADDRESS = "hf://org/exams@v1"
DEV = ("--release", ADDRESS, "--split", "dev", "--exam", "mini")


@pytest.fixture
def house(hub: LocalHub, release: Path) -> LocalHub:
    """A published release and an empty dataset of submissions."""
    put(hub, "org/exams", release / "public", "v1")
    hub.store.create("ann", "dataset", "org/submissions", {})
    return hub


@pytest.fixture
def gold(house: LocalHub, says: Says, tmp_path: Path) -> Path:
    """Right answers to ``dev``, with a ``run.json`` that says how they came about."""
    folder = tmp_path / "gold"
    assert says("gold", *DEV, "--out", folder)[0] == 0
    run = {"system": "Sage 1", "settings": {"temperature": 0}, "setting": "closed"}
    (folder / "run.json").write_text(json.dumps(run))
    return folder


@pytest.fixture
def submit(says: Says, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Bob hands in. For all else Ann, who maintains, is signed in."""

    def run(answers: Path, *more: object) -> tuple[int, str, str]:
        with monkeypatch.context() as of_bob:
            of_bob.setenv("HF_TOKEN", "hf_bob")
            return says("submit", answers, *DEV, "--to", "org/submissions", *more)

    return run


@pytest.fixture
def waiting(gold: Path, submit: Says) -> None:
    """Right answers of Bob's wait in a pull request."""
    assert submit(gold)[0] == 0


@pytest.fixture
def evaluate(says: Says, release: Path, tmp_path: Path) -> Says:
    private = shutil.copytree(release / "private", tmp_path / "safe/private")
    (tmp_path / "safe/teams.txt").write_text("bob\n", "utf-8")

    def run(*more: object) -> tuple[int, str, str]:
        return says(
            "evaluate", "--from", "org/submissions", "--results", "org/results", "--release",
            ADDRESS, "--private", private, "--work", tmp_path / "work", "--workers", 1, *more,
        )  # fmt: skip

    return run


def _row(hub: LocalHub) -> dict[str, object]:
    files = hub.repo("org/results").files("main")
    (text,) = [blob.data for path, blob in files.items() if path.startswith("results/")]
    row: dict[str, object] = json.loads(text)
    return row


def _log(hub: LocalHub) -> list[dict[str, object]]:
    text = hub.repo("org/results").files("main")["log.jsonl"].data.decode()
    return [json.loads(line) for line in text.splitlines()]


def test_handed_in_graded_recorded_answered_and_merged(house, gold, submit, evaluate):
    code, out, err = submit(gold)
    assert code == 0, err
    assert "is handed in: http" in out and "0 invalid" in out
    code, out, _ = submit(gold)
    assert code == 0 and "was handed in before" in out
    code, out, err = evaluate()
    assert code == 0, err
    assert "1 graded, 0 not" in out
    row = _row(house)
    assert (row["team"], row["system"], row["setting"]) == ("bob", "Sage 1", "closed")
    assert row["status"] == "graded" and row["report"]["points"] == 100  # type: ignore[index]
    assert len(str(row["answers_sha256"])) == len(str(row["submission_sha256"])) == 64
    (line,) = _log(house)
    assert line["points"] == 100 and line["id"] == row["id"]
    inbox = house.repo("org/submissions")
    assert f"submissions/bob/{row['id']}.parquet" in inbox.files("main")
    (pull,) = inbox.discussions
    assert pull.status == "closed"
    said = [e["data"]["latest"]["raw"] for e in pull.events if e["type"] == "comment"]
    assert sum("points 100.0" in text for text in said) == 1
    house.uploads()
    assert "0 graded, 0 not, 0 known before" in evaluate()[1]
    assert house.uploads() == []


def test_no_word_of_a_submission_acts_on_a_terminal_a_page_or_a_comment(
    house: LocalHub, gold: Path, says: Says, submit: Says, evaluate: Says, tmp_path: Path
) -> None:
    """Rows of results held C1 controls and bidirectional marks as they came."""
    card = dict.fromkeys(("system", "date", "model", "url", "notes", EVIL), EVIL)
    (gold / "run.json").write_text(json.dumps(card), "utf-8")
    (gold / f"{EVIL}.json").write_text(EVIL, "utf-8")
    written = tmp_path / "written"
    told = [submit(gold), evaluate(), evaluate()]
    for name, blob in house.repo("org/results").files("main").items():
        file = written / "rows" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(blob.data)
    told.append(says("board", "--from", "org/results", "--out", written / "site"))
    report = written / "report.json"
    told.append(says("grade", gold, *DEV, "--json", report))
    model = ("--release", ADDRESS, "--out", written / "model")
    told.append(says("results", report, "--model", "org/model", *model))
    assert [code for code, _, _ in told] == [0] * len(told)
    told.append(says("results", report, "--model", EVIL, *model))
    told += [says("fetch", ADDRESS + EVIL), says("board", "--from", EVIL, "--out", tmp_path / "x")]
    (pull,) = house.repo("org/submissions").discussions
    said = [e["data"]["latest"]["raw"] for e in pull.events if e["type"] == "comment"]
    for text in [*said, *(text for _, out, err in told for text in (out, err))]:
        check_printable(text, told)
    assert "<script" not in "".join(said).replace("\\<", "")
    check_files(written)


def test_a_private_exam_comes_back_redacted(house, says, submit, evaluate, release, tmp_path):
    """Row, log and comment say nothing that follows the truth of an exam this small."""
    answers = tmp_path / "answers"
    options = ("--split", "test", "--exam", "all", "--reveal", "--out", answers)
    assert says("gold", "--release", release, *options)[0] == 0
    code, out, err = submit(answers, "--split", "test", "--exam", "demo", "--name", "Sage 1")
    assert code == 0, err
    code, out, err = evaluate()
    assert code == 0 and "1 graded" in out, err
    row = _row(house)
    report = row["report"]
    assert isinstance(report, dict) and report["redacted"] and report["points"] is None
    assert _log(house)[0]["points"] is None
    (pull,) = house.repo("org/submissions").discussions
    assert "no figure is shown" in json.dumps(pull.events)
    ledger = json.loads((tmp_path / "safe/ledger.json").read_bytes())
    assert [*next(iter(ledger["exams"].values()))] == ["bob"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "pattern"),
    [
        ("POST", "/org/results/commit/"),
        ("POST", "/discussions/1/comment"),
        ("POST", "/org/submissions/commit/"),
        ("POST", "/discussions/1/status"),
        ("GET", "^/cdn/|/resolve/refs"),
    ],
)
@pytest.mark.usefixtures("waiting")
def test_a_run_that_ends_anywhere_is_finished_by_the_next(method, pattern, house, evaluate):
    """Between any two steps: one row, one line, one file, one comment in the end."""
    house.fail(method, pattern, 403)
    code, _, err = evaluate()
    assert code == 2 and err.count("\n") == 1, err
    assert evaluate()[0] == 0
    assert len(_log(house)) == 1 and _row(house)["status"] == "graded"
    (pull,) = house.repo("org/submissions").discussions
    comments = [e for e in pull.events if "causal-exams" in json.dumps(e)]
    assert pull.status == "closed" and len(comments) == 1
    stored = house.repo("org/submissions").files("main")
    assert f"submissions/bob/{_row(house)['id']}.parquet" in stored


def _pull(hub: LocalHub, user: str, files: dict[str, bytes]) -> None:
    """A pull request as a stranger may open one, past our client."""
    repo = hub.repo("org/submissions")
    lines = [{"key": "header", "value": {"summary": "mine", "description": ""}}]
    oid, pull = hub.store.write(repo, "main", lines, user, True)
    assert pull is not None
    repo.commits[oid] = repo.commits[oid] | {path: Blob(data) for path, data in files.items()}


GARBAGE = b"PAR1 no parquet"
GARBAGE_ID = hashlib.sha256(GARBAGE).hexdigest()[:16]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "says_why"),
    [
        ({"submissions/ann/0123456789abcdef.parquet": b"x"}, "it has 0 new files submissions/bob"),
        ({"results.json": b"{}"}, "it has 0 new files"),
        ({}, "it has 0 new files"),
        ({f"submissions/bob/{k}123456789abcdef.parquet": b"x" for k in "01"}, "it has 2 new files"),
        ({"submissions/bob/0123456789abcdef.parquet": b"x"}, "its file name is not its SHA-256"),
        ({"submissions/bob/../ann/0123456789abcdef.parquet": b"x"}, "it has 0 new files"),
        ({f"submissions/bob/{GARBAGE_ID}.parquet": GARBAGE}, "cannot be read"),
    ],
)
def test_what_is_no_submission_is_refused_with_the_reason(files, says_why, house, evaluate):
    _pull(house, "bob", files)
    code, out, err = evaluate()
    assert code == 0 and "0 graded, 1 not" in out, err
    assert says_why in str(_row(house)["reason"])
    (pull,) = house.repo("org/submissions").discussions
    assert pull.status == "closed"
    assert "0 graded, 0 not, 0 known before" in evaluate()[1]


@pytest.mark.usefixtures("waiting")
def test_what_failed_is_graded_again_where_it_is_handed_in_again(
    house, gold, submit, evaluate, monkeypatch
):
    """On another day, since each try costs the maintainer time."""

    def late(exam: object, sources: list[Path], **_: object) -> list[NotGraded]:
        return [NotGraded(source, "took more than 300 s") for source in sources]

    with monkeypatch.context() as patch:
        patch.setattr("grader.hub.evaluate.grade_all", late)
        assert "0 graded, 1 not" in evaluate()[1]
    (pull,) = inbox = house.repo("org/submissions").discussions
    assert pull.status == "closed" and "took more than 300 s" in json.dumps(pull.events)
    assert submit(gold)[0] == 0
    assert "1 wait for another day" in evaluate()[1]

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return super().now(tz) + timedelta(days=1)

    monkeypatch.setattr("datetime.datetime", Tomorrow)
    assert "1 graded" in evaluate()[1]
    assert [line["status"] for line in _log(house)] == ["failed", "graded"]
    assert [one.status for one in inbox] == ["closed", "closed"]


@pytest.mark.usefixtures("waiting")
def test_a_file_that_was_damaged_on_its_way_is_fetched_again(house, evaluate):
    """What the network did is no submitter's fault."""
    house.fail("GET", r"submissions/bob/\w+\.parquet|/cdn/", "garble")
    code, out, err = evaluate()
    assert code == 0 and "1 graded" in out, out + err
    assert not any(fault.times for fault in house.faults)


@pytest.mark.slow
def test_a_team_has_so_many_a_day_and_the_rest_waits(gold, submit, evaluate, monkeypatch):
    monkeypatch.setattr("grader.hub.evaluate.PER_DAY", 2)
    for name in ("Sage 1", "Sage 2", "Sage 3"):
        assert submit(gold, "--name", name)[0] == 0
    assert "2 graded, 0 not, 0 known before, 1 wait" in evaluate()[1]
    assert "0 graded, 0 not, 0 known before, 1 wait" in evaluate()[1]


@pytest.mark.slow
def test_submissions_to_another_release_are_left_alone(
    house, gold, submit, evaluate, release, tmp_path
):
    """The loop runs once a release; a submission to the other one must not fail here."""
    public = shutil.copytree(release / "public", tmp_path / "public")
    text = (public / "manifest.json").read_text()
    (public / "manifest.json").write_text(text + "\n")
    put(house, "org/other", public, "v2")
    assert submit(gold, "--release", "hf://org/other@v2")[0] == 0
    assert "1 to another release" in evaluate()[1]
    assert house.repo("org/submissions").discussions[0].status == "open"


@pytest.mark.usefixtures("waiting")
def test_nothing_else_of_a_pull_request_is_taken(house, evaluate):
    """It may change while it is looked at, so what is stored is the file that was graded."""
    inbox = house.repo("org/submissions")
    pull = inbox.discussions[0]
    pull.status = "draft"
    forged = "submissions/ann/0123456789abcdef.parquet"
    inbox.files("refs/pr/1")[forged] = Blob(b"forged")
    inbox.files("refs/pr/1")["README.md"] = Blob(b"mine now")
    assert "1 graded" in evaluate()[1]
    assert pull.status == "closed"
    assert inbox.files("main").keys() == {
        ".gitattributes", f"submissions/bob/{_row(house)['id']}.parquet",
    }  # fmt: skip


@pytest.mark.slow
def test_bad_input_of_a_submitter_is_one_line(house, gold, submit, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for answers, more, line in [
        (empty, ("--name", "x"), "no valid answer"),
        (gold, ("--name", ""), "1 to 200 characters"),
        (gold, ("--to", "nowhere"), "not an address on the Hub"),
        (gold, ("--to", "org/absent"), "no such repository"),
    ]:
        code, _, err = submit(answers, *more)
        assert code == 2 and line in err and err.count("error:") == 1, err
    assert not house.repo("org/submissions").discussions


def test_what_stops_a_run_is_one_line(house, says, evaluate, tmp_path):
    """Cron starts the next run whether or not the last one has ended."""
    told = ("--from", "org/submissions", "--results", "org/results", "--release", ADDRESS)
    code, _, err = says("evaluate", *told, "--work", tmp_path / "work")
    assert code == 2 and "--private" in err
    (tmp_path / "work").mkdir()
    with (tmp_path / "work/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, _, err = evaluate()
    assert code == 2 and "another run is at work" in err
