"""Split files: whatever is wrong is said in one line, before any work starts."""

import re
from pathlib import Path

import pytest
from fake_builder import small_track
from tiny_release import SPLIT_FILE

from builder.splits.config import load_config
from builder.tracks import TRACKS
from grader.errors import UsageError

CASES = {
    "unknown key": ("name =", "nam =", ["nam: unknown key; did you mean 'name'?"]),
    "name missing": ('name = "tiny"', "", ["name: missing; give lower-case letters"]),
    "name with capitals": ('"tiny"', '"Tiny Exam"', ["name: must be lower-case", "Tiny Exam"]),
    "version": ('"0.1.0"', '"latest"', ["version: must be three numbers", "0.1.0"]),
    "no splits": (SPLIT_FILE[SPLIT_FILE.index("[splits") :], "", ["splits: missing"]),
    "splits no table": ("[splits.dev]", "[splits]\nx = 1\n[splits.dev]", ["splits.x: must be a"]),
    "split name": ("splits.dev", "splits.Dev-1", ["splits.Dev-1: no good split name"]),
    "split called all": ("splits.dev", "splits.all", ["splits.all: no good split name"]),
    "truth": ('"public"', '"hidden"', ["splits.dev.truth: unknown name", "private, public"]),
    "seed missing": ('seed = "tiny 1"', "", ["splits.dev.seed: missing"]),
    "seed blank": ('"tiny 1"', '" "', ["splits.dev.seed"]),
    "secret in the open": ('seed = "tiny 1"', 'secret_env = "X"', ["splits.dev.secret_env"]),
    "seed of a private split": (
        'secret_env = "TINY_SECRET"', 'seed = "x"', ["splits.test.seed: whoever knows the seed"],
    ),
    "no secret": ('secret_env = "TINY_SECRET"', "", ["splits.test.secret_env: missing"]),
    "secret variable": ('"TINY_SECRET"', '"A-B"', ["splits.test.secret_env: must be the name"]),
    "track misspelt": (
        "splits.dev.causalds]", "splits.dev.causals]",
        ["splits.dev.causals: unknown key; did you mean 'causalds'?"],
    ),
    "no track": (
        "[splits.dev.causalds]\nscenes = 45\n[splits.dev.exams.mini]\n"
        'causalds = { tasks = 20 }',
        "", ["splits.dev.causalab: missing"],
    ),
    "track's own key": ("scenes = 45", "scene = 45", ["splits.dev.causalds.scene: unknown key"]),
    "exam of another track": (
        "causalds = { tasks = 20", "ccr = { tasks = 20", ["exams.mini.ccr: unknown key"],
    ),
    "exam empty": (
        'causalds = { tasks = 20 }', "", ["splits.dev.exams.mini: empty"],
    ),
    "exam called all": ("exams.mini", "exams.all", ["exams.all: no good exam name"]),
    "tasks missing": ("tasks = 20", "", ["exams.mini.causalds.tasks: missing"]),
    "tasks zero": ("tasks = 20", "tasks = 0", ["exams.mini.causalds.tasks: must be a whole"]),
    "tasks word": ("tasks = 20", 'tasks = "every"', ["tasks: must be a whole", "or 'all'"]),
    "private taken twice": (
        'causalds = { tasks = "all" }',
        'causalds = { tasks = "all" }\n[splits.test.exams.more]\ncausalds = { tasks = "all" }',
        ["splits.test.exams: two exams take all"],
    ),
    "private taken twice in part": (
        'causalds = { tasks = "all" }',
        'causalds = { tasks = "all" }\n[splits.test.exams.more]\n'
        'causalds = { tasks = "all", variants = ["effect_estimate.*"] }',
        ["splits.test.exams: two exams take all", "effect_estimate.ate_point"],
    ),
    "no such variant": (
        "tasks = 20", 'tasks = 20, variants = ["association.*", "effect.*"]',
        ["exams.mini.causalds.variants: no variant of causalds", '"effect.*"'],
    ),
    "a date": ('seed = "tiny 1"', "seed = 2024-01-01", ["splits.dev.seed", "no setting"]),
    "infinity": ("scenes = 45", "scenes = inf", ["splits.dev.causalds.scenes", "no setting"]),
    "no TOML": ('name = "tiny"', "name = tiny", ["invalid TOML", "line 2"]),
}  # fmt: skip


def _problem(file: Path) -> str:
    with small_track(), pytest.raises(UsageError) as caught:
        load_config(file, TRACKS)
    return str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_each_mistake_is_named_with_its_place_and_cure(name, split_file):
    """A mistake found after an hour of building, or never, costs the release."""
    old, new, expected = CASES[name]
    assert old in SPLIT_FILE
    split_file.write_text(SPLIT_FILE.replace(old, new, 1))
    message = _problem(split_file)
    assert message.startswith(f"{split_file}: ")
    assert "\n" not in message
    for part in expected:
        assert part in message


def test_files_that_cannot_be_read_are_named(tmp_path):
    """The commonest mistake is the path."""
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    (tmp_path / "big.toml").write_bytes(b"#" * 2_000_000)
    for name, reason in (
        ("none.toml", "not found"),
        (".", "is a folder"),
        ("latin.toml", "not UTF-8"),
        ("big.toml", "larger than"),
    ):
        message = _problem(tmp_path / name)
        assert reason in message and str(tmp_path) in message


def test_the_place_of_a_secret_is_not_part_of_the_configuration(split_file):
    """The manifest publishes the configuration."""
    with small_track():
        config = load_config(split_file, TRACKS)
    assert "TINY_SECRET" not in str(config.document)
    assert config.splits[1].secret_env == "TINY_SECRET"


def test_private_exams_that_do_not_add_up_fail_before_building(
    split_file, command, secret, tmp_path, capsys
):
    """A task in no exam could never be graded; it is a waste of an hour to find out late."""
    for tasks, says in (("44", "1 of 45 .* in exactly one exam"), ("46", "46 tasks .* are 45")):
        split_file.write_text(SPLIT_FILE.replace('"all"', tasks))
        assert command("build", split_file, "--out", tmp_path / "r") == 2
        assert re.search(says, capsys.readouterr().err)
        assert not (tmp_path / "r.partial").exists()


def test_a_copy_of_a_split_file_plans_wherever_it_lies(root, tmp_path, monkeypatch):
    """The first thing a stranger does is to copy one under another name."""
    text = (root / "splits" / "mini.toml").read_text(encoding="utf-8")
    (tmp_path / "my.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    copied, own = (
        load_config(Path("my.toml"), TRACKS),
        load_config(root / "splits" / "mini.toml", TRACKS),
    )
    assert copied.splits == own.splits and copied.document == own.document
    assert copied.lock_path == Path("my.lock.json")
    (tmp_path / "exams").mkdir()
    nearer = (root / "splits" / "exams" / "mini.toml").read_text().replace("100", "99")
    (tmp_path / "exams" / "mini.toml").write_text(nearer, encoding="utf-8")
    assert (
        load_config(Path("my.toml"), TRACKS).splits != own.splits
    )  # what lies beside it comes first


def test_an_exam_file_that_is_nowhere_is_named_with_its_places(root: Path, tmp_path: Path) -> None:
    text = (root / "splits" / "mini.toml").read_text(encoding="utf-8")
    file = tmp_path / "my.toml"
    file.write_text(text.replace("exams/mini.toml", "exams/mine.toml"), encoding="utf-8")
    with pytest.raises(UsageError) as error:
        load_config(file, TRACKS)
    told = str(error.value)
    assert told.startswith(f"{file}: found no exam file exams/mine.toml at {tmp_path}")
    assert "\n" not in told
