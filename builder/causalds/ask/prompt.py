"""The complete prompt of a task: the parts of paper A.16.2, in our own words."""

from builder.causalds.ask import Question
from builder.causalds.ask.wording import bullets, record
from builder.causalds.make.observe import Observation
from builder.causalds.make.scene import Scene
from builder.words import Variable
from grader.shape import Variant


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
        sections.append(("Measurements", _measurements(scene, shown, variant)))
    if variant.shape.input_mode == "data":
        sections.append(("Scale", _scale(shown)))
    sections += [
        ("Question", question.question),
        ("Answer", question.answer),
        ("Answer file", _answer_file(variant, answer_file)),
    ]
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Task\n\n{_INTRODUCTION[variant.shape.input_mode]}\n\n{body}\n"


_INTRODUCTION = {
    "data": (
        "Below are a background, a data set that belongs to it, and one question. Answer the "
        "question from both."
    ),
    "story": "Below are a background and one question. Answer the question from the background.",
}


def _files(scene: Scene, shown: Observation, variant: Variant) -> str:
    files = ["`story.md`: the background below"]
    if variant.shape.input_mode == "data":
        files += [
            f"`data.parquet`: {scene.plan.train:,} rows of observations",
            "`columns.json`: the name and kind of each column",
        ]
    if variant.shape.input_mode == "data" and shown.bundles:
        files.append(
            f"`calibration.parquet`: {len(shown.chosen):,} of those rows, with the measured "
            "variables themselves"
        )
    if variant.family == "prediction":
        files.append(
            f"`test_features.parquet`: {scene.plan.test:,} held-out rows, without the variable to "
            "be predicted"
        )
    files.append("`answer.schema.json`: the JSON Schema of the answer")
    return "Beside this text you find\n\n" + bullets(files)


def _data(scene: Scene, shown: Observation) -> str:
    """What a row is and what the columns are, in table order."""
    columns = [
        f"{column.name} ({column.kind}, a measurement of {scene.name(column.node)})"
        if column.measures
        else _column(scene.variables[column.node])
        for column in shown.columns
    ]
    text = (
        f"Each of the {scene.plan.train:,} rows of `data.parquet` is one {record(scene)}, drawn "
        "independently of the others and in no particular order. The columns, in no particular "
        f"order either:\n\n{bullets(columns)}"
    )
    if scene.motif.graph.latent:
        text += "\n\nWhat the background calls never measured has no column."
    return text


def _measurements(scene: Scene, shown: Observation, variant: Variant) -> str:
    """The measurement note, in full."""
    nodes = [node for node in scene.columns if node in shown.bundles]
    listed = [
        f"{scene.name(node)}: {', '.join(shown.columns_of(node))}"
        for node in sorted(nodes, key=scene.name)
    ]
    text = (
        "Not every variable of the background is recorded as it is. For each of the following "
        "there are several noisy measurements instead:\n\n"
        f"{bullets(listed)}\n\n"
        f"Each of these columns depends on nothing but the one variable that it measures, for the "
        f"same {record(scene)}, and on noise of its own; given the variable, its measurements are "
        "independent of one another and of everything else. How a measurement responds to its "
        "variable may be curved, its scale is its own, its noise need not be Gaussian, nor equally "
        "large everywhere; some measurements only say 0 or 1. A measurement is no cause of "
        "anything.\n\n"
        "Questions are about the variables themselves, never about their measurements. Where a "
        "question speaks of what is measured or identifiable, these variables count as measured."
    )
    if variant.shape.input_mode == "data":
        text += (
            f"\n\n`calibration.parquet` shows the variables themselves: it holds "
            f"{len(shown.chosen):,} rows of `data.parquet`, a simple random sample of them, with "
            f"all their columns and these in addition: {', '.join(sorted(map(scene.name, nodes)))}."
        )
    if variant.family == "prediction" and scene.motif.outcome in shown.bundles:
        text += (
            f" `test_features.parquet` has no measurements of {scene.outcome.name}, which is to be "
            "predicted as it is."
        )
    return text


def _column(variable: Variable) -> str:
    if variable.states is None:
        return f"{variable.name} (continuous)"
    (zero, one), it = variable.states, variable.pronoun
    return f"{variable.name} (binary: 1 if {it} {one}, 0 if {it} {zero})"


def _scale(shown: Observation) -> str:
    text = (
        "The background gives units as they are used on the spot. The files, and any value that "
        "the question names, are on a scale of this exam's own, which may be shifted or stretched "
        "against those units; negative values are nothing unusual. Work and answer on the scale "
        "of the files."
    )
    if any(column.kind == "binary" for column in shown.columns):
        return f"{text} Binary variables are 0 and 1 as listed above."
    return text


def _answer_file(variant: Variant, answer_file: str) -> str:
    kind = "CSV" if variant.shape.suffix == ".csv" else "JSON"
    return (
        f"Write your answer to `{answer_file}`, a {kind} file in UTF-8, directly in your answers "
        "folder. Only the file of this name is read; nothing else that you write is graded. "
        "Before you finish, check that it is there and has the form described above."
    )
