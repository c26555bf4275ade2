"""The ``[splits.<name>.causalds]`` table of a split file, checked before any work starts."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from builder.causal.growth import AUXILIARY
from builder.causal.motifs import MOTIFS, PLANTED
from builder.causalds.exams.model import ExamModel
from builder.causalds.make.recover import need_scikit_learn
from builder.causalds.plan.blueprint import Composition, Impossible, check
from builder.causalds.plan.view_settings import check_measured_outcomes, view_settings
from builder.causalds.plan.views import VIEWS, View
from builder.scm.profiles import BINARY_PROFILES, CONTINUOUS_PROFILES, mixture_weights
from builder.settings import LARGEST_WEIGHT, TomlTable
from builder.words.llm.settings import Settings, settings_for
from builder.words.stored import StoredScene, read_stored
from builder.words.verbalise import DEFAULT, LLM, STORED, VERBALISERS
from grader.errors import UsageError

_MOST: Final = 1_000_000
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
    "stored",
)


_OF_STRUCTURES: Final = (
    "composition",
    "motifs",
    "grafts",
    "auxiliary",
    "confounded",
    "planted",
    "harmless",
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


def parse_config(table: TomlTable) -> Config:
    """The checked table.

    Raises :class:`UsageError` naming the key and the fix for an unknown or missing key, a value of
    the wrong type or outside its range, an unknown motif or profile, weights that are all zero, and
    quotas that cannot be met.
    """
    table.only(*_KEYS)
    rows = table.table("rows", {}, "a table such as { train = 2000, test = 500 }")
    rows.only("train", "test")
    words = table.choice("words", tuple(VERBALISERS), DEFAULT)
    default = "full" if words == STORED else "motifs"
    preset = PRESETS[table.choice("composition", tuple(PRESETS), default)]
    scenes = table.whole("scenes", 1, _MOST)
    profiles = table.table("profiles", {})
    profiles.only("continuous", "binary")
    profiles = replace(profiles, values={**preset.get("profiles", {}), **profiles.values})
    config = Config(
        scenes=scenes,
        train=rows.whole("train", 50, _MOST, 16000),
        test=rows.whole("test", 20, _MOST, 4000),
        composition=_composition(replace(table, values={**preset, **table.values})),
        continuous=_profiles(profiles, "continuous", CONTINUOUS_PROFILES),
        binary=_profiles(profiles, "binary", BINARY_PROFILES),
        treatment_binary=table.share("treatment_binary", 0.75),
        outcome_binary=table.share("outcome_binary", 0.4),
        views=_views(table),
        outcome_measured=table.share("outcome_measured", 0.0),
        diagnostics=table.flag("diagnostics", False),
        words=words,
        tellings=table.whole("tellings", 0, scenes, 0),
        llm=settings_for(words, table),
        stored=_stored(table, words, scenes),
    )
    if config.diagnostics:
        need_scikit_learn(f"{table.where}diagnostics")
    if config.outcome_measured:
        check_measured_outcomes(config.views, table.table("observation", {}))
    clean = "clean" in {view.name for view in config.views}
    if config.tellings and not (clean and words in (DEFAULT, LLM, STORED)):
        raise table.problem(
            "tellings",
            f"scenes are told again from the clean view and from '{DEFAULT}' or '{LLM}' words; use "
            "both, or remove the key",
        )
    try:
        check(config.composition, scenes)
    except Impossible as problem:
        raise table.problem(problem.key, problem.fix) from None
    return config


def _stored(table: TomlTable, words: str, scenes: int) -> tuple[StoredScene, ...]:
    """Return the first ``scenes`` stored scenes; there are some exactly with ``stored`` words."""
    if words != STORED:
        if "stored" in table:
            raise table.problem("stored", f"serves words = '{STORED}' alone; remove the table")
        return ()
    for key in _OF_STRUCTURES:
        if key in table:
            raise table.problem(key, "comes with the stored scenes; remove the key")
    stored = table.table("stored", what='a table such as { file = "model-stories.json" }')
    stored.only("file", "model", "told_on")
    for key in ("model", "told_on"):  # for the dataset card
        stored.text(key)
    found = read_stored(table.beside / stored.text("file"))
    if scenes > len(found):
        raise table.problem("scenes", f"{len(found)} scenes are stored; ask for no more")
    return found[:scenes]


def _composition(table: TomlTable) -> Composition:
    """The composition in a table that its preset has completed."""
    planted = table.table("planted", {}, "a table of shares such as { napkin = 0.02 }")
    planted.only(*PLANTED)
    shares = {name: planted.share(name, 0.0) for name in PLANTED}
    if sum(shares.values()) > 1.0:
        raise table.problem("planted", "the shares add up to more than 1; lower them")
    return Composition(
        motifs=_weights(table, "motifs", MOTIFS),
        grafts=_grafts(table),
        auxiliary=_weights(table, "auxiliary", AUXILIARY),
        confounded=table.share("confounded", 0.0),
        planted={name: share for name, share in shares.items() if share},
        harmless=table.share("harmless", 0.0),
    )


def _weights(table: TomlTable, key: str, known: Collection[str]) -> dict[str, float]:
    """Positive weights by name, in the order of ``known``."""
    weights = table.weights(key, tuple(known))
    return {name: weights[name] for name in known if weights.get(name)}


def _profiles(table: TomlTable, kind: str, known: Collection[str]) -> Mapping[str, float]:
    return _weights(table, kind, known) if kind in table else mixture_weights(kind)


def _grafts(table: TomlTable) -> tuple[float, ...]:
    most = _MOST_GRAFTS + 1
    what = (
        f"a list of the shares of scenes with 0, 1, 2 ... grafts, at most {most} of them, such as "
        "[0.7, 0.2, 0.1]"
    )
    shares = table.entries("grafts", what, most)
    weights = tuple(shares.number(place, 0.0, LARGEST_WEIGHT) for place in shares.values)
    if not any(weights):
        raise table.problem("grafts", "no weight is positive; give at least one")
    return weights


def _views(table: TomlTable) -> tuple[View, ...]:
    changes = table.table("observation", {}, "a table of views with their settings")
    changes.only(*(name for name in VIEWS if name != "clean"))
    return tuple(
        view_settings(VIEWS[name], changes.table(name)) if name in changes else VIEWS[name]
        for name in table.names("views", tuple(VIEWS), ("clean",))
    )
