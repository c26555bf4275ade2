"""The functions that ``page.toml`` names: rows and charts of CCR, and the drawings of cut trees."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from grader.pages.charts import Cloud, Dot, DotRow, Level, clouds, dot_rows, lines
from grader.pages.graph import Explanation, Graph, Kind, proofs
from grader.pages.page import Block, Fold, Paragraph, Section
from grader.pages.specification import Specification, TrackPages
from grader.pages.svg import Axis, Svg, element, words
from grader.pages.systems import SYSTEM, Part, Report, part_of, rows_of
from grader.pages.table import Cell, Table
from grader.pages.words import number, percent
from grader.scoring.model import Truth
from grader.scoring.shape import Task
from grader.statistics.paired_tests import signed_rank
from grader.tracks.ccr.algorithm import DELTA, VALID_SHARE

SYSTEMS_DRAWN: Final = 12
SYSTEMS_BESIDE: Final = 5
"""Systems whose estimates stand beside each other on a row."""
CONTEXTS_DRAWN: Final = 60
CONTEXTS_IN_LEADERBOARD: Final = 4
ALPHA: Final = 0.05
"""The p-value below which a difference of errors counts as one (CCR §6.2)."""
MOST_SHOWN: Final = 2
"""The multiple of the truth at which estimates are cut off in drawings."""
QUANTITY_KINDS: Final = ("global", "local", "composition")
"""Kinds of quantities, in the order of Figure G.17."""
FARTHEST: Final = 0.5
"""Errors that are larger are drawn here, and so are those of what was not estimated."""

Context = Mapping[str, Any]
Errors = Mapping[tuple[str, str], Sequence[float]]
"""Relative errors by quantity and context."""


def simulating(parts: Sequence[Part]) -> list[Part]:
    """Return the parts of systems whose exam asks about pairs by simulation."""
    asked = ("unit_answers", "contexts")
    return [part for part in parts if any(part["metrics"].get(name) for name in asked)]


def classes_of_one(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return two rows for one system alone: the shares of the four classes in compositions and in
    contexts. [] for several systems, and without simulation."""
    if len(parts) > 1 or not simulating(parts):
        return []
    metrics = parts[0]["metrics"]
    rows = []
    for level in ("compositions", "contexts"):
        shares = {name: metrics.get(f"{level}_{name}") for name in ("vc", "vi", "ic", "ii")}
        rows.append({"level": level, "n": metrics.get(level), **shares})
    return [rows[0], {**metrics, **rows[1]}]


def _shown_in_pictures(parts: Sequence[Part]) -> list[Part]:
    """Return the systems that answer and whose contexts a report tells of, at most twelve."""
    found = [part for part in parts if part.get("attempted")]
    return [part for part in found if part.get("details", {}).get("contexts")][:SYSTEMS_DRAWN]


def quadrants(parts: Sequence[Part]) -> list[Svg]:
    """Draw external against internal error of every composition, a chart for each system."""
    shown = _shown_in_pictures(parts)
    return [_quadrant(part["system"], part["details"]["contexts"]) for part in shown]


def stated_quadrants(parts: Sequence[Part]) -> list[Svg]:
    """Draw the same chart of the values that systems state, for each that has some."""
    found = [(part["system"], part.get("details", {}).get("stated")) for part in parts]
    return [_quadrant(name, stated) for name, stated in found[:SYSTEMS_DRAWN] if stated]


def _quadrant(system: str, found: Sequence[Context]) -> Svg:
    """Draw a point for each composition of one system over the four quadrants, errors cut at
    ``FARTHEST``. What was not estimated stands there, too."""

    def clip_error(error: float | None) -> float:
        return FARTHEST if error is None else min(error, FARTHEST)

    points = [
        ((clip_error(line["gamma"]), clip_error(line["epsilon"])), "")
        for context in found
        for line in context["compositions"]
    ]
    ticks = ((0, "0"), (DELTA, f"{DELTA:g}"), (FARTHEST, f"{FARTHEST:g}+"))
    near, far = (0, DELTA), (DELTA, FARTHEST)
    regions = (
        ("VC", "good", near, near),
        ("VI", "fair", far, near),
        ("IC", "fair", near, far),
    )
    axes = (Axis(name, 0, FARTHEST, ticks) for name in ("internal error γ", "external ε"))
    title = f"Reasoning quadrants of {system}"
    return clouds(title, [Cloud(system, points)], *axes, side=150, regions=regions)


