"""Names say what they hold or do: no bare participle, preposition or pronoun (CONTRIBUTING.md)."""

import re
from pathlib import Path
from typing import Final

FOLDERS: Final = ("baselines", "benchmarks", "builder", "causal_exams", "grader")
BARE: Final = frozenset(
    re.findall(
        r"\w+",
        """
        about above across after again against among apart around aside at away back before
        behind below beside besides between beyond by down during each either every few for
        from in inside into least less like many more most near nearly neither next nice
        none of off on once onto other others out outside over partial past per rest same
        several since some such through to toward under until up upon via when where whole
        with within without

        asked begun bent bound built careless chosen cut dealt done drawn found given gone
        held hidden kept known laid led left lost made meant met put quiet said seen sent
        shown spoken stranger taken taught thought told understood written desk look glance
        parrot tame barren
        """,
    )
)
"""Prepositions and pronouns; participles without -ed, and words for moods."""
NOUNS: Final = frozenset({"embed", "feed", "need", "seed", "speed"})
"""Words that end in -ed and are no participles."""
EXCEPTED: Final = {
    "of": "the constructor of a record from one other value, as in `from_row`",
}


def is_bare(name: str) -> bool:
    """Whether a name is one word that says neither what it holds nor what it does."""
    word = name.strip("_")
    if "_" in word or re.search("[a-z][A-Z]", word) or word in EXCEPTED:
        return False
    word = word.lower()
    return word in BARE or (word.endswith("ed") and word not in NOUNS)


def names(text: str) -> list[str]:
    """Return the names of the functions and classes that a module defines."""
    return re.findall(r"^ *(?:def|async def|class) (\w+) *[(:\[]", text, re.MULTILINE)


def test_no_name_is_a_bare_participle_or_preposition(root: Path) -> None:
    """`found` stood 2,296 times in the code, and 14 functions were called `_told`."""
    bare = [
        f"{path.relative_to(root)}: {name}"
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
        for name in (path.stem, *names(path.read_text(encoding="utf-8")))
        if is_bare(name)
    ]
    assert bare == []


def test_public_classes_of_a_package_have_names_of_their_own(root: Path) -> None:
    """A reader who finds one of two classes of a name believes to have found the other."""
    for package in ("builder", "grader"):
        seen: dict[str, Path] = {}
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for name in re.findall(r"^class ([^_]\w*) *[(:\[]", text, re.MULTILINE):
                assert name not in seen, f"{name}: {path} and {seen[name]}"
                seen[name] = path


def test_a_bare_name_is_seen() -> None:
    """The test of names can fail."""
    assert all(map(is_bare, ("_told", "found", "Settled", "apart", "_wanted")))
    assert names("class Told:\n    async def held(\n    def kept[T](self)") == [
        "Told",
        "held",
        "kept",
    ]
    assert not any(map(is_bare, ("edges_in_story", "StoryFacts", "seed", "told_stories", "read")))
