"""A site to read tasks: an index, and a page a task with story, graph, data, truth and answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from grader.pages.graph import Explanation, layered_graph
from grader.pages.page import (
    Block,
    Code,
    Fold,
    Paragraph,
    Prose,
    Section,
    SideBySide,
    Strong,
    page,
)
from grader.pages.report import SPECIFICATION
from grader.pages.systems import in_pool, readings_from
from grader.pages.table import Cell, Table
from grader.pages.words import clip_text, number, points, question_of
from grader.release.scenes import Column, Scene
from grader.scoring.model import RawAnswer, Score, Truth
from grader.scoring.route import READINGS
from grader.scoring.shape import Task
from grader.version import __version__

_STYLE: Final = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_SCRIPT: Final = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_FOOTER: Final = f"Made by causal-exams {__version__}. Nothing here asks for anything elsewhere."
_DATA_ROWS: Final = 6
_LONGEST_ANSWER: Final = 20_000
"""Characters of an answer that a page shows."""
_COLOURS: Final = {
    "treatment": "Blue: cause or treatment.",
    "outcome": "Orange: outcome.",
    "latent": "Dashed: never measured.",
}

INDEX: Final = "index.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task with all that a reader of the site may see of it. What is absent or secret is None."""

    task: Task
    scene: Scene | None = None
    truth: Truth | None = None
    explanation: Explanation = field(default_factory=Explanation)
    score: Score | None = None
    answer: RawAnswer | None = None


def pages(
    title: str, subtitle: str, views: Sequence[TaskView], reading: str = READINGS[0]
) -> Iterator[tuple[str, str]]:
    """Yield the file name and the HTML of every page of the site, with losses by ``reading``."""
    yield INDEX, _index_page(title, subtitle, views, reading)
    names = [f"{view.task.task_id}.html" for view in views]
    for place, view in enumerate(views):
        links = [(INDEX, "all tasks")]
        links += [(name, "previous") for name in names[max(0, place - 1) : place]]
        links += [(name, "next") for name in names[place + 1 : place + 2]]
        yield names[place], _task_page(view, links, reading)


def _index_page(title: str, subtitle: str, views: Sequence[TaskView], reading: str) -> str:
    """Return the index: a row a task, without the columns that say nothing here."""
    rows = []
    for view in views:
        row = {**view.task.members(), "link": f"{view.task.task_id}.html"}
        row["structure"] = view.truth and view.truth.structure
        if (score := view.score) is not None:
            row["outcome"] = _outcome(score)
            if reading == READINGS[0]:
                row["points"] = 100 * score.points
            else:
                row |= {"pool": score.paper_pool or "dropped", "loss": score.paper_loss}
        rows.append(row)
    tasks = Section("Tasks", [SPECIFICATION.of_rows("browse", rows)])
    style = f"{_STYLE}main {{ max-width:1500px }}\n"
    return page(title, subtitle, [tasks], _FOOTER, style, script=_SCRIPT)


def _outcome(score: Score) -> str:
    """Return how an answer fared, such as ``abstained, not due``: what the index filters by."""
    if score.status != "scored":
        return score.status
    if score.abstained:
        return "abstained, due" if score.should_abstain else "abstained, not due"
    if score.should_abstain:
        return "answered, not due"
    if score.points >= 1:
        return "full points"
    return "some points" if score.points else "no points"


def _task_page(view: TaskView, links: Sequence[tuple[str, str]], reading: str) -> str:
    """Return the page of a task, with links to the index and to its neighbours at its head."""
    task, scene = view.task, view.scene
    question = question_of(task.prompt)
    whole = [] if question == task.prompt else [Prose(task.prompt)]
    answers, asked = _answers(view, reading), [Prose(question)]
    sections = [
        Section("Question and answer", [SideBySide([asked, answers])] if answers else asked),
        Section("Story and graph", _story(scene, view.explanation)),
        Section("Data", _data({} if scene is None else scene.tables_of(task))),
        Section("Truth", _truth(view)),
        Section("Prompt, as it is given", whole, folded=True),
    ]
    subtitle = f"{task.track}, {task.spec.key}, rung {task.rung}, {task.view}"
    style = _STYLE + _highlight_rules(view.explanation)
    return page(task.task_id, subtitle, sections, _FOOTER, style, contents=True, ahead=links)


def _highlight_rules(explanation: Explanation) -> str:
    """Return CSS rules that light up an edge and its sentence when either is pointed at."""
    edges = explanation.graph.edges if explanation.graph and explanation.sentences else ()
    return "\n".join(
        f"main:has(.e{k}:{state}) span.e{k} {{ background:var(--fair); color:#1c2430 }}\n"
        f"main:has(.e{k}:{state}) svg .e{k} {{ stroke:var(--bad) !important; fill:var(--bad) "
        "!important; stroke-width:3.5px !important }"
        for k in range(len(edges))
        for state in ("hover", "focus")
    )


