"""A fingerprint covers what makes bytes, and nothing that only looks at them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from imported import modules, modules_imported

from builder.release.identity import LOOKING, MAKING, _files

CHECKOUT = Path(__file__).parent.parent.parent
SOURCE = frozenset(_files(MAKING, LOOKING))
"""The files behind the fingerprint."""

HARMLESS = frozenset(
    {
        "grader/__init__.py",  # the version, which the fingerprint holds anyhow
        "grader/errors.py",
        "grader/names.py",  # did-you-mean
        "grader/score.py",  # what floors earn: a fingerprint holds the number of the rules
        "grader/submission/check.py",
        "grader/tracks/ccr/contexts.py",
        "grader/version.py",  # which the fingerprint holds anyhow
        "grader/model.py",  # types of what the gate asks
        "grader/io/files.py",  # writing in one step, hashes of files
        "grader/io/paths.py",  # refuses names, makes none
        "grader/io/pipe.py",  # how a program ends
        "grader/tracks/causalab/scoring.py",  # of which gold reads an episode, and marks nothing
    }
)
"""What making imports of the grader without a byte of a release depending on it."""


@pytest.mark.parametrize(
    ("file", "covered"),
    [
        ("builder/causalds/plan/scenes.py", True),
        ("builder/causalds/make/scene.py", True),
        ("builder/ccr/ask/text.py", True),
        ("builder/ccr/ask/text.toml", True),
        ("builder/words/frames.toml", True),
        ("builder/words/llm/prompts.toml", True),
        ("builder/release/shards.py", True),
        ("builder/seeds.py", True),
        ("dataset_card/public.md", True),
        ("grader/laboratory/model.py", True),
        ("builder/causalds/show/page.py", False),
        ("builder/causalab/check.py", False),
        ("builder/causalab/show.py", False),
        ("builder/causalds/ask/constants.py", True),
        ("builder/gate/leak.py", False),
        ("builder/reader/english.toml", False),
        ("builder/release/reader.py", True),
        ("builder/cli/main.py", False),
        ("builder/release/show/progress.py", False),
        ("grader/pipeline.py", False),
    ],
)
def test_an_edited_plan_rebuilds_and_a_moved_pixel_does_not(file: str, covered: bool) -> None:
    """A split of hours was once built again for a colour in a picture."""
    assert (CHECKOUT / file).is_file()
    assert (CHECKOUT / file in SOURCE) == covered


def _looks(file: Path) -> bool:
    """Whether a file of this checkout only looks, wherever the checkout itself may lie."""
    return not LOOKING.isdisjoint(file.relative_to(CHECKOUT).parts)


def _imports_of_making() -> Iterator[tuple[Path, Path]]:
    """Shapes and variants are lists of names here: the functions beside them mark answers."""
    known = modules(CHECKOUT)
    for file in SOURCE:
        if file.suffix == ".py" and file.stem not in ("shape", "shapes", "variants"):
            yield from ((file, known[name]) for name in modules_imported(file, known))


def test_whatever_making_imports_is_covered() -> None:
    """A rule that moves to another module must not leave the fingerprint on the way."""
    covered = SOURCE | {CHECKOUT / name for name in HARMLESS}
    imported = {found for _, found in _imports_of_making() if found.name != "__init__.py"}
    assert [file for file in imported - covered if not _looks(file)] == []


def test_only_a_record_or_a_command_reaches_for_what_looks() -> None:
    """What only looks is out of the fingerprint, so what makes rows must not rest on it."""
    reaching = {
        file.relative_to(CHECKOUT).as_posix()
        for file, found in _imports_of_making()
        if _looks(found)
    }
    known = {f"builder/release/{name}.py" for name in ("build", "floors", "staging")}
    known.add("builder/importing/__init__.py")  # the list of the commands
    assert {
        name for name in reaching - known if not name.endswith(("track.py", "commands.py"))
    } == set()


def test_the_table_names_what_exists() -> None:
    """A folder that moved would silently be left out."""
    assert [pattern for pattern in MAKING if not any(CHECKOUT.glob(pattern))] == []
