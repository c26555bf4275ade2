"""The command line of the builder, split files, their settings: bad input is one line, before any
work starts; help shows how."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

import fake_builder
import pytest
from fake_builder import ENVIRONMENT, SECRET, SPLIT_FILE, small_track
from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass

from builder.splits import settings
from builder.splits.config import load_config
from builder.splits.settings import Text, TomlTable, Weight, check, some_of, weights_of
from builder.tracks import TRACKS
from grader.commands.main import main as grader
from grader.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["bild"], "bild: no such command; did you mean 'build'?"),
        (["build"], "required: TOML"),
        (["build", "none.toml"], "none.toml: not found"),
        (["build", "none.toml", "--workers", "0"], "--workers: 0 is no whole number from 1"),
        (["build", "none.toml", "--worker", "2"], "unrecognized arguments"),
        (["check", "none"], "none: no release there"),
        (["diff", "none", "none"], "none: no release there"),
    ],
)
def test_unusable_arguments_give_one_line_and_exit_code_two(arguments, expected, command, capsys):
    """A traceback, or a page of usage, hides the one word that was wrong."""
    assert command(*arguments) == 2
    message = capsys.readouterr().err
    assert expected in message
    assert message.startswith("error: ") and message.count("\n") == 1


@pytest.mark.parametrize("label", ["causalds/dve/1", "causalds/dev/45", "causalds/dev", "7", ""])
def test_an_instance_that_is_not_there_is_explained(label, split_file, command, secret, capsys):
    """The label is copied by hand from a message."""
    assert command("build", split_file, "--only", label) == 2
    assert "--only" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_named(build, tmp_path, capsys):
    """These are found before any work, and nothing is left behind."""
    (tmp_path / "file").write_text("x")
    assert build(tmp_path / "file") == 2
    assert "is a file" in capsys.readouterr().err
    assert build(tmp_path / "file/below") == 2
    assert "cannot write" in capsys.readouterr().err
    assert build("/") == build("/proc/release") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "x"


def test_a_new_secret_is_256_random_bits_that_build_accepts(
    command, capsys, split_file, monkeypatch, tmp_path
):
    """The two commands must agree on what a secret looks like."""
    assert command("new-secret") == 0
    first = capsys.readouterr().out.strip()
    assert command("new-secret") == 0
    assert first != capsys.readouterr().out.strip()
    assert len(bytes.fromhex(first)) == 32
    monkeypatch.setenv("TINY_SECRET", first)
    assert command("build", split_file, "--only", "causalds/test/0") == 0


def test_standard_output_stays_free_for_data(build, tmp_path, capsys):
    """`build ... > log` must not be needed to keep a pipe clean; --quiet says where it is."""
    assert build(tmp_path / "a") == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    for part in ("Parquet shards", "rejected attempts: bound not met 9", "next:"):
        assert part in shown.err
    for status in ("built", "already built"):
        assert build(tmp_path / "b", "--quiet") == 0
        assert capsys.readouterr().err == f"{status}: {tmp_path / 'b'}\n"


def test_an_unchecked_release_says_so_and_is_neither_published_nor_ranked(
    build, command, tmp_path, capsys
):
    """An experiment of a dozen scenes fails a gate; nobody may take it for an exam."""
    out = tmp_path / "try"
    assert build(out, "--unchecked", "--update-lock") == 2
    assert "drop --unchecked" in capsys.readouterr().err
    assert build(out, "--quiet", "--unchecked") == 0
    assert "UNCHECKED" in (out / "GATE.md").read_text()
    assert "tiny-UNCHECKED" in (out / "public" / "README.md").read_text()
    assert json.loads((out / "public/manifest.json").read_bytes())["release"] == "tiny-UNCHECKED"
    capsys.readouterr()
    assert command("publish", out, "--repo", "org/exams") == 2
    assert "is UNCHECKED, for experiments, and is not published" in capsys.readouterr().err
    (tmp_path / "answers").mkdir()
    board = ("leaderboard", tmp_path, "--release", out, "--split", "dev")
    assert grader([str(word) for word in board]) == 2
    assert "ranks nobody; build it without --unchecked" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_keeps_finished_parts(split_file, tmp_path):
    """Stopping a long build is ordinary, not an accident."""
    build = subprocess.Popen(
        [sys.executable, fake_builder.__file__, "build", str(split_file), "--workers", "1",
         "--out", str(tmp_path / "r")],
        env=ENVIRONMENT | {"TINY_SECRET": SECRET, "FAKE_SLOW": "0.05"},
        stderr=subprocess.PIPE, text=True,
        # Children of a background job ignore SIGINT unless told otherwise.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("r.partial/parts/causalds/*/*/part.json")):
        assert time.monotonic() < deadline and build.poll() is None
        time.sleep(0.02)
    build.send_signal(signal.SIGINT)
    _, message = build.communicate(timeout=60)
    assert build.returncode == 130
    assert "finished parts are kept" in message and "Traceback" not in message
    assert not (tmp_path / "r").exists()


CASES = {  # a misspelt key explains one that is missing
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
    assert message.startswith(f"{split_file}: ") and "\n" not in message
    assert all(part in message for part in expected), message


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


def test_a_copy_of_a_split_file_plans_wherever_it_lies(root, tmp_path, monkeypatch):
    """The first thing a stranger does is to copy one under another name."""
    text = (root / "splits" / "mini.toml").read_text(encoding="utf-8")
    (tmp_path / "my.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    copied = load_config(Path("my.toml"), TRACKS)
    own = load_config(root / "splits" / "mini.toml", TRACKS)
    assert copied.splits == own.splits and copied.document == own.document
    (tmp_path / "exams").mkdir()
    nearer = (root / "splits" / "exams" / "mini.toml").read_text().replace("100", "99")
    (tmp_path / "exams" / "mini.toml").write_text(nearer, encoding="utf-8")
    beside = load_config(Path("my.toml"), TRACKS)
    assert beside.splits != own.splits, "what lies beside it comes first"
    Path("my.toml").write_text(text.replace("exams/mini.toml", "exams/mine.toml"), "utf-8")
    with pytest.raises(UsageError, match=r"my\.toml: found no exam file exams/mine"):
        load_config(Path("my.toml"), TRACKS)


KNOWN = ("chain", "fork")
_Digit = Annotated[int, Field(ge=1, le=9)]


@dataclass(frozen=True, config=settings.STRICT)
class Inner:
    """A table inside, as a dataclass."""

    deep: Literal["a", "b"] = "a"


class Everything(settings.TomlModel):
    """A key of every kind."""

    whole: _Digit = 1
    number: Annotated[float, Field(ge=0, le=0.5)] = 0
    flag: bool = False
    text: Text = "x"
    model: Text = Field(default="x", description="a model")
    texts: tuple[Text, ...] = ("a",)
    kind: Literal["one", "other"] = "one"
    pair: Annotated[tuple[_Digit, _Digit], settings.Ordered] = (1, 2)
    choice: Annotated[str, settings.one_of(KNOWN)] = "fork"
    names: Annotated[tuple[str, ...], some_of(KNOWN)] = KNOWN
    weights: Annotated[dict[str, Weight], weights_of(KNOWN)] = {"fork": 1.0}  # noqa: RUF012
    either: _Digit | Literal["all"] = Field(default=1, description="a digit, or 'all'")
    secret: settings.Variable | None = None
    inner: Inner = Inner()
    inners: tuple[Inner, ...] = ()


FAULTS: list[tuple[dict[str, object], str]] = [
    ({"whole": 3.0}, "whole: must be a whole number from 1 to 9, not 3.0"),
    ({"whole": 10**400}, "whole: must be a whole number from 1 to 9, not 1000"),
    ({"whole": True}, "whole: must be a whole number from 1 to 9, not true"),
    ({"whole": "1"}, 'whole: must be a whole number from 1 to 9, not "1"'),
    ({"number": "half"}, 'number: must be a number from 0 to 0.5, not "half"'),
    ({"number": float("nan")}, "number: must be a number from 0 to 0.5, not NaN"),
    ({"number": True}, "number: must be a number from 0 to 0.5, not true"),
    ({"flag": 0}, "flag: must be true or false, not 0"),
    ({"text": "  "}, "text: must not be empty; give text"),
    ({"model": 7}, "model: must be a model, not 7"),
    ({"texts": "a"}, 'texts: must be a list of texts, not "a"'),
    ({"texts": ["a", 3]}, "texts[1]: must be text, not 3"),
    ({"kind": "othre"}, "kind: unknown name \"othre\"; did you mean 'other'?"),
    ({"pair": [0, 2]}, "pair: must be two whole numbers from 1 to 9, the least and the most, not"),
    ({"pair": [1]}, "pair: must be two whole numbers from 1 to 9, the least and the most, not [1]"),
    ({"pair": [2, 1]}, "pair: 2 is more than 1; swap them"),
    ({"choice": "frok"}, "choice: unknown name \"frok\"; did you mean 'fork'?"),
    ({"names": []}, 'names: must be a list of names such as ["chain", "fork"], not []'),
    ({"names": ["fork", "fork"]}, "names: a name is listed twice; list each once"),
    ({"weights": {"fork": 0}}, "weights: no weight is positive; give at least one"),
    ({"weights": {"fork": -1}}, "weights.fork: must be a number from 0 to 1000000000, not -1"),
    ({"weights": {"frok": 1}}, "weights.frok: unknown key; did you mean 'fork'?"),
    ({"weights": [1]}, "weights: must be a table of weights such as { chain = 1 }, not [1]"),
    ({"either": "every"}, "either: must be a digit, or 'all', not \"every\""),
    ({"inner": 3}, "inner: must be a table, not 3"),
    ({"inner": {"deap": "a"}}, "inner.deap: unknown key; did you mean 'deep'?"),
    ({"inners": [{}, {"deep": "c"}]}, 'inners[1].deep: unknown name "c"; choose from a, b'),
    ({"flags": True}, "flags: unknown key; did you mean 'flag'?"),
]


@pytest.mark.parametrize(("values", "message"), FAULTS)
def test_a_fault_is_named_with_its_place_and_cure(values, message):
    """Whoever reads the message has the file open and wants to know where and what."""
    with pytest.raises(UsageError) as refused:
        check(Everything, TomlTable(values, "x.toml: "))
    assert str(refused.value).startswith(f"x.toml: {message}")
    assert "\n" not in str(refused.value)


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    """Messages end up in logs."""
    for value in ("sk-123", 123):
        with pytest.raises(UsageError, match="secret: must be the name of an environm") as refused:
            check(Everything, TomlTable({"secret": value}, "x.toml: llm."))
        assert "123" not in str(refused.value)


def test_names_and_weights_keep_the_orders_that_plans_depend_on() -> None:
    """Names follow the catalogue; weights the file, for a draw is made in their order."""
    values = {"names": ["fork", "chain"], "weights": {"fork": 2, "chain": 0}}
    told = check(Everything, TomlTable(values, "x: "))
    assert told.names == KNOWN
    assert list(told.weights.items()) == [("fork", 2.0), ("chain", 0.0)]
    ordered = TypeAdapter(Annotated[dict[str, Weight], weights_of(KNOWN, ordered=True)])
    assert list(ordered.validate_python({"fork": 2, "chain": 1})) == ["chain", "fork"]


def test_settings_are_equal_by_value() -> None:
    """Floors are measured once for twins with equal settings."""
    stated, unsaid = (check(Everything, TomlTable(v, "x: ")) for v in ({"whole": 1}, {}))
    assert stated == unsaid
