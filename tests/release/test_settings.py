"""The checked table of a settings file: a message names the place and what belongs there."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass

from builder.splits.settings import (
    STRICT,
    Fault,
    Ordered,
    Text,
    TomlModel,
    TomlTable,
    Variable,
    Weight,
    check,
    one_of,
    some_of,
    weights_of,
)
from grader.errors import UsageError

KNOWN = ("chain", "fork")
_Digit = Annotated[int, Field(ge=1, le=9)]


@dataclass(frozen=True, config=STRICT)
class Inner:
    """A table inside, as a dataclass."""

    deep: Literal["a", "b"] = "a"


class Everything(TomlModel):
    """A key of every kind."""

    whole: _Digit = 1
    number: Annotated[float, Field(ge=0, le=0.5)] = 0
    flag: bool = False
    text: Text = "x"
    model: Text = Field(default="x", description="a model")
    texts: tuple[Text, ...] = ("a",)
    kind: Literal["one", "other"] = "one"
    pair: Annotated[tuple[_Digit, _Digit], Ordered] = (1, 2)
    choice: Annotated[str, one_of(KNOWN)] = "fork"
    names: Annotated[tuple[str, ...], some_of(KNOWN)] = KNOWN
    weights: Annotated[dict[str, Weight], weights_of(KNOWN)] = {"fork": 1.0}  # noqa: RUF012
    either: _Digit | Literal["all"] = Field(default=1, description="a digit, or 'all'")
    secret: Variable | None = None
    inner: Inner = Inner()
    inners: tuple[Inner, ...] = ()


CASES: list[tuple[dict[str, object], str]] = [
    ({"whole": 3.0}, "whole: must be a whole number from 1 to 9, not 3.0"),
    ({"whole": 10**400}, "whole: must be a whole number from 1 to 9, not 1000"),
    ({"whole": True}, "whole: must be a whole number from 1 to 9, not true"),
    ({"whole": "1"}, 'whole: must be a whole number from 1 to 9, not "1"'),
    ({"number": "half"}, 'number: must be a number from 0 to 0.5, not "half"'),
    ({"number": float("nan")}, "number: must be a number from 0 to 0.5, not NaN"),
    ({"number": True}, "number: must be a number from 0 to 0.5, not true"),
    ({"flag": 0}, "flag: must be true or false, not 0"),
    ({"text": "  "}, "text: must not be empty; give text"),
    ({"model": 7}, "model: must be a model, not 7"),
    ({"texts": "a"}, 'texts: must be a list of texts, not "a"'),
    ({"texts": ["a", 3]}, "texts[1]: must be text, not 3"),
    ({"kind": "othre"}, "kind: unknown name \"othre\"; did you mean 'other'?"),
    ({"pair": [0, 2]}, "pair: must be two whole numbers from 1 to 9, the least and the most, not"),
    ({"pair": [1]}, "pair: must be two whole numbers from 1 to 9, the least and the most, not [1]"),
    ({"pair": [2, 1]}, "pair: 2 is more than 1; swap them"),
    ({"choice": "frok"}, "choice: unknown name \"frok\"; did you mean 'fork'?"),
    ({"names": []}, 'names: must be a list of names such as ["chain", "fork"], not []'),
    ({"names": ["fork", "fork"]}, "names: a name is listed twice; list each once"),
    ({"weights": {"fork": 0}}, "weights: no weight is positive; give at least one"),
    ({"weights": {"fork": -1}}, "weights.fork: must be a number from 0 to 1000000000, not -1"),
    ({"weights": {"frok": 1}}, "weights.frok: unknown key; did you mean 'fork'?"),
    ({"weights": [1]}, "weights: must be a table of weights such as { chain = 1 }, not [1]"),
    ({"either": "every"}, "either: must be a digit, or 'all', not \"every\""),
    ({"inner": 3}, "inner: must be a table, not 3"),
    ({"inner": {"deap": "a"}}, "inner.deap: unknown key; did you mean 'deep'?"),
    ({"inners": [{}, {"deep": "c"}]}, 'inners[1].deep: unknown name "c"; choose from a, b'),
    ({"flags": True}, "flags: unknown key; did you mean 'flag'?"),
]


@pytest.mark.parametrize(("values", "message"), CASES)
def test_a_fault_is_named_with_its_place_and_cure(values, message):
    """Whoever reads the message has the file open and wants to know where and what."""
    with pytest.raises(UsageError) as refused:
        check(Everything, TomlTable(values, "x.toml: "))
    assert str(refused.value).startswith(f"x.toml: {message}")
    assert "\n" not in str(refused.value)


def test_a_missing_key_is_named_after_what_stands_there() -> None:
    """A misspelt key explains one that is missing."""

    class Named(TomlModel):
        name: str = Field(description="a name such as 'mini'")

    for values, message in (({}, "name: missing; give a name such as 'mini'"),
                            ({"nam": "x"}, "nam: unknown key; did you mean 'name'?")):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            check(Named, TomlTable(values, "x.toml: "))


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    """Messages end up in logs."""
    for value in ("sk-123", 123):
        with pytest.raises(UsageError, match="secret: must be the name of an environm") as refused:
            check(Everything, TomlTable({"secret": value}, "x.toml: llm."))
        assert "123" not in str(refused.value)


def test_names_and_weights_keep_the_orders_that_plans_depend_on() -> None:
    """Names follow the catalogue; weights the file, for a draw is made in their order."""
    values = {"names": ["fork", "chain"], "weights": {"fork": 2, "chain": 0}}
    told = check(Everything, TomlTable(values, "x: "))
    assert told.names == KNOWN
    assert list(told.weights.items()) == [("fork", 2.0), ("chain", 0.0)]
    ordered = TypeAdapter(Annotated[dict[str, Weight], weights_of(KNOWN, ordered=True)])
    assert list(ordered.validate_python({"fork": 2, "chain": 1})) == ["chain", "fork"]


def test_settings_are_equal_by_value_and_cannot_be_changed() -> None:
    """Floors are measured once for twins with equal settings."""
    stated, unsaid = (check(Everything, TomlTable(v, "x: ")) for v in ({"whole": 1}, {}))
    assert stated == unsaid
    with pytest.raises(ValueError, match="frozen"):
        stated.whole = 2  # type: ignore[misc]


def test_a_fault_may_name_a_key_deep_inside() -> None:
    fault = Fault("is wrong", "1.deep")
    assert (str(fault), fault.key) == ("is wrong", "1.deep")
