"""The complete prompt of a task: the parts of paper A.16.2, in our own words."""

from typing import Final

from builder.causalds.ask.registry import Question
from builder.causalds.ask.wording import bullets, record
from builder.causalds.make.observe import Observation
from builder.causalds.make.scene import Scene
from builder.texts import Texts
from builder.words.types import Variable
from grader.shape import Variant

_TEXTS: Final = Texts(__file__)


def write_prompt(
    scene: Scene, shown: Observation, variant: Variant, question: Question, answer_file: str
) -> str:
    """Markdown: files, background, data, measurements, scale, question, answer and its file."""
    sections = [
        ("Files", _files(scene, shown, variant)),
        ("Background", scene.narration.telling.story),
    ]
    if variant.shape.input_mode == "data":
        sections.append(("Data", _data(scene, shown)))
        if shown.bundles:
            sections.append(("Measurements", _measurements(scene, shown)))
        binary = any(scene.variables[node].kind == "binary" for node in scene.columns)
        scale = _TEXTS("scale.text") + (_TEXTS("scale.binary") if binary else "")
        sections.append(("Scale", scale))
    kind = "CSV" if variant.shape.suffix == ".csv" else "JSON"
    sections += [
        ("Question", question.question),
        ("Answer", question.answer),
        ("Answer file", _TEXTS("answer.file", file=answer_file, kind=kind)),
    ]
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Task\n\n{_TEXTS(f'introduction.{variant.shape.input_mode}')}\n\n{body}\n"


def _files(scene: Scene, shown: Observation, variant: Variant) -> str:
    files = [_TEXTS("files.story")]
    if variant.shape.input_mode == "data":
        files.append(_TEXTS("files.data", rows=f"{scene.plan.equations.train:,}"))
        files.append(_TEXTS("files.columns"))
        if shown.bundles:
            files.append(_TEXTS("files.calibration", rows=f"{len(shown.chosen):,}"))
    if variant.family == "prediction":
        files.append(_TEXTS("files.test", rows=f"{scene.plan.equations.test:,}"))
    files.append(_TEXTS("files.answer"))
    return _TEXTS("files.text", files=bullets(files))


def _data(scene: Scene, shown: Observation) -> str:
    """What a row is and what the columns are, in table order."""
    columns = [
        _TEXTS(
            "data.measurement",
            column=column.name,
            kind=column.kind,
            variable=scene.name(column.node),
        )
        if column.measures
        else _column(scene.variables[column.node])
        for column in shown.columns
    ]
    rows = f"{scene.plan.equations.train:,}"
    text = _TEXTS("data.text", rows=rows, record=record(scene), columns=bullets(columns))
    return text + (_TEXTS("data.never_measured") if scene.motif.graph.latent else "")


def _measurements(scene: Scene, shown: Observation) -> str:
    """The measurement note, in full."""
    nodes = sorted((node for node in scene.columns if node in shown.bundles), key=scene.name)
    listed = [
        f"{_column(scene.variables[node])}: {', '.join(shown.columns_of(node))}" for node in nodes
    ]
    text = _TEXTS("measurements.text", measurements=bullets(listed), record=record(scene))
    names = ", ".join(scene.name(node) for node in nodes)
    rows = f"{len(shown.chosen):,}"
    return text + _TEXTS("measurements.calibration", rows=rows, variables=names)


def _column(variable: Variable) -> str:
    if variable.states is None:
        return _TEXTS("data.continuous", variable=variable.name)
    (zero, one), it = variable.states, variable.pronoun
    return _TEXTS("data.binary", variable=variable.name, it=it, one=one, zero=zero)
