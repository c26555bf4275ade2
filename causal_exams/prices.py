"""Prices of models, for what a run costs and for ``--cost-limit``."""

from pathlib import Path

import yaml
from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info
from pydantic import ValidationError

from grader.errors import UsageError
from grader.names import did_you_mean

OPTION = "--model-cost-config"


def prices(path: str, used: frozenset[str]) -> dict[str, ModelCost]:
    """The prices in a file of YAML or JSON: a model's name to dollars per million tokens.

    A model that Inspect has never heard of, such as a local one, is made known to it; of those that
    are ``used`` one at least must be named. Raises ``UsageError``.
    """
    try:
        given = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{OPTION} {path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"{OPTION} {path}: is neither YAML nor JSON") from None
    if not isinstance(given, dict):
        raise UsageError(f"{OPTION} {path}: write the prices under each model's name")
    found = {str(name): _price(path, str(name), price) for name, price in given.items()}
    if not used & found.keys():
        raise UsageError(f"{OPTION} {path}: has no {' nor '.join(sorted(used))}"
                         f"{did_you_mean(min(used), found)}")  # fmt: skip
    for name in found:
        if get_model_info(name) is None:
            set_model_info(name, ModelInfo())
    return found


def _price(path: str, name: str, price: object) -> ModelCost:
    try:
        return ModelCost.model_validate(price)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        members = ", ".join(ModelCost.model_fields)
        raise UsageError(
            f"{OPTION} {path}: {name}: {field or 'price'}: {first['msg']}; give {members}, each in "
            "dollars per million tokens"
        ) from None