def name_of(row: Mapping[str, Any]) -> str:
    """Return the name of a quantity, such as X1X3, with ", whole" if it spans its cut tree."""
    return f"{row['quantity']}, whole" if row["kind"] == "global" else str(row["quantity"])


def names_of(parts: Sequence[Part]) -> list[str]:
    """Return the distinct names of quantities: whole, pairs, compositions."""
    return list(dict.fromkeys(map(name_of, rows_of(parts, "quantities"))))


def _shares(part: Part) -> dict[str, float]:
    """Return the share of each quantity by name."""
    return {name_of(row): row["share"] for row in part.get("quantities", ())}


def by_quantity(parts: Sequence[Part]) -> list[Table]:
    """Return Figure 7 as the paper draws it: shares of valid estimates, system against quantity."""
    rows = [
        (
            [Cell(part[SYSTEM], "name")],
            {name: percent(share) for name, share in _shares(part).items()},
        )
        for part in _shown_in_pictures(parts)
    ]
    names = names_of(parts[:SYSTEMS_DRAWN])
    return [Table.pivot("Valid estimates of each quantity", ["system"], names, rows)]


def validity(parts: Sequence[Part]) -> list[Block]:
    """Draw the share of valid estimates of each quantity, and from where it is valid."""
    meaning = f"valid from {VALID_SHARE:.0%} on, where answers are repeated"
    found = [
        {name: Dot(k, share) for name, share in _shares(part).items()}
        for k, part in enumerate(_shown_in_pictures(parts)[:SYSTEMS_BESIDE])
    ]
    return _by_quantity("share of valid estimates", parts, found, (VALID_SHARE, meaning))


def distributions(parts: Sequence[Part]) -> list[Block]:
    """Draw median and middle 90% of the estimates of each quantity; the truth is 100%."""
    found = []
    for k, part in enumerate(_shown_in_pictures(parts)[:SYSTEMS_BESIDE]):
        ratios: dict[str, list[float]] = {}
        for row in part["details"].get("estimates", []):
            ratios.setdefault(name_of(row), []).extend(row["ratios"])
        found.append({name: _spread(k, values) for name, values in ratios.items() if values})
    title = "estimates as shares of the truth, cut at 200%"
    return _by_quantity(title, parts, found, (1.0, "the truth"), MOST_SHOWN)


def _by_quantity(
    title: str,
    parts: Sequence[Part],
    found: Sequence[Mapping[str, Dot]],
    tick: tuple[float, str],
    whole: float = 1,
) -> list[Block]:
    """Draw each quantity's dots by system, with one ``tick``, in a fold; [] without any."""
    shown = _shown_in_pictures(parts)[:SYSTEMS_BESIDE]
    rows = [
        DotRow(name, [dots[name] for dots in found if name in dots], [tick])
        for name in names_of(shown)
    ]
    picture = dot_rows(title, rows, [part["system"] for part in shown], whole)
    return [Fold("every quantity, drawn", [picture], len(parts) == 1)] if rows else []


def _spread(series: int, ratios: Sequence[float]) -> Dot:
    """Return a dot at the median of ``ratios`` with their middle 90%, all cut at ``MOST_SHOWN``."""
    ordered = sorted(ratios)
    last = len(ordered) - 1
    low, middle, high = (ordered[round(share * last)] for share in (0.05, 0.5, 0.95))
    hover = f"{len(ordered)} estimates, median {middle:.0%} of the truth"
    cut = [min(value, MOST_SHOWN) for value in (low, middle, high)]
    return Dot(series, cut[1], (cut[0], cut[2]), hover, "middle 90%")


def error_tests(parts: Sequence[Part]) -> list[Table]:
    """Return signed-rank tests of errors, first system against each other; [] for one system."""
    first, *others = _shown_in_pictures(parts) or [{}]
    if not others:
        return []
    own = _errors(first)
    rows: list[list[str | Cell]] = [
        [name, *(_error_test(own, _errors(other), name) for other in others)]
        for name in names_of([first, *others])
    ]
    note = (
        f"Two-sided p-values of the Wilcoxon test, and the number of pairs: errors of "
        f"{first['system']} against those of each system, context by context, or by resampled "
        f"estimate where contexts are at most two and answers repeated. Green: below {ALPHA}."
    )
    head = ["quantity", *(part["system"] for part in others)]
    return [Table("Errors compared", head, rows, note=note)]


