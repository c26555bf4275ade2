"""Check the ``[splits.<name>.causalds]`` table of a split file before any work starts."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from builder.equations.mechanisms import BINARY_PROFILES, CONTINUOUS_PROFILES, mixture_weights
from builder.splits.settings import (
    Fault,
    Ordered,
    Share,
    Text,
    TomlModel,
    TomlTable,
    Weight,
    check,
    one_of,
    some_of,
    weights_of,
)
from builder.stories.llm.settings import LlmTable
from builder.stories.types import Seed, Telling, Variable
from builder.stories.verbalise import BY_MODEL, DEFAULT, LLM, STORED, WORDS, Narration
from builder.tracks.causalds.design.scene_plan import VIEWS, Structure, Thresholds, View, Wording
from builder.tracks.causalds.exams.model import ExamModel, MatchedExam
from builder.tracks.causalds.plan.blueprint import Composition, check_quotas
from grader.errors import UsageError

_MOST: Final = 1_000_000
_LLM: Final = 'a table such as { endpoint = "…", model = "…" }'
_STORED: Final = 'a table such as { file = "model-stories.json" }'

_STRUCTURES: Final = (
    *Composition.model_fields,
    "composition",
    "treatment_binary",
    "outcome_binary",
)
"""Keys about graphs and kinds, which stored scenes bring along."""

_FILE: Final = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "motifs": _FILE["every"] | _FILE["motifs"],
    "full": _FILE["every"] | _FILE["paper"] | _FILE["full"],
    "paper": _FILE["every"] | _FILE["paper"],
}
"""By the name of a composition: the keys of the table that it writes."""

_Concepts = Annotated[int, Field(ge=1, le=100)]
_Columns = Annotated[int, Field(ge=1, le=20)]
_Noise = Annotated[float, Field(ge=1e-3, le=1e3)]


class _Changes(TomlModel):
    """A view's settings that a split file changes. None, or a key left out, keeps the default."""

    concepts: Annotated[tuple[_Concepts, _Concepts], Ordered] | None = None
    columns: Annotated[tuple[_Columns, _Columns], Ordered] | None = None
    noise: Annotated[tuple[_Noise, _Noise], Ordered] | None = None
    calibration: Share | None = None
    thresholds: Thresholds | None = None
    window: Annotated[tuple[Share, Share], Ordered] | None = None


class _Observation(TomlModel):
    """The settings of views by name. ``clean`` has none."""

    proxy: _Changes = _Changes()
    proxy_hard: _Changes = _Changes()


class RowCounts(TomlModel):
    """Numbers of training and held-out rows of a scene."""

    train: int = Field(default=16000, ge=50, le=_MOST)
    test: int = Field(default=4000, ge=20, le=_MOST)


class _Profiles(TomlModel):
    """Weights of the mechanism profiles of continuous and of binary nodes, by name."""

    continuous: Annotated[dict[str, Weight], weights_of(CONTINUOUS_PROFILES, ordered=True)] = (
        mixture_weights("continuous")
    )
    binary: Annotated[dict[str, Weight], weights_of(BINARY_PROFILES, ordered=True)] = (
        mixture_weights("binary")
    )


class _StoredTable(TomlModel):
    """The ``file`` of the stored scenes. ``model`` and ``told_on`` are for the dataset card."""

    file: Text
    model: Text
    told_on: Text


