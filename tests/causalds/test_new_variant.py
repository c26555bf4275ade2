"""The pieces of a new variant: each reads as what it is, and names its place."""

import ast
import json
import re
import textwrap
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from builder.commands.main import main
from grader.tracks.causalds.shapes import CAUSALDS

KEY, SHAPE = "effect_estimate.ate_rank", CAUSALDS[0].shape.name


def test_every_piece_has_its_place(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pieces"
    assert main(["new-variant", KEY, "--shape", SHAPE, "--out", str(folder)]) == 0
    told = capsys.readouterr().out
    files = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    assert len(files) == 5 and all(name in told for name in files)
    for line in told.splitlines()[:-1]:
        place = line.split("  →  ")[1].split(",")[0]
        assert (root / place).exists() or (root / place).parent.is_dir(), place
    row = tomllib.loads(files["1-variants.toml"])["effect_estimate"]["ate_rank"]
    assert row["shape"] == SHAPE and row["rung"] == 2 and "$x and $y" in row["question"]
    assert ast.parse("{" + textwrap.dedent(files["3-eligibility.py"]) + "}")
    assert ast.parse(files["4-second-derivation.py"].partition("\n\n\n")[0])
    cases = json.loads(files["5-cases.json"])
    assert cases["tasks"].keys() == {"effect_estimate_ate_rank"}


@pytest.mark.parametrize("family", sorted({variant.family for variant in CAUSALDS}))
def test_the_code_runs_where_it_is_sent(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The module of an asker may lack a name that the piece uses; an existing one may be lost."""
    words = ["new-variant", f"{family}.fresh", "--shape", SHAPE, "--out", str(tmp_path)]
    assert main(words) == 0
    places = dict(line.split("  →  ") for line in capsys.readouterr().out.splitlines()[:-1])
    for piece, function in (("2-asker.py", f"{family}_fresh"), ("4-second-derivation.py", None)):
        file, beside = places[str(tmp_path / piece)].split(", ")
        sibling = re.findall(r"[a-z_]+\.[a-z0-9_]+", beside)[0]
        assert sibling.split(".")[0] == family
        module = import_module(file.removesuffix(".py").replace("/", "."))
        names = {**vars(module), "asks": lambda key: lambda ask: ask}
        text = (tmp_path / piece).read_text("utf-8").partition("# in _DERIVATIONS")[0]
        before = set(names)
        exec(compile(text.replace("Truth, asks, ends", "Truth, ends"), piece, "exec"), names)
        assert (function or f"_{family}_fresh") in set(names) - before
        if function:
            thing = SimpleNamespace(name="A")
            scene = SimpleNamespace(treatment=thing, outcome=thing)
            (question,) = names[function](scene, None)
            assert question.inputs == {"treatment": "A", "outcome": "A"}


@pytest.mark.parametrize(
    ("key", "shape", "says"),
    [
        (CAUSALDS[0].key, SHAPE, "exists already"),
        ("no_family.x", SHAPE, "no such family"),
        ("Effect.x", SHAPE, "lower case"),
        (KEY, "no_shape", "no such shape"),
    ],
)
def test_what_cannot_be_begun_is_one_line(
    key: str, shape: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["new-variant", key, "--shape", shape, "--out", str(tmp_path / "x")]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.splitlines()) == 1 and not (tmp_path / "x").exists()
