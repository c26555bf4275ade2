"""The ``[splits.<name>.causalds]`` table of a split file, checked before any work starts."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator

from builder.equations.profiles import BINARY_PROFILES, CONTINUOUS_PROFILES, mixture_weights
from builder.graphs.growth import AUXILIARY
from builder.graphs.motifs import MOTIFS, PLANTED
from builder.splits.settings import Fault, TomlModel, TomlTable, check
from builder.splits.values import (
    Ordered,
    Share,
    Text,
    Weight,
    check_keys,
    check_positive,
    one_of,
    some_of,
    weights_of,
)
from builder.stories.llm.settings import LlmTable, Settings
from builder.stories.narration import StoredScene, read_stored
from builder.stories.verbalise import DEFAULT, LLM, STORED, VERBALISERS
from builder.tracks.causalds.exams.model import ExamModel, Matched
from builder.tracks.causalds.make.measure import OUTCOME_FACTOR, attainable
from builder.tracks.causalds.make.observe import need_scikit_learn
from builder.tracks.causalds.plan.blueprint import Composition, Impossible
from builder.tracks.causalds.plan.blueprint import check as check_quotas
from builder.tracks.causalds.scene_plan import VIEWS, Thresholds, View
from grader.errors import UsageError

_Concepts = Annotated[int, Field(ge=1, le=100)]
_Columns = Annotated[int, Field(ge=1, le=20)]
_Noise = Annotated[float, Field(ge=1e-3, le=1e3)]


class _Changes(TomlModel):
    """The settings of a view that are changed."""

    concepts: Annotated[tuple[_Concepts, _Concepts], Ordered] | None = None
    columns: Annotated[tuple[_Columns, _Columns], Ordered] | None = None
    noise: Annotated[tuple[_Noise, _Noise], Ordered] | None = None
    calibration: Share | None = None
    thresholds: Thresholds | None = None


class Observation(TomlModel):
    """The settings of views by name; ``clean`` has none."""

    proxy: _Changes | None = None
    proxy_hard: _Changes | None = None


def view_of(name: str, observation: Observation, measured: float, table: TomlTable) -> View:
    """A view with its settings.

    Raises ``UsageError`` for thresholds that no bundle of these settings meets, none for a
    ``measured`` outcome where there is to be one.
    """
    view, changed = VIEWS[name], getattr(observation, name, None)
    if changed is None:
        return view
    view = replace(view, **{key: getattr(changed, key) for key in changed.model_fields_set})
    if not attainable(view):
        what = (
            f"no bundle of {view.columns[1]} columns with noise from {view.noise[0]:g} to "
            f"{view.noise[1]:g} meets them; lower them, lower the noise, or allow more columns"
        )
    elif measured and not attainable(view, outcome=True):
        what = (
            "no bundle meets them for a measured outcome, for which they count "
            f"{OUTCOME_FACTOR:g} times; lower them, or the noise, allow more columns, or set "
            "outcome_measured = 0"
        )
    else:
        return view
    raise table.problem(f"observation.{name}.thresholds", what)


_MOST: Final = 1_000_000
_LLM: Final = 'a table such as { endpoint = "…", model = "…" }'
_STORED: Final = 'a table such as { file = "model-stories.json" }'
_Weights = dict[str, Weight]

_PARTS: Final = ("motifs", "grafts", "auxiliary", "confounded", "planted", "harmless")
_KINDS: Final = ("treatment_binary", "outcome_binary")
_OF_STRUCTURES: Final = ("composition", *_PARTS, *_KINDS)
"""Keys about graphs and kinds, which stored scenes bring along."""
_TAKEN: Final = (
    "scenes", *_KINDS, "outcome_measured", "diagnostics", "words", "tellings", "llm",
)  # fmt: skip
"""Keys that are taken over as they are."""

_FILE: Final = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "motifs": _FILE["every"] | _FILE["motifs"],
    "full": _FILE["every"] | _FILE["paper"] | _FILE["full"],
    "paper": _FILE["every"] | _FILE["paper"],
}
"""By the name of a composition: the keys of the table that it writes."""


@dataclass(frozen=True, slots=True)
class Config:
    """How many scenes, of what size and make.

    ``composition`` says which structures; ``continuous`` and ``binary`` are weights of mechanism
    profiles; ``treatment_binary`` and ``outcome_binary`` are the shares of scenes whose treatment
    or outcome is binary; ``words`` names the verbaliser; ``tellings`` is the number of scenes that
    are told four ways (with public truth only); ``llm`` says how the verbaliser ``llm`` asks;
    ``stored`` are the scenes whose structure and words the verbaliser ``stored`` repeats.
    """

    scenes: int
    train: int
    test: int
    composition: Composition
    continuous: Mapping[str, float]
    binary: Mapping[str, float]
    treatment_binary: float
    outcome_binary: float
    views: tuple[View, ...]
    outcome_measured: float
    diagnostics: bool
    exams: tuple[tuple[str, ExamModel], ...] = ()
    words: str = DEFAULT
    tellings: int = 0
    llm: Settings | None = None
    stored: tuple[StoredScene, ...] = ()


def with_exams(config: Config, exams: tuple[tuple[str, ExamModel], ...], where: str) -> Config:
    """The settings of a private-truth split whose scenes are planned for these exams.

    Raises ``UsageError`` where the scenes are not as many as the exams' tasks, or an exam compares
    several tasks of one scene.
    """
    for name, model in exams:
        if isinstance(model, Matched):
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


def _planted(shares: dict[str, float]) -> dict[str, float]:
    check_keys(shares, PLANTED)
    if sum(shares.values()) > 1.0:
        raise Fault("the shares add up to more than 1; lower them")
    return {name: shares[name] for name in PLANTED if shares.get(name)}


class _Rows(TomlModel):
    """Rows of a scene."""

    train: int = Field(default=16000, ge=50, le=_MOST)
    test: int = Field(default=4000, ge=20, le=_MOST)


class _Profiles(TomlModel):
    """Weights of the profiles of each kind."""

    continuous: Annotated[_Weights, weights_of(CONTINUOUS_PROFILES, ordered=True)] = (
        mixture_weights("continuous")
    )
    binary: Annotated[_Weights, weights_of(BINARY_PROFILES, ordered=True)] = mixture_weights(
        "binary"
    )


class _Stored(TomlModel):
    """The ``file`` of the stored scenes; ``model`` and ``told_on`` are for the dataset card."""

    file: Text
    model: Text
    told_on: Text


class _Table(TomlModel):
    """The keys of the table, completed by its preset; what they mean says :class:`Config`."""

    scenes: int = Field(ge=1, le=_MOST)
    rows: _Rows = Field(default=_Rows(), description="a table such as { train = 2000, test = 500 }")
    composition: Annotated[str, one_of(PRESETS)] | None = None
    motifs: Annotated[_Weights, weights_of(MOTIFS, ordered=True)] = Field(
        description="a table of weights such as { chain = 1 }"
    )
    grafts: Annotated[tuple[Weight, ...], AfterValidator(check_positive)] = Field(
        min_length=1,
        max_length=4,
        description="a list of the shares of scenes with 0, 1, 2 ... grafts, at most 4 of them, "
        "such as [0.7, 0.2, 0.1]",
    )
    auxiliary: Annotated[_Weights, weights_of(AUXILIARY, ordered=True)]
    confounded: Share = 0.0
    planted: Annotated[dict[str, Share], AfterValidator(_planted)] = Field(
        default={}, description="a table of shares such as { napkin = 0.02 }"
    )
    harmless: Share = 0.0
    profiles: _Profiles = _Profiles()
    treatment_binary: Share = 0.75
    outcome_binary: Share = 0.4
    views: Annotated[tuple[str, ...], some_of(tuple(VIEWS))] = ("clean",)
    outcome_measured: Share = 0.0
    observation: Observation = Field(
        default=Observation(), description="a table of views with their settings"
    )
    diagnostics: bool = False
    words: Annotated[str, one_of(VERBALISERS)] = DEFAULT
    tellings: int = Field(default=0, ge=0, le=_MOST)
    llm: LlmTable | None = Field(default=None, description=_LLM)
    stored: _Stored | None = Field(default=None, description=_STORED)

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        for words, what in ((LLM, _LLM), (STORED, _STORED)):
            given = getattr(self, words) is not None
            if given and self.words != words:
                raise Fault(f'serves words = "{words}" alone; set that, or remove the table', words)
            if self.words == words and not given:
                raise Fault(f"missing; give {what}", words)
        if self.tellings > self.scenes:
            raise Fault(
                f"{self.tellings} is more than scenes = {self.scenes}; lower it", "tellings"
            )
        if self.tellings and not ("clean" in self.views and self.words in (DEFAULT, LLM, STORED)):
            raise Fault(
                f"scenes are told again from the clean view and from '{DEFAULT}' or '{LLM}' words; "
                "use both, or remove the key",
                "tellings",
            )
        return self


def parse_config(table: TomlTable) -> Config:
    """The checked table; raises :class:`UsageError` naming the key and the fix."""
    own, stored = table.values, table.values.get("words") == STORED
    for key in _OF_STRUCTURES if stored else ():
        if key in own:
            raise table.problem(key, "comes with the stored scenes; remove the key")
    preset = PRESETS.get(str(own.get("composition", "full" if stored else "motifs")), {})
    whole = {**own, **{key: preset[key] for key in preset if key not in own}}
    if isinstance(own.get("profiles"), Mapping) and "profiles" in preset:
        whole["profiles"] = {**preset["profiles"], **own["profiles"]}
    told = check(_Table, replace(table, values=whole))
    views = tuple(
        view_of(name, told.observation, told.outcome_measured, table) for name in told.views
    )
    if told.diagnostics:
        need_scikit_learn(f"{table.where}diagnostics")
    composition = Composition(**{part: getattr(told, part) for part in _PARTS})
    try:
        check_quotas(composition, told.scenes)
    except Impossible as problem:
        raise table.problem(problem.key, problem.fix) from None
    scenes = () if told.stored is None else read_stored(table.beside / told.stored.file)
    if told.stored and told.scenes > len(scenes):
        raise table.problem("scenes", f"{len(scenes)} scenes are stored; ask for no more")
    return Config(
        **{key: getattr(told, key) for key in _TAKEN},
        **dict(told.rows),
        **dict(told.profiles),
        composition=composition,
        views=views,
        stored=scenes[: told.scenes],
    )
