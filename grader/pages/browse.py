"""A site to read tasks: one page a task, with its story, graph, data, truth and answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.pages import page as draw
from grader.pages.graph import histogram, layered
from grader.pages.look import Graph, Look
from grader.pages.page import (
    Beside,
    Block,
    Code,
    Fold,
    Marked,
    Markup,
    Paragraph,
    Section,
    Strong,
)
from grader.pages.systems import in_pool, readings_from
from grader.pages.table import Cell, Table
from grader.pages.words import clipped, number, safe
from grader.release.beside import Scene
from grader.scoring.model import RawAnswer, Score, Truth
from grader.scoring.route import READINGS
from grader.scoring.shape import Kind, Task
from grader.tracks import TRACKS
from grader.version import __version__

_STYLE: Final = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_SCRIPT: Final = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_WIDE: Final = f"{_STYLE}main {{ max-width:1500px }}\n"
_FOOTER: Final = f"Made by causal-exams {__version__}. Nothing here asks for anything elsewhere."
_COLUMNS: Final = (
    "task", "outcome", "points", "pool", "loss", "track", "family", "variant", "view", "structure",
)  # fmt: skip
_PICKS: Final = ("track", "family", "variant", "view", "structure", "outcome", "pool")
_SHORT: Final[frozenset[Kind]] = frozenset(
    ("sign", "boolean", "label", "count", "name", "edges", "set", "sets", "names")
)
"""Kinds of answers that a sentence can hold."""
_ROWS: Final = 6
_DRAWN: Final = 24
"""Columns of a table that are drawn."""
_ANSWER: Final = 20_000
"""Characters of an answer."""

INDEX: Final = "index.html"


@dataclass(frozen=True, slots=True)
class Shown:
    """All there is to show of a task; what may not be seen is ``None``."""

    task: Task
    scene: Scene | None
    truth: Truth | None
    world: Mapping[str, Any]
    score: Score | None
    answer: RawAnswer | None


def pages(
    title: str, subtitle: str, shown: Sequence[Shown], reading: str = READINGS[0]
) -> Iterator[tuple[str, str]]:
    """Every page of the site: its name, and its text; losses by ``reading`` first."""
    yield INDEX, _index(title, subtitle, shown, reading)
    for place, one in enumerate(shown):
        near = [shown[k].task.task_id if 0 <= k < len(shown) else ""
                for k in (place - 1, place + 1)]  # fmt: skip
        yield f"{one.task.task_id}.html", _page(one, near, reading)


def _index(title: str, subtitle: str, shown: Sequence[Shown], reading: str) -> str:
    answered = any(one.score is not None for one in shown)
    revealed = any(one.truth is not None for one in shown)
    # In one row there is room for what counts in the reading that is asked for.
    seen = ("points",) if reading == READINGS[0] else ("pool", "loss")
    left_out = [name for name in _COLUMNS[2:5] if name not in seen]
    hidden = [*(left_out if answered else _COLUMNS[1:5]), *([] if revealed else ["structure"])]
    table = Table("", _COLUMNS, [_row(one, reading) for one in shown], left=10).without(*hidden)
    picks = "".join(
        f'<label>{name}<select name="{name}" data-column="{table.head.index(name)}">'
        '<option value="*">all</option></select></label>'
        for name in _PICKS
        if name in table.head
    )
    filters = (
        f'<div class="filters">{picks}<label>words<input id="words" type="search"></label>'
        '<span id="told" role="status"></span></div><div id="tasks">'
    )
    blocks: list[Block] = [Markup(filters), table, Markup("</div>")]
    return draw.page(title, subtitle, [Section("Tasks", blocks)], _FOOTER, _WIDE, script=_SCRIPT)


def _row(one: Shown, reading: str) -> list[str | Cell]:
    task = one.task
    return [
        Cell(task.task_id, "id", link=f"{task.task_id}.html"),
        _outcome(one.score),
        "" if one.score is None else number(one.score.points, 2),
        *(["", ""] if one.score is None else _counted(one.score, reading)),
        task.track,
        task.family,
        task.variant,
        task.view,
        "" if one.truth is None else one.truth.structure,
    ]


def _counted(score: Score, reading: str) -> list[str]:
    """The pool of a task in a reading, and its loss there."""
    if reading == "fixed":
        return [score.pool, number(score.loss, 2)]
    return [score.paper_pool or "dropped", number(score.paper_loss, 2)]


def _outcome(score: Score | None) -> str:
    """What became of a task, in one of a few words."""
    if score is None:
        return ""
    if score.status != "scored":
        return score.status
    if score.abstained:
        return "abstained, due" if score.should_abstain else "abstained, not due"
    if score.should_abstain:
        return "answered, not due"
    if score.points >= 1:
        return "full points"
    return "some points" if score.points else "no points"


def _page(one: Shown, near: Sequence[str], reading: str) -> str:
    task = one.task
    look = _look(one)
    sections = [
        Section("Story and graph", _story(one, look)),
        Section("Prompt", [Code(task.prompt)] if one.scene is None else []),
        Section("Prompt, as it is given", [] if one.scene is None else [Code(task.prompt)],
                folded=True),
        Section("Data", _data(one.scene)),
        Section("Truth", _truth(one, look)),
        Section("Answer", _answer(one, reading)),
    ]  # fmt: skip
    names = ("previous", "next")
    links = [f'<a href="{INDEX}">all tasks</a>'] + [
        f'<a href="{safe(task_id)}.html">{name}</a>'
        for name, task_id in zip(names, near, strict=True)
        if task_id
    ]
    way = f'<div class="way">{"".join(links)}</div>'
    subtitle = f"{task.track}, {task.spec.key}, rung {task.rung}, {task.view}"
    return draw.page(
        task.task_id, subtitle, sections, _FOOTER, _STYLE + _lights(look), contents=True, ahead=way
    )


def _look(one: Shown) -> Look:
    """The task with its world open, where it may be."""
    look = TRACKS[one.task.track].look
    return Look() if look is None or one.truth is None else look(one.task, one.truth, one.world)


def _lights(look: Look) -> str:
    """What lights up together: an edge, and the sentence that tells it."""
    if look.graph is None or not look.told:
        return ""
    rules = []
    for k in range(len(look.graph.edges)):
        for state in ("hover", "focus"):
            lit = f"main:has(.e{k}:{state})"
            rules.append(f"{lit} span.e{k} {{ background:var(--fair); color:#1c2430 }}")
            rules.append(f"{lit} svg .e{k} {{ stroke:var(--bad) !important; stroke-width:3.5px "
                         "!important; fill:var(--bad) !important }")  # fmt: skip
    return "\n".join(rules)


def _story(one: Shown, look: Look) -> list[Block]:
    """The story beside the graph; hovering a sentence lights its edges, and the other way round."""
    graph: list[Block] = []
    if look.graph is not None:
        graph = [layered(look.graph), *_legend(look.graph)]
    if one.scene is None:
        return [Beside([graph, [_facts(look)]])] if graph else []
    text: list[Block] = [Marked(one.scene.story, _spans(one.scene.story, look))]
    if look.told:
        hint = "Underlined sentences tell edges of the graph: point at either."
        text.insert(0, Paragraph(hint, note=True))
    return [Beside([text, graph])] if graph else text


def _legend(graph: Graph) -> list[Block]:
    """What the colours of its boxes mean."""
    told = {"treatment": "Blue: cause or treatment.", "outcome": "Orange: outcome.",
            "latent": "Dashed: never measured."}  # fmt: skip
    words = [text for kind, text in told.items() if kind in graph.kinds.values()]
    return [Paragraph(" ".join(words), note=True)] if words else []


def _facts(look: Look) -> Table:
    rows: list[list[str | Cell]] = [[name, Cell(told, "code")] for name, told in look.facts]
    return Table("", ["the world", ""], rows, left=2)


def _spans(story: str, look: Look) -> list[tuple[int, int, str]]:
    """Where the sentences stand that tell edges."""
    places = {edge: k for k, edge in enumerate(look.graph.edges)} if look.graph else {}
    found = []
    for sentence, edges in look.told.items():
        start = story.find(sentence) if sentence else -1
        kinds = " ".join(f"e{places[edge]}" for edge in edges if edge in places)
        if start >= 0 and kinds:
            found.append((start, start + len(sentence), kinds))
    return found


def _data(scene: Scene | None) -> list[Block]:
    """The first rows and the histograms of each table."""
    blocks: list[Block] = []
    for name, columns in scene.tables.items() if scene else ():
        size = len(columns[0][1]) if columns else 0
        head = [[f"{values[k]:.4g}" for _, values in columns if k < len(values)]
                for k in range(min(_ROWS, size))]  # fmt: skip
        table = Table("", [column for column, _ in columns], head)
        drawn = [histogram(column, values) for column, values in columns[:_DRAWN]]
        told = f"{name.replace('_', ' ')}: {size:,} rows, {len(columns)} columns"
        blocks.append(Fold(told, [*drawn, table], opened=name == "data"))
    return blocks


def _truth(one: Shown, look: Look) -> list[Block]:
    """The right answer in words and as it is written, and how it was proved."""
    task, truth = one.task, one.truth
    if truth is None:
        return []
    blocks: list[Block] = [Paragraph([Strong("How it is scored. "), task.spec.rule])]
    if truth.should_abstain:
        blocks.append(Paragraph([Strong("Not identifiable: "), "the right answer abstains."]))
    elif truth.value is not None:
        error = "" if not truth.value_se else f", standard error {truth.value_se:.2g}"
        draws = one.world.get("value_draws")
        counted = f" from {draws:,} draws" if isinstance(draws, int) and draws else ""
        blocks.append(Paragraph([Strong(f"{truth.value:.9g}"), f"{error}{counted}."]))
    gold = clipped(task.shape.gold(task, truth), _ANSWER)
    if words := _in_words(task.shape.kind, task.shape.field, gold):
        blocks.append(Paragraph([Strong("The right answer: "), words]))
    blocks.append(Fold("the right answer as it is written", [Code(gold)], opened=not words))
    if look.proof:
        blocks.append(Paragraph([Strong("How it was proved. "), look.proof]))
    if one.scene is not None and look.facts:
        blocks.append(_facts(look))
    return blocks


def _in_words(kind: Kind, field: str, gold: str) -> str:
    """A right answer of few words as a sentence would have it; nothing for one of many."""
    if kind not in _SHORT:
        return ""
    value = json.loads(gold)[field]
    match kind:
        case "edges":
            return "; ".join(f"{cause} → {effect}" for cause, effect in value) or "no edge"
        case "sets":
            return _either(value)
        case "set" | "names" if isinstance(value, list):
            return ", ".join(map(str, value)) or "none"
        case _:
            return "abstains" if value is None else str(value)


def _either(sets: object) -> str:
    if not isinstance(sets, list):
        return str(sets)
    return " or ".join("{" + ", ".join(one) + "}" for one in sets) or "none"


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
    data = one.answer.data if one.answer else None
    if data is not None:
        blocks.append(Code(clipped(data[:_ANSWER].decode("utf-8", errors="replace"), _ANSWER)))
    return blocks
