"""Types of the values of settings: texts, names of a catalogue, weights, ranges."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, WrapValidator

from builder.splits.settings import Fault
from grader.io.jsonio import clip
from grader.io.names import did_you_mean

Weights = TypeVar("Weights", dict[str, float], tuple[float, ...])
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _variable(value: object) -> object:
    """Return the value if it may be the name of an environment variable; raises :class:`Fault`."""
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        # The text is not repeated: who writes a secret here must not find it in a log.
        raise Fault("must be the name of an environment variable, not a value")
    return value


def _check_order(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the pair; raises :class:`Fault` if the first number is the larger."""
    if pair[0] > pair[1]:
        raise Fault(f"{pair[0]:g} is more than {pair[1]:g}; swap them")
    return pair


Text = Annotated[str, Field(pattern=r"\S")]
"""Text that is not blank."""
Variable = Annotated[str, BeforeValidator(_variable)]
"""The name of an environment variable."""
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1e9)]
Ordered: Final = AfterValidator(_check_order)
"""Of two numbers the first is not the larger."""


def as_known(name: object, known: Iterable[str]) -> str:
    """Return the name if it is one of ``known``; raises :class:`Fault`."""
    for one in known:
        if one == name:
            return one
    raise Fault(f"unknown name {clip(name)}{did_you_mean(str(name), known)}")


def one_of(known: Iterable[str]) -> BeforeValidator:
    """Return a validator that accepts exactly one of the ``known`` names."""
    return BeforeValidator(lambda name: as_known(name, known))


def chosen_names(value: object, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the list ``value``, in the order of ``known``.

    Raises :class:`Fault` for an empty list, an unknown name or one that is listed twice.
    """
    if not isinstance(value, list | tuple) or not value:
        what = f"a list of names such as {clip(list(known[:2]))}"
        raise Fault(f"must be {what}, not {clip(value)}")
    found = [as_known(name, known) for name in value]
    if len({*found}) < len(found):
        raise Fault("a name is listed twice; list each once")
    return tuple(name for name in known if name in found)


def some_of(known: Sequence[str]) -> BeforeValidator:
    """Return a validator of a list of ``known`` names, as :func:`chosen_names` checks it."""
    schema = {"type": "array", "items": {"enum": [*known]}}
    listed = Annotated[Any, WithJsonSchema(schema)]
    return BeforeValidator(lambda value: chosen_names(value, known), json_schema_input_type=listed)


def check_keys(found: Iterable[str], known: Iterable[str], inside: str = "") -> None:
    """Raise :class:`Fault` for the first key in ``found`` that is not ``known``. ``inside`` is the
    path of its table, with the dot."""
    for key in found:
        if key not in known:
            raise Fault(f"unknown key{did_you_mean(key, known)}", inside + key)


def check_positive(weights: Weights, key: str = "") -> Weights:
    """Return the weights. Raises :class:`Fault` about ``key`` where none is positive."""
    if not any(weights.values() if isinstance(weights, dict) else weights):
        raise Fault("no weight is positive; give at least one", key)
    return weights


def weights_of(known: Collection[str], ordered: bool = False) -> WrapValidator:
    """Return a validator of a table of weights by ``known`` name, of which one at least is
    positive.

    It gives the weights as the file has them or, with ``ordered``, only the positive ones in the
    order of ``known``.
    """

    def check(value: object, handler: Callable[[object], dict[str, float]]) -> dict[str, float]:
        """Return the weights, or raise :class:`Fault`: no table, unknown name, none positive."""
        if not isinstance(value, Mapping):
            what = f"a table of weights such as {{ {next(iter(known))} = 1 }}"
            raise Fault(f"must be {what}, not {clip(value)}")
        check_keys(value, known)
        found = check_positive(handler(value))
        return {name: found[name] for name in known if found.get(name)} if ordered else found

    return WrapValidator(check)
