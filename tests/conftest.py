"""What every test may use: releases, each made once a session."""

import fcntl
import gc
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from smaller_splits import write_splits

from grader.statistics import bootstrap
from grader.tracks.causalds import figures

ROOT = Path(__file__).resolve().parent.parent

_FIRST = (
    "release/test_gate_answers.py",
    "grader/board/test_board.py",
    "release/test_gate.py",
    "project/test_docs.py",
    "grader/release/test_damaged_releases.py",
    "release/test_planted_faults.py",
    "release/test_leak.py",
    "causalds/test_causalds_blueprint.py",
    "grader/commands/test_printable_output.py",
    "grader/reports/test_ledger.py",
    "grader/answers/test_hostile_bundles.py",
    "grader/test_standalone.py",
    "thermometer/test_thermometer.py",
)
"""The files that take longest, in the order in which they are begun with. The first builds what
others wait for, which the next do not need; at the end of a run only short ones are left."""

_passed: list[str] = []

Shared = Callable[[str, Callable[[Path], object]], Path]
"""Given a name and what makes a folder of that name, the folder."""


def pytest_sessionstart() -> None:
    """Collecting makes a million objects that stay."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {ROOT / "tests" / name: number for number, name in enumerate(_FIRST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_report_teststatus(
    report: pytest.TestReport, config: pytest.Config
) -> tuple[str, str, str] | None:
    """With several processes a dot is fifty tests that passed: all of `make test` fits a screen."""
    if not report.passed or report.when != "call" or not config.getoption("numprocesses", None):
        return None
    _passed.append(report.nodeid)
    return ("passed", "", "") if len(_passed) % 50 else ("passed", ".", "PASSED")


def pytest_unconfigure() -> None:
    """Hypothesis leaves a callback with the garbage collector, which keeps DuckDB's objects alive
    beyond the interpreter's end, as does what stays frozen; its binding would then print a page
    about leaks."""
    gc.callbacks.clear()
    gc.unfreeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes intervals from 50 draws, and none of slices: they are half of each grading."""
    draw = bootstrap._draws
    monkeypatch.setattr(bootstrap, "_draws", lambda names, seed, _: draw(names, seed, 50))
    monkeypatch.setattr(figures, "_fill_slice_intervals", lambda *_: None)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Makes a folder once a session, for all test processes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of this run, with a folder for each worker

    def made(name: str, make: Callable[[Path], object]) -> Path:
        place = folder / "shared" / name
        place.mkdir(parents=True, exist_ok=True)
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (place / "release").exists():  # it gets this name once it is complete
                make(place / "unfinished")
                (place / "unfinished").rename(place / "release")
        return place / "release"

    return made


@pytest.fixture(scope="session")
def mini_release(shared: Shared) -> Path:
    """``splits/mini.toml`` made smaller, built with the command a user types; the gate included.

    It is built in one process, since others would spend as long on their imports as on their work.
    """

    def build(out: Path) -> None:
        file = write_splits(ROOT / "splits", out.with_name("splits")) / "mini.toml"
        command = [sys.executable, "build_dataset.py", "build", str(file), "--out", str(out)]
        command += ["--quiet", "--workers", "1"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return shared("mini", build)


@pytest.fixture(scope="session")
def tiny(shared: Shared) -> Path:
    """A finished release of the small track with a public and a private split."""
    from fake_builder import build

    return shared("tiny", build)


@pytest.fixture(scope="session")
def small(shared: Shared) -> Path:
    """The small release by hand, with a public and a private split."""
    from small_release import write_release

    return shared("small", write_release)


@pytest.fixture(scope="session")
def installed(shared: Shared) -> Path:
    """The wheel of this checkout, unpacked where the checkout is not on the path."""
    from hatchling.builders.wheel import WheelBuilder

    def build(out: Path) -> None:
        place = str(out.with_name("wheel"))
        (wheel,) = WheelBuilder(str(ROOT)).build(directory=place, versions=["standard"])
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(out / "site-packages")

    # Inspect takes a package from a folder of this name alone.
    return shared("wheel", build) / "site-packages"
