"""What a reader of the public side sees besides meaning: disclosures and everything else.

*Disclosures* may tell something about a hidden world: variant, view, numbers and kinds of columns,
sample sizes, what the track says that a task discloses, and how many variables, edges and
unmeasured variables the story tells. *Everything else* (ids, places in files, sizes, orders, names)
must not tell more. The words of the story about its edges and the values of the data are meaning
and are no feature here, nor is the printed contrast, which is a statistic of the data. Where the
prompt holds all there is, its rules and data are meaning: what is measured of it are the lines
between them, and of its place in the file not the bytes of its row group, which count their digits.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import numpy as np

from builder.gate.leak.classifier import Family, Floats, categorical, numeric
from builder.gate.tables import Place, SceneRow, TaskRow
from builder.track import AskedFacts

FIRST_MENTIONED: Final = 6
"""Columns whose pairwise order is a feature: the first so many that the story mentions."""
HASH_BINS: Final = 16


@dataclass(frozen=True)
class Subject:
    """One row of a test: a scene with the tasks that ask about it, and what the story may count.

    ``asked`` is what the track says of each task, ``told`` what it says that the story gives away.
    ``scene`` is empty where prompts hold all there is.
    """

    scene: SceneRow
    tasks: tuple[TaskRow, ...]
    asked: tuple[AskedFacts, ...]
    positions: tuple[int, ...]
    told: tuple[int, ...]

    @property
    def treatment(self) -> str:
        """The first of the names that prompts ask about; empty where none does: it is then not
        public."""
        return self._end(0)

    @property
    def outcome(self) -> str:
        """The second of them."""
        return self._end(1)

    def _end(self, number: int) -> str:
        return min({one.ends[number] for one in self.asked} - {""}, default="")

    @property
    def whole(self) -> bool:
        """Whether the prompt holds all there is."""
        return not self.scene.story

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """How long its texts are, measured once for all facts about it."""
        return *_story_sizes(self), *_prompt_sizes(self)


def disclosures(subject: Subject) -> tuple[object, ...]:
    """Everything allowed to tell, as one hashable value; rows are permuted where it is equal."""
    kinds = dict(subject.scene.columns)
    inputs = tuple(
        (task.key, task.view, task.input_mode, asked.disclosed)
        for task, asked in sorted(_pairs(subject), key=lambda pair: pair[0].key)
    )
    return (
        subject.scene.view,
        len(kinds),
        sum(kind == "binary" for kind in kinds.values()),
        kinds.get(subject.treatment, ""),
        kinds.get(subject.outcome, ""),
        subject.scene.rows,
        subject.told,
        inputs,
    )


def everything_else(subjects: Sequence[Subject]) -> list[Family]:
    """The features of all rows, in six families."""
    return [section(subjects) for section in (_ids, _places, _sizes, _orders, _names, _shown)]


def _pairs(subject: Subject) -> list[tuple[TaskRow, AskedFacts]]:
    return list(zip(subject.tasks, subject.asked, strict=True))


def _shown(subjects: Sequence[Subject]) -> list[Floats]:
    """What the track says that prompts show besides: of several tasks, the first by variant."""
    rows = [min(_pairs(subject), key=lambda pair: pair[0].key)[1].shown for subject in subjects]
    features = []
    for name in sorted({name for row in rows for name in row}):
        values = [row.get(name, "") for row in rows]
        numbers = [value for value in values if not isinstance(value, str)]
        if len(numbers) == len(values):
            features.append(numeric(numbers))
        else:
            features.append(categorical([str(value) for value in values]))
    return features


def _ids(subjects: Sequence[Subject]) -> list[Floats]:
    """Every hex digit of the ids; over several tasks, how often each digit stands there."""
    scenes = [[subject.scene.instance_id] for subject in subjects]
    tasks = [[task.task_id for task in subject.tasks] for subject in subjects]
    files = [[task.answer_file for task in subject.tasks] for subject in subjects]
    # The file name repeats the id; only what it says beyond the id is a feature of its own.
    rests = [
        " ".join(sorted(task.answer_file.replace(task.task_id, "*") for task in subject.tasks))
        for subject in subjects
    ]
    lengths = [numeric([float(np.mean([len(i) for i in row])) for row in ids]) for ids in
               (scenes, tasks, files)]  # fmt: skip
    return [*_digits(scenes), *_digits(tasks), categorical(rests), *lengths]


def _digits(ids: Sequence[Sequence[str]]) -> list[Floats]:
    bodies = [[text.rpartition("-")[2] for text in row] for row in ids]
    width = max((len(body) for row in bodies for body in row), default=0)
    return [_shares([[body[place : place + 1] for body in row] for row in bodies])
            for place in range(width)]  # fmt: skip


def _shares(rows: Sequence[Sequence[object]]) -> Floats:
    """How often each value occurs in each row, centred, total variance one; (n, values)."""
    values = sorted({value for row in rows for value in row}, key=str)
    index = {value: column for column, value in enumerate(values)}
    shares = np.zeros((len(rows), len(values)))
    for row, found in enumerate(rows):
        for value in found:
            shares[row, index[value]] += 1 / len(found)
    shares -= shares.mean(axis=0)
    spread = float(np.sqrt((shares**2).sum() / max(len(rows), 1)))
    return shares / spread if spread > 0 else np.zeros((len(rows), 0))


def _places(subjects: Sequence[Subject]) -> list[Floats]:
    """Position in the file, coarse to fine, in the row group, in the exam; row-group sizes."""
    features: list[Floats] = []
    scene_places = [[subject.scene.place] for subject in subjects]
    task_places = [[task.place for task in subject.tasks] for subject in subjects]
    whole = any(subject.whole for subject in subjects)
    for places in (task_places,) if whole else (scene_places, task_places):
        if all(places):
            features += _layout(places, sizes=not whole)
    exam = [float(np.mean(subject.positions or (-1,))) for subject in subjects]
    return [*features, numeric(exam, 8)]


def _layout(places: Sequence[Sequence[Place]], *, sizes: bool) -> list[Floats]:
    def mean(measure: Callable[[Place], float]) -> list[float]:
        return [float(np.mean([measure(place) for place in row])) for row in places]

    position = mean(lambda place: place.position)
    features = [numeric(position, bins) for bins in (6, 36)]
    features += [_shares([[place.position % n for place in row] for row in places]) for n in (2, 3)]
    features += [numeric(mean(lambda place: place.shard), 8)]
    features += [numeric(mean(lambda place: place.offset), 10)]
    if not sizes:
        return features
    width = min(len(place.group_bytes) for row in places for place in row)
    measured = [np.mean([place.group_bytes[:width] for place in row], axis=0) for row in places]
    return [*features, np.hstack([numeric(column.tolist()) for column in np.array(measured).T])]


def _sizes(subjects: Sequence[Subject]) -> list[Floats]:
    """Lengths of the texts, with and without the names and declared inputs printed in them."""
    measured = np.array([subject.sizes for subject in subjects], dtype=float)
    return [numeric(column.tolist()) for column in measured.T]


def _story_sizes(subject: Subject) -> tuple[float, ...]:
    story = subject.scene.story or _frame(_longest_common_story(subject))
    bare = _without(story, _known_names(subject))
    return (
        len(story),
        len(bare),
        len(bare.split()),
        len(re.findall(r"[.!?](?=\s|$)", story)),
        len([part for part in re.split(r"\n\s*\n", story) if part.strip()]),
        bare.count(","),
    )


def _frame(prompt: str) -> str:
    """The lines of a prompt that are neither data nor rules: without a digit, and no list item."""
    lines = (line for line in prompt.splitlines() if not line.startswith("- "))
    return "\n".join(line for line in lines if not re.search(r"\d", line))


def _longest_common_story(subject: Subject) -> str:
    return max((task.prompt for task in subject.tasks), key=len, default="")


def _prompt_sizes(subject: Subject) -> tuple[float, ...]:
    """Mean over tasks of the prompt beyond the story: all of it, and its boilerplate alone."""
    beyond, bare, lines = [], [], []
    for task in sorted(subject.tasks, key=lambda task: task.key):
        story = subject.scene.story
        rest = task.prompt.replace(story, "") if story else _frame(task.prompt)
        beyond.append(len(rest))
        printed = [str(value) for value in task.inputs.values() if isinstance(value, int | float)]
        bare.append(len(_without(rest, [*_known_names(subject), *printed, task.task_id])))
        lines.append(rest.count("\n"))
    if not beyond:
        return (0.0, 0.0, 0.0)
    return (float(np.mean(beyond)), float(np.mean(bare)), float(np.mean(lines)))


def _without(text: str, words: Sequence[str]) -> str:
    """``text`` with every occurrence of ``words`` removed, longest first."""
    present = sorted(set(words) - {""}, key=lambda word: (-len(word), word))
    if not present:
        return text
    pattern = "|".join(re.escape(word) for word in present)
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", "", text)


def _known_names(subject: Subject) -> list[str]:
    listed = [
        name
        for task in subject.tasks
        for value in task.inputs.values()
        if _is_list(value)
        for name in value
    ]
    named = [name for name, _ in subject.scene.columns]
    known = dict.fromkeys([subject.treatment, subject.outcome, *named, *listed])
    return [name for name in known if name]


def _orders(subjects: Sequence[Subject]) -> list[Floats]:
    """Orders of the table's columns and of every list in the prompts."""
    features = _order_features(subjects, [_table_order(subject) for subject in subjects])
    kinds = [tuple(kind for _, kind in subject.scene.columns)[:2] for subject in subjects]
    features.append(categorical(kinds))
    lists = sorted({(task.key, key) for subject in subjects for task in subject.tasks
                    for key, value in task.inputs.items() if _is_list(value)})  # fmt: skip
    listed = [[_listed_order(s, variant, key) for s in subjects] for variant, key in lists]
    listed.append([subject.scene.data_columns for subject in subjects])
    listed.append([subject.scene.test_columns for subject in subjects])
    for orders in listed:
        if any(not _follows(o, _table_order(s)) for o, s in zip(orders, subjects, strict=True)):
            features += _order_features(subjects, orders)
    return features