class _Table(Composition):
    """The keys of the table, completed by its preset: how many scenes, of what size and make
    (``docs/causalds-scenes.md``). ``words`` names the verbaliser, set up by ``llm`` or ``stored``
    where it is that one. ``tellings`` scenes are told four ways, with ``"llm"`` all are."""

    scenes: int = Field(ge=1, le=_MOST)
    rows: RowCounts = Field(
        default=RowCounts(), description="a table such as { train = 2000, test = 500 }"
    )
    composition: Annotated[str, one_of(PRESETS)] | None = None
    profiles: _Profiles = _Profiles()
    treatment_binary: Share = 0.75
    outcome_binary: Share = 0.4
    views: Annotated[tuple[str, ...], some_of(tuple(VIEWS))] = ("clean",)
    outcome_measured: Share = 0.0
    observation: _Observation = Field(
        default=_Observation(), description="a table of views with their settings"
    )
    diagnostics: bool = False
    words: Annotated[str, one_of(WORDS)] = DEFAULT
    tellings: Annotated[int, Field(ge=0)] | Literal["llm"] = Field(
        default=0, description='a whole number of at least 0, or "llm"'
    )
    llm: LlmTable | None = Field(default=None, description=_LLM)
    stored: _StoredTable | None = Field(default=None, description=_STORED)

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Return the table. Raises :class:`Fault` for keys that do not go together."""
        for words, what in ((LLM, _LLM), (STORED, _STORED)):
            given = getattr(self, words) is not None
            if given and self.words != words:
                raise Fault(f'serves words = "{words}" alone; set that, or remove the table', words)
            if self.words == words and not given:
                raise Fault(f"missing; give {what}", words)
        if self.tellings == LLM and self.words not in BY_MODEL:
            raise Fault(f"words = \"{self.words}\" has no model's tellings; use '{LLM}'", "words")
        if isinstance(self.tellings, int) and self.tellings > self.scenes:
            raise Fault(
                f"{self.tellings} is more than scenes = {self.scenes}; lower it", "tellings"
            )
        if self.tellings and not ("clean" in self.views and self.words in (DEFAULT, LLM, STORED)):
            raise Fault(
                f"scenes are told again from the clean view and from '{DEFAULT}' or '{LLM}' words; "
                "use both, or remove the key",
                "tellings",
            )
        check_quotas(self, self.scenes)
        return self


class SceneSettings(_Table):
    """The checked table with ``stored_scenes`` and, in private splits, ``exams`` (name, model)."""

    stored_scenes: tuple[tuple[Structure, Wording], ...] = ()
    exams: tuple[tuple[str, ExamModel], ...] = ()

    @property
    def changed_views(self) -> tuple[View, ...]:
        """The views of the split with their settings, easiest first."""
        changed = [getattr(self.observation, name, _Changes()) for name in self.views]
        return tuple(
            replace(VIEWS[name], **{key: getattr(own, key) for key in own.model_fields_set})
            for name, own in zip(self.views, changed, strict=True)
        )


def parse_config(table: TomlTable) -> SceneSettings:
    """Return the checked table, its keys completed by those of its preset, with the stored scenes
    read in. Raises :class:`UsageError` that names the key and the remedy."""
    own, stored = table.values, table.values.get("words") == STORED
    for key in _STRUCTURES if stored else ():
        if key in own:
            raise table.problem(key, "comes with the stored scenes; remove the key")
    preset = PRESETS.get(str(own.get("composition", "full" if stored else "motifs")), {})
    whole = {**own, **preset, **own}
    if isinstance(own.get("profiles"), Mapping) and "profiles" in preset:
        whole["profiles"] = {**preset["profiles"], **own["profiles"]}
    values = check(_Table, replace(table, values=whole))
    scenes = () if values.stored is None else _read_stored(table.beside / values.stored.file)
    if values.stored and values.scenes > len(scenes):
        raise table.problem("scenes", f"{len(scenes)} scenes are stored; ask for no more")
    return SceneSettings.model_construct(**dict(values), stored_scenes=scenes[: values.scenes])


def with_exams(
    config: SceneSettings, exams: tuple[tuple[str, ExamModel], ...], where: str
) -> SceneSettings:
    """Return the settings of a private-truth split whose scenes are planned for these exams. Raises
    ``UsageError`` if scenes differ in number from tasks, or an exam asks one scene several."""
    for name, model in exams:
        if isinstance(model, MatchedExam):
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
    return config.model_copy(update={"exams": exams})


def _read_stored(path: Path) -> tuple[tuple[Structure, Wording], ...]:
    """Return structure and wording of a JSON file's scenes. Raises ``UsageError`` naming it."""
    try:
        return tuple(map(_stored_scene, json.loads(path.read_bytes())["scenes"]))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: is not a file of stored scenes ({error!r})") from None


def _stored_scene(members: Mapping[str, Any]) -> tuple[Structure, Wording]:
    """Return structure and wording of a file's entry, or raise ``KeyError``, ``TypeError`` …."""
    variables = TypeAdapter(dict[str, Variable]).validate_python(members["variables"])
    x, y, seed = members["treatment"], members["outcome"], members["seed"]
    structure = Structure(
        members["motif"],
        members["structure"],
        tuple(members["nodes"]),
        tuple((cause, effect) for cause, effect in members["edges"]),
        tuple(members["latent"]),
        x,
        y,
        variables[x].kind,
        variables[y].kind,
    )
    told = TypeAdapter(Telling).validate_python(members)
    given = [{**seed, "hint": seed["field"]}] if seed else []
    seeds = TypeAdapter(tuple[Seed, ...]).validate_python(given)
    return structure, Wording(STORED, stored=Narration(variables, told), seeds=seeds)
