"""The paper's tables of repeated attempts: pass@k, best and worst of k, stability, lifts."""

from collections.abc import Sequence
from typing import Final

from grader.draw.table import Cell, Row, Table, find
from grader.draw.words import counted, number, percent
from grader.show.systems import SYSTEM, Part, Report, name_of, reading_of


def attempts(parts: Sequence[Part]) -> Table:
    """Tables 7, 19 and 20: what the first k attempts pass, and their best and worst loss."""
    kinds = {"pass_at": "pass@k", "pass_all": "pass^k", "pass_at_first": "passed in the first k"}
    shares = {
        "unstable": "unstable", "stable_fail": "always fails", "mean_success": "mean of a run",
    }  # fmt: skip
    repeated = [part for part in parts if part.get("attempts")]
    most = max((part["attempts"]["attempts"] for part in repeated), default=0)
    rows = []
    for part in repeated:
        found, binary = part["attempts"], part["attempts"]["binary"]
        lines: list[tuple[str, list[str]]] = []
        # What is about all attempts stands under the last.
        before = [""] * (found["attempts"] - 1)
        if binary is not None:
            about = "" if binary["tasks"] is None else f" ({binary['tasks']} tasks)"
            lines += [(kinds[key] + about, [*map(percent, binary[key])]) for key in kinds]
            lines += [(shares[key], [*before, percent(binary[key])]) for key in shares]
        lines += [
            (f"{side}-of-k loss, {name}", list(map(_candidates, pool[side])))
            for name, pool in found["pools"].items()
            for side in ("best", "worst")
        ]
        lines += [
            (f"run SD, {name}", [*before, counted(number(pool["run_sd"]), pool["run_sd_tasks"])])
            for name, pool in found["pools"].items()
            if "run_sd" in pool
        ]
        rows += [
            [SYSTEM.cell(part), label, *cells, *[""] * (most - len(cells))]
            for label, cells in lines
        ]
    head = ["system", "figure", *(f"k = {k}" for k in range(1, most + 1))]
    note = (
        "Pools follow the truth alone. Losses are medians over tasks with a valid answer, which "
        "are counted in brackets. The headline is that of the first attempt."
    )
    return Table("Repeated attempts, pools by the truth", head, rows, left=2, note=note)


def variability(reports: Sequence[Report]) -> Table:
    """Table 7: CausalDSScore over attempts, each scored as a complete exam."""
    reading = reading_of(reports)
    rows: list[list[str | Cell]] = []
    for report in reports:
        spread = find(report, "attempts", "causalds_score", reading)
        if spread is None:
            continue
        mean, sd = spread["mean"], spread["sd"]
        rows.append([
            SYSTEM.cell({"system": name_of(report)}), str(len(report["attempts"]["runs"])),
            number(mean), number(sd), percent(sd / mean) if mean else "–",
        ])  # fmt: skip
    title = f"CausalDSScore over attempts, {reading} reading"
    return Table(title, ["system", "attempts", "mean", "SD", "rel. SD"], rows)


def _candidates(row: Row) -> str:
    return number(row["median"]) + ("" if row["valid"] is None else f" ({row['valid']})")


_LIFT_AXES: Final = ("rung", "view", "input_mode")


def lifts(parts: Sequence[Part]) -> list[Table]:
    """Tables 21 and 22: what a second and further attempts add, by slice and where none is due."""
    repeated = [part for part in parts if part.get("attempts")]
    return [
        _lift(repeated, "Table 21: pass-rate lift by slice", _LIFT_AXES),
        _lift(repeated, "Table 22: due abstentions recovered by family", ("abstention",)),
    ]


def _lift(parts: Sequence[Part], title: str, axes: Sequence[str]) -> Table:
    rows: list[list[str | Cell]] = []
    for part in parts:
        for axis in axes:
            for level, found in part["attempts"]["slices"].get(axis, {}).items():
                first, last = found["pass_at"][0], found["pass_at"][-1]
                rows.append([
                    SYSTEM.cell(part), f"{axis.replace('_', ' ')} {level}", str(found["tasks"]),
                    percent(first), percent(last), percent(last - first),
                ])  # fmt: skip
    count = max((part["attempts"]["attempts"] for part in parts), default=0)
    head = ["system", "slice", "tasks", "pass@1", f"pass@{count}", "lift"]
    return Table(title, head, rows, left=2)