def _follows(order: Sequence[str], table: Sequence[str]) -> bool:
    """Whether ``order`` is the table's order, some columns left out: it then says nothing new."""
    return list(order) == [name for name in table if name in order]


def _table_order(subject: Subject) -> tuple[str, ...]:
    return tuple(name for name, _ in subject.scene.columns)


def _listed_order(subject: Subject, variant: str, key: str) -> tuple[str, ...]:
    listed = (task.inputs.get(key) for task in subject.tasks if task.key == variant)
    return next((tuple(names) for names in listed if names and _is_list(names)), ())


def _order_features(subjects: Sequence[Subject], orders: Sequence[Sequence[str]]) -> list[Floats]:
    """Where treatment and outcome stand, and how the order relates to three others.

    The three: first mention in the story, the alphabet, and the columns of the table.
    """
    treatment = [_index(o, s.treatment) for o, s in zip(orders, subjects, strict=True)]
    outcome = [_index(o, s.outcome) for o, s in zip(orders, subjects, strict=True)]
    ends = list(zip(treatment, outcome, strict=True))
    features = [categorical(treatment), categorical(outcome), categorical(ends)]
    features.append(categorical([_sign(y - x) for x, y in ends]))
    mentions = [_mention_order(s, o) for s, o in zip(subjects, orders, strict=True)]
    alphabets = [sorted(order) for order in orders]
    tables = [_table_order(subject) for subject in subjects]
    for others in (mentions, alphabets, tables):
        features.append(numeric([_agreement(o, r) for o, r in zip(orders, others, strict=True)]))
    pairs = [
        categorical([_pair(o, m, a, b) for o, m in zip(orders, mentions, strict=True)])
        for b in range(FIRST_MENTIONED)
        for a in range(b)
    ]
    features.append(np.hstack(pairs))
    ranks = [
        tuple(_index(o, name) for name in m[:3]) for o, m in zip(orders, mentions, strict=True)
    ]
    return [*features, categorical(ranks)]