def _story(scene: Scene | None, explanation: Explanation) -> list[Block]:
    """Return the story beside the graph, or whichever of them there is."""
    graph: list[Block] = []
    if explanation.graph is not None:
        present = explanation.graph.kinds.values()
        legend = " ".join(text for kind, text in _COLOURS.items() if kind in present)
        graph = [layered_graph(explanation.graph), Paragraph(legend, note=True)]
    if scene is None:
        return [SideBySide([graph, [_facts(explanation)]])] if graph else []
    text: list[Block] = []
    if explanation.sentences:
        hint = "Underlined sentences tell edges of the graph: point at either."
        text.append(Paragraph(hint, note=True))
    text += [_with_marks(part, explanation) for part in scene.story.split("\n\n") if part]
    return [SideBySide([text, graph])] if graph else text


def _facts(explanation: Explanation) -> Table:
    facts = [(name, Cell(fact, "code")) for name, fact in explanation.facts]
    return Table("", ["the world", ""], facts, left=2)


def _with_marks(text: str, explanation: Explanation) -> Paragraph:
    """Return a paragraph of a story whose sentences have the classes of the edges they tell."""
    sentences = explanation.sentences
    edges = explanation.graph.edges if explanation.graph else ()
    places = {edge: k for k, edge in enumerate(edges)}
    parts: list[str | Strong] = []
    at = 0
    for sentence in sorted(filter(None, sentences), key=text.find):
        start = text.find(sentence)
        marks = " ".join(f"e{places[edge]}" for edge in sentences[sentence] if edge in places)
        if start >= at and marks:
            parts += [text[at:start], Strong(sentence, marks)]
            at = start + len(sentence)
    return Paragraph([*parts, text[at:]])


def _data(tables: Mapping[str, Sequence[Column]]) -> list[Block]:
    """Return a fold for each table with its first rows."""
    blocks: list[Block] = []
    for name, columns in tables.items():
        size = len(columns[0][1]) if columns else 0
        rows = [
            [f"{values[k]:.4g}" for _, values in columns if k < len(values)]
            for k in range(min(_DATA_ROWS, size))
        ]
        table = Table("", [column for column, _ in columns], rows)
        summary = f"{name.replace('_', ' ')}: {size:,} rows, {len(columns)} columns"
        blocks.append(Fold(summary, [table], opened=name == "data"))
    return blocks


def _truth(view: TaskView) -> list[Block]:
    """Return value with standard error, scoring rule, proof, world's facts; [] if secret."""
    truth, explanation = view.truth, view.explanation
    if truth is None:
        return []
    blocks: list[Block] = [Paragraph([Strong("How it is scored. "), view.task.spec.rule])]
    if truth.should_abstain:
        blocks.append(Paragraph([Strong("Not identifiable: "), "the right answer abstains."]))
    elif truth.value is not None:
        error = f", standard error {truth.value_se:.2g}" if truth.value_se else ""
        blocks.append(Paragraph([Strong(f"{truth.value:.9g}"), f"{error}."]))
    if explanation.proof:
        blocks.append(Paragraph([Strong("How it was proved. "), explanation.proof]))
    if view.scene is not None and explanation.facts:
        blocks.append(_facts(explanation))
    return blocks


def _answers(view: TaskView, first: str) -> list[Block]:
    """Return what an answer earned (reading ``first`` first), why, its text, the right answer."""
    blocks: list[Block] = []
    if (score := view.score) is not None:
        head = f"The answer given, {_outcome(score)}: {points(100 * score.points)} of 100 points"
        if score.metric_value is not None:
            head += f", {score.metric} {number(score.metric_value)}"
        losses = [f"{name} reading: {in_pool(score, name)}" for name in readings_from(first)]
        blocks += [Paragraph([Strong(head)]), Paragraph(f"{'; '.join(losses)}.")]
        if why := ": ".join(filter(None, (score.reason, score.message))):
            blocks.append(Paragraph(why))
        if view.answer is not None and view.answer.data is not None:
            text = view.answer.data[:_LONGEST_ANSWER].decode("utf-8", errors="replace")
            blocks.append(Code(text))
    if view.truth is not None:
        gold = clip_text(view.task.shape.gold(view.task, view.truth), _LONGEST_ANSWER)
        blocks += [Paragraph([Strong("The right answer")]), Code(gold)]
    return blocks
