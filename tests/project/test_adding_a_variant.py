"""Adding a variant: the lists of the guide are short and true, and the pieces are in place."""

import ast
import json
import re
import textwrap
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import case_files
import pytest

from builder.commands.main import main
from builder.tracks.causalds.design.eligibility import one_each
from grader.tracks.causalds.shapes import CAUSALDS

ENTRY = re.compile(r"^(\d+)\. `([\w./<>-]+)`", re.MULTILINE)
VARIANTS = (
    "bias_diagnostic.collider_bias_boolean",
    "effect_estimate.ate_vs_assoc_sign_match",
    "mediation_effect.direct_vs_indirect_dominance",
)
"""Each alone with its shape, asked by three modules."""
BY_CHOICE = ("baselines/causalds/naive_analyst.py", "baselines/causalds/informed_analyst.py")
"""Where a reference system answers better than by kind: a new variant does not need it."""


def listed(root: Path, title: str) -> dict[int, str]:
    """Number to path, with wildcards, of the list under a heading."""
    text = (root / "docs/adding-a-variant.md").read_text(encoding="utf-8")
    part = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return {int(n): re.sub("<[^>]+>", "*", path) for n, path in ENTRY.findall(part)}


def test_the_lists_are_short_and_every_file_is_there(root: Path) -> None:
    """A guide that names what is gone, or leaves out what is not, costs a newcomer a day."""
    known, new = listed(root, "With a shape that exists"), listed(root, "With a new shape")
    assert list(known) == list(range(1, 6)) and list(new) == list(range(6, 11))
    for path in (*known.values(), *new.values()):
        assert list(root.glob(path)), path


@pytest.mark.parametrize("key", VARIANTS)
def test_no_other_file_names_a_variant(root: Path, key: str) -> None:
    """A table elsewhere would be one more place to edit. Tests that look at one variant may name
    it, and importers read what others published."""
    places = (*listed(root, "With a shape that exists").values(), *BY_CHOICE)
    allowed = {file for path in places for file in root.glob(path)}
    found = {root / "tests" / "grader" / "cases" / f"{key}.json"}
    folders = ("grader", "builder", "baselines", "benchmarks", "causal_exams", "schemas", "docs")
    for folder in folders:
        for file in (root / folder).rglob("*.*"):
            written = file.suffix in (".py", ".toml", ".json", ".md", ".sql")
            if written and key in file.read_text(encoding="utf-8"):
                found.add(file)
    needed = {file for file in found if root / "builder" / "importing" not in file.parents}
    assert needed <= allowed, needed - allowed
    assert len(needed - {root / file for file in BY_CHOICE}) <= 5


def test_what_a_new_variant_lacks_is_said_with_its_file(tmp_path: Path) -> None:
    """A KeyError from whoever looks first tells nobody what to do."""
    with pytest.raises(LookupError, match=r"^a\.b has no asker: write it in here\.py \(docs/"):
        one_each({}, ["a.b"], "asker", "here.py")
    with pytest.raises(LookupError, match=r"^here\.py has what is not asked: a\.c"):
        one_each({"a.b": 1, "a.c": 2}, ["a.b"], "asker", "here.py")
    with pytest.raises(LookupError, match=r"^a\.b has no cases: tests/grader/cases/a\.b\.json"):
        case_files.read(tmp_path / "a.b.json")
    (tmp_path / "a.b.json").write_text('{"tasks": {}, "prompt": ["x"], "cases": [1]}')
    with pytest.raises(LookupError, match="needs cases, prompt, tasks, none empty"):
        case_files.read(tmp_path / "a.b.json")
    files = {key: {"tasks": {"rank": {}}} for key in ("a.b", "c.d")}
    with pytest.raises(LookupError, match=r"c\.d\.json: a\.b\.json too has a task called ran"):
        case_files.tasks_by_name(files)


KEY, SHAPE = "effect_estimate.ate_rank", CAUSALDS[0].shape.name


def test_every_piece_has_its_place(tmp_path, root, capsys):
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
def test_the_code_runs_where_it_is_sent(family, tmp_path, capsys):
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
def test_what_cannot_be_begun_is_one_line(key, shape, says, tmp_path, capsys):
    words = ["new-variant", key, "--shape", shape, "--out", str(tmp_path / "x")]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.splitlines()) == 1 and not (tmp_path / "x").exists()