def _index(order: Sequence[str], name: str) -> int:
    return list(order).index(name) if name in order else -1


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _pair(order: Sequence[str], mention: Sequence[str], first: int, second: int) -> int:
    """Which of the first- and second-mentioned columns stands left of the other; 0: too few."""
    if second >= len(mention):
        return 0
    return _sign(_index(order, mention[second]) - _index(order, mention[first]))


def _agreement(order: Sequence[str], reference: Sequence[str]) -> float:
    """Kendall's tau of two orders over the names they share; 0 for fewer than two."""
    place = {name: rank for rank, name in enumerate(reference)}
    ranks = [place[name] for name in order if name in place]
    pairs = [(a, b) for index, a in enumerate(ranks) for b in ranks[index + 1 :]]
    return sum(_sign(b - a) for a, b in pairs) / len(pairs) if pairs else 0.0


def _mention_order(subject: Subject, names: Sequence[str]) -> list[str]:
    """``names`` by first mention in the story; those never mentioned last, alphabetically."""
    story = subject.scene.story or _longest_common_story(subject)
    return sorted(names, key=lambda name: (_first_mention(story, name), name))


@cache
def _first_mention(story: str, name: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", story)
    return len(story) if found is None else found.start()


def _names(subjects: Sequence[Subject]) -> list[Floats]:
    """Lengths, first letters and hashed words of the names."""
    features: list[Floats] = []
    for names in ([s.treatment for s in subjects], [s.outcome for s in subjects]):
        features.append(numeric([len(name) for name in names]))
        features.append(categorical([name[:1].lower() for name in names]))
        features.append(_shares([[_bin(word) for word in name.split()] or [-1] for name in names]))
    listed = [_known_names(subject) for subject in subjects]
    lengths = [[len(name) for name in names] or [0] for names in listed]
    features.append(numeric([float(np.mean(row)) for row in lengths]))
    features.append(numeric([max(row) for row in lengths]))
    features.append(_shares([[name[:1].lower() for name in names] for names in listed]))
    features.append(
        _shares([[_bin(word) for name in names for word in name.split()] for names in listed])
    )
    return features


def _bin(word: str) -> int:
    """A word's hash bin, the same on every platform (Python's own hash is salted)."""
    return zlib.crc32(word.lower().encode("utf-8")) % HASH_BINS


def _is_list(value: object) -> bool:
    """Whether a declared input is a list of names."""
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
