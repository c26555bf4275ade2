"""``python -m baselines``: what it writes, what it may see, and what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small_exam import every_task, scene, write_release

from baselines.__main__ import main
from baselines.systems import GROUPS, NAMES, named_systems


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of three scenes in which truths and the private side cannot be opened."""
    scenes = [scene(motif, n=200) for motif in ("mediation", "frontdoor", "iv")]
    return write_release(tmp_path_factory.mktemp("release"), scenes)


def run(name: str, release: Path, out: Path, *extra: str) -> int:
    return main([name, "--release", str(release), "--out", str(out), *extra])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", ["empty", "constant", "random", "naive", "informed"])
def test_a_baseline_answers_the_exam_from_public_files_alone(name, release, tmp_path, capsys):
    """Truths are junk here: a baseline that peeked would fail instead of scoring well."""
    assert run(name, release, tmp_path / "a") == 0
    answers = [path for path in (tmp_path / "a").iterdir() if path.name != "run.json"]
    assert len(answers) == (0 if name == "empty" else 3 * len(every_task(scene("iv", n=50))))
    card = json.loads((tmp_path / "a/run.json").read_text())
    assert card["system"] == name and card["settings"]["exam"] == "mini"
    assert len(capsys.readouterr().out.splitlines()) == 1
    if name in ("random", "informed"):  # a row of a leaderboard must not move from run to run
        run(name, release, tmp_path / "b")
        assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_answers_are_written_through_no_link(release, tmp_path, capsys):
    """A link in the folder led to a card elsewhere, which was replaced."""
    mine, out = tmp_path / "mine.json", tmp_path / "a"
    mine.write_text('{"system": "empty"}')
    out.mkdir()
    (out / "run.json").symlink_to(mine)
    assert run("empty", release, out) == 2
    assert "is a symbolic link" in capsys.readouterr().err
    assert mine.read_text() == '{"system": "empty"}'


def test_gold_is_the_only_one_that_opens_the_truth(release, tmp_path, capsys):
    """The junk must in fact stop whoever opens it, or the test above shows nothing."""
    assert run("gold", release, tmp_path / "a") == 2
    assert "manifest" in capsys.readouterr().err


def test_several_answer_as_each_does_alone(release, tmp_path, capsys):
    """Each in a folder of its name, with a line about it; the name of a board stands for many."""
    words = ["constant", "random", "constant", "--workers", "1", "--release", str(release)]
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    for name in ("constant", "random"):
        run(name, release, tmp_path / "alone" / name)
        assert contents(tmp_path / name) == contents(tmp_path / "alone" / name)
    assert [system.name for system in named_systems(["demo", "gold", "ccr-noise-0.5"])] == [
        *GROUPS["demo"], "ccr-noise-0.5",
    ]  # fmt: skip


@pytest.mark.slow
def test_several_answer_in_processes_of_their_own(release, tmp_path, root):
    """What a process is to do must be found by it, from the command as it is typed."""
    words = ["constant", "random", "--workers", "2", "--release", str(release)]
    command = [sys.executable, "-m", "baselines", *words, "--out", str(tmp_path)]
    assert subprocess.run(command, cwd=root).returncode == 0
    for name in ("constant", "random"):
        run(name, release, tmp_path / "alone" / name)
        assert contents(tmp_path / name) == contents(tmp_path / "alone" / name)


def test_a_rerun_replaces_the_answers_of_the_same_baseline_only(release, tmp_path, capsys):
    """Stale answers of an older release, or another system's, would be graded as this one's."""
    run("constant", release, tmp_path / "a")
    (tmp_path / "a/cds-ffffffffffffffff.json").write_text("{}")
    (tmp_path / "a/notes.txt").write_text("mine")
    assert run("constant", release, tmp_path / "a") == 0
    assert not (tmp_path / "a/cds-ffffffffffffffff.json").exists()
    assert (tmp_path / "a/notes.txt").exists()
    assert run("random", release, tmp_path / "a") == 2
    assert "'constant'" in capsys.readouterr().err


def test_a_folder_without_run_card_is_left_alone(release, tmp_path, capsys):
    """A typing error in --out would overwrite somebody's files."""
    (tmp_path / "thesis.tex").write_text("years of work")
    assert run("constant", release, tmp_path) == 2
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}
    assert "choose another --out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inform"], "did you mean 'informed'"),
        (["ccr-noise-101"], "no such baseline"),
        (["ccr-noise-RATE"], "did you mean 'ccr-noise-5'"),
        ([], "NAME is missing"),
        (["naive", "--split", "dve"], "--split dve"),
        (["naive", "--exam", "maxi"], "--exam maxi"),
        (["naive", "--private", "p"], "only gold"),
    ],
)
def test_a_mistake_is_one_line_with_the_fix(arguments, words, release, tmp_path, capsys):
    code = main([*arguments, "--release", str(release), "--out", str(tmp_path / "a")])
    error = capsys.readouterr().err
    assert code == 2 and words in error and len(error.splitlines()) == 1


def test_the_list_names_every_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(NAMES)
    assert len(NAMES) == 17
    assert set(GROUPS["demo"]) < set(NAMES) and set(GROUPS["all"]) ^ set(NAMES) == {
        "ccr-noise-5", "ccr-noise-RATE",
    }  # fmt: skip
