"""One task of the reference as our row: variant, question, inputs, file name of the answer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder.causalds.ask import ASKERS
from builder.importing.files import Document
from builder.importing.scene import PublishedScene
from builder.release import rows
from builder.track import Row
from grader.io.jsonio import clip
from grader.io.paths import GRAMMAR, inside, is_plain
from grader.names import did_you_mean
from grader.shape import Variant
from grader.tracks import VARIANTS, variant

TRACK: Final = "causalds"
_KEYS: Final = frozenset(spec.key for spec in VARIANTS if spec.track == TRACK)
_MODES: Final = {"symbolic": "story", "parquet": "data"}
_EFFECT_FAMILIES: Final = ("effect_estimate", "counterfactual_effect", "mediation_effect")


@dataclass(frozen=True, slots=True)
class Item:
    """A task of the exam beside its scene.

    ``name`` is its id here: the stem of the published answer file.
    """

    name: str
    spec: Variant
    scene_id: str
    view: str
    document: Document
    scene: PublishedScene

    @classmethod
    def read(cls, document: Document, private: Path) -> "Item":
        """Return the task in ``document``; ``private`` holds the private folders of the scenes.

        Raises ``UsageError`` naming the field that is wrong or absent.
        """
        scene_id, view = _plain(document, "scene_id"), _plain(document, "observation_variant")
        key = f"{document.text('task_type')}.{document.text('output_variant')}"
        if key not in _KEYS:
            what = f"unknown variant {key}{did_you_mean(key, _KEYS)}"
            raise document.problem(("output_variant",), what)
        spec, field = variant(TRACK, key), "answer_filename"
        file = _plain(document, field)
        if not file.endswith(spec.shape.suffix) or file == spec.shape.suffix:
            raise document.problem((field,), f"{clip(file)} does not end in {spec.shape.suffix}")
        scene = PublishedScene.read(inside(private, scene_id))
        return cls(file.removesuffix(spec.shape.suffix), spec, scene_id, view, document, scene)

    @property
    def about_sets(self) -> bool:
        """Whether it asks about adjustment sets."""
        return self.spec.shape.kind in ("set", "sets", "names", "count")

    @property
    def about_effects(self) -> bool:
        """Whether it asks about an effect or its identifiability."""
        return self.spec.family in _EFFECT_FAMILIES or self.spec.name == "identifiable_boolean"

    @property
    def effects(self) -> tuple[str, ...]:
        """The effects that it is about, of ``ate``, ``ett``, ``nde`` and ``nie``."""
        if self.spec.name == "direct_vs_indirect_dominance":
            return ("nde", "nie")
        match self.spec.family:
            case "effect_estimate" | "identification":
                return ("ate",)
            case "counterfactual_effect":
                return ("ett",)
            case _:
                return (self.estimand,)

    @property
    def estimand(self) -> str:
        """The estimand that is named: ``ett``, ``nde`` or ``nie``."""
        key = "effect_kind" if self.spec.family == "mediation_effect" else "estimand_kind"
        return self.document.one_of(("ett", "nde", "nie"), "inputs", key)

    def about(self, role: str) -> tuple[str | None, str]:
        """Return raw id and story name of the variable that the task states in a role."""
        return self.document.get("inputs", f"{role}_id"), self.document.text("inputs", role)

    @property
    def candidates(self) -> list[tuple[str, str]]:
        """(raw id, story name) of the variables on offer."""
        nodes = self.document.names("inputs", "conditioning_var_ids")
        return [(node, self.scene.name(node)) for node in nodes]

    @property
    def row(self) -> Row:
        """A row of ``causalds``: the published prompt, our inputs."""
        prompt, mode = self.document.text("prompt"), str(self.document.get("input_mode"))
        return rows.task_row(
            self.name, self.scene_id, self.spec, prompt, self._inputs(),
            view=self.view, input_mode=_MODES.get(mode),
        )  # fmt: skip

    def _inputs(self) -> dict[str, object]:
        """Return the parameters of the question: what the tasks of a built release declare."""
        spec, scene, document = self.spec, self.scene, self.document
        inputs: dict[str, object] = {"treatment": scene.treatment, "outcome": scene.outcome}
        if spec.family in (*_EFFECT_FAMILIES, "counterfactual_identification"):
            inputs |= {level: document.number("inputs", level) for level in ("x0", "x1")}
        if spec.family == "prediction":
            self._check_columns()
            inputs["columns"] = document.names("inputs", "columns")
            inputs["outcome_kind"] = scene.outcome_kind
            inputs["rows"] = len(scene.labels)
        if spec.shape.pool == "nrel_interval":
            alpha = document.number("inputs", "alpha")
            if not 0 < alpha < 1:
                raise document.problem(("inputs", "alpha"), f"{alpha} is not between 0 and 1")
            inputs["alpha"] = alpha
        inputs |= self._specific()
        return {name: value for name, value in inputs.items() if name in ASKERS[spec.key].inputs}

    def _specific(self) -> dict[str, object]:
        """Return what only some variants state."""
        spec, scene = self.spec, self.scene
        if self.about_sets:
            names = spec.shape.kind == "names"
            return {"available": self._listed("observed_vars" if names else "available_vars")}
        if spec.family == "causal_sketch":
            return {"variables": len(scene.nodes)}
        if spec.family == "identification":
            return {"observed": self._listed("observed_vars")}
        if spec.family == "counterfactual_identification":
            return {"observed": scene.observed, "estimand": self.estimand.upper()}
        if spec.name in ("sign_before_after", "delta_point", "delta_sign_only"):
            return {"conditioning_var": self.about("conditioning_var")[1]}
        if spec.name == "argmax_change":
            return {"candidates": [name for _, name in self.candidates]}
        if spec.family == "collider_phenomenon" or spec.name == "collider_bias_boolean":
            return {"variable": self.about("collider")[1]}
        if spec.family == "mediation_effect" and spec.name != "direct_vs_indirect_dominance":
            return {"estimand": self.estimand.upper()}
        return {}

    def _listed(self, key: str) -> list[str]:
        """Return the story names in a list of the item's inputs."""
        return [self.scene.name(name) for name in self.document.names("inputs", key)]

    def _check_columns(self) -> None:
        """Raise ``UsageError`` for columns under names that our grader does not read."""
        bounds = ["lower", "upper"] if self.spec.shape.pool == "nrel_interval" else []
        key, columns = ("inputs", "required_csv_columns"), ["prediction", *bounds]
        if (asked := self.document.names(*key)) != columns:
            what = f"{clip(asked)}; only {', '.join(columns)} can be graded"
            raise self.document.problem(key, what)


def _plain(document: Document, key: str) -> str:
    """Return a field that must be a plain file name, without path or space."""
    value = document.text(key)
    if not is_plain(value):
        raise document.problem((key,), f"{clip(value)} is no plain name; use {GRAMMAR}")
    return value
