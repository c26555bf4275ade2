"""The public side of a release besides meaning: disclosures and everything else.

*Disclosures* may tell something about a hidden world: variant, view, numbers and kinds of columns,
sizes of samples, and what the track says that a task discloses. *Everything else* (ids, places in
files, sizes, orders, names) must not tell more. The words of a story about its edges and the values
of the data are meaning and are no feature here. So are rules and data of a prompt that holds all
there is: only the lines between them are measured, and not the bytes of its row group.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from builder.splits.track import LeakFacts, SceneRow, TaskRow


@dataclass(frozen=True, slots=True)
class LeakSubject:
    """A row of the leak test: one task of an instance.

    ``scene`` is None where prompts hold all there is. ``told`` is what the track says of the task.
    ``position`` is its place in an exam, or -1. ``whole``: the fact is about the instance.
    """

    scene: SceneRow | None
    task: TaskRow
    told: LeakFacts
    position: int
    whole: bool

    @property
    def names(self) -> list[str]:
        """The names of a task, each once: its ends, its scene's columns, those in its lists."""
        columns = [name for name, _ in self.scene.columns] if self.scene else []
        listed = [name for order in self.told.orders for name in order]
        return list(dict.fromkeys(name for name in (*self.told.ends, *columns, *listed) if name))


def disclosures(subject: LeakSubject) -> tuple[object, ...]:
    """Return a row's permitted disclosures, hashable: facts are permuted only among equal ones."""
    scene, task, told = subject.scene, subject.task, subject.told
    shown: tuple[object, ...] = ()
    if scene is not None:
        kinds = dict(scene.columns)
        shown = (scene.view, sorted(kinds.values()), scene.rows)
        shown += tuple(kinds.get(end, "") for end in told.ends)
    if subject.whole:
        return (*shown, told.of_instance)
    return (*shown, told.of_instance, task.key, task.view, task.input_mode, told.of_task)


def features(subject: LeakSubject) -> dict[str, float | str]:
    """Return public traits that are neither disclosed nor meaning: texts (categories), numbers."""
    return {
        name: value for part in (_ids, _places, _sizes, _orders) for name, value in part(subject)
    }


def _ids(subject: LeakSubject) -> Iterator[tuple[str, float | str]]:
    """Yield length and every digit of both ids, and what the file name says beyond the id."""
    task = subject.task
    for kind, text in (("instance", task.instance_id), ("task", task.task_id)):
        yield f"{kind}: length", float(len(text))
        for place, digit in enumerate(text.rpartition("-")[2]):
            yield f"{kind}: digit {place}", digit
    yield "file", task.answer_file.replace(task.task_id, "*")


def _places(subject: LeakSubject) -> Iterator[tuple[str, float | str]]:
    """Yield the positions of task and scene in their files, and of the task in its exam."""
    scene = subject.scene
    for kind, place in (("task", subject.task.place), ("scene", scene.place if scene else None)):
        if place is not None:
            yield f"{kind}: position", float(place.position)
            yield f"{kind}: position in its group", float(place.offset)
            yield from ((f"{kind}: position by {n}", str(place.position % n)) for n in (2, 3))
            if scene is not None:
                yield f"{kind}: bytes of its group", float(place.group_bytes)
    if not subject.whole:
        yield "position in the exam", float(subject.position)


def _sizes(subject: LeakSubject) -> Iterator[tuple[str, float | str]]:
    """Yield sizes of prompt and story, without names and numbers in them, and lengths of names."""
    scene, task = subject.scene, subject.task
    prompt = task.prompt.replace(scene.story, "") if scene else _lines_without_data(task.prompt)
    numbers = [str(value) for value in task.inputs.values() if isinstance(value, int | float)]
    texts = {} if subject.whole else {"prompt": prompt}
    texts |= {"story": scene.story} if scene else {}
    for kind, text in texts.items():
        bare = _remove_words(text, [*subject.names, *numbers, task.task_id])
        yield f"{kind}: characters", float(len(bare))
        yield f"{kind}: words", float(len(bare.split()))
        yield f"{kind}: lines", float(text.count("\n"))
        yield f"{kind}: sentences", float(len(re.findall(r"[.!?](?=\s|$)", text)))
    for number, end in enumerate(subject.told.ends):
        yield f"end {number}: length", float(len(end))
        yield f"end {number}: first letter", end[:1].lower()
    yield "names: length", sum(map(len, subject.names)) / max(len(subject.names), 1)


def _lines_without_data(prompt: str) -> str:
    """Return the lines of a prompt that are neither data nor rules: no digit, no list item."""
    lines = (line for line in prompt.splitlines() if not line.startswith("- "))
    return "\n".join(line for line in lines if not re.search(r"\d", line))


def _remove_words(text: str, words: Sequence[str]) -> str:
    """Return ``text`` without any of ``words``, which are removed as whole words, longest first."""
    present = sorted(set(words) - {""}, key=lambda word: (-len(word), word))
    pattern = "|".join(map(re.escape, present))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", "", text) if present else text


def _orders(subject: LeakSubject) -> Iterator[tuple[str, float | str]]:
    """Yield, for the columns and each list of names, where the names asked about stand (-1: absent)
    and how far its order agrees with the alphabet, with first mention and with the first list."""
    scene, told = subject.scene, subject.told
    text = scene.story if scene else subject.task.prompt
    columns = [tuple(name for name, _ in scene.columns), scene.data_columns] if scene else []
    lists = [*columns, *(() if subject.whole else told.orders)]
    for number, order in enumerate(lists):
        places = [order.index(end) if end in order else -1 for end in told.ends]
        mentioned = sorted(order, key=lambda name: (text.find(name), name))
        yield f"list {number}: ends", repr(places)
        yield from ((f"list {number}: end {k}", str(place)) for k, place in enumerate(places))
        yield f"list {number}: alphabetical", _agreement(order, sorted(order))
        yield f"list {number}: as mentioned", _agreement(order, mentioned)
        yield f"list {number}: as the first", _agreement(order, lists[0])
        first = [order.index(name) for name in mentioned[:3]]
        yield f"list {number}: first mentioned", repr(first)
    if scene:
        yield "kinds", repr([kind for _, kind in scene.columns][:2])
    if not subject.whole:
        yield from told.shown.items()


def _agreement(order: Sequence[str], reference: Sequence[str]) -> float:
    """Return Kendall's tau (-1 to 1) of two orders over names they share; 0 for fewer than two."""
    place = {name: rank for rank, name in enumerate(reference)}
    ranks = [place[name] for name in order if name in place]
    pairs = [(b > a) - (b < a) for k, a in enumerate(ranks) for b in ranks[k + 1 :]]
    return sum(pairs) / len(pairs) if pairs else 0.0
