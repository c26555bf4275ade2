"""A site to read tasks: one page a task, with its story, graph, data, truth and answer."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.pages.graph import Explanation, histogram, layered_graph
from grader.pages.page import Block, Code, Fold, Paragraph, Section, SideBySide, Strong, page
from grader.pages.report import SPECIFICATION
from grader.pages.systems import in_pool, readings_from
from grader.pages.table import Cell, Table
from grader.pages.words import clip_text, number
from grader.release.scenes import Scene
from grader.scoring.model import RawAnswer, Score, Truth
from grader.scoring.route import READINGS
from grader.scoring.shape import Task
from grader.version import __version__

_STYLE: Final = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_SCRIPT: Final = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_WIDE: Final = f"{_STYLE}main {{ max-width:1500px }}\n"
_FOOTER: Final = f"Made by causal-exams {__version__}. Nothing here asks for anything elsewhere."
_ROWS: Final = 6
_DRAWN: Final = 24
"""Columns of a table that are drawn."""
_ANSWER: Final = 20_000
"""Characters of an answer."""
_COLOURS: Final = {
    "treatment": "Blue: cause or treatment.",
    "outcome": "Orange: outcome.",
    "latent": "Dashed: never measured.",
}

_UNSEEN: Final = Explanation()

INDEX: Final = "index.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """All there is to show of a task; what may not be seen is ``None``."""

    task: Task
    scene: Scene | None = None
    truth: Truth | None = None
    look: Explanation = _UNSEEN
    draws: int | None = None
    score: Score | None = None
    answer: RawAnswer | None = None


def pages(
    title: str, subtitle: str, shown: Sequence[Shown], reading: str = READINGS[0]
) -> Iterator[tuple[str, str]]:
    """Every page of the site: its name, and its text; losses by ``reading`` first."""
    yield INDEX, _index(title, subtitle, shown, reading)
    for place, one in enumerate(shown):
        links = [(INDEX, "all tasks")]
        for name, k in (("previous", place - 1), ("next", place + 1)):
            if 0 <= k < len(shown):
                links.append((f"{shown[k].task.task_id}.html", name))
        yield f"{one.task.task_id}.html", _page(one, links, reading)


def _index(title: str, subtitle: str, shown: Sequence[Shown], reading: str) -> str:
    """A row a task; in one row there is room for what counts in the reading that is asked for."""
    hidden = ["pool", "loss"] if reading == READINGS[0] else ["points"]
    if all(one.score is None for one in shown):
        hidden = ["outcome", "points", "pool", "loss"]
    if all(one.truth is None for one in shown):
        hidden.append("structure")
    rows = [_row(one, reading) for one in shown]
    table = SPECIFICATION.of_rows("browse", rows).without_columns(*hidden)
    return page(title, subtitle, [Section("Tasks", [table])], _FOOTER, _WIDE, script=_SCRIPT)


def _row(one: Shown, reading: str) -> dict[str, Any]:
    """What the index says of a task: with a score, its pool and its loss in the reading."""
    task = one.task
    found: dict[str, Any] = {}
    if one.score is not None:
        found = {"outcome": _outcome(one.score), "points": one.score.points}
        if reading == "fixed":
            found |= {"pool": one.score.pool, "loss": one.score.loss}
        else:
            found |= {"pool": one.score.paper_pool or "dropped", "loss": one.score.paper_loss}
    structure = one.truth and one.truth.structure
    return {**task.members(), "link": f"{task.task_id}.html", "structure": structure, **found}


def _outcome(score: Score) -> str:
    """What became of a task, in one of a few words."""
    if score.status != "scored":
        return score.status
    if score.abstained:
        return "abstained, due" if score.should_abstain else "abstained, not due"
    if score.should_abstain:
        return "answered, not due"
    if score.points >= 1:
        return "full points"
    return "some points" if score.points else "no points"


def _page(one: Shown, links: Sequence[tuple[str, str]], reading: str) -> str:
    task, prompt = one.task, [Code(one.task.prompt)]
    sections = [
        Section("Story and graph", _story(one.scene, one.look)),
        Section("Prompt", prompt)
        if one.scene is None
        else Section("Prompt, as it is given", prompt, folded=True),
        Section("Data", _data(one.scene)),
        Section("Truth", _truth(one)),
        Section("Answer", _answer(one, reading)),
    ]
    subtitle = f"{task.track}, {task.spec.key}, rung {task.rung}, {task.view}"
    style = _STYLE + _lights(one.look)
    return page(task.task_id, subtitle, sections, _FOOTER, style, contents=True, ahead=links)


def _lights(look: Explanation) -> str:
    """What lights up together: an edge, and the sentence that tells it."""
    edges = range(len(look.graph.edges)) if look.graph and look.told else ()
    return "\n".join(
        f"main:has(.e{k}:{state}) span.e{k} {{ background:var(--fair); color:#1c2430 }}\n"
        f"main:has(.e{k}:{state}) svg .e{k} {{ stroke:var(--bad) !important; fill:var(--bad) "
        "!important; stroke-width:3.5px !important }"
        for k in edges
        for state in ("hover", "focus")
    )


def _story(scene: Scene | None, look: Explanation) -> list[Block]:
    """The story beside the graph; hovering a sentence lights its edges, and the other way round."""
    graph: list[Block] = []
    if look.graph is not None:
        told = [text for kind, text in _COLOURS.items() if kind in look.graph.kinds.values()]
        colours = [Paragraph(" ".join(told), note=True)] if told else []
        graph = [layered_graph(look.graph), *colours]
    if scene is None:
        return [SideBySide([graph, [_facts(look)]])] if graph else []
    text: list[Block] = [_marked(part, look) for part in scene.story.split("\n\n") if part]
    if look.told:
        hint = "Underlined sentences tell edges of the graph: point at either."
        text.insert(0, Paragraph(hint, note=True))
    return [SideBySide([text, graph])] if graph else text


def _facts(look: Explanation) -> Table:
    rows: list[list[str | Cell]] = [[name, Cell(told, "code")] for name, told in look.facts]
    return Table("", ["the world", ""], rows, left=2)


def _marked(text: str, look: Explanation) -> Paragraph:
    """A paragraph of a story, in which the sentences that tell edges are marked with these."""
    places = {edge: k for k, edge in enumerate(look.graph.edges)} if look.graph else {}
    parts: list[str | Strong] = []
    at = 0
    for sentence in sorted(filter(None, look.told), key=text.find):
        start = text.find(sentence)
        marks = " ".join(f"e{places[edge]}" for edge in look.told[sentence] if edge in places)
        if start >= at and marks:
            parts += [_line(text[at:start]), Strong(_line(sentence), marks)]
            at = start + len(sentence)
    return Paragraph([*parts, _line(text[at:])])


def _line(text: str) -> str:
    return text.replace("\n", " ")


def _data(scene: Scene | None) -> list[Block]:
    """The first rows and the histograms of each table."""
    blocks: list[Block] = []
    for name, columns in scene.tables.items() if scene else ():
        size = len(columns[0][1]) if columns else 0
        rows = [
            [f"{values[k]:.4g}" for _, values in columns if k < len(values)]
            for k in range(min(_ROWS, size))
        ]
        table = Table("", [column for column, _ in columns], rows)
        drawn = [histogram(column, values) for column, values in columns[:_DRAWN]]
        told = f"{name.replace('_', ' ')}: {size:,} rows, {len(columns)} columns"
        blocks.append(Fold(told, [*drawn, table], opened=name == "data"))
    return blocks


def _truth(one: Shown) -> list[Block]:
    """The right answer in words and as it is written, and how it was proved."""
    task, truth = one.task, one.truth
    if truth is None:
        return []
    blocks: list[Block] = [Paragraph([Strong("How it is scored. "), task.spec.rule])]
    if truth.should_abstain:
        blocks.append(Paragraph([Strong("Not identifiable: "), "the right answer abstains."]))
    elif truth.value is not None:
        error = "" if not truth.value_se else f", standard error {truth.value_se:.2g}"
        counted = f" from {one.draws:,} draws" if one.draws else ""
        blocks.append(Paragraph([Strong(f"{truth.value:.9g}"), f"{error}{counted}."]))
    gold = clip_text(task.shape.gold(task, truth), _ANSWER)
    words = _in_words(task, gold)
    if words:
        blocks.append(Paragraph([Strong("The right answer: "), words]))
    blocks.append(Fold("the right answer as it is written", [Code(gold)], opened=not words))
    if one.look.proof:
        blocks.append(Paragraph([Strong("How it was proved. "), one.look.proof]))
    if one.scene is not None and one.look.facts:
        blocks.append(_facts(one.look))
    return blocks


def _in_words(task: Task, gold: str) -> str:
    """A right answer of few words as a sentence would have it; nothing for one of many."""
    kind = task.shape.kind
    if kind in ("sign", "boolean", "label", "count", "name"):
        value = json.loads(gold)[task.shape.field]
        return "abstains" if value is None else str(value)
    if kind not in ("edges", "set", "sets", "names"):
        return ""
    value = json.loads(gold)[task.shape.field]
    if not isinstance(value, list):
        return "abstains" if value is None else str(value)
    match kind:
        case "edges":
            return "; ".join(f"{cause} → {effect}" for cause, effect in value) or "no edge"
        case "sets":
            return " or ".join("{" + ", ".join(one) + "}" for one in value) or "none"
        case _:
            return ", ".join(map(str, value)) or "none"


def _answer(one: Shown, first: str) -> list[Block]:
    """What the system wrote, and what it earned."""
    score = one.score
    if score is None:
        return []
    told = f"{_outcome(score)}: {number(score.points)} of 1 points"
    if score.value is not None:
        told += f", {score.metric} {number(score.value)}"
    counted = [f"{reading} reading: {in_pool(score, reading)}" for reading in readings_from(first)]
    blocks: list[Block] = [Paragraph([Strong(told)]), Paragraph(f"{'; '.join(counted)}.")]
    if score.reason or score.message:
        blocks.append(Paragraph(": ".join(filter(None, (score.reason, score.message)))))
    if one.answer is not None and one.answer.data is not None:
        text = one.answer.data[:_ANSWER].decode("utf-8", errors="replace")
        blocks.append(Code(clip_text(text, _ANSWER)))
    return blocks
