"""The lists of files in docs/adding-a-variant.md: short, true, and what they promise is said."""

import re
from pathlib import Path

import case_files
import pytest

from builder.tracks.causalds.design.eligibility import one_each

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
