"""The knowledge graph is well formed and large enough; domains of one's own join it."""

import shutil
from pathlib import Path

import pytest

from builder.commands import main as cli
from builder.release import manifest
from builder.stories import knowledge, lint
from builder.stories.knowledge import FOLDER, domains, read_domain
from grader.errors import UsageError

GOOD = (FOLDER / "bakery.toml").read_text(encoding="utf-8")


def test_there_are_at_least_forty_domains_and_the_linter_finds_nothing() -> None:
    """What the linter lets through is told to test takers as it stands."""
    assert len(domains()) >= 40
    assert lint.lint_domains(domains()) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("kinds = [", "kinds = [7, ", r"variable\[0\]\.kinds: unknown name 7; choose from binary"),
        ("[[edge]]\ncause = ", "[[edge]]\ncause = 3 # ", r"edge\[0\]\.cause: must be text, not 3"),
        ("[[edge]]\ncause = ", '[[edge]]\ncause = "No" # ', r'edge\[0\]\.cause: unknown name "No"'),
        ('book = "', 'bok = "', "bok: unknown key; did you mean 'book'"),
        ('record = ["', 'record = ["one", "', "record: must be a singular and a plural"),
        ("people = ", "# ", "people: missing"),
        ("range = [", "range = [99999, ", r"range: must be two numbers"),
    ],
)
def test_a_broken_file_is_refused_with_its_name_and_field(tmp_path, old, new, complaint):
    """Whoever writes a domain should not have to read the loader."""
    file = tmp_path / "broken.toml"
    file.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=rf"broken\.toml: .*{complaint}"):
        read_domain(file)


def _lint_with(tmp_path: Path, old: str, new: str) -> str:
    assert old in GOOD
    file = tmp_path / "changed.toml"
    file.write_text(GOOD.replace(old, new), encoding="utf-8")
    return "\n".join(lint.lint_domains([read_domain(file)]))


def test_the_linter_notices_what_must_not_be(tmp_path: Path) -> None:
    domain = read_domain(FOLDER / "bakery.toml")
    first, second = domain.concepts[0].name, domain.concepts[1].name
    (cause, effect), how = next(iter(domain.mechanism_clauses.items()))
    assert "computed from others" in _lint_with(tmp_path, f'"{first}"', '"Average dough"')
    assert "stands inside" in _lint_with(tmp_path, f'"{second}"', f'"{first} again"')
    assert "nearly the same" in _lint_with(tmp_path, f'"{second}"', f'"{first}s"')
    assert "does not fit" in _lint_with(tmp_path, 'unit = "years"', 'unit = "per hundred"')
    people = f'"{domain.scenery.people}"'
    assert "what the people are called" in _lint_with(tmp_path, people, '"the heat seekers"')
    assert "the mechanism says more" in _lint_with(tmp_path, how, f"more {how}")
    assert "the mechanism names" in _lint_with(tmp_path, how, f"the {cause.lower()} is felt")
    assert "a mechanism of 2 words" in _lint_with(tmp_path, how, "so so")
    turned = f'cause = "{cause}"\neffect = "{effect}"\nhow = "{how}"'
    back = f'{turned}\n\n[[edge]]\ncause = "{effect}"\neffect = "{cause}"\n'
    back += 'how = "it goes back"'
    assert "a cycle" in _lint_with(tmp_path, turned, back)
    assert "is told 2 times" in "\n".join(lint.lint_domains([domain, domain]))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with one domain: ours of the bakery under another name."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "village_bakery.toml").write_text(GOOD, "utf-8")
    return folder


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knowledge.OWN, "")


def plan(toml: Path, *more: str) -> int:
    return cli.main(["plan", str(toml), *more])


def test_own_domains_stand_among_ours_or_in_their_place(own, monkeypatch):
    ours = [one.key for one in knowledge.domains()]
    before = manifest.source_sha256.__wrapped__()
    monkeypatch.setenv(knowledge.OWN, str(own))
    assert [one.key for one in knowledge.domains()] == sorted([*ours, "village_bakery"])
    assert knowledge.domain("village_bakery").concepts == knowledge.domain("bakery").concepts
    assert manifest.source_sha256.__wrapped__() != before, "other stories, another fingerprint"
    shutil.move(own / "village_bakery.toml", own / "brewery.toml")
    assert [one.key for one in knowledge.domains()] == ours
    assert knowledge.domain("brewery").concepts == knowledge.domain("bakery").concepts
    monkeypatch.setenv(knowledge.OWN, "")
    assert manifest.source_sha256.__wrapped__() == before
    with pytest.raises(UsageError, match="--domains"):
        knowledge.domain("village_bakery")


def test_a_split_is_planned_with_them(own, tmp_path, capsys):
    toml = tmp_path / "few.toml"
    toml.write_text(
        'name = "few"\nversion = "0.0.1"\n[splits.dev]\ntruth = "public"\nseed = "own"\n'
        "[splits.dev.causalds]\nscenes = 6\nmotifs = { chain = 1, fork = 1 }\n"
    )
    assert plan(toml) == 0
    ours = capsys.readouterr().out
    assert plan(toml, "--domains", str(own)) == 0
    assert (told := capsys.readouterr().out) != ours, "one domain more is dealt"
    assert f"build {toml} --domains {own} --out release" in told and "--domains" not in ours


def test_a_new_domain_says_what_it_lacks(tmp_path, root, capsys):
    """The file that is begun reads, and its first problem is named with the way to the rest."""
    folder = tmp_path / "mine"
    assert cli.main(["new-domain", "tea_garden", "--out", str(folder)]) == 0
    assert knowledge.read_domain(folder / "tea_garden.toml").key == "tea_garden"
    assert cli.main(["new-domain", "tea_garden", "--out", str(folder)]) == 2
    assert cli.main(["new-domain", "Tea Garden", "--out", str(folder)]) == 2
    capsys.readouterr()
    toml = root / "splits" / "mini.toml"
    assert plan(toml, "--domains", str(folder)) == 2
    assert "problems in all" in capsys.readouterr().err
    assert plan(toml, "--domains", str(tmp_path / "none")) == 2
    assert "new-domain" in capsys.readouterr().err
