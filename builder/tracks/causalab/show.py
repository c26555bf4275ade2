"""The generation report: our graphs beside the paper's Table 1, and targets."""

from collections.abc import Mapping, Sequence
from math import comb
from statistics import mean, median, pvariance
from typing import Final

from builder.splits.track import Record
from builder.stories.texts import markdown_table
from builder.tracks.causalab.plan import FREQUENCY
from builder.tracks.causalab.suites import SIZES, SUITES, label, read_label

TABLE_1: Final[Mapping[int, tuple[int, float, float, float, float]]] = {
    3: (50, 2.56, 0.25, 0.68, 0.72),
    4: (50, 4.54, 1.01, 2.18, 2.22),
    5: (50, 7.26, 4.23, 5.54, 5.26),
    6: (50, 8.82, 5.15, 6.72, 6.22),
    7: (50, 10.26, 4.95, 7.84, 7.00),
}
"""Graphs, edge mean, edge variance, fork mean, collider mean of the main suites, by k."""


def report(worlds: Sequence[Record], truths: Mapping[str, Record]) -> list[str]:
    """Return the parts of the report, as Markdown. ``truths`` are the targets by task id."""
    labels = {task: text for world in worlds for task, text in world["tasks"].items()}
    targets: dict[str, list[Record]] = {}
    for task, target in truths.items():
        targets.setdefault(labels[task], []).append(target)
    suites = [*SUITES]
    # Regimes of one's own have no place among the paper's: after them.
    placed = [
        (suites.index(name) if (name := read_label(text)[0].name) in suites else len(suites), text)
        for text in targets
    ]
    return [
        f"{len(worlds)} graphs, {len(labels)} episodes.",
        markdown_table(
            "Graphs of the main suites (Table 1; paper / ours)",
            ("k", "graphs", "edge mean", "edge variance", "fork mean", "collider mean"),
            [_table_1_row(size, worlds) for size in SIZES if _main_graphs(size, worlds)],
        ),
        markdown_table(
            "Graphs in which frequency may act",
            ("k", "graphs", "edge mean", "frequency's causes, mean", "frequency acts in"),
            _acting_rows(worlds),
        ),
        markdown_table(
            "Episodes by suite",
            ("suite", "setting", "episodes", "median size of the target", "largest"),
            [_suite_row(text, targets[text]) for _, text in sorted(placed)],
        ),
    ]


def _main_graphs(size: int, worlds: Sequence[Record]) -> list[list[tuple[str, str]]]:
    """Return the edges of each graph that has an episode ``reference/main-<size>``."""
    wanted = label(SUITES[f"main-{size}"], "reference")
    return [
        [(a, b) for a, b in world["edges"]] for world in worlds if wanted in world["tasks"].values()
    ]


def _table_1_row(size: int, worlds: Sequence[Record]) -> list[str]:
    """Return the row of Table 1 for one size, each cell the paper's figure and ours."""
    graphs = _main_graphs(size, worlds)
    counts = [len(edges) for edges in graphs]
    number, *paper = TABLE_1[size]
    ours = mean(counts), pvariance(counts), mean(map(forks, graphs)), mean(map(colliders, graphs))
    figures = [f"{p:.2f} / {o:.2f}" for p, o in zip(paper, ours, strict=True)]
    return [str(size), f"{number} / {len(graphs)}", *figures]


def _acting_rows(worlds: Sequence[Record]) -> list[list[str]]:
    """Return a row for each size (4, 6) that has graphs in which frequency may act."""
    rows = []
    for size in (4, 6):
        members = [
            world["edges"]
            for world in worlds
            if len(world["names"]) == size
            and any(read_label(text)[0].acts for text in world["tasks"].values())
        ]
        if members:
            causes = [sum(b == FREQUENCY for _, b in edges) for edges in members]
            acting = sum(any(a == FREQUENCY for a, _ in edges) for edges in members)
            means = f"{mean(map(len, members)):.2f}", f"{mean(causes):.2f}"
            rows.append([str(size), str(len(members)), *means, str(acting)])
    return rows


def _suite_row(text: str, targets: Sequence[Record]) -> list[str]:
    """Return a suite's row: name, setting, episodes, median and largest absolute target."""
    _, setting = read_label(text)
    sizes = [abs(target["frequency"]) for target in targets]
    figures = str(len(targets)), f"{median(sizes):.0f}", f"{max(sizes):.0f}"
    return [text.partition("/")[2], setting, *figures]


def forks(edges: Sequence[tuple[str, str]]) -> int:
    """Return the number of pairs of edges with the same cause (Table 1's fork count)."""
    causes = [cause for cause, _ in edges]
    return sum(comb(causes.count(cause), 2) for cause in set(causes))


def colliders(edges: Sequence[tuple[str, str]]) -> int:
    """Return the number of pairs of edges with the same effect (Table 1's collider count)."""
    return forks([(effect, cause) for cause, effect in edges])
