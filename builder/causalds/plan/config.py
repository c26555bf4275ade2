"""The ``[splits.<name>.causalds]`` table of a split file, checked before any work starts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from builder.causal import AUXILIARY, MOTIFS, PLANTED
from builder.causalds.exams.model import ExamModel
from builder.causalds.make.recover import need_scikit_learn
from builder.causalds.plan.blueprint import Composition, Impossible, check
from builder.causalds.plan.presets import PRESETS
from builder.causalds.plan.view_settings import check_measured_outcomes, view_settings
from builder.causalds.plan.views import VIEWS, View
from builder.scm import BINARY_PROFILES, CONTINUOUS_PROFILES
from builder.words.llm.settings import Settings, settings_for
from builder.words.verbalise import DEFAULT, VERBALISERS
from grader.errors import UsageError
from grader.names import did_you_mean

_DEFAULT_ROWS: Final = {"train": 16000, "test": 4000}
_FEWEST_ROWS: Final = {"train": 50, "test": 20}
_MOST_ROWS: Final = 1_000_000
_MOST_SCENES: Final = 1_000_000
_MOST_GRAFTS: Final = 3
_KEYS: Final = (
    "scenes",
    "rows",
    "composition",
    "motifs",
    "grafts",
    "auxiliary",
    "confounded",
    "planted",
    "harmless",
    "profiles",
    "treatment_binary",
    "outcome_binary",
    "views",
    "outcome_measured",
    "observation",
    "diagnostics",
    "words",
    "tellings",
    "llm",
)


@dataclass(frozen=True, slots=True)
class Config:
    """How many scenes, of what size and make.

    ``composition`` says which structures; ``continuous`` and ``binary`` are weights of mechanism
    profiles; ``treatment_binary`` and ``outcome_binary`` are the shares of scenes whose treatment
    or outcome is binary; ``words`` names the verbaliser; ``tellings`` is the number of scenes that
    are told four ways (with public truth only); ``llm`` says how the verbaliser ``llm`` asks.
    """

    scenes: int
    train: int
    test: int
    composition: Composition
    continuous: tuple[tuple[str, float], ...]
    binary: tuple[tuple[str, float], ...]
    treatment_binary: float
    outcome_binary: float
    views: tuple[View, ...]
    outcome_measured: float
    diagnostics: bool
    exams: tuple[tuple[str, ExamModel], ...] = ()
    words: str = DEFAULT
    tellings: int = 0
    llm: Settings | None = None


def with_exams(config: Config, exams: tuple[tuple[str, ExamModel], ...], where: str) -> Config:
    """The settings of a private-truth split whose scenes are planned for these exams.

    Raises ``UsageError`` where the scenes are not as many as the exams' tasks, or an exam compares
    several tasks of one scene.
    """
    for name, model in exams:
        if model.kind in ("views", "tellings"):
            raise UsageError(
                f"{where}: exam {name} asks one scene several times, which would give its truth "
                "away; keep it to a split with public truth"
            )
    total = sum(model.tasks for _, model in exams)
    if total != config.scenes:
        raise UsageError(
            f"{where}.scenes: {config.scenes}, but its exams take {total} tasks, each of a scene "
            f"of its own; write scenes = {total}"
        )
    return replace(config, exams=exams)


def parse_config(table: Mapping[str, object], where: str) -> Config:
    """The checked table; ``where`` is its place in the split file.

    Raises :class:`UsageError` naming the key and the fix for an unknown or missing key, a value of
    the wrong type or outside its range, an unknown motif or profile, weights that are all zero, and
    quotas that cannot be met.
    """
    _refuse_unknown(table, _KEYS, where)
    if "scenes" not in table:
        raise UsageError(
            f"{where}.scenes: missing; say how many scenes to build, as in scenes = 36"
        )
    rows = _rows(table.get("rows", _DEFAULT_ROWS), f"{where}.rows")
    composition = _choice(table.get("composition", "motifs"), tuple(PRESETS), where, "composition")
    preset = PRESETS[composition]
    scenes = _whole(table["scenes"], 1, _MOST_SCENES, f"{where}.scenes")
    profiles = _profiles(table.get("profiles", {}), f"{where}.profiles")
    config = Config(
        scenes=scenes,
        train=rows["train"],
        test=rows["test"],
        composition=_composition(table, preset.composition, where),
        continuous=profiles.get("continuous", preset.continuous),
        binary=profiles.get("binary", preset.binary),
        treatment_binary=_share(table.get("treatment_binary", 0.75), f"{where}.treatment_binary"),
        outcome_binary=_share(table.get("outcome_binary", 0.4), f"{where}.outcome_binary"),
        views=_views(table, where),
        outcome_measured=_share(table.get("outcome_measured", 0.0), f"{where}.outcome_measured"),
        diagnostics=_diagnostics(table.get("diagnostics", False), f"{where}.diagnostics"),
        words=_choice(table.get("words", DEFAULT), tuple(VERBALISERS), where, "words"),
        tellings=_whole(table.get("tellings", 0), 0, scenes, f"{where}.tellings"),
        llm=settings_for(table.get("words", DEFAULT), table, where),
    )
    if config.outcome_measured:
        check_measured_outcomes(config.views, table.get("observation", {}), where)
    if config.tellings and (
        config.words != DEFAULT or "clean" not in {v.name for v in config.views}
    ):
        raise UsageError(
            f"{where}.tellings: scenes are told again from the clean view and from '{DEFAULT}' "
            "words; use both, or remove the key"
        )
    try:
        check(config.composition, scenes)
    except Impossible as problem:
        raise UsageError(f"{where}.{problem.key}: {problem.fix}") from None
    return config


def _composition(table: Mapping[str, object], preset: Composition, where: str) -> Composition:
    """The preset with the parts that the table replaces."""
    composition = preset
    if "motifs" in table or not preset.motifs:
        found = _weights(table.get("motifs"), tuple(MOTIFS), f"{where}.motifs", "chain = 1")
        composition = replace(composition, motifs=found)
    if "grafts" in table:
        composition = replace(composition, grafts=_grafts(table["grafts"], f"{where}.grafts"))
    if "auxiliary" in table:
        found = _weights(table["auxiliary"], AUXILIARY, f"{where}.auxiliary", "fork = 1")
        composition = replace(composition, auxiliary=found)
    if "planted" in table:
        planted = _planted(table["planted"], f"{where}.planted")
        composition = replace(composition, planted=planted)
    if "confounded" in table:
        share = _share(table["confounded"], f"{where}.confounded")
        composition = replace(composition, confounded=share)
    if "harmless" in table:
        share = _share(table["harmless"], f"{where}.harmless")
        composition = replace(composition, harmless=share)
    return composition


def _rows(value: object, where: str) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: must be a table such as {{ train = 2000, test = 500 }}")
    _refuse_unknown(value, tuple(_DEFAULT_ROWS), where)
    return {
        part: _whole(value.get(part, default), _FEWEST_ROWS[part], _MOST_ROWS, f"{where}.{part}")
        for part, default in _DEFAULT_ROWS.items()
    }


def _weights(
    value: object, known: tuple[str, ...], where: str, example: str
) -> tuple[tuple[str, float], ...]:
    """Positive weights by name, in the order of ``known``."""
    if not isinstance(value, Mapping) or not value:
        raise UsageError(f"{where}: must be a table of weights, such as {{ {example} }}")
    _refuse_unknown(value, known, where)
    weights = {name: _weight(weight, f"{where}.{name}") for name, weight in value.items()}
    if not any(weights.values()):
        raise UsageError(f"{where}: all weights are zero; give at least one a positive one")
    return tuple((name, weights[name]) for name in known if weights.get(name))


def _planted(value: object, where: str) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: must be a table of shares, such as {{ napkin = 0.02 }}")
    _refuse_unknown(value, tuple(PLANTED), where)
    shares = {name: _share(share, f"{where}.{name}") for name, share in value.items()}
    if sum(shares.values()) > 1.0:
        raise UsageError(f"{where}: the shares add up to more than 1; lower them")
    return tuple((name, shares[name]) for name in PLANTED if shares.get(name))


def _grafts(value: object, where: str) -> tuple[float, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_GRAFTS + 1:
        raise UsageError(
            f"{where}: must be a list of shares of scenes with 0, 1, 2 ... grafts, at most "
            f"{_MOST_GRAFTS + 1} of them, such as [0.7, 0.2, 0.1]"
        )
    weights = tuple(_weight(share, f"{where}[{i}]") for i, share in enumerate(value))
    if not any(weights):
        raise UsageError(f"{where}: all shares are zero; give at least one a positive one")
    return weights


def _profiles(value: object, where: str) -> dict[str, tuple[tuple[str, float], ...]]:
    if not isinstance(value, Mapping):
        raise UsageError(
            f"{where}: must be a table such as {{ continuous = {{ linear_additive = 1 }} }}"
        )
    known = {"continuous": tuple(CONTINUOUS_PROFILES), "binary": tuple(BINARY_PROFILES)}
    _refuse_unknown(value, tuple(known), where)
    return {
        kind: _weights(weights, known[kind], f"{where}.{kind}", f"{known[kind][0]} = 1")
        for kind, weights in value.items()
    }


def _views(table: Mapping[str, object], where: str) -> tuple[View, ...]:
    names = _view_names(table.get("views", ["clean"]), f"{where}.views")
    changes = table.get("observation", {})
    if not isinstance(changes, Mapping):
        raise UsageError(f"{where}.observation: must be a table of views with their settings")
    measuring = tuple(name for name in VIEWS if name != "clean")
    _refuse_unknown(changes, measuring, f"{where}.observation")
    return tuple(
        view_settings(VIEWS[name], changes[name], f"{where}.observation.{name}")
        if name in changes
        else VIEWS[name]
        for name in names
    )


def _view_names(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise UsageError(f'{where}: must be a list of views such as ["clean"]')
    for view in value:
        if view not in VIEWS:
            raise UsageError(f"{where}: unknown view '{view}'{did_you_mean(view, VIEWS)}")
    if len(set(value)) != len(value):
        raise UsageError(f"{where}: a view is listed twice; list each once")
    return [name for name in VIEWS if name in value]


def _diagnostics(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{where}: must be true or false, not {value!r}")
    if value:
        need_scikit_learn(where)
    return value


def _choice(value: object, known: tuple[str, ...], where: str, key: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise UsageError(f"{where}.{key}: must be one of {', '.join(known)}, not {value!r}")
    return value


def _refuse_unknown(table: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}.{key}: unknown key{did_you_mean(key, known)}")


def _whole(value: object, low: int, high: int, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{where}: must be a whole number from {low} to {high}, not {value!r}")
    return value


def _weight(value: object, where: str) -> float:
    number = _number(value)
    if number is None or number < 0 or not math.isfinite(number):
        raise UsageError(f"{where}: must be a weight of 0 or more, not {value!r}")
    return number


def _share(value: object, where: str) -> float:
    number = _number(value)
    if number is None or not 0 <= number <= 1:
        raise UsageError(f"{where}: must be a share from 0 to 1, not {value!r}")
    return number


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
