"""The pieces of a new variant: each reads as what it is, and names its place."""

import ast
import json
import textwrap
import tomllib
from pathlib import Path

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
    asker = ast.parse(files["2-asker.py"]).body[0]
    assert isinstance(asker, ast.FunctionDef) and asker.name == "ate_rank"
    assert ast.parse("{" + textwrap.dedent(files["3-eligibility.py"]) + "}")
    assert ast.parse(files["4-second-derivation.py"].partition("\n\n\n")[0])
    cases = json.loads(files["5-cases.json"])
    assert cases["tasks"].keys() == {"ate_rank"}


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
