"""The checked table of a settings file: every getter names the place and what belongs there."""

from collections.abc import Callable

import pytest

from builder.settings import TomlTable
from grader.errors import UsageError

KNOWN = ("chain", "fork")
GETTERS: dict[str, tuple[Callable[[TomlTable], object], object, object, str]] = {
    # getter, a good value, a bad one, what is said of the bad one
    "whole": (lambda t: t.whole("k", 1, 9), 3, 3.0, "must be a whole number from 1 to 9, not 3.0"),
    "whole, huge": (lambda t: t.whole("k", 1, 9), 9, 10**400, "must be a whole number from 1"),
    "whole, truth": (lambda t: t.whole("k", 1, 9), 1, True, "must be a whole number"),
    "number": (lambda t: t.number("k", 0, 1), 0.5, "half", 'from 0 to 1, not "half"'),
    "number, nan": (lambda t: t.number("k", 0, 1), 1, float("nan"), "must be a number from 0"),
    "flag": (lambda t: t.flag("k"), False, 0, "must be true or false, not 0"),
    "text": (lambda t: t.text("k", "a model"), "m", "  ", "must be a model"),
    "texts": (lambda t: t.texts("k"), ["a"], [], "must be a list of texts, not []"),
    "text inside": (lambda t: t.texts("k"), ["a"], ["a", 3], "[1]: must be text, not 3"),
    "choice": (lambda t: t.choice("k", KNOWN), "fork", "frok", "did you mean 'fork'?"),
    "names": (lambda t: t.names("k", KNOWN), ["fork"], [], 'such as ["chain", "fork"], not []'),
    "names twice": (lambda t: t.names("k", KNOWN), ["fork"], ["fork"] * 2, "list each once"),
    "range": (lambda t: t.whole_range("k", 1, 9), [1, 2], [2, 1], "2 is more than 1; swap them"),
    "range of one": (lambda t: t.number_range("k", 1, 9), [1, 2.5], [1], "the least and the most"),
    "weights": (lambda t: t.weights("k", KNOWN), {"fork": 1}, {"fork": 0}, "no weight is positive"),
    "weight": (lambda t: t.weights("k", KNOWN), {"fork": 1}, {"fork": -1}, ".fork: must be a"),
    "table": (lambda t: t.table("k"), {}, [], "must be a table, not []"),
    "tables": (lambda t: t.tables("k"), [{}], [3], "[0]: must be a table, not 3"),
}


@pytest.mark.parametrize("name", GETTERS)
def test_a_value_is_taken_or_its_place_and_cure_are_named(name: str) -> None:
    """Whoever reads the message has the file open and wants to know where and what."""
    get, good, bad, says = GETTERS[name]
    get(TomlTable({"k": good}, "x.toml: "))
    for values, words in (({"k": bad}, says), ({}, "k: missing; give ")):
        with pytest.raises(UsageError) as refused:
            get(TomlTable(values, "x.toml: "))
        message = str(refused.value)
        assert message.startswith("x.toml: k") and words in message and "\n" not in message


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    """Messages end up in logs."""
    with pytest.raises(UsageError) as refused:
        TomlTable({"key_env": "sk-123"}, "x.toml: llm.").variable("key_env")
    assert str(refused.value).startswith("x.toml: llm.key_env: must be the name of an environment")
    assert "sk-123" not in str(refused.value)


def test_names_and_weights_keep_the_orders_that_plans_depend_on() -> None:
    """Names follow the catalogue; weights the file, for a draw is made in their order."""
    table = TomlTable({"names": ["fork", "chain"], "weights": {"fork": 2, "chain": 0}}, "x: ")
    assert table.names("names", KNOWN) == KNOWN
    assert list(table.weights("weights", KNOWN).items()) == [("fork", 2.0), ("chain", 0.0)]
