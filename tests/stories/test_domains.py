"""The knowledge graph is well formed, plain, and large enough for every structure."""

from pathlib import Path

import pytest

from builder.stories import lint
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
        (
            "[[edge]]\ncause = ",
            "[[edge]]\ncause = 3 # ",
            r"edge\[0\]\.cause: must be text, not 3",
        ),
        (
            "[[edge]]\ncause = ",
            '[[edge]]\ncause = "Nobody" # ',
            r'edge\[0\]\.cause: unknown name "Nobody"',
        ),
        ('book = "', 'bok = "', "bok: unknown key; did you mean 'book'"),
        ('record = ["', 'record = ["one", "', "record: must be a singular and a plural"),
        ("people = ", "persons = ", "persons: unknown key; choose from .*, people"),
        ("people = ", "# ", "people: missing"),
        ("range = [", "range = [99999, ", r"range: must be two numbers"),
    ],
)
def test_a_broken_file_is_refused_with_its_name_and_field(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
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
    assert "a derived quantity" in _lint_with(tmp_path, f'"{first}"', '"Average dough"')
    assert "stands inside" in _lint_with(tmp_path, f'"{second}"', f'"{first} again"')
    assert "nearly the same" in _lint_with(tmp_path, f'"{second}"', f'"{first}s"')
    assert "does not fit" in _lint_with(tmp_path, 'unit = "years"', 'unit = "per hundred"')
    people = f'people = "{domain.scenery.people}"'
    assert "what the people are called" in _lint_with(
        tmp_path, people, 'people = "the heat seekers"'
    )
    assert "the mechanism says more" in _lint_with(tmp_path, how, f"more {how}")
    assert "the mechanism names" in _lint_with(
        tmp_path, how, f"the {cause.lower()} is felt at once"
    )
    assert "a mechanism of 2 words" in _lint_with(tmp_path, how, "so so")
    turned = f'cause = "{cause}"\neffect = "{effect}"\nhow = "{how}"'
    back = f'{turned}\n\n[[edge]]\ncause = "{effect}"\neffect = "{cause}"\n'
    back += 'how = "it goes back"'
    assert "a cycle" in _lint_with(tmp_path, turned, back)
    assert "is told 2 times" in "\n".join(lint.lint_domains([domain, domain]))
