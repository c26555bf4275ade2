"""Files in an answers folder that are no ordinary files, no answers, or answers twice; what may be
wrong with a single file is in ``malformations.py``."""

import json
from pathlib import Path

import pytest
from grading import Runner, only_changed, put
from malformations import ODD_FILES
from small_release import TASKS, answer_file, task_id


def test_what_is_no_ordinary_file_is_not_read(runner: Runner, gold: Path) -> None:
    """A link could grade someone else's file, a FIFO hangs, a device never ends. Each is the answer
    to one task; a table, which may be longer, is a byte too long as well."""
    names = [name for name in TASKS if answer_file(name).endswith(".json")]
    odd = dict(zip(names, ODD_FILES.values(), strict=False))
    odd["predict"] = ODD_FILES["a byte too long"]
    for name, (_, make, _) in odd.items():
        (gold / answer_file(name)).unlink()
        make(gold / answer_file(name))
    run = runner.grade(gold)
    for name, (reason, _, text) in odd.items():
        row = run.rows[name]
        assert (row["status"], row["reason"]) == ("invalid", reason)
        assert text in row["message"] and answer_file(name) in row["message"]
    only_changed(run, set(odd))


def test_an_answer_in_two_places_is_void(runner: Runner, gold: Path) -> None:
    """Taking either one would let a submitter hedge."""
    (gold / "causalds").mkdir()
    put(gold / "causalds", "ate", '{"ate": 1.0}')
    line = json.dumps({"task_id": task_id("ett"), "answer": {"value": -3.0}})
    (gold / "answers.jsonl").write_text(line + "\n", encoding="utf-8")
    run = runner.grade(gold)
    for name in ("ate", "ett"):
        assert run.rows[name]["reason"] == "duplicate_answer"
        assert "keep one" in run.rows[name]["message"]
    assert f"causalds/{answer_file('ate')}" in run.rows["ate"]["message"]
    assert "answers.jsonl line 1" in run.rows["ett"]["message"]
    only_changed(run, {"ate", "ett"})


def test_track_folders_are_read_and_linked_ones_are_not(runner: Runner, gold: Path) -> None:
    """A linked folder is as much outside as a linked file."""
    away = gold.parent / "away"
    away.mkdir()
    for name in TASKS:
        (gold / answer_file(name)).rename(away / answer_file(name))
    (gold / "causalds").symlink_to(away)
    run = runner.grade(gold)
    assert run.report["census"]["missing"] == len(TASKS)
    assert any("links are not followed" in note for note in run.report["notices"])
    (gold / "causalds").unlink()
    away.rename(gold / "causalds")
    only_changed(runner.grade(gold), set())


def test_strangers_are_counted_and_named(runner: Runner, gold: Path) -> None:
    """An answer under a wrong name must be heard of, or it is just missing."""
    (gold / "cds-0000000000000000.json").write_text("{}", encoding="utf-8")
    (gold / "\x1b[31m\n<b>.json").write_text("{}", encoding="utf-8")
    file = gold / answer_file("ate")
    file.rename(file.with_suffix(".txt"))
    run = runner.grade(gold)
    assert run.report["unknown_answers"] == 2
    assert run.rows["ate"]["status"] == "missing"
    notices = "\n".join(run.report["notices"])
    assert f"is named {file.name}" in notices and "cds-0000000000000000.json" in notices
    assert all(notice.isprintable() for notice in run.report["notices"])
    assert "\x1b" not in run.out
    only_changed(run, {"ate"})


def test_a_folder_name_that_is_no_text_is_still_graded(runner: Runner, gold: Path) -> None:
    """File names are bytes; the report is UTF-8."""
    (gold / "run.json").unlink()
    place = gold.parent / "caf\udce9"
    try:
        gold.rename(place)
    except OSError:  # such a name cannot be there to be graded
        pytest.skip("this file system wants UTF-8 names")
    run = runner.grade(place, "--html", runner.place / "page.html")
    only_changed(run, set())
    assert run.report["submission"]["system"] == "caf?"


def test_the_system_is_named_after_its_folder(runner, gold, monkeypatch):
    """Without run.json a folder's whole name is the name, from inside it too."""
    (gold / "run.json").unlink()
    place = gold.rename(gold.parent / "agent-1.5")
    assert runner.grade(place).report["submission"]["system"] == "agent-1.5"
    monkeypatch.chdir(place)
    assert runner.grade(Path()).report["submission"]["system"] == "agent-1.5"
