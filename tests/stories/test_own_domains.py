"""Story domains of one's own: told beside ours, in the fingerprint, refused where wrong."""

import shutil
from pathlib import Path

import pytest

from builder.commands import main as cli
from builder.release import identity
from builder.stories import knowledge
from grader.errors import UsageError


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with one domain: ours of the bakery under another name."""
    folder = tmp_path / "own"
    folder.mkdir()
    text = (knowledge.FOLDER / "bakery.toml").read_text("utf-8")
    (folder / "village_bakery.toml").write_text(text, "utf-8")
    return folder


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knowledge.OWN, "")


def plan(toml: Path, *more: str) -> int:
    return cli.main(["plan", str(toml), *more])


def test_own_domains_stand_among_ours_or_in_their_place(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = [one.key for one in knowledge.domains()]
    before = identity.source_sha256.__wrapped__()
    monkeypatch.setenv(knowledge.OWN, str(own))
    assert [one.key for one in knowledge.domains()] == sorted([*ours, "village_bakery"])
    assert knowledge.domain("village_bakery").title == knowledge.domain("bakery").title
    assert identity.source_sha256.__wrapped__() != before, "other stories, another fingerprint"
    shutil.move(own / "village_bakery.toml", own / "brewery.toml")
    assert [one.key for one in knowledge.domains()] == ours
    assert knowledge.domain("brewery").title == knowledge.domain("bakery").title
    monkeypatch.setenv(knowledge.OWN, "")
    assert identity.source_sha256.__wrapped__() == before
    with pytest.raises(UsageError, match="--domains"):
        knowledge.domain("village_bakery")


def test_a_split_is_planned_with_them(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = tmp_path / "few.toml"
    toml.write_text(
        'name = "few"\nversion = "0.0.1"\n[splits.dev]\ntruth = "public"\nseed = "own"\n'
        "[splits.dev.causalds]\nscenes = 6\nmotifs = { chain = 1, fork = 1 }\n"
    )
    assert plan(toml) == 0
    ours = capsys.readouterr().out
    assert plan(toml, "--domains", str(own)) == 0
    assert capsys.readouterr().out != ours, "one domain more is dealt"


def test_a_new_domain_says_what_it_lacks(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