def _errors(part: Part) -> Errors:
    """Return |ratio − 1| of each estimate, by (quantity, instance)."""
    return {
        (name_of(row), row["instance_id"]): [abs(ratio - 1) for ratio in row["ratios"]]
        for row in part.get("details", {}).get("estimates", [])
    }


def _error_test(own: Errors, other: Errors, quantity: str) -> Cell:
    """Return the p-value of one quantity and the number of pairs; a dash without a pair."""
    differences = [
        a - b
        for place, errors in own.items()
        if place[0] == quantity
        for a, b in _pair_up(errors, other.get(place, []))
    ]
    if not differences:
        return Cell("–")
    p = signed_rank(differences)
    return Cell(
        "<0.001" if p < 0.001 else number(p), "good" if p < ALPHA else "", f"n = {len(differences)}"
    )


def _pair_up(first: Sequence[float], second: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Pair two systems' errors one by one, a single one with all, and leave out the unpaired."""
    count = max(len(first), len(second)) if first and second else 0
    columns = [[*row] * count if len(row) == 1 else row for row in (first, second)]
    return zip(columns[0][:count], columns[1][:count], strict=False)


def _error_curve(axis: str, across: str, parts: Sequence[Part]) -> list[Block]:
    """Draw the mean error of the pairs over an ``axis`` of ``sql/curves.sql``, with a table."""
    found = {
        part["system"]: {
            row["level"]: row["mean_rae"]
            for row in part["details"].get("curves", [])
            if row["axis"] == axis and row["mean_rae"] is not None
        }
        for part in _shown_in_pictures(parts)
    }
    steps = sorted({step for row in found.values() for step in row})
    if not steps:
        return []
    series = [
        (name, [Level(row[step]) if step in row else None for step in steps])
        for name, row in found.items()
    ]
    picture = lines(f"mean error by {axis}", [*map(str, steps)], series, across=across)
    rows = [
        (
            [Cell(name, "name")],
            {k: Cell(number(mean), "good" if mean <= DELTA else "") for k, mean in row.items()},
        )
        for name, row in found.items()
    ]
    note = f"{across}; green: at most {DELTA}"
    return [picture, Table.pivot("Mean error", ["system"], steps, rows, note)]


by_mediators = partial(_error_curve, "mediators", "mediating variables between cause and effect")
by_shortest_path = partial(
    _error_curve, "shortest_path", "edges of the shortest path from cause to effect"
)


def by_size(parts: Sequence[Part]) -> list[Block]:
    """Draw the mean errors of global, local and composed quantities over the sizes of models, with
    a table; [] unless two systems state a size, a number from 1e-6 to 1e6 (Figure G.17)."""
    sized = [p for p in parts if type(p.get("size")) in (int, float) and 1e-6 <= p["size"] <= 1e6]
    pairs = [(part, _mean_errors(part)) for part in sized]
    found = sorted(((p, m) for p, m in pairs if m), key=lambda pair: pair[0]["size"])
    if len(found) < 2:
        return []
    series = []
    for kind in QUANTITY_KINDS:
        spots = [((p["size"], m[kind]), p["system"]) for p, m in found if kind in m]
        series.append(Cloud(kind, spots))
    across = Axis.logarithmic("billions of parameters", [part["size"] for part, _ in found])
    upwards = Axis.linear("mean RAE", [mean for _, means in found for mean in means.values()])
    rows = [
        (
            [Cell(part["system"], "name"), f"{part['size']:g}"],
            {k: Cell(number(mean), "good" if mean <= DELTA else "") for k, mean in means.items()},
        )
        for part, means in found
    ]
    note = f"size in billions of parameters, as stated; green: at most {DELTA}"
    table = Table.pivot("Mean error", ["system", "size"], QUANTITY_KINDS, rows, note)
    return [clouds("mean error by model size", series, across, upwards), table]


def _mean_errors(part: Part) -> dict[str, float]:
    """Return the mean relative error of the quantities of each kind, over what was estimated."""
    errors: dict[str, list[float]] = {}
    for row in part.get("quantities", ()):
        if row["mean"] is not None:
            errors.setdefault(row["kind"], []).append(row["mean"])
    return {kind: fmean(values) for kind, values in errors.items()}


def trees(parts: Sequence[Part]) -> list[Block]:
    """Draw the cut trees of each system, and say how to read them."""
    note = (
        "Dark edges are valid pairs, light ones invalid; blue paths are valid compositions; a "
        "node is dark when every path through it is valid (after Fig. 8)."
    )
    alone = len(parts) == 1
    limit = CONTEXTS_DRAWN if alone else CONTEXTS_IN_LEADERBOARD
    found = [
        Fold(part["system"], [cut_tree(c) for c in part["details"]["contexts"][:limit]], alone)
        for part in _shown_in_pictures(parts)
    ]
    return [Paragraph(note, note=True), *found] if found else []


def commuting(context: Context) -> tuple[int, int]:
    """Return how many direct and composed paths are valid, and how many there are (Fig. 8)."""
    ends = {(line["path"][0], line["path"][-1]) for line in context["compositions"]}
    direct = [line["valid"] for line in context["pairs"] if tuple(line["pair"]) in ends]
    composed = [line["valid"] for line in context["compositions"]]
    return sum(direct) + sum(composed), len(direct) + len(composed)


def cut_tree(context: Context) -> Svg:
    """Draw one cut tree: its pairs as edges, valid compositions as broad bands under them."""
    nodes, step, left = list(context["nodes"]), 74, 34
    base = left + 16 * len(nodes)
    place = {name: left + step * k for k, name in enumerate(nodes)}
    right, total = commuting(context)
    title = f"{context['class']}{', complete' if context['complete'] else ''}: "
    title += f"{right} of {total} paths commute"
    parts = [words(6, 14, title, "axis")]
    band = "stroke:var(--mark);stroke-width:7;stroke-opacity:.16;fill:none"
    for line in context["compositions"]:
        if line["valid"]:
            ends = pairwise(line["path"])
            parts += [_arc(place[a], place[b], base, step, band) for a, b in ends]
    for line in context["pairs"]:
        a, b = line["pair"]
        style = f"stroke:{_ink(line['valid'])};stroke-width:1.6;fill:none"
        hover = f"{a} to {b}: {'valid' if line['valid'] else 'invalid'}"
        parts.append(_arc(place[a], place[b], base, step, style, hover))
    for name in nodes:
        through = [line["valid"] for line in context["compositions"] if name in line["path"]]
        through += [line["valid"] for line in context["pairs"] if name in line["pair"]]
        style = f"fill:{_ink(bool(through) and all(through))}"
        parts.append(element("circle", cx=place[name], cy=base, r=6, style=style))
        parts.append(words(place[name], base + 24, name, anchor="middle", room=step - 8))
    width = max(left * 2 + step * (len(nodes) - 1), 230)
    return Svg(title, width, base + 46, parts, inline=True)


def _ink(valid: bool) -> str:
    return "var(--ink)" if valid else "var(--line)"


def _arc(start: float, end: float, base: float, step: float, style: str, hover: str = "") -> str:
    """Draw a straight edge between neighbours, else an arc above them."""
    span = (end - start) / step
    shape = f"M{start} {base}L{end} {base}"
    if span > 1:
        middle, top = (start + end) / 2, base - 13 * span * 2
        shape = f"M{start} {base}Q{middle} {top:.1f} {end} {base}"
    return element("path", "", hover, d=shape, style=style)


def explain_task(task: Task, truth: Truth, world: Mapping[str, Any]) -> Explanation:
    """Return causal graph, theme, cut tree and proof; without a context the proof alone."""
    texts = proofs(__file__)
    proof = texts.get(task.shape.kind, texts["quantities"])
    context = world.get("context", {})
    if "parents" not in context:
        return Explanation(proof=proof)
    names = context["names"]
    edges = [(names[p], names[k]) for k, parents in enumerate(context["parents"]) for p in parents]
    tree = world.get("tree") or []
    kinds: dict[str, Kind] = {tree[0]: "treatment", tree[-1]: "outcome"} if tree else {}
    if {"cause", "effect"} <= truth.target.keys():
        kinds = {truth.target["cause"]: "treatment", truth.target["effect"]: "outcome"}
    facts = [("theme", str(world.get("theme", ""))), ("cut tree", " → ".join(tree))]
    return Explanation(Graph(names, edges, kinds), {}, [fact for fact in facts if fact[1]], proof)


SPECIFICATION: Final = Specification.read(Path(__file__).with_name("page.toml"), globals())


def sections(reports: Sequence[Report]) -> list[Section]:
    """Return the sections of a page; those with pictures only where a report is not redacted."""
    return SPECIFICATION.page([part_of(report, "ccr") for report in reports])


PAGES: Final = TrackPages(
    explain_task=explain_task,
    tables=SPECIFICATION.in_terminal,
    sections=sections,
)
