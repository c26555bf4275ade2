"""Adding a variant: the lists of the guide are short and true, and the pieces are in place."""

import ast
import json
import re
import textwrap
import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import case_files
import pytest
import test_case_tables

from builder.commands.main import main
from builder.tracks.causalds.ask import ASKERS
from builder.tracks.causalds.ask.wording import _question_and_answer, refuse_unwritten
from builder.tracks.causalds.design.eligibility import one_each
from grader.errors import UsageError
from grader.scoring.model import RawAnswer, Truth
from grader.scoring.score import score_answer
from grader.scoring.shape import Task, read_variants
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
    """A table elsewhere would be one more place to edit."""
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
    with pytest.raises(UsageError, match=r"^a\.b has no asker: write it in here\.py \(docs/"):
        one_each({}, ["a.b"], "asker", "here.py")
    with pytest.raises(UsageError, match=r"^here\.py has a\.c, but variants\.toml"):
        one_each({"a.b": 1, "a.c": 2}, ["a.b"], "asker", "here.py")
    first, at = CAUSALDS[0], rf"variants\.toml: \[{CAUSALDS[0].key}\] "
    with pytest.raises(UsageError, match=f"{at}still has the template's text"):
        refuse_unwritten([replace(first, rule="TODO: what is right")])
    with pytest.raises(UsageError, match=rf"{at}has a \$slot without"):
        _question_and_answer(first, {"question": "Is $z?", "answer": ""}, {"x": "A"})
    (tmp_path / "variants.toml").write_text('[a.b]\nshape = "none"\n')
    with pytest.raises(UsageError, match=r"^grader/tracks/ccr/variants\.toml: 'rung'; it is TOML"):
        read_variants("ccr", tmp_path / "variants.toml", ())
    with pytest.raises(LookupError, match=r"^a\.b has no cases: tests/grader/cases/a\.b\.json"):
        case_files.read(tmp_path / "a.b.json")
    (tmp_path / "a.b.json").write_text('{"tasks": {}, "prompt": ["x"], "cases": [1]}')
    with pytest.raises(LookupError, match="needs cases, prompt, tasks, none empty"):
        case_files.read(tmp_path / "a.b.json")
    files = {key: {"tasks": {"rank": {}}} for key in ("a.b", "c.d")}
    with pytest.raises(LookupError, match=r"c\.d\.json: a\.b\.json too has a task called ran"):
        case_files.tasks_by_name(files)


def test_a_fault_of_an_asker_is_one_line(root, monkeypatch, capsys):
    ask = ASKERS["association.effect_size_point"]
    monkeypatch.setitem(ASKERS, "association.effect_size_point", lambda _, rng: ask(None, rng))
    assert main(["build", str(root / "splits/mini.toml"), "--only", "causalds/dev/0"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(r"bug: AttributeError at .*, from builder/.*/ask/association\.py:\d+, ", line)


@pytest.mark.parametrize("spec", CAUSALDS, ids=lambda spec: spec.key)
def test_the_pieces_are_whole_where_they_are_sent(spec, tmp_path, monkeypatch, capsys):
    """The module of an asker may lack a name that the piece uses."""
    family, shape, name = spec.family, spec.shape.name, f"{spec.family}_fresh"
    assert main(["new-variant", f"{family}.fresh", "--shape", shape, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()[:-1]
    texts = {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()}
    places = {Path(file).name: place for file, place in (line.split("  →  ") for line in lines)}
    assert len(texts) == 5 and texts.keys() == places.keys()
    row = tomllib.loads(texts["1-variants.toml"])[family]["fresh"]
    assert row["shape"] == shape and row["rung"] in (1, 2, 3) and "$x and $y" in row["question"]
    assert ast.parse("{" + textwrap.dedent(texts["3-eligibility.py"]) + "}")
    for piece, function in (("2-asker.py", name), ("4-second-derivation.py", f"_{name}")):
        file, beside = places[piece].split(", ")
        sibling = re.findall(r"[a-z_]+\.[a-z0-9_]+", beside)[0]
        assert sibling.split(".")[0] == family
        module = import_module(file.removesuffix(".py").replace("/", "."))
        names = {**vars(module), "asks": lambda key: lambda ask: ask}
        text = texts[piece].partition("# in _DERIVATIONS")[0]
        exec(compile(text.replace("Truth, asks, ends", "Truth, ends"), piece, "exec"), names)
        assert names[function] and function not in vars(module)
        if piece == "2-asker.py":
            thing = SimpleNamespace(name="A")
            scene = SimpleNamespace(treatment=thing, outcome=thing, truths=SimpleNamespace(ate=1))
            (question,) = names[name](scene, None)
    file = json.loads(texts["5-cases.json"])
    row, case = file["tasks"][name], file["cases"][0]
    target, value = row.get("target", {}), row.get("value")
    assert question.inputs.keys() == row["inputs"].keys()
    assert question.truth.target == target and (question.truth.quantity == 1) == ("value" in row)
    task = Task("t", "i", spec, "clean", spec.shape.input_mode, "", shape, "t.json", row["inputs"])
    truth = Truth("t", "i", False, "", value, None, target, (0.0, 0.0, 2.0, 2.0))
    score = score_answer(task, truth, RawAnswer("t.json", case["answer"].encode()))
    assert (score.points, score.pool, score.paper_pool) == (1, case["pool"], case["paper_pool"])
    # The table as it is passes the tests of tables.
    rows = {n: SimpleNamespace(**{"abstain": False, **own}) for n, own in file["tasks"].items()}
    monkeypatch.setattr(test_case_tables, "TASKS", rows)
    monkeypatch.setitem(test_case_tables.TABLES, spec.key, file["cases"])
    test_case_tables.test_every_scorer_can_give_every_status_and_every_malformed_kind_is_seen(spec)


@pytest.mark.parametrize(
    ("key", "shape", "says"),
    [
        (CAUSALDS[0].key, "sign", "exists already"),
        ("no_family.x", "sign", "no such family"),
        ("Effect.x", "sign", "lower case"),
        ("effect_estimate.x", "no_shape", "no such shape"),
    ],
)
def test_what_cannot_be_begun_is_one_line(key, shape, says, tmp_path, capsys):
    words = ["new-variant", key, "--shape", shape, "--out", str(tmp_path / "x")]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.splitlines()) == 1 and not (tmp_path / "x").exists()
