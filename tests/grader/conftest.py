"""Fixtures: the small release, a gold folder, and ways to grade a folder in process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from grading import Runner
from small_release import FEW, write_release

from grader.commands.main import main
from grader.opening import open_release
from grader.release.exam import Exam, Split, choose_exam


@pytest.fixture(scope="session")
def release(small: Path) -> Path:
    """The small release; read only."""
    return small


@pytest.fixture
def own_release(release: Path, tmp_path: Path) -> Path:
    """A copy of the release to damage."""
    return Path(shutil.copytree(release, tmp_path / "own release"))


@pytest.fixture
def few_release(shared: Callable[..., Path], tmp_path: Path) -> Path:
    """A release as small as faults allow that every command must meet, to damage."""
    few = shared("few", lambda root: write_release(root, FEW))
    return Path(shutil.copytree(few, tmp_path / "few"))


@pytest.fixture
def own_tracks(shared: Callable[..., Path], tmp_path: Path) -> Path:
    """A copy of the small release of the other tracks, and of its right answers, to damage."""
    from small_tracks import write_tracks

    return Path(shutil.copytree(shared("tracks", write_tracks), tmp_path / "own tracks"))


@pytest.fixture(scope="session")
def dev(release: Path) -> Exam:
    return choose_exam(open_release(release), "dev", "all")


@pytest.fixture
def exam(release: Path) -> Exam:
    return Split.open(open_release(release), "test").choose_exam_for()


@pytest.fixture(scope="session")
def gold_source(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The right answers of ``dev``; read only."""
    folder = tmp_path_factory.mktemp("gold") / "gold"
    assert main(["gold", "--release", str(release), "--split", "dev", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def secret_source(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The right answers of the private split ``test``; read only."""
    folder = tmp_path_factory.mktemp("secret") / "secret"
    words = ["gold", "--release", str(release), "--split", "test", "--reveal"]
    assert main([*words, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def secret(secret_source: Path, tmp_path: Path) -> Path:
    """A copy of the right answers of ``test`` to change."""
    return Path(shutil.copytree(secret_source, tmp_path / "secret"))


@pytest.fixture
def gold(gold_source: Path, tmp_path: Path) -> Path:
    """A copy of the right answers to change."""
    return Path(shutil.copytree(gold_source, tmp_path / "gold"))


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CAUSAL_EXAMS_RELEASE", "CAUSAL_EXAMS_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def runner(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], few_draws: None
) -> Runner:
    place = tmp_path / "outputs"
    place.mkdir()
    return Runner(release, place, capsys)
