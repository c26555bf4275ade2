"""A fifth track, of a test's own, through the whole house: no file of the project knows it."""

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from builder.commands.main import main as builder
from builder.tracks import TRACKS as BUILDER_TRACKS
from grader import tracks
from grader.commands.main import main as grader

TOY = Path(__file__).parent / "toy"

SPLITS = """
name = "springs"
version = "0.1.0"

[splits.dev]
truth = "public"
seed = "springs 1"
[splits.dev.toy]
springs = 30
[splits.dev.exams.small]
toy = { tasks = 20 }

[splits.test]
truth = "private"
secret_env = "SPRINGS_SECRET"
[splits.test.toy]
springs = 12
[splits.test.exams.hidden]
toy = { tasks = "all" }
"""


@pytest.fixture(scope="module", autouse=True)
def toy() -> Iterator[None]:
    """The track, registered in both lists as a user of the project would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOY))
        import toy_track

        patch.setenv("SPRINGS_SECRET", hashlib.sha256(b"springs").hexdigest())
        tracks.register(toy_track.GRADER)
        patch.setitem(BUILDER_TRACKS, "toy", toy_track.BUILDER)
        yield
        del tracks.TRACKS["toy"]
        del sys.modules["toy_track"]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with a public and a private split of springs, which passed its gate."""
    folder = tmp_path_factory.mktemp("springs")
    (folder / "springs.toml").write_text(SPLITS, encoding="utf-8")
    out = folder / "release"
    # Only this process knows the track: it is in no list that workers would read.
    options = ["--out", str(out), "--quiet", "--workers", "1"]
    assert builder(["build", str(folder / "springs.toml"), *options]) == 0
    return out


def test_it_is_small() -> None:
    """What a track costs its author."""
    assert len((TOY / "toy_track.py").read_text(encoding="utf-8").splitlines()) <= 200


def test_it_is_planned(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan counts springs and tasks without building any."""
    assert builder(["plan", str(release.parent / "springs.toml")]) == 0
    shown = capsys.readouterr().out
    assert "toy" in shown and "30" in shown and "60" in shown


def test_its_gate_looked_at_everything(release: Path) -> None:
    """Second derivations, floors of both shapes, secrecy: none of it is skipped for a stranger."""
    gate = (release / "GATE.md").read_text(encoding="utf-8")
    for check in ("task rows", "nothing private in public"):
        assert f"| {check} | ok |" in gate
    assert "72 truths" in gate
    assert "| dev | spring.law | always " in gate and "| test: floors | ok |" in gate


def test_the_gate_asks_its_second_derivation_and_its_floors(release, monkeypatch, capsys):
    """A track that contradicts itself does not pass (and the one that does not has passed, see the
    release): what it brings is used, not only listed."""
    import toy_track

    whole = toy_track.BUILDER
    floors = replace(whole.floors, constants=lambda *_: [])
    wrong = [
        (
            replace(whole, audit=lambda *_: ["another law"], floors=floors),
            ("another law", "spring.law"),
        ),
        (replace(whole, inputs=lambda *_: frozenset({"mass"})), ("mass",)),
    ]
    for track, words in wrong:
        monkeypatch.setitem(BUILDER_TRACKS, "toy", track)
        capsys.readouterr()
        assert builder(["check", str(release), "--quiet"]) == 1
        shown = capsys.readouterr().out
        assert all(word in shown for word in words)


def test_it_is_graded_ranked_and_shown(release, tmp_path, capsys):
    """Right answers have 100 points, half-right ones half, and the page has the track's picture."""
    gold, half = tmp_path / "answers" / "gold", tmp_path / "answers" / "half"
    assert grader(["gold", "--release", str(release), "--split", "dev", "--out", str(gold)]) == 0
    half.mkdir()
    for file in gold.glob("*.json"):
        answer = json.loads(file.read_text(encoding="utf-8"))
        if "law" in answer:
            answer["law"]["slope"] += 1
            (half / file.name).write_text(json.dumps(answer), encoding="utf-8")
    shared = ["--release", str(release), "--split", "dev", "--exam", "small"]
    report = tmp_path / "report.json"
    assert grader([str(gold), *shared, "--json", str(report), "--full"]) == 0
    assert "springs asked" in capsys.readouterr().out
    assert json.loads(report.read_text(encoding="utf-8"))["tracks"]["toy"]["points"] == 100
    board = tmp_path / "board.html"
    assert grader(["leaderboard", str(gold.parent), *shared, "--html", str(board)]) == 0
    page = board.read_text(encoding="utf-8")
    assert "the springs of every system" in page and "<svg" in page
    assert page.index("gold") < page.index("half") and "25.0" in page


def test_a_test_taker_gets_its_schema(release: Path, tmp_path: Path) -> None:
    """The schema of a shape that the project does not know is in the workspace."""
    shared = ["--release", str(release), "--split", "dev", "--exam", "small"]
    assert grader(["workspace", *shared, "--out", str(tmp_path / "work")]) == 0
    schemas = [file.read_text("utf-8") for file in (tmp_path / "work").rglob("*.json")]
    assert any("The law of a spring" in text for text in schemas)
    assert grader(["schema", "spring.law"]) == 0
