"""One task of the reference as our row: variant, question, inputs, file name of the answer."""

from dataclasses import dataclass
from typing import Final

from builder.causalds.ask import ASKERS
from builder.importing.causalds.asked import AskedTask
from builder.importing.causalds.layout import CLEAN, plain, scene_id_of, view_of
from builder.importing.causalds.scene import PublishedScene
from builder.importing.causalds.truth import candidates, collider_names, conditioning
from builder.importing.files import Document
from builder.release import rows
from builder.track import Row
from grader.errors import UsageError
from grader.io.jsonio import clip
from grader.names import did_you_mean
from grader.shape import Variant
from grader.tracks import VARIANTS, variant
from grader.tracks.causalds.shapes import EFFECT_ALPHA, PREDICTION_ALPHA

TRACK: Final = "causalds"
KEYS: Final = frozenset(spec.key for spec in VARIANTS if spec.track == TRACK)
_MODES: Final = {"symbolic": "story", "parquet": "data"}


class UnknownVariant(Exception):
    """A task of a variant that is none of the 33."""


@dataclass(frozen=True, slots=True)
class Item:
    """A task of the reference before anything about its scene is read.

    ``name`` is its id here: the stem of the published answer file.
    """

    name: str
    spec: Variant
    scene_id: str
    view: str
    task_id: str
    document: Document

    @property
    def place(self) -> tuple[str, str, str]:
        """What makes it the same task in an exam and in its scene's list."""
        return self.scene_id, self.view, self.task_id

    def asked(self, scene: PublishedScene) -> AskedTask:
        """The task beside its scene's truth."""
        return AskedTask(self.spec, self.document, scene)


def read_item(document: Document, *, several_views: bool = False) -> Item:
    """The task in ``document``; raises ``UsageError`` naming the field that is wrong or absent.

    A task that no exam asks has no answer file; it gets the reference's default name, and its view
    in it where the scene has ``several_views``. Raises :class:`UnknownVariant`.
    """
    scene_id, view = scene_id_of(document), view_of(document)
    task_id = document.text("task_id")
    spec = variant(TRACK, _key(document, task_id))
    default = "_".join((scene_id, *([view] if several_views and view != CLEAN else []), task_id))
    stem = document.get("answer_file_stem") or default.replace(".", "_")
    key = "answer_filename"
    file = document.get(key)
    if file is None:
        file, key = f"{stem}{spec.shape.suffix}", "answer_file_stem"
    if not isinstance(file, str):
        raise document.problem((key,), f"{clip(file)} is no file name")
    plain(document, file, key)
    if not file.endswith(spec.shape.suffix) or file == spec.shape.suffix:
        raise document.problem((key,), f"{clip(file)} does not end in {spec.shape.suffix}")
    return Item(file.removesuffix(spec.shape.suffix), spec, scene_id, view, task_id, document)


def _key(document: Document, task_id: str) -> str:
    """``family.variant``, from the item's own fields, else from the task id."""
    family, _, rest = task_id.partition("__")
    family = document.get("task_type") or family
    name = document.get("output_variant") or rest.partition("__")[0]
    key = f"{family}.{name}"
    if key not in KEYS:
        raise UnknownVariant(f"{key}{did_you_mean(key, KEYS)}")
    return key


def task_row(item: Item, scene: PublishedScene) -> Row:
    """A row of ``causalds``: the published prompt, our inputs."""
    spec, document = item.spec, item.document
    prompt, mode = document.text("prompt"), _MODES.get(str(document.get("input_mode")))
    inputs = inputs_of(item, scene)
    return rows.task_row(
        item.name, item.scene_id, spec, prompt, inputs, view=item.view, input_mode=mode
    )


def inputs_of(item: Item, scene: PublishedScene) -> dict[str, object]:
    """The parameters of the question: what the tasks of a built release declare."""
    spec, document = item.spec, item.document
    inputs: dict[str, object] = {"treatment": scene.treatment, "outcome": scene.outcome}
    if spec.family != "identification" and item.asked(scene).about_effects:
        inputs |= {
            level: document.number("inputs", level)
            for level in ("x0", "x1")
            if document.get("inputs", level) is not None
        }
    if spec.family == "prediction":
        _check_columns(document, spec)
        stated = document.get("inputs", "columns") is not None
        inputs["columns"] = document.names("inputs", "columns") if stated else scene.observed
        inputs["outcome_kind"] = scene.outcome_kind
        inputs["rows"] = len(scene.labels)
    if spec.shape.pool == "nrel_interval":
        inputs["alpha"] = _alpha(document, spec)
    inputs |= _specific(item.asked(scene))
    return {name: value for name, value in inputs.items() if name in ASKERS[spec.key].inputs}


def _specific(asked: AskedTask) -> dict[str, object]:
    """What only some variants state."""
    spec, scene = asked.spec, asked.scene
    if asked.about_sets:
        for key in ("available_vars", "observed_vars"):
            if (stated := _listed(asked.item, scene, key)) is not None:
                return {"available": stated}
        ends = (scene.treatment, scene.outcome)
        return {"available": [name for name in scene.observed if name not in ends]}
    if spec.family == "causal_sketch":
        return {"variables": len(scene.nodes)}
    if spec.name in ("method_label", "identifiable_boolean"):
        stated = _listed(asked.item, scene, "observed_vars")
        observed: dict[str, object] = {"observed": scene.observed if stated is None else stated}
        ate = spec.family == "identification"
        return observed if ate else {**observed, "estimand": asked.kind.upper()}
    if spec.name in ("sign_before_after", "delta_point", "delta_sign_only"):
        given = asked.item.get("inputs", "conditioning_var")
        return {"conditioning_var": given or conditioning(asked).text("condition_var")}
    if spec.name == "argmax_change":
        return {"candidates": [name for _, name in candidates(asked)]}
    if spec.family == "collider_phenomenon" or spec.name == "collider_bias_boolean":
        return {"variable": collider_names(asked)[1]}
    if spec.family == "mediation_effect" and spec.name != "direct_vs_indirect_dominance":
        return {"estimand": asked.kind.upper()}
    return {}


def _listed(document: Document, scene: PublishedScene, key: str) -> list[str] | None:
    """The story names in a list of the item's inputs; ``None`` where it is not there."""
    if document.get("inputs", key) is None:
        return None
    return [scene.name(name) for name in document.names("inputs", key)]


def _alpha(document: Document, spec: Variant) -> float:
    """The miscoverage that is asked for; the variants' own where nothing is stated."""
    if document.get("inputs", "alpha") is None:
        return PREDICTION_ALPHA if spec.family == "prediction" else EFFECT_ALPHA
    alpha = document.number("inputs", "alpha")
    if not 0 < alpha < 1:
        raise document.problem(("inputs", "alpha"), f"{alpha} is not between 0 and 1")
    return alpha


def _check_columns(document: Document, spec: Variant) -> None:
    """Raises ``UsageError`` for columns under names that our grader does not read."""
    bounds = ["lower", "upper"] if spec.shape.pool == "nrel_interval" else []
    columns, asked = ["prediction", *bounds], document.get("inputs", "required_csv_columns")
    if asked is not None and list(asked) != columns:
        raise UsageError(
            f"{document.file}: {document.path}.inputs.required_csv_columns: {clip(asked)}; only "
            f"{', '.join(columns)} can be graded"
        )
