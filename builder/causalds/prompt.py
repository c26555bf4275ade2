"""The complete prompt of a task: the parts of paper A.16.2, in our own words."""

from builder.causalds.ask import Question
from builder.causalds.ask.wording import bullets
from builder.causalds.scene import Scene
from builder.words import Variable
from grader.spec import Variant


def write_prompt(scene: Scene, variant: Variant, question: Question, answer_file: str) -> str:
    """Markdown: files, background, data and their scale (data tasks), question, answer, file."""
    sections = [
        ("Files", _files(scene, variant)),
        ("Background", scene.narration.telling.story),
    ]
    if variant.input_mode == "data":
        sections += [("Data", _data(scene)), ("Scale", _scale(scene))]
    sections += [
        ("Question", question.question),
        ("Answer", question.answer),
        ("Answer file", _answer_file(variant, answer_file)),
    ]
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections)
    return f"# Task\n\n{_INTRODUCTION[variant.input_mode]}\n\n{body}\n"


_INTRODUCTION = {
    "data": (
        "Below are a background, a data set that belongs to it, and one question. Answer the "
        "question from both."
    ),
    "story": "Below are a background and one question. Answer the question from the background.",
}


def _files(scene: Scene, variant: Variant) -> str:
    files = ["`story.md`: the background below"]
    if variant.input_mode == "data":
        files += [
            f"`data.parquet`: {scene.plan.train:,} rows of observations",
            "`columns.json`: the name and kind of each column",
        ]
    if variant.family == "prediction":
        files.append(
            f"`test_features.parquet`: {scene.plan.test:,} held-out rows, without the variable to "
            "be predicted"
        )
    files.append("`answer.schema.json`: the JSON Schema of the answer")
    return "Beside this text you find\n\n" + bullets(files)


def _data(scene: Scene) -> str:
    """What a row is and what the columns are, in table order."""
    columns = [_column(scene.variables[node]) for node in scene.columns]
    record = scene.narration.setting.theme.record
    text = (
        f"Each of the {scene.plan.train:,} rows of `data.parquet` is one {record}, drawn "
        "independently of the others and in no particular order. The columns, in no particular "
        f"order either:\n\n{bullets(columns)}"
    )
    if scene.motif.graph.latent:
        text += "\n\nWhat the background calls never measured has no column."
    return text


def _column(variable: Variable) -> str:
    if variable.states is None:
        return f"{variable.name} (continuous)"
    zero, one = variable.states
    return f"{variable.name} (binary: 1 if it {one}, 0 if it {zero})"


def _scale(scene: Scene) -> str:
    text = (
        "The background gives units as they are used on the spot. The files, and any value that "
        "the question names, are on a scale of this exam's own, which may be shifted or stretched "
        "against those units; negative values are nothing unusual. Work and answer on the scale "
        "of the files."
    )
    if any(scene.variables[node].kind == "binary" for node in scene.columns):
        return f"{text} Binary variables are 0 and 1 as listed above."
    return text


def _answer_file(variant: Variant, answer_file: str) -> str:
    kind = "CSV" if variant.suffix == ".csv" else "JSON"
    return (
        f"Write your answer to `{answer_file}`, a {kind} file in UTF-8, directly in your answers "
        "folder. Only the file of this name is read; nothing else that you write is graded. "
        "Before you finish, check that it is there and has the form described above."
    )
