"""The knowledge graph is well formed, plain, and large enough for every structure."""

from pathlib import Path

import pytest

from builder.words import lint, second_reading
from builder.words.knowledge import FOLDER, domain, domains, is_plural, read_domain
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
            r"edge\[0\]\.cause: unknown name 3",
        ),
        ('record = ["', 'record = ["one", "', "record: must be a singular and a plural"),
        ("people = ", "persons = ", "people: missing"),
        ("range = [", "range = [99999, ", r"range: must be two numbers"),
        ('sign = "', 'sing = "', r"edge\[0\]\.sign: missing; give one of \+, -, 0"),
        ('sign = "+', 'sign = "more', r"edge\[0\]\.sign: unknown name .*choose from \+, -, 0"),
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
    """Each of these would spoil a story in its own way."""
    domain = read_domain(FOLDER / "bakery.toml")
    first, second = domain.concepts[0].name, domain.concepts[1].name
    (cause, effect), how = next(iter(domain.mechanism_clauses.items()))
    assert "a derived quantity" in _lint_with(tmp_path, f'"{first}"', '"Average dough"')
    assert "stands inside" in _lint_with(tmp_path, f'"{second}"', f'"{first} again"')
    assert "nearly the same" in _lint_with(tmp_path, f'"{second}"', f'"{first}s"')
    assert "does not fit" in _lint_with(tmp_path, 'unit = "years"', 'unit = "per hundred"')
    people = f'people = "{domain.theme.people}"'
    assert "what the people are called" in _lint_with(
        tmp_path, people, 'people = "the heat seekers"'
    )
    assert "the mechanism says more" in _lint_with(tmp_path, how, f"more {how}")
    assert "the mechanism names" in _lint_with(
        tmp_path, how, f"the {cause.lower()} is felt at once"
    )
    assert "a mechanism of 2 words" in _lint_with(tmp_path, how, "so so")
    sign = f'sign = "{domain.signs[cause, effect]}"'
    turned = f'cause = "{cause}"\neffect = "{effect}"\nhow = "{how}"\n{sign}'
    back = f'{turned}\n\n[[edge]]\ncause = "{effect}"\neffect = "{cause}"\n'
    back += f'how = "it goes back"\n{sign}'
    assert "a cycle" in _lint_with(tmp_path, turned, back)
    assert "is told 2 times" in "\n".join(lint.lint_domains([domain, domain]))


def test_every_reason_has_a_sign_and_most_imply_a_direction() -> None:
    """A domain without reasons that lead one way would never let a prior conflict with the data."""
    for one in domains():
        assert set(one.signs) == set(one.mechanism_clauses)
        shares = [list(one.signs.values()).count(sign) / len(one.signs) for sign in "+-0"]
        assert shares[0] > 0.4 and shares[1] > 0.04 and shares[2] < 0.3, one.key


def test_a_second_reading_is_compared_sign_by_sign(tmp_path: Path) -> None:
    """Kappa by its formula: how far agreement exceeds that of readers who know nothing."""
    reasons, lines = second_reading.sampled(), list(second_reading.sheet())
    assert len(lines) == len(set(reasons)) == round(0.1 * sum(len(d.signs) for d in domains()))
    own = [domain(key).signs[cause, effect] for key, cause, effect in reasons]
    other = ["0" if place % 10 == 0 else sign for place, sign in enumerate(own)]
    sheet = tmp_path / "sheet.txt"
    filled = [line.replace("[ ]", f"[{sign}]", 1) for line, sign in zip(lines, other, strict=True)]
    sheet.write_text("\n".join(["# rules", *filled]), "utf-8")
    found = second_reading.agreement(sheet)
    count = len(own)
    alike = sum(a == b for a, b in zip(own, other, strict=True)) / count
    chance = sum(own.count(s) * other.count(s) for s in "+-0") / count**2
    assert found.reasons == count and found.share == pytest.approx(alike)
    assert found.kappa == pytest.approx((alike - chance) / (1 - chance))
    assert set(found.differing) == {
        r for r, a, b in zip(reasons, own, other, strict=True) if a != b
    }
    sheet.write_text(lines[0] + "\n", "utf-8")
    with pytest.raises(UsageError, match=r"line 1: ' ' is no sign; put one of \+, -, 0"):
        second_reading.agreement(sheet)


def test_another_reader_gives_nearly_all_reasons_the_same_sign() -> None:
    """The figures that docs/words.md states; where the two differ, one of them says 0."""
    found = second_reading.agreement(Path(__file__).parent / "second_reading.txt")
    assert found.reasons == 308
    assert found.share == pytest.approx(0.974, abs=0.0005)
    assert found.kappa == pytest.approx(0.948, abs=0.0005)
    assert all("0" in pair for pair in found.differing.values())


@pytest.mark.parametrize(
    ("name", "plural"),
    [
        ("Vent opening", False),
        ("Bee visits", True),
        ("Short-handedness", False),
        ("Hours of sun", True),
        ("Staff morale", False),
        ("Tank bacteria", True),
        ("Bus bunching", False),
        ("Tennis", False),
        ("Swarm status", False),
    ],
)
def test_plural_names_are_told_from_singular_ones(name: str, plural: bool) -> None:
    """The verbs of a whole story hang on it."""
    assert is_plural(name) is plural
