"""The ccr tables: points, shares of the four classes of reasoners, single cases, error curves."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grader.draw.table import Cell, Table, figure, word
from grader.draw.words import count, number, percent, points
from grader.show.systems import SYSTEM, Part, Report, part_of, rows_of
from grader.statistics.paired import signed_rank
from grader.tracks.ccr.summary import CLASSES, LABELS

THRESHOLD: Final = 0.1
"""The relative error up to which an answer is valid."""


def of_report(report: Report) -> list[Table]:
    """What a redacted report keeps is enough for them; none where no pair is asked about."""
    part = part_of(report, "ccr")
    tables = [taxonomy(part), single_cases([part])] if simulates(part) else []
    return [table.without(SYSTEM.heading) for table in (*tables, stated([part])) if table.rows]


def simulates(part: Part) -> bool:
    """Whether the exam asks about pairs by simulation: the taxonomy is about nothing else."""
    return bool(part["metrics"].get("unit_answers") or part["metrics"].get("contexts"))


def taxonomy(part: Part) -> Table:
    """Shares of the four classes of compositional reasoners, and what is complete."""
    metrics = part["metrics"]
    whole = ("complete_share", "pairs_valid", "monotonicity_violations")
    rows = [
        [
            level,
            count(metrics.get(level)),
            *(number(metrics.get(f"{level}_{name.lower()}")) for name in CLASSES),
            *(number(metrics.get(name)) if level == "contexts" else "" for name in whole),
        ]
        for level in ("compositions", "contexts")
    ]
    head = ["level", "n", *CLASSES, *(LABELS[name] for name in whole)]
    return Table("compositional reasoning", head, rows)


def classes(parts: Sequence[Part]) -> Table:
    """Points by kind of task, and the classes of compositions."""
    kinds = ["simulation", "direct", "deductive"] if any(map(simulates, parts)) else []
    if any(part["metrics"].get("points_inductive") is not None for part in parts):
        kinds.append("inductive")
    shares = [
        *(f"compositions_{name.lower()}" for name in CLASSES),
        "complete_share",
        "pairs_valid",
    ]
    columns = (
        SYSTEM,
        figure("points", "points", points),
        *(
            figure(("metrics", f"points_{name}"), LABELS[f"points_{name}"], points)
            for name in kinds
        ),
        *(figure(("metrics", name), LABELS[name]) for name in shares if any(map(simulates, parts))),
    )
    return Table.of("Points, and classes of compositions", columns, parts)


def single_cases(parts: Sequence[Part]) -> Table:
    """How often answers to single cases are right, and how often they contradict each other."""
    shares = [*(f"accuracy_{rung}" for rung in ("factual", "do_true", "do_false"))]
    shares.append("monotonicity_violations")
    columns = (
        SYSTEM,
        figure("points", "points", points),
        *(figure(("metrics", name), LABELS[name]) for name in shares),
    )
    return Table.of("Single cases", columns, parts)


def curves(parts: Sequence[Part], axis: str = "mediators") -> Table:
    """Mean error of the pairs by number of mediating variables (CCR Fig. 9), or by the length of
    the shortest path (Fig. G.18)."""
    found = [levels(part, axis) for part in parts]
    steps = sorted({level for row in found for level in row})
    rows = [
        [SYSTEM.cell(part), *(_error(row.get(level)) for level in steps)]
        for part, row in zip(parts, found, strict=True)
    ]
    note = f"{CURVES[axis]}; green: at most 0.1"
    return Table("Mean error", ["system", *map(str, steps)], rows, note=note)


CURVES: Final = {
    "mediators": "mediating variables between cause and effect",
    "shortest_path": "edges of the shortest path from cause to effect",
}


def levels(part: Part, axis: str) -> dict[int, float | None]:
    """The mean error by level of an axis."""
    return {
        row["level"]: row["mean_rae"]
        for row in part.get("details", {}).get("curves", [])
        if row["axis"] == axis
    }


def quantities(parts: Sequence[Part]) -> Table:
    """Figures 7 and G.12 to G.16: validity and errors of each quantity of the cut trees."""
    columns = (
        SYSTEM,
        word("quantity"),
        word("kind"),
        word("estimates"),
        figure("share", "valid estimates", percent),
        figure("valid", "valid", percent),
        figure("mean", "mean RAE"),
        figure("sd", "SD"),
        figure("q25", "25%"),
        figure("median", "median"),
        figure("q75", "75%"),
    )
    note = "X1 is the root of a cut tree, the last node its leaf; RAE over what was estimated."
    return Table.of("Each quantity", columns, rows_of(parts, "quantities"), left=3, note=note)


def name_of(row: Mapping[str, Any]) -> str:
    """What a quantity is called: its place, and whether it is the whole of its tree there."""
    return f"{row['quantity']}, whole" if row["kind"] == "global" else str(row["quantity"])


def names_of(parts: Sequence[Part]) -> list[str]:
    """The quantities of the cut trees, the whole first, compositions last."""
    return list(dict.fromkeys(map(name_of, rows_of(parts, "quantities"))))


def by_quantity(parts: Sequence[Part]) -> Table:
    """Figure 7 as the paper draws it: share of valid estimates, system against quantity."""
    names = names_of(parts)
    shown = [{name_of(row): row["share"] for row in part.get("quantities", ())} for part in parts]
    rows = [
        [SYSTEM.cell(part), *(percent(found.get(name)) for name in names)]
        for part, found in zip(parts, shown, strict=True)
    ]
    return Table("Valid estimates of each quantity", ["system", *names], rows)


def stated(parts: Sequence[Part]) -> Table:
    """Algorithm 1 on the values that a system states (CCR §4.1, case 1)."""
    columns = (
        SYSTEM,
        word("variant"),
        word("contexts"),
        *(figure(f"contexts_{name.lower()}", name, count) for name in CLASSES),
        word("compositions"),
        *(figure(name.lower(), name) for name in CLASSES),
        *(figure(name, sign) for name, sign in (("eta", "η"), ("epsilon", "ε"), ("gamma", "γ"))),
    )
    note = (
        "Contexts, and the shares of compositions, in each class; medians of the external error of "
        "pairs (η) and compositions (ε), and of the internal one (γ)."
    )
    return Table.of("Stated values", columns, rows_of(parts, "stated"), left=2, note=note)


ALPHA: Final = 0.05
"""Below this a difference of errors counts as one (CCR §6.2)."""


def compared(parts: Sequence[Part]) -> Table:
    """The signed-rank test of the errors in each quantity: the first system against the others."""
    first, *others = parts
    own = _errors(first)
    rows: list[list[str | Cell]] = []
    for quantity in names_of(parts):
        cells = [_tested(own, _errors(other), quantity) for other in others]
        rows.append([quantity, *cells])
    note = (
        f"Two-sided p-values of the Wilcoxon test, and the number of pairs: errors of "
        f"{first['system']} against those of each system, context by context, or by resampled "
        f"estimate where contexts are at most two and answers repeated. Green: below {ALPHA}."
    )
    head = ["quantity", *(part["system"] for part in others)]
    return Table("Errors compared", head, rows, note=note)


def _errors(part: Part) -> dict[tuple[str, str], list[float]]:
    """Relative errors by quantity and context."""
    return {
        (name_of(row), row["instance_id"]): [abs(ratio - 1) for ratio in row["ratios"]]
        for row in part.get("details", {}).get("estimates", [])
    }


def _tested(
    own: Mapping[tuple[str, str], list[float]],
    other: Mapping[tuple[str, str], list[float]],
    quantity: str,
) -> Cell:
    differences = [
        a - b
        for place, errors in own.items()
        if place[0] == quantity
        for a, b in _paired(errors, other.get(place, []))
    ]
    if not differences:
        return Cell("–")
    p = signed_rank(differences)
    told = "<0.001" if p < 0.001 else number(p)
    return Cell(told, "good" if p < ALPHA else "", f"n = {len(differences)}")


def _paired(first: Sequence[float], second: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Estimate by estimate; one that stands alone is beside each of the other's."""
    count = max(len(first), len(second)) if first and second else 0
    columns = [[*row] * count if len(row) == 1 else row for row in (first, second)]
    return zip(columns[0][:count], columns[1][:count], strict=False)


def _error(error: float | None) -> Cell:
    return Cell(number(error), "good" if error is not None and error <= THRESHOLD else "")
